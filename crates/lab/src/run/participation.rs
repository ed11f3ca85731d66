//! Counts the feeds that take part in a run and the reasons of the others. Also chooses a start at
//! which most feeds exist.

use std::time::Duration;

use feed::Time;

use crate::{Phases, World};

/// The feeds of a world, counted by their role in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Participation {
    pub in_world: usize,
    pub taking_part: usize,
    /// Feeds that do not take part, because their first entry comes after the end of the test.
    pub after_the_end: usize,
    /// Feeds that take part from their first entry on, which comes during the test.
    pub begun_in_test: usize,
    /// Feeds that take part but publish nothing during the test.
    pub silent: usize,
}

impl Participation {
    pub fn of(world: &World, phases: &Phases) -> Participation {
        let mut counted = Participation::default();
        for feed in &world.feeds {
            let times = feed.visible();
            if times.is_empty() {
                continue;
            }
            counted.in_world += 1;
            if phases.first_poll(times).is_none() {
                counted.after_the_end += 1;
                continue;
            }
            counted.taking_part += 1;
            let tested = feed.between(phases.test_start(), phases.end());
            counted.silent += usize::from(tested.is_empty());
            let is_new = times.first().is_some_and(|first| *first > phases.test_start());
            counted.begun_in_test += usize::from(is_new);
        }
        counted
    }

    /// Returns one or two sentences.
    pub fn in_words(&self) -> String {
        let Participation { in_world, taking_part, after_the_end, begun_in_test, silent } = *self;
        let mut said = format!("{taking_part} of {in_world} feeds took part");
        let mut of_them = Vec::new();
        if begun_in_test > 0 {
            of_them.push(format!("{begun_in_test} from their first entry on, within the test"));
        }
        if silent > 0 {
            of_them.push(format!("{silent} without an entry in the test"));
        }
        if !of_them.is_empty() {
            said += &format!(" ({})", of_them.join("; "));
        }
        if after_the_end > 0 {
            said += &format!(
                ". {after_the_end} did not, because their first entry comes after the test"
            );
        }
        said + "."
    }
}

/// A start at which most feeds exist when the test begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenStart {
    pub start: Time,
    /// The first entry of the world.
    pub first: Time,
    /// Feeds that exist when the test begins.
    pub existing: usize,
    pub feeds: usize,
}

/// Returns the first entry, if half of the feeds exist when the test begins. Otherwise returns the
/// earliest start at which half of them do, or the largest possible number. A later start must
/// leave room for the whole test. Returns `None` for a world without entries.
pub fn chosen_start(world: &World, train: Duration, test: Duration) -> Option<ChosenStart> {
    let (first, last) = world.span()?;
    let ends = |of: fn(&[Time]) -> Option<&Time>| {
        let mut times: Vec<Time> =
            world.feeds.iter().filter_map(|f| of(f.visible()).copied()).collect();
        times.sort_unstable();
        times
    };
    let (firsts, lasts) = (ends(<[Time]>::first), ends(<[Time]>::last));
    let existing = |at: Time| {
        let n_begun = firsts.partition_point(|t| *t <= at);
        n_begun - lasts.partition_point(|t| *t < at).min(n_begun)
    };
    let earliest = first + train;
    let later = firsts.iter().copied().filter(|t| *t > earliest && *t + test <= last);
    let tests: Vec<Time> = std::iter::once(earliest).chain(later).collect();
    let most = tests.iter().map(|at| existing(*at)).max().unwrap_or(0);
    let enough = most.min(firsts.len().div_ceil(2));
    let at = tests.into_iter().find(|at| existing(*at) >= enough).unwrap_or(earliest);
    Some(ChosenStart { start: at - train, first, existing: existing(at), feeds: firsts.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldFeed;

    const DAY: Duration = Duration::from_secs(86_400);

    /// A world of feeds with one entry per day, each between two days.
    fn world(spans: &[(u32, u32)]) -> World {
        let day = |n: u32| Time::from_secs(0) + DAY * n;
        let feed = |(from, to): &(u32, u32)| {
            WorldFeed::new(&format!("{from}-{to}"), (*from..=*to).map(day).collect())
        };
        let feeds: Vec<WorldFeed> = spans.iter().map(feed).collect();
        let domains = (0..feeds.len()).map(|i| vec![i]).collect();
        World { feeds, window: 10, domains }
    }

    fn start_day(spans: &[(u32, u32)]) -> (i64, usize) {
        let chosen = chosen_start(&world(spans), 7 * DAY, 20 * DAY).unwrap();
        (chosen.start.secs() / 86_400, chosen.existing)
    }

    #[test]
    fn a_start_is_the_first_entry_or_where_half_of_the_feeds_exist() {
        assert_eq!(start_day(&[(0, 60)]), (0, 1));
        assert_eq!(start_day(&[(0, 60), (3, 60), (40, 60)]), (0, 2), "two of three exist");
        assert_eq!(start_day(&[(0, 200), (90, 200), (100, 200)]), (83, 2));
        assert_eq!(start_day(&[(0, 10), (90, 200), (100, 200)]), (93, 2), "the first has ended");
        assert_eq!(start_day(&[(0, 30), (40, 70), (80, 110)]), (0, 1), "never more than one");
        assert_eq!(start_day(&[(0, 30), (25, 30), (26, 30)]), (0, 1), "no room for the test");
        assert_eq!(chosen_start(&World::default(), DAY, DAY), None);
    }

    #[test]
    fn who_takes_part_and_why_others_do_not_is_said() {
        let world = world(&[(0, 40), (0, 3), (15, 40), (38, 40)]);
        let start = Some(Time::from_secs(0));
        let phases = Phases::over(&world, start, 10 * DAY, 20 * DAY, false).unwrap();
        let counted = Participation::of(&world, &phases);
        assert_eq!(
            counted.in_words(),
            "3 of 4 feeds took part (1 from their first entry on, within the test; 1 without an \
             entry in the test). 1 did not, because their first entry comes after the test."
        );
    }
}
