//! Reads dates in the formats that feeds use. An unclear date yields nothing, because a wrong time
//! is worse than a missing one.
//!
//! A date without a zone is UTC. A date with an unknown zone name yields nothing. The order of day
//! and month is assumed only in formats of known publishing software. This module reads no clock.

mod words;

use feed::Time;
use jiff::civil;

/// Longer than any date, with room for the words that some publishers add.
const BYTES_MAX: usize = 200;

/// Reads a date. `None` if it is unclear.
pub fn parse(text: &str) -> Option<Time> {
    let text = text.trim();
    if text.is_empty() || text.len() > BYTES_MAX {
        return None;
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return digits_only(text);
    }
    let lower = words::plain(text);
    let parts = DateParts::read(&lower)?;
    parts.time()
}

/// `20031231`, `2003`, `200312`, or seconds or milliseconds since 1970.
fn digits_only(text: &str) -> Option<Time> {
    let number: i64 = text.parse().ok()?;
    let as_int = |range: std::ops::Range<usize>| text.get(range).and_then(|s| s.parse().ok());
    match text.len() {
        4 => moment((as_int(0..4)?, 1, 1), ClockTime::default(), 0),
        6 => moment((as_int(0..4)?, as_int(4..6)?, 1), ClockTime::default(), 0),
        8 => moment((as_int(0..4)?, as_int(4..6)?, as_int(6..8)?), ClockTime::default(), 0),
        14 => {
            let clock = ClockTime {
                hour: as_int(8..10)?,
                minute: as_int(10..12)?,
                second: as_int(12..14)?,
                millis: 0,
            };
            moment((as_int(0..4)?, as_int(4..6)?, as_int(6..8)?), clock, 0)
        }
        9 | 10 => Some(Time::from_secs(number)),
        13 => Some(Time::from_millis(number)),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ClockTime {
    hour: i64,
    minute: i64,
    second: i64,
    millis: i64,
}

/// The parts of a date found in a text, before they are combined.
#[derive(Debug, Default)]
struct DateParts {
    /// The numbers of the date, in order, each with its count of digits.
    numbers: Vec<(i64, usize)>,
    month: Option<i64>,
    clock: Option<ClockTime>,
    afternoon: Option<bool>,
    /// Seconds east of Greenwich.
    zone: Option<i64>,
    slashes: bool,
}

impl DateParts {
    fn read(text: &str) -> Option<DateParts> {
        let mut parts = DateParts::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let before = rest.len();
            rest = if c.is_ascii_digit() {
                parts.number(rest)?
            } else if c.is_alphabetic() {
                parts.word(rest)?
            } else if matches!(c, '+' | '-' | '\u{2212}') && parts.clock.is_some() {
                parts.offset(rest)?
            } else {
                parts.slashes |= c == '/' && parts.clock.is_none();
                &rest[c.len_utf8()..]
            };
            debug_assert!(rest.len() < before, "every step consumes something");
        }
        Some(parts)
    }

    /// Reads a run of digits: a clock time, a compact date, or one number of the date.
    fn number<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let (digits, after) = split_digits(rest);
        if let Some((clock, after)) = clock_at(digits, after)
            && self.clock.is_none()
        {
            self.clock = Some(clock);
            return Some(after);
        }
        let value: i64 = digits.parse().ok()?;
        match digits.len() {
            8 if self.numbers.is_empty() => {
                self.numbers = vec![(value / 10_000, 4), (value / 100 % 100, 2), (value % 100, 2)];
            }
            // The compact time after a compact date: 20031231T101455 or 20031231T1014.
            4 | 6 if self.numbers.len() == 3 && self.clock.is_none() => {
                let value = if digits.len() == 4 { value * 100 } else { value };
                let clock = ClockTime {
                    hour: value / 10_000,
                    minute: value / 100 % 100,
                    second: value % 100,
                    millis: 0,
                };
                self.clock = Some(clock);
            }
            1..=4 if self.numbers.len() < 3 => self.numbers.push((value, digits.len())),
            _ => return None,
        }
        Some(after)
    }

    fn word<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if let Some(month) = words::month(word) {
            // The last month counts: `mar, 02 mar 2004` begins with a weekday.
            self.month = Some(month);
        } else if let Some(afternoon) = words::half_of_day(word).filter(|_| !self.is_military(word))
        {
            self.afternoon = Some(afternoon);
        } else if self.clock.is_some() && self.zone.is_none() {
            // Reads `24:00:00 z`, `10:00 cest`, `10:00 (utc)` and `10:00 gmt+2`. A word before the
            // time is a weekday or an ordinal; a word after it is a zone, known or not.
            match words::zone(word) {
                Some(zone) => self.zone = Some(zone),
                None if words::is_filler(word) => {}
                None => return None,
            }
            return Some(self.named_offset(word, after));
        } else if self.numbers.is_empty() || words::is_filler(word) {
            // A weekday, or its name in a language that we do not know.
        } else if self.clock.is_none() && self.numbers.len() < 3 {
            return None;
        }
        Some(after)
    }

    /// `a` and `p` after a time mean a.m. and p.m. Alone they would be military zones.
    fn is_military(&self, word: &str) -> bool {
        word.len() == 1 && self.clock.is_none()
    }

    /// Reads the offset in `gmt+2` and `utc-05:00`, with the sign as written.
    fn named_offset<'a>(&mut self, word: &str, after: &'a str) -> &'a str {
        if matches!(word, "gmt" | "utc") && after.starts_with(['+', '-']) {
            let mut probe = DateParts { clock: self.clock, ..DateParts::default() };
            if let Some(next) = probe.offset(after) {
                self.zone = probe.zone;
                return next;
            }
        }
        after
    }

    /// Reads `+0100`, `-5` or `+05:30`. An offset of more than a day is ignored.
    fn offset<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let negative = !rest.starts_with('+');
        let sign_len = rest.chars().next().map_or(1, char::len_utf8);
        let (digits, mut after) = split_digits(rest[sign_len..].trim_start());
        if digits.is_empty() {
            return Some(&rest[sign_len..]);
        }
        let value: i64 = digits.parse().ok()?;
        let (hours, mut minutes) = match digits.len() {
            1 | 2 => (value, 0),
            3 | 4 => (value / 100, value % 100),
            6 => (value / 10_000, value / 100 % 100),
            _ => return None,
        };
        if digits.len() <= 2
            && let Some(tail) = after.strip_prefix(':')
        {
            let (more, next) = split_digits(tail);
            minutes = more.parse().unwrap_or(0);
            after = next;
        }
        // In asctime formats a year may follow a dash: `10:00:00 - 2004`.
        if digits.len() == 4 && hours > 15 && self.numbers.len() < 3 {
            self.numbers.push((value, 4));
            return Some(after);
        }
        if hours > 15 || minutes > 59 {
            return None;
        }
        let seconds = hours * 3600 + minutes * 60;
        // `EST-0500` and `GMT (+0000)`: a number after a name decides.
        self.zone = Some(if negative { -seconds } else { seconds });
        Some(after)
    }

    fn time(&self) -> Option<Time> {
        let mut clock = self.clock.unwrap_or_default();
        match self.afternoon {
            Some(true) if clock.hour < 12 => clock.hour += 12,
            Some(false) if clock.hour == 12 => clock.hour = 0,
            _ => {}
        }
        moment(self.date()?, clock, self.zone.unwrap_or(0))
    }

    /// Returns year, month and day, in the order that separators and lengths suggest.
    fn date(&self) -> Option<(i64, i64, i64)> {
        let numbers: Vec<i64> = self.numbers.iter().map(|(n, _)| *n).collect();
        let four = |i: usize| self.numbers.get(i).is_some_and(|(_, digits)| *digits == 4);
        match (self.month, numbers.as_slice()) {
            // 2003-Dec-31, 2003 december
            (Some(m), [y, d]) if four(0) => Some((*y, m, *d)),
            (Some(m), [y]) if four(0) => Some((*y, m, 1)),
            // 31 Dec 2003, Dec 31 2003
            (Some(m), [d, y]) => Some((full_year(*y, self.numbers[1].1), m, *d)),
            (None, [y]) if four(0) => Some((*y, 1, 1)),
            // 2003-365: a day of the year; 2003-12: a month.
            (None, [y, n]) if four(0) && self.numbers[1].1 == 3 => day_of_year(*y, *n),
            (None, [y, m]) if four(0) => Some((*y, *m, 1)),
            (None, [y, m, d]) if four(0) => Some((*y, *m, *d)),
            // 12/31/2003 as American software writes it, unless it can only be 31/12/2003.
            (None, [a, b, y]) if self.slashes && *a <= 12 => {
                Some((full_year(*y, self.numbers[2].1), *a, *b))
            }
            (None, [d, m, y]) => Some((full_year(*y, self.numbers[2].1), *m, *d)),
            _ => None,
        }
    }
}

/// Two digits mean 1970 to 2069, as in mail. Three digits are the years since 1900, which old
/// software writes.
fn full_year(year: i64, digits: usize) -> i64 {
    match digits {
        4 => year,
        3 => 1900 + year,
        _ if year < 70 => 2000 + year,
        _ => 1900 + year,
    }
}

fn day_of_year(year: i64, day: i64) -> Option<(i64, i64, i64)> {
    let first = civil::Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    let date = (1..=i64::from(first.days_in_year()))
        .contains(&day)
        .then(|| first.checked_add(jiff::Span::new().days(day - 1)).ok())??;
    Some((i64::from(date.year()), i64::from(date.month()), i64::from(date.day())))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Reads `10:14`, `10:14:55`, `10:14:55.123` or `9:15`. Italian and German software also writes
/// dots.
fn clock_at<'a>(hour: &str, after: &'a str) -> Option<(ClockTime, &'a str)> {
    let after = after.strip_prefix(':')?;
    let (minute, mut rest) = split_digits(after);
    if hour.len() > 2 || minute.is_empty() || minute.len() > 2 {
        return None;
    }
    let mut clock = ClockTime {
        hour: hour.parse().ok()?,
        minute: minute.parse().ok()?,
        ..ClockTime::default()
    };
    if let Some(tail) = rest.strip_prefix(':') {
        let (second, next) = split_digits(tail);
        clock.second =
            if second.is_empty() { 0 } else { second.get(..2.min(second.len()))?.parse().ok()? };
        rest = next;
    }
    if let Some(tail) = rest.strip_prefix(['.', ','])
        && tail.starts_with(|c: char| c.is_ascii_digit())
    {
        let (fraction, next) = split_digits(tail);
        let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
        clock.millis = digits.parse().ok()?;
        rest = next;
    }
    Some((clock, rest))
}

fn moment(date: (i64, i64, i64), clock: ClockTime, zone: i64) -> Option<Time> {
    let (year, month, day) = date;
    // .NET prints year 1 for "no date".
    if !(2..=9998).contains(&year) || clock.hour > 24 || clock.minute > 59 || clock.second > 60 {
        return None;
    }
    let narrow = |n: i64| i8::try_from(n).ok();
    let date = civil::Date::new(i16::try_from(year).ok()?, narrow(month)?, narrow(day)?).ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
    let seconds = clock.hour * 3600 + clock.minute * 60 + clock.second.min(59);
    Some(Time::from_secs(midnight + seconds - zone).shifted(clock.millis))
}

#[cfg(test)]
mod tests;
