//! An offline profile that is learned live: watched for a fortnight, then used without a change
//! (Horincar, Amann and Artières 2012, section 6.3; source 000).
//!
//! The paper repeats learning periods to update the profiles. A new period begins 90 days after the
//! last one ended, or when the profile does not fit any more. The measure is the mean deviance of
//! the counts found, 2·(x·ln(x/e) − x + e) with e expected. It is about 1 while the profile fits.
//! A new period begins above 4. The old profile is used until the new one is
//! complete; before the first one the fortnight's histogram of each day is.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::offline::OfflineProfile;
//!
//! let mut model = OfflineProfile::default();
//! let at = |day: i64, hour: i64| Time::from_secs((day * 24 + hour) * 3600);
//! for day in 0..20 {
//!     let noon = [at(day, 12)];
//!     model.learn(&Observation::seen(at(day, 18), &noon, &noon));
//! }
//! assert!(model.is_frozen());
//! ```

use feed::{Observation, Time};

use super::HourlyRates;
use super::sliding_days::{DAYS, SlidingDays};
use crate::bytes::ByteReader;

const DAY_MS: i64 = 86_400_000;
/// Days after which a profile is learned again.
const VALID_DAYS: i64 = 90;
/// The mean deviance above which a profile fits no longer.
const MISFIT: f64 = 4.0;
/// The weight of the newest poll in that mean: about a month of daily polls.
const MISFIT_WEIGHT: f64 = 0.05;
/// The most that one poll may add: a single burst is not another habit.
const DEVIANCE_MAX: f64 = 40.0;
/// Fewer entries than this are expected by no profile, so that zero is not infinitely wrong.
const EXPECTED_MIN: f64 = 0.05;

/// A profile of the day, and the days from which the next one is made.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineProfile {
    days: SlidingDays,
    /// The frozen profile, if one was completed.
    profile: Option<HourlyRates>,
    /// The rates in use: the profile, or what the fortnight shows so far.
    rates: Option<HourlyRates>,
    /// The day on which the present learning period began; `None` while the profile is valid.
    learns_since: Option<i64>,
    /// The day on which the profile was completed.
    frozen_on: i64,
    misfit: f64,
    last: Option<Time>,
}

impl Default for OfflineProfile {
    fn default() -> OfflineProfile {
        OfflineProfile {
            days: SlidingDays::default(),
            profile: None,
            rates: None,
            learns_since: None,
            frozen_on: i64::MIN,
            misfit: 1.0,
            last: None,
        }
    }
}

impl OfflineProfile {
    pub fn rates(&self) -> Option<&HourlyRates> {
        self.rates.as_ref()
    }

    /// Returns whether a profile is in use that does not change.
    pub fn is_frozen(&self) -> bool {
        self.profile.is_some() && self.learns_since.is_none()
    }

    /// Returns the entries of the days that are kept.
    pub(crate) fn n_entries(&self) -> f64 {
        self.days.n_entries()
    }

    pub fn last(&self) -> Option<Time> {
        self.last
    }

    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        let today = o.at.millis().div_euclid(DAY_MS);
        self.judge(o);
        self.days.learn(o);
        self.last = Some(o.at);
        // A day in the future comes from a clock that was ahead, or from damaged state.
        self.learns_since = self.learns_since.map(|since| since.min(today));
        self.frozen_on = self.frozen_on.min(today);
        let fits = self.misfit < MISFIT && today < self.frozen_on.saturating_add(VALID_DAYS);
        if self.learns_since.is_none() && !(self.profile.is_some() && fits) {
            self.learns_since = Some(today);
        }
        if self.learns_since.is_some_and(|since| today.saturating_sub(since) >= DAYS) {
            self.profile = self.days.rates().map(|rates| HourlyRates {
                // As they are stored.
                hours: rates.hours.iter().map(|rate| f64::from(*rate as f32)).collect(),
                ..rates
            });
            (self.learns_since, self.frozen_on, self.misfit) = (None, today, 1.0);
        }
        self.show();
    }

    /// Compares what a poll found with the frozen profile.
    fn judge(&mut self, o: &Observation<'_>) {
        let (Some(profile), Some(last)) = (&self.profile, self.last) else { return };
        if o.at <= last {
            return;
        }
        let local = |t: Time| profile.local(t);
        let expected = profile.slots().expect(local(last), local(o.at)).max(EXPECTED_MIN);
        let x = o.new.len() as f64;
        let log = if x > 0.0 { x * (x / expected).ln() } else { 0.0 };
        let deviance = (2.0 * (log - x + expected)).min(DEVIANCE_MAX);
        self.misfit += MISFIT_WEIGHT * (deviance - self.misfit);
    }

    fn show(&mut self) {
        self.rates = self.profile.clone().or_else(|| self.days.rates());
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        crate::bytes::put_time(bytes, self.last);
        bytes.extend(self.learns_since.unwrap_or(i64::MIN).to_le_bytes());
        bytes.extend(self.frozen_on.to_le_bytes());
        bytes.extend(self.misfit.to_le_bytes());
        bytes.push(u8::from(self.profile.is_some()));
        let hours = self.profile.iter().flat_map(|p| p.hours.iter());
        // An f32 is exact enough for a rate, and keeps the state within a kilobyte.
        bytes.extend(hours.flat_map(|rate| (*rate as f32).to_le_bytes()));
        self.days.write(bytes);
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<OfflineProfile> {
        let last = reader.time()?;
        let learns_since = Some(reader.i64()?).filter(|day| *day != i64::MIN);
        let frozen_on = reader.i64()?;
        let misfit = reader.f64().filter(|m| (0.0..=DEVIANCE_MAX).contains(m))?;
        let mut profile = None;
        if reader.u8()? == 1 {
            let rate = |reader: &mut ByteReader<'_>| {
                let rate = f64::from(reader.bytes().map(f32::from_le_bytes)?);
                (rate.is_finite() && rate >= 0.0).then_some(rate)
            };
            let hours: Option<Vec<f64>> = (0..24).map(|_| rate(reader)).collect();
            profile = Some(HourlyRates { hours: hours?, zone_secs: 0 });
        }
        let days = SlidingDays::read(reader)?;
        let rates = None;
        let mut read =
            OfflineProfile { days, profile, rates, learns_since, frozen_on, misfit, last };
        read.show();
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64, hour: i64) -> Time {
        Time::from_secs((day * 24 + hour) * 3600)
    }

    /// Days with entries at one hour, polled twice a day.
    fn live(model: &mut OfflineProfile, days: std::ops::Range<i64>, hour: i64, n: usize) {
        for day in days {
            let new: Vec<Time> = vec![at(day, hour); n];
            let (early, late): (&[Time], &[Time]) =
                if hour < 12 { (&new, &[]) } else { (&[], &new) };
            model.learn(&Observation::seen(at(day, 12), early, early));
            model.learn(&Observation::seen(at(day, 23), late, late));
        }
    }

    #[test]
    fn a_profile_is_kept_for_90_days_and_learned_again_when_it_fits_no_longer() {
        let mut model = OfflineProfile::default();
        live(&mut model, 0..13, 8, 5);
        assert!(!model.is_frozen());
        live(&mut model, 13..30, 8, 5);
        assert!(model.is_frozen());
        let frozen = model.profile.clone();
        live(&mut model, 30..60, 8, 6);
        assert!(model.is_frozen() && model.profile == frozen, "it fits: {}", model.misfit);
        // Another habit: thirty entries in the evening.
        live(&mut model, 60..68, 20, 30);
        assert!(!model.is_frozen(), "{}", model.misfit);
        assert_eq!(model.profile, frozen, "the old one is used until the new one is complete");
        live(&mut model, 68..85, 20, 30);
        assert!(model.is_frozen() && model.profile != frozen);
        let hours = &model.rates().unwrap().hours;
        assert!(hours[20] > 20.0 * hours[8], "{hours:?}");
        live(&mut model, 85..176, 20, 30);
        assert!(model.learns_since.is_some(), "after 90 days it is learned again");
    }

    #[test]
    fn days_that_no_poll_can_have_neither_stop_the_process_nor_the_learning() {
        for day in [i64::MIN + 1, i64::MAX] {
            let since = Some(day);
            let mut model =
                OfflineProfile { learns_since: since, frozen_on: day, ..Default::default() };
            live(&mut model, 0..30, 8, 5);
            assert!(model.is_frozen(), "{day}");
        }
    }
}
