//! Dates the new entries of a poll: by their own dates, by the feed's visibility lag, or only as
//! "between the two polls". Nothing is learned here.

use feed::Time;

use super::NEW_ENTRIES_MAX;
use super::visibility::Visibility;

/// The new entries of one poll, oldest first in each list.
pub(super) struct NewEntries<'a> {
    /// Dates since the last poll.
    pub(super) dated: &'a [Time],
    /// Dates before the last poll, which did not show these entries.
    pub(super) late: &'a [Time],
    pub(super) n_undated: usize,
    /// Older entries were left out because there were too many.
    pub(super) truncated: bool,
}

/// The time at which an entry became visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VisibleEntry {
    pub(super) at: Time,
    /// Whether the time is good enough to learn the rhythm from.
    pub(super) known: bool,
}

impl<'a> NewEntries<'a> {
    /// Sorts the new entries of a poll at `at`. An entry with the poll's own time is late or
    /// undated.
    pub(super) fn new(new: &'a [Time], late: &'a [Time], at: Time) -> NewEntries<'a> {
        let (dropped, new) = new.split_at(new.len().saturating_sub(NEW_ENTRIES_MAX));
        let (dated, rest) = new.split_at(new.partition_point(|t| *t < at));
        let late = &late[late.len().saturating_sub(rest.len())..];
        NewEntries {
            dated,
            late,
            n_undated: rest.len() - late.len(),
            truncated: !dropped.is_empty(),
        }
    }

    /// Returns the earliest and the latest date; only one for a single entry.
    pub(super) fn dates(&self) -> impl Iterator<Item = Time> {
        let first = self.late.first().or(self.dated.first()).copied();
        let last = self.dated.last().or(self.late.last()).copied();
        let several = self.late.len() + self.dated.len() > 1;
        first.into_iter().chain(last.filter(|_| several))
    }

    /// Returns the time of every entry in (last, at], in order. Entries without a better time are
    /// spread evenly; otherwise the model would learn the poll times.
    pub(super) fn visible(&self, rule: Visibility, last: Time, at: Time) -> Vec<VisibleEntry> {
        let n = self.dated.len() + self.late.len() + self.n_undated;
        let mut visible = Vec::with_capacity(n);
        let known_at = |at| VisibleEntry { at, known: true };
        visible.extend(
            self.dated
                .iter()
                .map(|date| known_at(rule.visible_at(*date, last, at).unwrap_or(*date))),
        );
        let by_rule = self.late.iter().filter_map(|date| rule.visible_at(*date, last, at));
        visible.extend(by_rule.filter(|moment| *moment > last).map(known_at));
        let n_spread = n - self.n_undated - visible.len();
        for (n, known) in [(n_spread as i64, true), (self.n_undated as i64, false)] {
            let gap = at.millis_since(last);
            let even = |i: i64| last.shifted((2 * i + 1) * (gap / (2 * n)));
            visible.extend((0..n).map(|i| VisibleEntry { at: even(i), known }));
        }
        visible.sort_unstable();
        visible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(minute: i64) -> Time {
        Time::from_secs(minute * 60)
    }

    fn visible(new: &[i64], late: &[i64], rule: Visibility) -> Vec<(i64, bool)> {
        let new: Vec<Time> = new.iter().map(|m| at(*m)).collect();
        let late: Vec<Time> = late.iter().map(|m| at(*m)).collect();
        let visible = NewEntries::new(&new, &late, at(100)).visible(rule, at(40), at(100));
        visible.iter().map(|moment| (moment.at.secs() / 60, moment.known)).collect()
    }

    #[test]
    fn without_a_rule_dates_count_and_the_rest_is_spread() {
        let found = visible(&[60, 100, 100, 100], &[10, 20], Visibility::AtOnce);
        assert_eq!(found, [(55, true), (60, true), (70, false), (85, true)]);
    }

    #[test]
    fn a_rule_says_when_entries_became_visible() {
        let after = Visibility::After { minutes: 45 };
        assert_eq!(visible(&[50, 100], &[20], after), [(65, true), (95, true)]);
        // Later than ten minutes, against the rule: the time is unknown.
        let early = Visibility::After { minutes: 10 };
        assert_eq!(visible(&[50, 100], &[20], early), [(60, true), (70, true)]);
        let clock = Visibility::OnClock { period: 30, minute: 5 };
        assert_eq!(visible(&[50, 100], &[36], clock), [(65, true), (65, true)]);
        // No rule: every lag is as likely as one twice as long.
        assert_eq!(visible(&[50, 100], &[20], Visibility::Irregular), [(56, true), (60, true)]);
        // A date within the minute of a tick was published by that tick.
        assert_eq!(visible(&[65], &[], clock), [(65, true)]);
    }

    #[test]
    fn a_flood_is_cut_and_keeps_its_newest() {
        let new: Vec<Time> = (0..600).map(|i| Time::from_secs(2400 + i)).chain([at(100)]).collect();
        let late = [at(1), at(2)];
        let new = NewEntries::new(&new, &late, at(100));
        assert_eq!(
            (new.dated.len(), new.late, new.n_undated),
            (NEW_ENTRIES_MAX - 1, &[at(2)][..], 0)
        );
        assert!(new.truncated);
    }
}
