//! The model of `tide`: λ(s) = level · hour of the day · weekday · minute of the hour, each with as
//! much belief in the feed's own history as there is history, and in what feeds are like where
//! there is little.
//!
//! - [`Level`]: entries over time watched, forgotten slowly; a Gamma–Poisson rate.
//! - [`Habits`]: how busy each hour and weekday is beside the mean, learned as entries seen over
//!   entries expected there, so that a window of half a day does not tell a rhythm of the week.
//! - [`Minutes`]: at which minutes of the hour timers post. What is expected between two moments
//!   leaves them out; the policy, that chooses the moment, does not.
//!
//! Entries whose date is the poll's own time are undated: they are spread over the time since the
//! last look, for the looks themselves must not become a habit. Where a window was overrun, nobody
//! watched between the last look and its oldest entry. The model has no wish and no price.
//!
//! ```
//! use feed::{Observation, Outcome, Time};
//! use polling::model::ModelKind;
//!
//! let mut model = ModelKind::Tide.start();
//! // Every day at ten, for twenty days.
//! let daily: Vec<Time> = (0..20).map(|d| Time::from_secs(d * 86_400 + 36_000)).collect();
//! let at = Time::from_secs(20 * 86_400);
//! model.learn(&Observation {
//!     at, outcome: Outcome::Seen, window: &daily, new: &daily,
//!     overlap: 0, suspected_miss: false, partial: false,
//! });
//! let hour = |h: i64| model.expect(at.shifted(h * 3_600_000), at.shifted((h + 1) * 3_600_000));
//! assert!(hour(10) > 8.0 * hour(3));
//! ```

mod busy;
mod habits;
mod level;
mod minutes;
mod shapes;
mod stored;

use feed::{Observation, Time};

pub use busy::{Busy, Weekdays};
use habits::Habits;
use level::Level;
pub(crate) use minutes::Minutes;

use super::Rates;
use super::slots::Slots;

const HOUR_SECS: f64 = 3600.0;
const WEEK_HOURS: usize = 168;
/// Hours further back than four weeks are not told apart: they weigh little, and a feed that
/// shows entries of years would cost years of hours.
const APART_SECS: f64 = 28.0 * 86_400.0;
/// Of a flood only the newest entries are looked at: no window that people write is longer.
const FLOOD: usize = 512;

/// What was learned of one feed, and the week that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tide {
    last: Option<Time>,
    /// The longest window seen: how many entries fit before one is missed.
    window_max: u32,
    level: Level,
    habits: Habits,
    minutes: Minutes,
    /// Entries per second in each hour of the week, from the epoch's Thursday on.
    week: Rates,
}

impl Default for Tide {
    fn default() -> Tide {
        let week = Rates { hours: vec![0.0; WEEK_HOURS], zone_secs: 0 };
        let (level, habits, minutes) = Default::default();
        let mut tide = Tide { last: None, window_max: 0, level, habits, minutes, week };
        tide.settle();
        tide
    }
}

impl Tide {
    /// Takes in one poll. What was not answered teaches nothing.
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() || self.last.is_some_and(|last| o.at < last) {
            return;
        }
        if !o.partial {
            self.window_max =
                self.window_max.max(u32::try_from(o.window.len()).unwrap_or(u32::MAX));
        }
        match (self.last, o.window.split_first()) {
            (Some(last), _) => {
                let missed = o.suspected_miss && !o.new.is_empty();
                self.follow(last, o.new, o.at, missed, self.level.rate());
            }
            (None, Some((oldest, rest))) => self.begin(*oldest, rest, o.at),
            (None, None) => {}
        }
        self.last = Some(o.at);
        self.settle();
    }

    /// The first window: watched from its oldest entry on, which itself says nothing about how
    /// often entries come.
    fn begin(&mut self, oldest: Time, rest: &[Time], at: Time) {
        let from = oldest.min(at);
        let secs = at.since(from).as_secs_f64();
        // The rhythm of the window first, so that its level is that of the hours it covers.
        let rate = Level::of(rest.len() as f64, secs);
        let mut rhythm = Habits::default();
        rhythm.watch(from, at, rate);
        rest.iter().for_each(|t| rhythm.see((*t).clamp(from, at)));
        rhythm.settle();
        self.habits = Habits { factors: rhythm.factors, ..Habits::default() };
        self.follow(from, rest, at, false, rate);
    }

    /// The time since the last look, entry by entry, beside what `rate` let expect.
    fn follow(&mut self, last: Time, new: &[Time], at: Time, missed: bool, rate: f64) {
        let (flood, new) = new.split_at(new.len().saturating_sub(FLOOD));
        let missed = missed || !flood.is_empty();
        let n_dated = new.partition_point(|t| *t < at);
        let undated = (new.len() - n_dated) as i64;
        let gap = at.millis_since(last);
        let spread = (0..undated).map(|i| last.shifted((2 * i + 1) * (gap / (2 * undated))));
        let mut times: Vec<Time> = new[..n_dated].iter().copied().chain(spread).collect();
        times.sort_unstable();
        let mut now = last;
        for (i, time) in times.into_iter().enumerate() {
            let time = time.clamp(now, at);
            if i == 0 && missed {
                self.forget(now, time);
            } else {
                self.watch(now, time, rate);
                self.level.see();
                self.habits.see(time);
                self.minutes.see(time);
            }
            now = time;
        }
        self.watch(now, at, rate);
    }

    /// Time in which every entry would have been seen.
    fn watch(&mut self, from: Time, to: Time, rate: f64) {
        let activity = self.habits.activity(from, to);
        let secs = to.since(from).as_secs_f64();
        self.level.pass(secs, activity);
        self.habits.watch(from, to, rate);
        self.minutes.fade(Habits::kept(secs));
    }

    /// Time of which nobody knows what it held.
    fn forget(&mut self, from: Time, to: Time) {
        let secs = to.since(from).as_secs_f64();
        self.level.pass(secs, 0.0);
        self.habits.pass(secs);
        self.minutes.fade(Habits::kept(secs));
    }

    /// Draws from what was counted what is to be expected.
    fn settle(&mut self) {
        self.habits.settle();
        self.minutes.settle();
        let rate = self.level.rate();
        for (hour, slot) in self.week.hours.iter_mut().enumerate() {
            *slot = rate * self.habits.factors.of(hour);
        }
    }

    /// The mean rate, in entries per second.
    pub fn rate(&self) -> f64 {
        self.level.rate()
    }

    pub fn last(&self) -> Option<Time> {
        self.last
    }

    pub fn window_max(&self) -> u32 {
        self.window_max
    }

    /// The hours and days in which most of its entries come, where there are such.
    pub fn busy(&self) -> Busy {
        self.habits.busy()
    }

    pub(crate) fn slots(&self) -> Slots<'_> {
        self.week.slots()
    }

    pub(crate) fn minutes(&self) -> &Minutes {
        &self.minutes
    }

    pub(super) fn week(&self) -> &Rates {
        &self.week
    }
}
