//! The cost and the result of polling a feed: bytes, unchanged polls, suspected misses, delay.

use std::time::Duration;

use feed::Time;
use store::PollDay;

use crate::page::parts::key_figure::KeyFigure;
use crate::words::{bytes, count, span};

/// Returns the figures over all stored days. The delay is that of the newest entries.
pub fn cost_figures(days: &[PollDay], times: &[(Time, Time)], added_at: Time) -> Vec<KeyFigure> {
    let total = |of: fn(&PollDay) -> u64| days.iter().map(of).sum::<u64>();
    let (polls, unchanged) = (total(|d| d.polls), total(|d| d.unchanged));
    let (misses, sent) = (total(|d| d.misses), total(|d| d.bytes));
    let share = |part: u64| match polls {
        0 => "–".to_owned(),
        polls => format!("{:.0} %", 100.0 * part as f64 / polls as f64),
    };
    let note = |text: &str| text.to_owned();
    let per_poll = sent.checked_div(polls).map(|n| format!("{} per poll", bytes(n)));
    vec![
        KeyFigure { name: "Polls", value: count(polls), note: String::new() },
        KeyFigure {
            name: "Unchanged (304)",
            value: share(unchanged),
            note: note("polls without a download"),
        },
        KeyFigure { name: "Failed", value: share(total(|d| d.failed)), note: String::new() },
        KeyFigure { name: "Received", value: bytes(sent), note: per_poll.unwrap_or_default() },
        KeyFigure {
            name: "Suspected misses",
            value: count(misses),
            note: match misses {
                0 => String::new(),
                _ => note("polls where no known entry was left"),
            },
        },
        KeyFigure {
            name: "Delay",
            value: median_delay(times, added_at).map_or_else(|| "–".to_owned(), span),
            note: note("median of the newest entries"),
        },
    ]
}

/// Returns the median delay, because one backdated entry would distort a mean. Entries from before
/// the feed was added do not count: polling could not see them earlier.
fn median_delay(times: &[(Time, Time)], added_at: Time) -> Option<Duration> {
    let mut delays: Vec<Duration> = times
        .iter()
        .filter(|(published, seen)| published < seen && *published >= added_at)
        .map(|(published, seen)| seen.since(*published))
        .collect();
    delays.sort_unstable();
    delays.get(delays.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_polls() {
        let day = |polls, unchanged| PollDay {
            day: Time::from_secs(0),
            polls,
            unchanged,
            failed: 1,
            n_new: 0,
            misses: 0,
            bytes: 2000,
        };
        let shown = cost_figures(&[day(6, 3), day(2, 1)], &[], Time::from_secs(0));
        assert_eq!(shown[1].value, "50 %");
        assert_eq!(shown[2].value, "25 %");
        assert_eq!(shown[3].note, "500 B per poll");
        assert_eq!(cost_figures(&[], &[], Time::from_secs(0))[1].value, "–");
    }

    #[test]
    fn one_backdated_entry_does_not_distort_the_delay() {
        let at = Time::from_secs;
        let times = [(at(90), at(100)), (at(0), at(100)), (at(80), at(100)), (at(200), at(100))];
        assert_eq!(median_delay(&times, at(0)), Some(Duration::from_secs(20)));
        assert_eq!(median_delay(&times, at(85)), Some(Duration::from_secs(10)));
    }
}
