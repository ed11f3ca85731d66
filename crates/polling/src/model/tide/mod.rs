//! The model of `tide`: λ(s) = level · hour of the day · weekday · minute of the hour, each with as
//! much belief in the feed's own history as there is history, and in what feeds are like where
//! there is little.
//!
//! - [`RateLevel`]: entries over time watched, forgotten slowly; a Gamma–Poisson rate.
//! - [`WeeklyRhythm`]: how busy each hour and weekday is beside the mean, learned as entries seen over
//!   entries expected there, so that a window of half a day does not tell a rhythm of the week.
//! - [`Minutes`]: at which minutes of the hour timers post. What is expected between two moments
//!   leaves them out; the policy, that chooses the moment, does not.
//!
//! What counts is when an entry became visible. Feeds that show entries late are known by entries
//! that a look did not find though they claim to be older ([`visibility_lag`]); entries without a date are
//! laid where they are expected ([`undated`]), for the looks themselves must not become a habit.
//! Hours are those of the feed's own clock, where that is set twice a year ([`daylight_saving`]). A feed that
//! changed is unlearned as fast as the evidence allows ([`rate_change`], [`hour_change`]). How fast windows
//! fill is kept beside them ([`bursts`]).
//! Where a window was overrun, nobody watched between the last look and its oldest entry. The
//! model has no wish and no price.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! let mut model = ModelKind::Tide.start();
//! // Every day at ten, for twenty days.
//! let daily: Vec<Time> = (0..20).map(|d| Time::from_secs(d * 86_400 + 36_000)).collect();
//! let at = Time::from_secs(20 * 86_400);
//! model.learn(&Observation::first(at, &daily));
//! let hour = |h: i64| model.expect(at.shifted(h * 3_600_000), at.shifted((h + 1) * 3_600_000));
//! assert!(hour(10) > 8.0 * hour(3));
//! ```

mod between_polls;
mod bursts;
mod cold_start;
mod day_shapes;
mod daylight_saving;
mod encoding;
mod half_days;
mod hour_change;
mod lag_bound;
mod level;
mod max_overlap;
mod minutes;
mod mixture;
mod new_entries;
mod posting_times;
mod rate_change;
mod rhythm;
mod undated;
mod visibility;
mod visibility_lag;

use feed::{Observation, Time};

pub(crate) use bursts::{Bursts, WINDOW_MIN};
use daylight_saving::DaylightSaving;
pub(super) use encoding::TideLayout;
use hour_change::HourChange;
use level::RateLevel;
pub(crate) use minutes::Minutes;
use new_entries::NewEntries;
pub use posting_times::{BusyDays, PostingTimes};
use rate_change::RateChange;
use rhythm::WeeklyRhythm;
pub use visibility::Visibility;
use visibility_lag::VisibilityLag;

use super::HourlyRates;
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
pub struct TideModel {
    last: Option<Time>,
    /// The longest window seen: how many entries fit before one is missed.
    window_max: u32,
    level: RateLevel,
    rhythm: WeeklyRhythm,
    minutes: Minutes,
    lag: VisibilityLag,
    dst: DaylightSaving,
    rate_change: RateChange,
    hour_change: HourChange,
    bursts: Bursts,
    /// Entries per second in each hour of the week, from the epoch's Thursday on.
    week: HourlyRates,
}

impl Default for TideModel {
    fn default() -> TideModel {
        let week = HourlyRates { hours: vec![0.0; WEEK_HOURS], zone_secs: 0 };
        let (last, window_max, bursts) = Default::default();
        let (level, rhythm, minutes, lag, dst, rate_change, hour_change) = Default::default();
        let mut tide = TideModel {
            last,
            window_max,
            level,
            rhythm,
            minutes,
            lag,
            dst,
            rate_change,
            hour_change,
            bursts,
            week,
        };
        tide.recompute();
        tide
    }
}

impl TideModel {
    /// Takes in one poll. What was not answered teaches nothing.
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        if self.last.is_some_and(|last| o.at < last) {
            // A clock that was set back has watched nothing; the next gap begins here.
            self.last = Some(o.at);
            self.dst.set_season(o.at);
            return self.recompute();
        }
        if !o.partial {
            self.window_max =
                self.window_max.max(u32::try_from(o.window.len()).unwrap_or(u32::MAX));
        }
        self.dst.set_season(o.at);
        self.learn_burst(o);
        match (self.last, o.window.split_first()) {
            (Some(last), _) => {
                let new = NewEntries::new(o.new, o.late, o.at);
                self.lag.learn(new.dates(), last, o.at);
                self.detect_dst(&new, o.at);
                self.test_hours(&new, last, o.at);
                let rate = self.level.rate();
                let gap = self.learn_interval(last, &new, o.at, o.suspected_miss, rate);
                self.rate_change.learn(gap, rate);
                if !self.hour_change.is_uncertain() {
                    self.rate_change
                        .changed()
                        .into_iter()
                        .for_each(|since| self.level.restart_short_span(since));
                }
                self.distribute_undated(new.n_undated, last, o.at);
            }
            (None, Some((oldest, rest))) if *oldest < o.at => {
                self.learn_first_window(*oldest, rest, o.at)
            }
            // Without dates a first window says only how many entries fit.
            (None, _) => {}
        }
        self.last = Some(o.at);
        self.recompute();
    }

    /// Draws from what was counted what is to be expected.
    fn recompute(&mut self) {
        self.rhythm.recompute();
        self.minutes.recompute(self.lag.visibility);
        self.rhythm.factors.spread(self.level.rate(), &mut self.week.hours);
        // They are those of the feed's clock.
        self.week.hours.rotate_left(self.dst.ahead);
    }
}

impl TideModel {
    /// The mean rate, in entries per second.
    ///
    /// ```
    /// use feed::{Observation, Time};
    /// use polling::model::{Model, ModelKind};
    ///
    /// let mut model = ModelKind::Tide.start();
    /// let hourly: Vec<Time> = (0..20).map(|h| Time::from_secs(h * 3600)).collect();
    /// model.learn(&Observation::first(Time::from_secs(72_000), &hourly));
    /// let Model::Tide(tide) = model else { unreachable!("asked for") };
    /// assert_eq!((tide.window_max(), tide.last()), (20, Some(Time::from_secs(72_000))));
    /// assert!((20.0..28.0).contains(&(tide.rate() * 86_400.0)));
    /// ```
    pub fn rate(&self) -> f64 {
        self.level.rate()
    }

    /// How many entries that rests on.
    pub(crate) fn n_known(&self) -> f64 {
        self.level.n_known()
    }

    pub fn last(&self) -> Option<Time> {
        self.last
    }

    pub fn window_max(&self) -> u32 {
        self.window_max
    }

    pub(crate) fn bursts(&self) -> &Bursts {
        &self.bursts
    }

    pub(crate) fn slots(&self) -> Slots<'_> {
        self.week.slots()
    }

    pub(crate) fn minutes(&self) -> &Minutes {
        &self.minutes
    }

    pub(in crate::model) fn week(&self) -> &HourlyRates {
        &self.week
    }
}
