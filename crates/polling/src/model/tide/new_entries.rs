//! When the new entries of a poll became visible, as far as that can be told: by their dates, by
//! the rule of a feed whose entries are late, or only that it was between two looks. It learns
//! nothing itself.

use feed::Time;

use super::FLOOD;
use super::visibility::Visibility;

/// The new entries of one poll, oldest first in each list.
pub(super) struct NewEntries<'a> {
    /// Born since the last look, they say.
    pub(super) dated: &'a [Time],
    /// Born before it, and not there then.
    pub(super) late: &'a [Time],
    pub(super) n_undated: usize,
    /// Some of a flood were left out.
    pub(super) cut: bool,
}

/// When an entry became visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VisibleEntry {
    pub(super) at: Time,
    /// Whether this is more than a guess: a moment to learn habits from.
    pub(super) known: bool,
}

impl<'a> NewEntries<'a> {
    /// Of a poll at `at`: an entry with the poll's own time is late or undated.
    pub(super) fn new(new: &'a [Time], late: &'a [Time], at: Time) -> NewEntries<'a> {
        let (flood, new) = new.split_at(new.len().saturating_sub(FLOOD));
        let (dated, rest) = new.split_at(new.partition_point(|t| *t < at));
        let late = &late[late.len().saturating_sub(rest.len())..];
        NewEntries { dated, late, n_undated: rest.len() - late.len(), cut: !flood.is_empty() }
    }

    /// The earliest and the latest date; one where there is only one entry.
    pub(super) fn dates(&self) -> impl Iterator<Item = Time> {
        let first = self.late.first().or(self.dated.first()).copied();
        let last = self.dated.last().or(self.late.last()).copied();
        let several = self.late.len() + self.dated.len() > 1;
        first.into_iter().chain(last.filter(|_| several))
    }

    /// Every entry's moment in (last, at], in order. What has no better one is spread evenly:
    /// otherwise the looks would become a habit.
    pub(super) fn visible(&self, shown: Visibility, last: Time, at: Time) -> Vec<VisibleEntry> {
        let n = self.dated.len() + self.late.len() + self.n_undated;
        let mut visible = Vec::with_capacity(n);
        let told = |at| VisibleEntry { at, known: true };
        visible.extend(
            self.dated.iter().map(|date| told(shown.moment(*date, last, at).unwrap_or(*date))),
        );
        let by_rule = self.late.iter().filter_map(|date| shown.moment(*date, last, at));
        visible.extend(by_rule.filter(|moment| *moment > last).map(told));
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

    fn visible(new: &[i64], late: &[i64], shown: Visibility) -> Vec<(i64, bool)> {
        let new: Vec<Time> = new.iter().map(|m| at(*m)).collect();
        let late: Vec<Time> = late.iter().map(|m| at(*m)).collect();
        let visible = NewEntries::new(&new, &late, at(100)).visible(shown, at(40), at(100));
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
        // Later than ten minutes, against the rule: nobody knows when.
        let early = Visibility::After { minutes: 10 };
        assert_eq!(visible(&[50, 100], &[20], early), [(60, true), (70, true)]);
        let clock = Visibility::OnClock { period: 30, minute: 5 };
        assert_eq!(visible(&[50, 100], &[36], clock), [(65, true), (65, true)]);
        // No rule: as if any lateness were as likely as one twice as long.
        assert_eq!(visible(&[50, 100], &[20], Visibility::Irregular), [(56, true), (60, true)]);
        // A date within the minute of a tick was shown by it.
        assert_eq!(visible(&[65], &[], clock), [(65, true)]);
    }

    #[test]
    fn a_flood_is_cut_and_keeps_its_newest() {
        let new: Vec<Time> = (0..600).map(|i| Time::from_secs(2400 + i)).chain([at(100)]).collect();
        let late = [at(1), at(2)];
        let new = NewEntries::new(&new, &late, at(100));
        assert_eq!((new.dated.len(), new.late, new.n_undated), (FLOOD - 1, &[at(2)][..], 0));
        assert!(new.cut);
    }
}
