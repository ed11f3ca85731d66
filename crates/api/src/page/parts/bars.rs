//! Bar charts: entries by hour and by weekday, opened entries by hour, week and day, and the mean
//! delay of each day. The times of entries are the publishers' claims. The output is geometry for
//! an SVG.

use std::time::Duration;

use feed::Time;
use store::DelayDay;

use crate::words::{plural, span, strftime};
use crate::zone::Zone;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// The height of the chart above its labels.
const HEIGHT: f64 = 90.0;
const WIDTH: f64 = 360.0;
/// Fewer entries show chance and not a pattern.
const ENTRIES_MIN: usize = 5;
const DAY: Duration = Duration::from_secs(86_400);

/// A bar chart.
pub struct Bars {
    pub title: &'static str,
    pub summary: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub x: String,
    pub y: String,
    pub width: String,
    pub height: String,
    pub label: String,
    /// The position of the label, which may be empty.
    pub label_x: String,
    pub hint: String,
}

/// Draws entries by hour and by weekday. Returns nothing for fewer than [`ENTRIES_MIN`] entries.
pub fn rhythm(published: &[Time], zone: Zone) -> Vec<Bars> {
    if published.len() < ENTRIES_MIN {
        return Vec::new();
    }
    let (mut hours, mut days) = ([0_u64; 24], [0_u64; 7]);
    for at in published {
        let hour = (at.secs() + zone.ahead(*at)).div_euclid(3600);
        let day = hour.div_euclid(24);
        hours[usize::try_from(hour.rem_euclid(24)).unwrap_or(0)] += 1;
        // 1 January 1970 was a Thursday.
        days[usize::try_from((day + 3).rem_euclid(7)).unwrap_or(0)] += 1;
    }
    let day_name = |n: usize| DAYS[n].to_owned();
    let entries = |n| plural(n, "entry", "entries");
    let total = entries(published.len() as u64);
    vec![
        bars("Entries by hour of the day", &total, &hours, hour_label, hour_name, entries),
        bars("Entries by day of the week", &total, &days, day_name, day_name, entries),
    ]
}

fn hour_label(n: usize) -> String {
    if n.is_multiple_of(6) { format!("{n}") } else { String::new() }
}

fn hour_name(n: usize) -> String {
    format!("{n}:00 to {}:00", n + 1)
}

/// Draws opened entries by hour of the day.
pub fn opened_by_hour(hours: &[u64; 24]) -> Bars {
    let entries = |n| plural(n, "entry", "entries");
    let total = entries(hours.iter().sum());
    bars("Opened by hour of the day", &total, hours, hour_label, hour_name, entries)
}

/// Draws opened entries by week. Each week has a moment of its Monday.
pub fn opened_by_week(weeks: &[(Time, u64)]) -> Bars {
    let counts: Vec<u64> = weeks.iter().map(|(_, n)| *n).collect();
    let monday = |n: usize| weeks.get(n).map_or_else(String::new, |(at, _)| short_day(*at));
    // Labels at the edges would be cut off.
    let label = |n: usize| if n % 4 == 2 { monday(n) } else { String::new() };
    let name = |n: usize| format!("week of {}", monday(n));
    let entries = |n| plural(n, "entry", "entries");
    let total = format!("the last {} weeks", weeks.len());
    bars("Opened by week", &total, &counts, label, name, entries)
}

/// Draws opened entries by day. Returns nothing for less than two days.
pub fn opened_by_day(days: &[(Time, u64)]) -> Option<Bars> {
    let ((first, _), (last, _)) = (days.first()?, days.last()?);
    let n_days = usize::try_from(last.since(*first).as_secs() / DAY.as_secs()).ok()? + 1;
    let mut counts = vec![0; n_days];
    for (at, n) in days {
        let place = usize::try_from(at.since(*first).as_secs() / DAY.as_secs()).ok()?;
        *counts.get_mut(place)? += n;
    }
    let name = |n: usize| short_day(*first + DAY * u32::try_from(n).unwrap_or(0));
    let step = n_days.div_ceil(4).max(1);
    let label = |n: usize| if n % step == step / 2 { name(n) } else { String::new() };
    let entries = |n| plural(n, "entry", "entries");
    let total = entries(counts.iter().sum());
    (n_days > 1).then(|| bars("Opened by day", &total, &counts, label, name, entries))
}

fn short_day(at: Time) -> String {
    strftime(at, "%-d %b", Zone::UTC)
}

/// Draws the mean delay of each day. Returns nothing if no day has one.
pub fn delays(days: &[DelayDay]) -> Option<Bars> {
    let seconds: Vec<u64> = days.iter().map(|day| day.mean.map_or(0, |d| d.as_secs())).collect();
    let name =
        |n: usize| days.get(n).map_or_else(String::new, |d| strftime(d.day + DAY, "%a", Zone::UTC));
    let delay =
        |secs| if secs == 0 { "unknown".to_owned() } else { span(Duration::from_secs(secs)) };
    let total = format!("the last {} days", days.len());
    let drawn = bars("Average delay by day", &total, &seconds, name, name, delay);
    days.iter().any(|day| day.mean.is_some()).then_some(drawn)
}

fn bars(
    title: &'static str,
    total: &str,
    counts: &[u64],
    label: impl Fn(usize) -> String,
    name: impl Fn(usize) -> String,
    value: impl Fn(u64) -> String,
) -> Bars {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let step = WIDTH / counts.len() as f64;
    let bar = |(n, count): (usize, &u64)| {
        // An empty bar is one unit high, so that the axis stays visible.
        let height = (HEIGHT * *count as f64 / most as f64).max(1.0);
        Bar {
            x: format!("{:.1}", step * n as f64 + step * 0.12),
            y: format!("{:.1}", HEIGHT - height),
            width: format!("{:.1}", step * 0.76),
            height: format!("{height:.1}"),
            label: label(n),
            label_x: format!("{:.1}", step * (n as f64 + 0.5)),
            hint: format!("{}: {}", name(n), value(*count)),
        }
    };
    let peak = counts.iter().position(|count| *count == most).map(&name).unwrap_or_default();
    Bars {
        title,
        summary: format!("{total}; most: {} ({peak})", value(most)),
        bars: counts.iter().enumerate().map(bar).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_at_their_hour_and_day() {
        // A Saturday at five, and the Sunday after it.
        let saturday: Time = "2011-07-16T05:10:00Z".parse().unwrap();
        let mut times = vec![saturday; 4];
        times.push("2011-07-17T23:59:59Z".parse().unwrap());
        let drawn = rhythm(&times, Zone::UTC);
        assert_eq!(drawn[0].bars[5].hint, "5:00 to 6:00: 4 entries");
        assert_eq!(drawn[0].bars[23].hint, "23:00 to 24:00: 1 entry");
        assert_eq!(drawn[1].bars[5].hint, "Sat: 4 entries");
        assert_eq!(drawn[1].bars[6].hint, "Sun: 1 entry");
        assert_eq!(drawn[1].bars[5].height, "90.0");
        assert_eq!(drawn[1].summary, "5 entries; most: 4 entries (Sat)");
    }

    #[test]
    fn days_without_an_opened_entry_have_a_bar_too() {
        let first: Time = "2011-07-16T00:00:00Z".parse().unwrap();
        assert!(opened_by_day(&[]).is_none() && opened_by_day(&[(first, 3)]).is_none());
        let drawn = opened_by_day(&[(first, 3), (first + DAY * 2, 1)]).unwrap();
        let hints: Vec<&str> = drawn.bars.iter().map(|bar| bar.hint.as_str()).collect();
        assert_eq!(hints, ["16 Jul: 3 entries", "17 Jul: 0 entries", "18 Jul: 1 entry"]);
    }

    #[test]
    fn too_few_entries_show_no_rhythm() {
        assert!(rhythm(&[Time::from_secs(0); 4], Zone::UTC).is_empty());
    }
}
