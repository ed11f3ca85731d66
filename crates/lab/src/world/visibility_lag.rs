//! Adds a visibility lag to a world: entries appear later than they claim. The cause is a cache, a
//! generator that runs on a timer, or random lateness. One variant removes the dates instead.
//!
//! Only the time of appearance moves; the claimed dates stay. The lab counts delay from the time of
//! appearance. The same seed gives the same world.
//!
//! ```
//! use feed::Time;
//! use lab::world::visibility_lag::SimulatedLag;
//! use lab::{World, WorldFeed};
//!
//! let times = (0..50).map(|h| Time::from_secs(h * 3600)).collect();
//! let feeds = vec![WorldFeed::new("a", times)];
//! let world = World { feeds, window: 20, domains: vec![vec![0]] };
//! let late = SimulatedLag::Cache.of(&world, 1);
//! let by = |i: usize| late.feeds[0].visible()[i].since(world.feeds[0].visible()[i]);
//! assert!((300..3600).contains(&by(0).as_secs()) && by(0) == by(49));
//! assert_eq!(late.feeds[0].claim(7), Some(Time::from_secs(7 * 3600)));
//! ```

use feed::Time;
use serde::Deserialize;

use crate::{Chance, TraceRow, World, WorldBuilder, exact};

/// The way in which entries become visible.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum SimulatedLag {
    AtOnce,
    /// 5 to 60 minutes after their date, the same for all entries of a feed.
    Cache,
    /// At the next tick of a timer of the feed, every 15, 30 or 60 minutes.
    Timer,
    /// At the next tick of a daily timer.
    Daily,
    /// Random for each entry: the median is 40 minutes, and a tenth is later than 7 hours.
    Chance,
    /// 40 % of the feeds at once, and 20 % each by cache, timer and at random.
    Mixed,
    /// At once, but without a usable date. All entries are dated years ahead, which counts as
    /// undated, and the lab still knows their delay.
    Undated,
}

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
const AHEAD: i64 = 3650 * DAY;
const MEDIAN_SECS: f64 = 2400.0;
/// Seven hours are 10.5 times the median: ln 10.5 divided by the normal quantile of 0.9.
const SPREAD: f64 = 1.8348;
const LATE_SECS_MAX: f64 = 3.0 * 86_400.0;
/// The time that a generator takes.
const GENERATED_SECS: i64 = 5;

/// The rule of one feed.
#[derive(Clone, Copy)]
enum VisibilityRule {
    After(i64),
    Tick { period: i64, phase: i64 },
    Chance,
    Undated,
}

impl SimulatedLag {
    pub const ALL: [SimulatedLag; 7] = [
        SimulatedLag::AtOnce,
        SimulatedLag::Cache,
        SimulatedLag::Timer,
        SimulatedLag::Daily,
        SimulatedLag::Chance,
        SimulatedLag::Mixed,
        SimulatedLag::Undated,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            SimulatedLag::AtOnce => "at-once",
            SimulatedLag::Cache => "cache",
            SimulatedLag::Timer => "timer",
            SimulatedLag::Daily => "daily",
            SimulatedLag::Chance => "chance",
            SimulatedLag::Mixed => "mixed",
            SimulatedLag::Undated => "undated",
        }
    }

    /// Returns the same feeds with this visibility.
    pub fn of(self, world: &World, seed: u64) -> World {
        let mut builder = WorldBuilder::default();
        for (stream, feed) in (0_u64..).zip(&world.feeds) {
            let mut chance = Chance::new(seed, stream);
            let rule = self.draw(&mut chance);
            let number = builder.feed(&feed.name);
            for date in feed.visible() {
                let (visible, claim) = rule.show(date.secs(), &mut chance);
                let (visible, claim) = (Time::from_secs(visible), Some(Time::from_secs(claim)));
                builder.entry(number, TraceRow { visible, claim, window: None, bytes: None });
            }
        }
        builder.finish(world.window)
    }

    fn draw(self, chance: &mut Chance) -> VisibilityRule {
        let tick = |period: i64, chance: &mut Chance| VisibilityRule::Tick {
            period,
            phase: chance.below(period as usize) as i64,
        };
        match self {
            SimulatedLag::AtOnce => VisibilityRule::After(0),
            SimulatedLag::Cache => VisibilityRule::After(5 * MINUTE + chance.below(55 * 60) as i64),
            SimulatedLag::Timer => {
                let period = [15, 30, 60][chance.below(3)] * MINUTE;
                tick(period, chance)
            }
            SimulatedLag::Daily => tick(DAY, chance),
            SimulatedLag::Chance => VisibilityRule::Chance,
            SimulatedLag::Mixed => {
                let at_once = SimulatedLag::AtOnce;
                let kinds = [
                    at_once,
                    at_once,
                    SimulatedLag::Cache,
                    SimulatedLag::Timer,
                    SimulatedLag::Chance,
                ];
                kinds[chance.below(kinds.len())].draw(chance)
            }
            SimulatedLag::Undated => VisibilityRule::Undated,
        }
    }
}

impl VisibilityRule {
    /// Returns when an entry of this date is visible, and the time that it claims, in seconds.
    fn show(self, date: i64, chance: &mut Chance) -> (i64, i64) {
        match self {
            VisibilityRule::After(secs) => (date + secs, date),
            VisibilityRule::Tick { period, phase } => {
                let before = (date - phase).div_euclid(period) * period + phase;
                (before + period + GENERATED_SECS, date)
            }
            VisibilityRule::Chance => (date + lateness(chance) as i64, date),
            VisibilityRule::Undated => (date, date + AHEAD),
        }
    }
}

/// Log-normal; the normal variate is the sum of twelve uniform ones.
fn lateness(chance: &mut Chance) -> f64 {
    let normal = (0..12).map(|_| chance.unit()).sum::<f64>() - 6.0;
    (MEDIAN_SECS * exact::exp(SPREAD * normal)).min(LATE_SECS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldFeed;

    fn world() -> World {
        let times = |n: i64| (0..400).map(|i| Time::from_secs(i * 5000 + n)).collect();
        let feeds = (0..40).map(|n| WorldFeed::new(&format!("feed-{n}"), times(n))).collect();
        World { feeds, window: 20, domains: (0..40).map(|n| vec![n]).collect() }
    }

    #[test]
    fn lateness_by_chance_is_as_recorded() {
        let late = SimulatedLag::Chance.of(&world(), 3);
        let mut secs: Vec<i64> = Vec::new();
        for feed in &late.feeds {
            let dates = (0..feed.visible().len()).filter_map(|i| feed.claim(i));
            secs.extend(dates.zip(feed.visible()).map(|(date, at)| at.secs() - date.secs()));
        }
        secs.sort_unstable();
        assert!((2200..2600).contains(&secs[secs.len() / 2]), "{}", secs[secs.len() / 2]);
        let tenth = secs[secs.len() * 9 / 10];
        assert!((23_000..27_500).contains(&tenth), "{tenth}");
    }

    #[test]
    fn a_timer_shows_entries_on_its_ticks_alone() {
        let late = SimulatedLag::Timer.of(&world(), 3);
        for feed in &late.feeds {
            let phase = |at: &Time| at.secs().rem_euclid(900);
            assert!(feed.visible().iter().all(|at| phase(at) == phase(&feed.visible()[0])));
            assert!((0..400).all(|i| feed.claim(i).is_some_and(|date| date < feed.visible()[i])));
        }
    }

    #[test]
    fn at_once_is_the_same_world() {
        let same = SimulatedLag::AtOnce.of(&world(), 3);
        assert!(same.feeds.iter().all(|feed| !feed.has_claims()));
        assert_eq!(same.domains, world().domains);
    }
}
