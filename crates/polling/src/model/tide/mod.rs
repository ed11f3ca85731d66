//! The model of `tide`: λ(s) = level · hour of the day · weekday · minute of the hour. Each factor
//! is shrunk towards a prior for typical feeds, the more the less history there is.
//!
//! - [`RateLevel`]: entries over watched time with slow decay; a Gamma–Poisson rate.
//! - [`WeeklyRhythm`]: activity of each hour and weekday relative to the mean. It is learned as
//!   entries seen over entries expected, so that a window of half a day does not look like a weekly
//!   rhythm.
//! - [`Minutes`]: the minutes of the hour at which timers post. `expect` ignores them; the policy
//!   uses them to choose the exact time.
//!
//! The model learns when entries became visible, not when they claim to be published. An entry that
//! is older than the last poll but was not found by it shows a lag ([`visibility_lag`]). Entries
//! without a date are distributed by expectation ([`undated`]); otherwise the model would learn the
//! poll times. Hours follow the feed's local clock if it has daylight saving ([`daylight_saving`]).
//! Change points of rate and hours restart the learning ([`rate_change`], [`hour_change`]).
//! [`bursts`] records how fast windows fill.
//!
//! After an overrun window the time between the last poll and the oldest entry counts as unwatched.
//! The model does not plan polls.
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
#[cfg(feature = "tuning")]
pub mod cluster_prior;
mod cold_start;
#[cfg(feature = "tuning")]
pub mod correction;
mod day_shapes;
mod daylight_saving;
mod encoding;
#[cfg(feature = "tuning")]
mod fine_day;
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
#[cfg(feature = "tuning")]
mod recent_activity;
#[cfg(feature = "tuning")]
pub mod recent_factors;
mod rhythm;
mod undated;
mod visibility;
mod visibility_lag;

use std::sync::LazyLock;

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
#[cfg(feature = "tuning")]
use recent_activity::RecentActivity;
use rhythm::WeeklyRhythm;
pub use visibility::Visibility;
use visibility_lag::VisibilityLag;

use super::HourlyRates;
use super::slots::Slots;

const HOUR_SECS: f64 = 3600.0;
const WEEK_HOURS: usize = 168;
/// Hours older than four weeks are not distinguished. They weigh little, and a window that spans
/// years would cost years of hours.
const DISTINCT_SECS: f64 = 28.0 * 86_400.0;
/// The most new entries that one poll learns from. Real windows are shorter.
const NEW_ENTRIES_MAX: usize = 512;

/// The learned counts of one feed, and the weekly rates computed from them.
#[derive(Clone, Debug, PartialEq)]
pub struct TideModel {
    last: Option<Time>,
    /// The longest window seen: the number of entries that fit before one is missed.
    window_max: u32,
    level: RateLevel,
    rhythm: WeeklyRhythm,
    minutes: Minutes,
    lag: VisibilityLag,
    dst: DaylightSaving,
    rate_change: RateChange,
    hour_change: HourChange,
    bursts: Bursts,
    /// For experiments only.
    #[cfg(feature = "tuning")]
    recent: RecentActivity,
    /// Entries per second in each hour of the week, from Thursday on.
    week: HourlyRates,
}

/// A model that has learned nothing. Each stored model is read into a copy of it.
static UNLEARNED: LazyLock<TideModel> = LazyLock::new(TideModel::unlearned);

impl Default for TideModel {
    fn default() -> TideModel {
        // Experiments change the constants from which the rates are computed.
        if cfg!(feature = "tuning") { TideModel::unlearned() } else { UNLEARNED.clone() }
    }
}

impl TideModel {
    /// Learns from one poll. A failed poll teaches nothing.
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        if self.last.is_some_and(|last| o.at < last) {
            // The clock was set back: nothing was watched, and the next interval begins here.
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
                self.learn_first_window(*oldest, rest, o.at);
            }
            // A first window without dates tells only how many entries fit.
            (None, _) => {}
        }
        self.last = Some(o.at);
        self.recompute();
    }

    fn unlearned() -> TideModel {
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
            #[cfg(feature = "tuning")]
            recent: RecentActivity::default(),
            week,
        };
        tide.recompute();
        tide
    }

    /// Recomputes the expected rates from the counts.
    fn recompute(&mut self) {
        self.rhythm.recompute();
        self.minutes.recompute(self.lag.visibility);
        self.rhythm.factors.spread(self.level.rate(), &mut self.week.hours);
        // The hours are those of the feed's clock.
        self.week.hours.rotate_left(self.dst.ahead);
    }
}

impl TideModel {
    /// Returns the mean rate, in entries per second.
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

    /// Returns the number of entries that the rate is worth now.
    pub(crate) fn n_effective(&self) -> f64 {
        self.level.n_effective()
    }

    /// Returns the number of entries on which the rate is based.
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
