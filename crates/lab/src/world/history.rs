//! Converts the recorded polls of an instance into a trace that can be replayed.
//!
//! Limits: entries that appeared and vanished between two polls are unknown. An entry without a
//! true date appeared between the poll that saw it and the poll before.
//!
//! ```
//! use feed::Time;
//! use lab::world::history::{RecordedPoll, RecordedEntry, rows};
//!
//! let at = Time::from_secs;
//! let looks = [100, 200].map(|s| RecordedPoll { at: at(s), window: 10, bytes: Some(900) });
//! let seen = |claim, seen| RecordedEntry { claim: Some(at(claim)), seen_at: at(seen) };
//! let rows = rows(&[seen(40, 100), seen(150, 200), seen(90, 200)], &looks);
//! let visible: Vec<i64> = rows.iter().map(|row| row.visible.secs()).collect();
//! assert_eq!(visible, [40, 150, 150], "the last was not there at 100, whatever it claims");
//! ```

use feed::Time;

use crate::TraceRow;

/// A poll that returned a document or "not modified".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedPoll {
    pub at: Time,
    pub window: u32,
    /// The size of the document; `None` if it was not modified.
    pub bytes: Option<u32>,
}

/// An entry and the poll that first saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEntry {
    /// The date that the publisher gave.
    pub claim: Option<Time>,
    pub seen_at: Time,
}

/// Returns the rows of the trace of one feed. `looks` are in order and may begin after the first
/// entries, because the store keeps only recent polls.
pub fn rows(entries: &[RecordedEntry], looks: &[RecordedPoll]) -> Vec<TraceRow> {
    let row = |entry: &RecordedEntry| {
        let n_by = looks.partition_point(|look| look.at <= entry.seen_at);
        let look = looks[..n_by].last().filter(|look| look.at == entry.seen_at);
        let before = looks[..n_by].iter().rev().find(|look| look.at < entry.seen_at);
        Some(TraceRow {
            visible: visible(entry, before.map(|look| look.at))?,
            claim: entry.claim,
            window: look.map(|look| look.window).filter(|window| *window > 0),
            bytes: look.and_then(|look| look.bytes),
        })
    };
    entries.iter().filter_map(row).collect()
}

/// Estimates when an entry appeared: at its claimed time if that is between the two polls,
/// otherwise in the middle. Entries of the first poll are older; without a date their time is
/// unknown.
fn visible(entry: &RecordedEntry, before: Option<Time>) -> Option<Time> {
    let claim = entry.claim.filter(|claim| *claim <= entry.seen_at);
    let Some(before) = before else { return claim };
    let middle = before.shifted(entry.seen_at.millis_since(before) / 2);
    // After the poll before in any case, since that poll did not show the entry.
    let midway = Some(middle.floor_to_second()).filter(|midway| *midway > before);
    let midway = midway.unwrap_or_else(|| middle.max(before.shifted(1)));
    Some(claim.filter(|claim| *claim > before).unwrap_or(midway))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(secs: i64) -> Time {
        Time::from_secs(secs)
    }

    fn moments(entries: &[(Option<i64>, i64)], looks: &[i64]) -> Vec<i64> {
        let entries: Vec<RecordedEntry> = entries
            .iter()
            .map(|(claim, seen)| RecordedEntry { claim: claim.map(at), seen_at: at(*seen) })
            .collect();
        let looks: Vec<RecordedPoll> =
            looks.iter().map(|s| RecordedPoll { at: at(*s), window: 5, bytes: None }).collect();
        rows(&entries, &looks).iter().map(|row| row.visible.secs()).collect()
    }

    #[test]
    fn an_entry_appears_when_it_says_unless_we_know_better() {
        let entries = [(Some(120), 200), (Some(90), 200), (Some(900), 200), (None, 200)];
        assert_eq!(moments(&entries, &[100, 200]), [120, 150, 150, 150]);
    }

    #[test]
    fn what_the_first_look_showed_was_there_before_if_it_is_dated() {
        assert_eq!(moments(&[(Some(10), 100), (None, 100), (Some(300), 100)], &[100, 200]), [10]);
    }

    #[test]
    fn an_entry_between_two_polls_of_successive_seconds_is_later_than_the_first() {
        let entry = RecordedEntry { claim: None, seen_at: at(101) };
        let looks = [100, 101].map(|s| RecordedPoll { at: at(s), window: 5, bytes: None });
        assert_eq!(rows(&[entry], &looks)[0].visible, Time::from_millis(100_500));
    }

    #[test]
    fn older_polls_may_be_forgotten() {
        assert_eq!(moments(&[(Some(10), 50), (Some(60), 70)], &[100, 200]), [10, 60]);
    }
}
