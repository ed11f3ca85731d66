//! Detects a change of a feed's posting hours. The rhythm decays over three months. An author who
//! moves to another continent, or hands over to a timer, must not be polled at the old hours for so
//! long.
//!
//! Each entry adds evidence that its hour is random: minus the log of that hour's activity factor.
//! The evidence is summed over whole days, because a night comes all at once and speaks against
//! every day. One day counts for at most a factor of twenty. After about four such days most counts
//! of the hours are dropped, so that the prior and new entries decide.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // An hour of the morning for two months, then one of the evening for a week.
//! let mut model = ModelKind::Tide.start();
//! let day = |d: i64| Time::from_secs(d * 86_400);
//! for d in 0..68 {
//!     let born = |i: i64| day(d).shifted(if d < 61 { 9 } else { 21 } * 3_600_000 + i * 300_000);
//!     let new: Vec<Time> = (0..12).map(born).collect();
//!     model.learn(&Observation::first(day(d + 1), &new));
//! }
//! let hour = |h: i64| {
//!     model.expect(day(68).shifted(h * 3_600_000), day(68).shifted((h + 1) * 3_600_000))
//! };
//! assert!(hour(21) > 2.0 * hour(9), "{} {}", hour(21), hour(9));
//! ```

use feed::Time;

use super::TideModel;
use super::new_entries::NewEntries;
use super::rhythm::WeeklyRhythm;

const HOUR_MS: i64 = 3_600_000;
/// The largest evidence of one day: bursts last for hours, and people have a bad night.
const DAY_MAX: f32 = 3.0;
/// The evidence at which the hours are learned again.
const EVIDENCE_MIN: f32 = 10.0;
/// From this evidence on the hours are uncertain: a feed that is silent at its usual hours may only
/// have moved.
const UNCERTAIN_FROM: f32 = 2.0;
/// The entries that remain in the counts of the hours after a change.
const ENTRIES_LEFT: f64 = 3.0;

/// The evidence against the learned hours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HourChange {
    pub(super) evidence: f32,
    /// The evidence of the current day.
    pub(super) today: f32,
}

impl HourChange {
    /// Ends the day. Returns whether the hours have changed.
    fn end_day(&mut self) -> bool {
        let added = self.today.clamp(-DAY_MAX, DAY_MAX);
        let evidence = (self.evidence + added).max(0.0);
        let changed = evidence > EVIDENCE_MIN;
        *self = HourChange { evidence: if changed { 0.0 } else { evidence }, today: 0.0 };
        changed
    }

    pub(super) fn is_uncertain(&self) -> bool {
        self.evidence + self.today >= UNCERTAIN_FROM
    }
}

impl TideModel {
    /// Returns the number of entries that the hours are worth now: few after a change, or while one
    /// is suspected.
    pub(crate) fn n_hours(&self) -> f64 {
        if self.hour_change.is_uncertain() {
            return self.rhythm.n_hours().min(WeeklyRhythm::default().n_hours() + ENTRIES_LEFT);
        }
        self.rhythm.n_hours()
    }

    /// Tests whether the entries since the last poll keep to the feed's hours.
    pub(super) fn test_hours(&mut self, new: &NewEntries<'_>, last: Time, at: Time) {
        let hour = |at: Time| self.local_time(at).millis().div_euclid(HOUR_MS);
        let busy = |date: &Time| self.rhythm.factors.hours[hour(*date).rem_euclid(24) as usize];
        let added: f64 = new.dated.iter().map(|date| -busy(date).ln()).sum();
        let is_over = hour(last).div_euclid(24) != hour(at).div_euclid(24);
        if added.is_finite() {
            self.hour_change.today += (added * self.rate_change.independent()) as f32;
        }
        if is_over && self.hour_change.end_day() {
            self.rhythm.discount_hours();
        }
    }
}

impl WeeklyRhythm {
    /// Keeps only a small part of the hour counts.
    fn discount_hours(&mut self) {
        let seen: f64 = self.hours.iter().map(|share| share.seen).sum();
        let kept = if seen > ENTRIES_LEFT { ENTRIES_LEFT / seen } else { 1.0 };
        for share in &mut self.hours {
            share.seen *= kept;
            share.expected *= kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_night_is_not_enough_and_usual_days_make_up_for_it() {
        let mut changed = HourChange::default();
        let mut day = |added: f32| {
            changed.today = added;
            changed.end_day()
        };
        assert!(!day(400.0) && !day(400.0) && !day(400.0), "three days are 9");
        assert!(!day(-5.0) && !day(3.0), "6, then 9 again");
        assert!(day(3.0), "12");
        assert_eq!(changed, HourChange::default());
    }

    /// Returns how often the hours were learned again in 200 days of 100 entries each, every tenth
    /// of them at night, polled every two hours.
    fn n_changes(is_day: impl Fn(i64, i64) -> bool) -> usize {
        let (mut tide, mut n, mut i) = (TideModel::default(), 0, 0_u64);
        for poll in 0..200 * 12 {
            let begin = Time::from_secs(poll * 7200);
            let rate = if is_day(poll / 12, poll % 12 * 2) { 15.0 } else { 1.67 };
            let mut new = Vec::new();
            for minute in 0..120 {
                i += 1;
                let chance = (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64;
                if chance / (1_u64 << 24) as f64 <= rate / 120.0 {
                    new.push(begin.shifted(minute * 60_000));
                }
            }
            let seen =
                |tide: &TideModel| tide.rhythm.hours.iter().map(|share| share.seen).sum::<f64>();
            let before = seen(&tide);
            tide.learn(&feed::Observation::first(begin.shifted(2 * HOUR_MS), &new).with_overlap(1));
            n += usize::from(seen(&tide) < 0.5 * before);
        }
        n
    }

    #[test]
    fn a_steady_day_shows_no_change_and_a_shifted_one_shows_one() {
        let is_day = |hour: i64| (6..18).contains(&hour);
        assert_eq!(n_changes(|_, hour| is_day(hour)), 0);
        assert_eq!(n_changes(|day, hour| is_day(hour) != (day >= 100)), 1);
    }
}
