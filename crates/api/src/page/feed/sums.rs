//! What polling a feed costs and brings: bytes, unanswered questions, suspected misses, delay.

use std::time::Duration;

use feed::Time;
use store::PollDay;

use crate::words::{bytes, count, span};

pub struct Sum {
    pub name: &'static str,
    pub value: String,
    pub note: String,
}

/// Over all days that are kept, and over the newest entries.
pub fn sums(days: &[PollDay], times: &[(Time, Time)], added_at: Time) -> Vec<Sum> {
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
        Sum { name: "Polls", value: count(polls), note: String::new() },
        Sum {
            name: "Unchanged (304)",
            value: share(unchanged),
            note: note("polls without a download"),
        },
        Sum { name: "Failed", value: share(total(|d| d.failed)), note: String::new() },
        Sum { name: "Received", value: bytes(sent), note: per_poll.unwrap_or_default() },
        Sum {
            name: "Suspected misses",
            value: count(misses),
            note: match misses {
                0 => String::new(),
                _ => note("polls where no known entry was left"),
            },
        },
        Sum {
            name: "Delay",
            value: median_delay(times, added_at).map_or_else(|| "–".to_owned(), span),
            note: note("median of the newest entries"),
        },
    ]
}

/// The median, because an entry that was dated back would lead a mean. What was there before the
/// feed was added is late by no fault of a poll.
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
        let shown = sums(&[day(6, 3), day(2, 1)], &[], Time::from_secs(0));
        assert_eq!(shown[1].value, "50 %");
        assert_eq!(shown[2].value, "25 %");
        assert_eq!(shown[3].note, "500 B per poll");
        assert_eq!(sums(&[], &[], Time::from_secs(0))[1].value, "–");
    }

    #[test]
    fn one_entry_dated_back_does_not_lead_the_delay() {
        let at = Time::from_secs;
        let times = [(at(90), at(100)), (at(0), at(100)), (at(80), at(100)), (at(200), at(100))];
        assert_eq!(median_delay(&times, at(0)), Some(Duration::from_secs(20)));
        assert_eq!(median_delay(&times, at(85)), Some(Duration::from_secs(10)));
    }
}
