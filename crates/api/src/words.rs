//! Formats numbers, times and durations as text for people. It decides nothing and reads no clock:
//! the present moment is an argument.

use std::time::Duration;

use feed::Time;

use crate::zone::Zone;

/// The present moment, and the time zone of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalNow {
    pub at: Time,
    pub zone: Zone,
}

/// Uses UTC as the zone.
impl From<Time> for LocalNow {
    fn from(at: Time) -> LocalNow {
        LocalNow { at, zone: Zone::UTC }
    }
}

/// A time in three forms for a page: relative to now, short, and exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayTime {
    /// `3 min ago`, `in 2 h`.
    pub relative: String,
    /// `16 Jul, 05:00` in the zone of the reader. A time in another year: `16 Jul 2011`.
    pub short: String,
    /// `2011-07-16T05:00:00Z`: always UTC.
    pub exact: String,
}

impl DisplayTime {
    pub fn new(time: Time, now: impl Into<LocalNow>) -> DisplayTime {
        let now = now.into();
        let (relative, short) = (relative(time, now.at), short(time, now));
        DisplayTime { relative, short, exact: time.to_string() }
    }

    /// Formats the time of something that is still to be done.
    pub fn ahead(time: Time, now: impl Into<LocalNow>) -> DisplayTime {
        let now = now.into();
        DisplayTime { relative: ahead(time, now.at), ..DisplayTime::new(time, now) }
    }
}

/// Says when something will be done. A time in the past means that it is due now.
pub fn ahead(time: Time, now: Time) -> String {
    if time > now { relative(time, now) } else { "due now".to_owned() }
}

pub fn relative(time: Time, now: Time) -> String {
    if time.secs() == now.secs() {
        "now".to_owned()
    } else if time > now {
        format!("in {}", span(time.since(now)))
    } else {
        format!("{} ago", span(now.since(time)))
    }
}

fn short(time: Time, now: LocalNow) -> String {
    let this_year = same(time, now, "%Y");
    strftime(time, if this_year { "%-d %b, %H:%M" } else { "%-d %b %Y" }, now.zone)
}

/// Returns the day of a time, as a heading.
pub fn day(time: Time, now: LocalNow) -> String {
    let a_day = Duration::from_secs(86_400);
    if same(time, now, "%F") {
        "Today".to_owned()
    } else if same(time + a_day, now, "%F") {
        "Yesterday".to_owned()
    } else if same(time, now, "%Y") {
        strftime(time, "%A, %-d %B", now.zone)
    } else {
        strftime(time, "%A, %-d %B %Y", now.zone)
    }
}

/// Returns whether a time and now are equal when written with a pattern.
fn same(time: Time, now: LocalNow, pattern: &str) -> bool {
    strftime(time, pattern, now.zone) == strftime(now.at, pattern, now.zone)
}

/// Writes a time in a zone with a pattern of jiff. Falls back to the exact time.
pub fn strftime(time: Time, pattern: &str, zone: Zone) -> String {
    let shown = time.clamp(Time::MIN, Time::MAX);
    match jiff::Timestamp::from_second(shown.secs()) {
        Ok(t) => t.to_zoned(zone.time_zone()).strftime(pattern).to_string(),
        Err(_) => time.to_string(),
    }
}

/// Writes a duration in one unit: `40 s`, `12 min`, `3 h`, `5 days`.
pub fn span(d: Duration) -> String {
    let s = d.as_secs();
    let (minute, hour, day) = (60, 3600, 86_400);
    match s {
        0..60 => format!("{s} s"),
        60..5400 => format!("{} min", (s + minute / 2) / minute),
        5400..172_800 => format!("{} h", (s + hour / 2) / hour),
        172_800..31_536_000 => format!("{} days", (s + day / 2) / day),
        _ => format!("{:.1} years", s as f64 / 31_556_952.0),
    }
}

/// Writes the length of a recording: `1 h 2 min`, `12 min`, `40 s`.
pub fn clock(seconds: u32) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => match ((seconds + 30) / 3600, (seconds + 30) % 3600 / 60) {
            (hours, 0) => format!("{hours} h"),
            (hours, minutes) => format!("{hours} h {minutes} min"),
        },
    }
}

/// Writes a moment of a recording: `1:02:03`, `2:03`.
pub fn moment_of(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Returns whole seconds, rounded up.
pub fn ceil_secs(d: Duration) -> u64 {
    d.as_secs() + u64::from(d.subsec_nanos() > 0)
}

/// Writes a number with separators: `12,345`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Writes a daily rate with as many digits as are meaningful.
pub fn per_day(rate: f64) -> String {
    match rate {
        r if r <= 0.0 => "0".to_owned(),
        r if r < 0.095 => "< 0.1".to_owned(),
        r if r < 9.95 => format!("{r:.1}"),
        r => count(r.round() as u64),
    }
}

pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        1000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// The least number of people whose number is shown. A smaller one would say what a single person
/// reads.
const READERS_SHOWN_MIN: u64 = 3;

/// Says how many people read a feed.
pub fn readers_words(n: u64) -> String {
    match n {
        0..READERS_SHOWN_MIN => "Fewer than three people read this feed.".to_owned(),
        n => format!("{} people read this feed.", count(n)),
    }
}

/// Writes a count with its noun: `1 feed`, `2 feeds`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Writes an error message as a sentence.
pub fn sentence(words: &str) -> String {
    let words = words.trim();
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    // A name before a colon keeps its case: `mavsync: …`.
    let named = words.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
    let mut sentence: String =
        if named { words.to_owned() } else { first.to_uppercase().chain(letters).collect() };
    if !sentence.ends_with(['.', '!', '?', '…']) && !sentence.ends_with(".)") {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_one_unit() {
        let say = |s| span(Duration::from_secs(s));
        assert_eq!([say(0), say(59), say(60), say(5399)], ["0 s", "59 s", "1 min", "90 min"]);
        assert_eq!([say(5400), say(172_799), say(172_800)], ["2 h", "48 h", "2 days"]);
        assert_eq!(say(63_113_904), "2.0 years");
    }

    #[test]
    fn moments_are_relative_short_and_exact() {
        let now: Time = "2011-07-16T05:00:00Z".parse().unwrap();
        let moment = DisplayTime::new(now + Duration::from_secs(7200), now);
        assert_eq!(moment.relative, "in 2 h");
        assert_eq!(moment.short, "16 Jul, 07:00");
        assert_eq!(moment.exact, "2011-07-16T07:00:00Z");
        assert_eq!(DisplayTime::new(now - Duration::from_secs(1), now).relative, "1 s ago");
        assert_eq!(DisplayTime::new(Time::from_secs(0), now).short, "1 Jan 1970");
        assert_eq!(relative(now, now), "now");
        let ahead = |secs| DisplayTime::ahead(Time::from_secs(100), Time::from_secs(secs));
        assert_eq!([ahead(57).relative, ahead(143).relative], ["in 43 s", "due now"]);
        assert_eq!(ahead(143).exact, "1970-01-01T00:01:40Z");
    }

    #[test]
    fn times_and_days_are_those_of_the_reader() {
        let now = |zone: &str| LocalNow {
            at: "2024-07-16T22:30:00Z".parse().unwrap(),
            zone: Zone::named(zone).unwrap(),
        };
        let time: Time = "2024-07-16T21:30:00Z".parse().unwrap();
        let of = |zone: &str| (DisplayTime::new(time, now(zone)).short, day(time, now(zone)));
        assert_eq!(of("UTC"), ("16 Jul, 21:30".into(), "Today".into()));
        assert_eq!(of("Europe/Berlin"), ("16 Jul, 23:30".into(), "Yesterday".into()));
        assert_eq!(of("Asia/Tokyo"), ("17 Jul, 06:30".into(), "Today".into()));
        assert_eq!(DisplayTime::new(time, now("Asia/Tokyo")).exact, "2024-07-16T21:30:00Z");
        let days = |back: u64| day(time - Duration::from_secs(back * 86_400), now("UTC"));
        assert_eq!(days(3), "Saturday, 13 July");
        assert_eq!(days(365), "Monday, 17 July 2023");
    }

    #[test]
    fn figures_are_grouped_and_rounded() {
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([per_day(0.0), per_day(0.01), per_day(2.345)], ["0", "< 0.1", "2.3"]);
        assert_eq!(per_day(1234.5), "1,235");
        assert_eq!([bytes(999), bytes(17_000), bytes(2_500_000)], ["999 B", "17.0 kB", "2.5 MB"]);
        assert_eq!([plural(1, "feed", "feeds"), plural(2, "feed", "feeds")], ["1 feed", "2 feeds"]);
    }
}
