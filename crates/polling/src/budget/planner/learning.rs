//! Learning polls: a share of the budget that goes where knowing more lowers the expected waiting
//! most (source 000, section 6.3).
//!
//! With one price π for a poll, a feed of rate λ and value w costs √(2πwλ) a second at best, and is
//! polled every T = √(2π/(wλ)). A plan by a wrong rate costs more: on average by the share g/2 with
//! g ≈ s²/(4 + s²), where s² is the relative variance of the rate ([`Model::doubt`]). A poll after
//! time t lowers s² by the factor n/(n + λt), with n = 1/s² entries known before. The gain holds
//! until the next refresh poll, which would teach the same: T − t. So the value of a learning poll
//! is √(πwλ/2) · g · λt/(n + λt) · (T − t). The feeds with the largest value are polled.
//!
//! `auto` sets the share to the part of the expected cost that comes from not knowing: Σ √(wλ)·g/2
//! over Σ √(wλ). It is large for new feeds and falls as they become known.
//!
//! Feeds with the model `tide` count as known for `auto`. An early poll also ends waiting. After
//! the part x of the interval T it costs π·(1 − x)² more than a poll at T. Its value is at
//! most π·g·(1 − x), so the gain is at most π·g²/4. With g ≤ 1/5 that is 1 % of the price of a
//! poll, even for a feed that is not known at all. The models of the papers may believe that a feed
//! is silent; then no refresh poll comes that would teach the same.
//!
//! Each cycle looks at a part of the feeds in turn, so that a million feeds cost no more than a
//! few thousand.
//!
//! [`Model::doubt`]: crate::model::Model::doubt

use std::collections::HashSet;

use feed::Time;

use crate::budget::{LearnShare, Planner, Strategy, Tracked};
use crate::model::Model;

/// Feeds that are looked at in one cycle: at least, and per learning poll.
const LOOKED_AT: (usize, usize) = (512, 64);
/// The most learning polls that may be saved up, in cycles.
const CYCLES_SAVED: f64 = 2.0;
/// The largest share that `auto` takes.
const SHARE_MAX: f64 = 0.5;
/// The weight of one cycle in the sums for `auto`.
const WEIGHT: f64 = 0.2;

/// The state of learning polls.
#[derive(Clone, Debug, Default)]
pub(in crate::budget) struct Learning {
    pub(in crate::budget) share: LearnShare,
    /// Polls that may be made, with their fraction.
    credit: f64,
    /// The feed at which the next cycle begins to look.
    cursor: usize,
    /// Means over feeds of √(wλ), and of the same times g/2.
    roots: f64,
    regrets: f64,
    /// Feeds whose poll now is a learning poll.
    lessons: HashSet<usize>,
}

impl Learning {
    /// Returns the share of the budget that goes to learning polls now.
    fn share_now(&self) -> f64 {
        match self.share {
            LearnShare::Off => 0.0,
            LearnShare::Percent(percent) => f64::from(percent) / 100.0,
            LearnShare::Auto if self.roots > 0.0 => (self.regrets / self.roots).min(SHARE_MAX),
            LearnShare::Auto => 0.0,
        }
    }

    pub(in crate::budget) fn is_lesson(&self, feed: usize) -> bool {
        self.lessons.contains(&feed)
    }

    /// Ends a learning poll.
    pub(in crate::budget) fn end(&mut self, feed: usize) {
        self.lessons.remove(&feed);
    }
}

/// Returns g: twice the share by which not knowing the rate raises the cost.
fn regret(doubt: f64) -> f64 {
    doubt / (4.0 + doubt)
}

/// Returns √(wλ) of a feed.
fn root(feed: &Tracked) -> f64 {
    (feed.value() * feed.believed().mean_rate()).sqrt()
}

/// Returns the value of a learning poll at `now` in weighted entry-seconds, at the price `price`.
fn value(feed: &Tracked, now: Time, price: f64) -> f64 {
    let (Some(last), doubt, root) = (feed.last, feed.model.doubt(), root(feed)) else { return 0.0 };
    if doubt <= 0.0 || root <= 0.0 {
        return 0.0;
    }
    let news = feed.believed().expect(last, now);
    let learned = news * doubt / (1.0 + news * doubt);
    let waits = (2.0 * price).sqrt() / root - now.since(last).as_secs_f64();
    (price / 2.0).sqrt() * root * regret(doubt) * learned * waits.max(0.0)
}

impl Planner {
    /// Sets the share of the budget for learning polls.
    pub fn set_learning(&mut self, share: LearnShare) {
        self.learning.share = share;
    }

    /// Returns the share of the polls that are learning polls now.
    pub fn learning_share(&self) -> f64 {
        self.learning.share_now()
    }

    /// Returns the learning polls of a cycle in which the budget earned `earned` polls. They are in
    /// flight like planned ones, and the caller pays for them from the same budget.
    pub fn learn(&mut self, now: Time, earned: f64) -> Vec<usize> {
        if self.learning.share == LearnShare::Off || self.feeds.is_empty() {
            return Vec::new();
        }
        let wanted = self.learning.credit + self.learning.share_now() * earned;
        let most = (LOOKED_AT.0).max((wanted as usize).saturating_mul(LOOKED_AT.1));
        let looked = self.look_at(most.min(self.feeds.len()));
        // Polls are proportional to √(wλ), so the budget sets the price: √(2π) = Σ √(wλ)/polls.
        let sum = self.learning.roots * self.feeds.len() as f64;
        let per_sec = earned / self.cycle.as_secs_f64();
        let price = (sum / per_sec.max(f64::MIN_POSITIVE)).powi(2) / 2.0;
        let wanted = self.learning.credit + self.learning.share_now() * earned;
        let saved_max = (CYCLES_SAVED * SHARE_MAX * earned).max(1.0);
        self.learning.credit = wanted.min(saved_max);
        let n = self.learning.credit as usize;
        let free = looked.into_iter().filter(|feed| self.may_offer(*feed, now));
        let valued: Vec<(f64, usize)> = free
            .map(|feed| (value(&self.feeds[feed], now, price), feed))
            .filter(|(value, _)| *value > 0.0 && value.is_finite())
            .collect();
        let chosen = crate::budget::largest((0..valued.len()).collect(), n, |i| valued[i].0);
        let chosen: Vec<usize> = chosen.into_iter().map(|i| valued[i].1).collect();
        for feed in &chosen {
            self.withdraw(*feed);
            self.learning.lessons.insert(*feed);
        }
        self.learning.credit -= chosen.len() as f64;
        chosen
    }

    /// Returns the next feeds in turn, and adds them to the means.
    fn look_at(&mut self, n: usize) -> Vec<usize> {
        let all = self.feeds.len();
        let from = self.learning.cursor % all;
        self.learning.cursor = (from + n) % all;
        let looked: Vec<usize> = (0..n).map(|i| (from + i) % all).collect();
        let (mut roots, mut regrets) = (0.0, 0.0);
        for feed in &looked {
            let root = root(&self.feeds[*feed]);
            roots += root;
            if !matches!(self.feeds[*feed].model, Model::Tide(_)) {
                regrets += root * regret(self.feeds[*feed].model.doubt()) / 2.0;
            }
        }
        // The first look counts in full.
        let weight = if self.learning.roots > 0.0 { WEIGHT } else { 1.0 };
        self.learning.roots += weight * (roots / n as f64 - self.learning.roots);
        self.learning.regrets += weight * (regrets / n as f64 - self.learning.regrets);
        looked
    }

    /// Takes a feed out of its strategy until it is observed or held.
    fn withdraw(&mut self, feed: usize) {
        self.offered_from[feed] = None;
        match self.strategy {
            Strategy::Tide => self.tide.remove(feed as u32),
            Strategy::TwoSteps => self.crossings.remove(feed as u32),
            _ => {
                if let Some(table) = &mut self.timetable {
                    table.withdraw(feed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelKind;
    use feed::Observation;
    use std::time::Duration;

    const HOUR: i64 = 3600;

    /// A planner with one feed that is well known and one that is hardly known, of the same rate.
    fn planner(share: &str) -> Planner {
        let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(600));
        planner.set_learning(share.parse().unwrap());
        for n in [200, 2] {
            let feed = planner.track(Tracked::new(ModelKind::Tide.start()));
            let times: Vec<Time> = (0..n).map(|i| Time::from_secs((200 - n + i) * HOUR)).collect();
            let o = Observation::first(Time::from_secs(200 * HOUR), &times);
            planner.observe(feed, &o);
        }
        planner
    }

    #[test]
    fn learning_polls_go_to_the_feed_in_doubt_and_never_twice() {
        let mut planner = planner("50%");
        let at = |minutes: i64| Time::from_secs(200 * HOUR + 60 * minutes);
        // A tenth of a poll every ten minutes, half of it for learning.
        let mut lessons = (1..100).map(|cycle| planner.learn(at(10 * cycle), 0.1));
        let lessons = lessons.find(|lessons| !lessons.is_empty());
        assert_eq!(lessons, Some(vec![1]), "the other is known");
        let why = planner.why_planned(1, at(30)).unwrap();
        assert!(why.code().starts_with("tide learning per-day="), "{}", why.code());
        assert_eq!(crate::explain(&why.code()), Some(why.words()));
        for cycle in 100..200 {
            assert!(!planner.learn(at(10 * cycle), 0.1).contains(&1), "it is on its way");
        }
        planner.observe(1, &Observation::seen(at(2000), &[], &[]));
        let why = planner.why_planned(1, at(2001)).unwrap();
        assert!(!why.code().contains("learning"), "the lesson is over");
    }

    #[test]
    fn a_feed_whose_hours_changed_is_polled_to_teach_them() {
        let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(600));
        planner.set_learning("50%".parse().unwrap());
        for hour in [9, 21, 9] {
            let feed = planner.track(Tracked::new(ModelKind::Tide.start()));
            for day in 0..64 {
                let hour = if day < 60 { 9 } else { hour };
                let at = |secs: i64| Time::from_secs(day * 24 * HOUR + secs);
                let new: Vec<Time> = (0..12).map(|i| at(hour * HOUR + 300 * i)).collect();
                planner.observe(feed, &Observation::seen(at(24 * HOUR - 1), &new, &new));
            }
        }
        let at = |minutes: i64| Time::from_secs(64 * 24 * HOUR + 60 * minutes);
        let mut lessons = (1..300).map(|cycle| planner.learn(at(10 * cycle), 0.1));
        assert_eq!(lessons.find(|lessons| !lessons.is_empty()), Some(vec![1]));
        let why = planner.why_planned(1, at(30)).unwrap();
        assert!(why.code().starts_with("tide learning hours "), "{}", why.code());
        assert!(why.words().contains("at which hours the feed posts"), "{}", why.words());
        assert_eq!(crate::explain(&why.code()), Some(why.words()));
    }

    #[test]
    fn a_share_is_kept_over_many_cycles() {
        let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(60));
        planner.set_learning("10%".parse().unwrap());
        planner.set_budget(Some("60/1h".parse().unwrap()));
        for _ in 0..60 {
            planner.track(Tracked::new(ModelKind::Periodic.start()));
        }
        let (mut n_lessons, mut n_polls) = (0, 0);
        for minute in 0..24 * 60 {
            let now = Time::from_secs(1_000_000 * HOUR + 60 * minute);
            for feed in planner.spend(now) {
                n_polls += 1;
                n_lessons += i32::from(planner.learning.is_lesson(feed));
                let new = [now - Duration::from_secs(30)];
                let new = if feed % 3 == 0 { &new[..] } else { &[] };
                planner.observe(feed, &Observation::seen(now, new, new));
            }
        }
        let share = f64::from(n_lessons) / f64::from(n_polls);
        assert!((0.07..0.11).contains(&share), "{n_lessons} of {n_polls}");
    }

    /// Returns the share that `auto` takes with one feed of `n` polls, each with one entry.
    fn auto_share(model: ModelKind, n: i64) -> f64 {
        let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(600));
        planner.set_learning(LearnShare::Auto);
        let feed = planner.track(Tracked::new(model.start()));
        for hour in 1..=n {
            let new = [Time::from_secs(hour * HOUR - 60)];
            planner.observe(feed, &Observation::seen(Time::from_secs(hour * HOUR), &new, &new));
        }
        planner.learn(Time::from_secs((n + 1) * HOUR), 1.0);
        planner.learning_share()
    }

    #[test]
    fn auto_falls_as_feeds_become_known_and_is_nothing_for_tide() {
        let (new, known) = (auto_share(ModelKind::Changes, 3), auto_share(ModelKind::Changes, 40));
        assert!(new > 2.0 * known && known > 0.0, "{new} {known}");
        // The windows of a feed under tide teach as much at the next refresh poll.
        assert_eq!([3, 40].map(|n| auto_share(ModelKind::Tide, n)), [0.0; 2]);
        let mut planner = planner("auto");
        let lessons =
            (1..100).map(|cycle| planner.learn(Time::from_secs(200 * HOUR + 600 * cycle), 1.0));
        assert_eq!(lessons.flatten().count(), 0);
    }

    #[test]
    fn learning_polls_are_paid_from_the_budget() {
        for strategy in Strategy::ALL {
            for share in ["0%", "20%", "auto"] {
                let mut planner = Planner::new(strategy, Duration::from_secs(60));
                planner.set_learning(share.parse().unwrap());
                planner.set_budget(Some("60/1h".parse().unwrap()));
                for _ in 0..40 {
                    planner.track(Tracked::new(ModelKind::Periodic.start()));
                }
                let mut n_polls = 0;
                for minute in 0..6 * 60 {
                    let now = Time::from_secs(1_000_000 * 3600 + 60 * minute);
                    for feed in planner.spend(now) {
                        n_polls += 1;
                        let new = [now - Duration::from_secs(30)];
                        let new = if feed % 3 == 0 { &new[..] } else { &[] };
                        planner.observe(feed, &Observation::seen(now, new, new));
                    }
                }
                assert!(n_polls <= 6 * 60 + 1, "{strategy} {share}: {n_polls}");
                assert!(n_polls > 100, "{strategy} {share}: {n_polls}");
            }
        }
    }
}
