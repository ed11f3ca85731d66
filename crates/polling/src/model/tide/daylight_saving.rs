//! Detects whether a feed follows daylight saving time. A person who posts at nine posts one hour
//! earlier by UTC in summer.
//!
//! It knows two rules, those of North America and of Europe. For three weeks after a clock change
//! each entry adds evidence. It is the log ratio of two activities of its hour: if the day moved
//! with the clock, and if it did not. With enough evidence the hours of the feed are counted in
//! that local time, and later clock changes are known in advance.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // Noon in New York, every day from New Year of 2021 on: 17:00, and from 14 March on 16:00 UTC.
//! let mut model = ModelKind::Tide.start();
//! let day = |d: i64| 1_609_459_200 + d * 86_400;
//! let noon = |d: i64| Time::from_secs(day(d) + if d < 72 { 17 } else { 16 } * 3600);
//! for d in 0..76 {
//!     let new = [noon(d)];
//!     model.learn(&Observation::first(Time::from_secs(day(d) + 64_800), &new));
//! }
//! let hour = |h: i64| Time::from_secs(day(76) + h * 3600);
//! assert!(model.expect(hour(16), hour(17)) > 1.2 * model.expect(hour(17), hour(18)));
//! ```

use feed::Time;

use super::TideModel;
use super::new_entries::NewEntries;

const HOUR_MS: i64 = 3_600_000;
const DAY_SECS: i64 = 86_400;
const YEAR_SECS: i64 = 31_556_952;
/// The time after a clock change in which entries are evidence.
const EVIDENCE_WINDOW_SECS: i64 = 21 * DAY_SECS;
/// The largest evidence of one poll, and in total: entries come in bursts, and people move.
const POLL_MAX: f64 = 3.0;
const ALL_MAX: f64 = 6.0;
/// The evidence at which a rule is adopted or dropped.
const EVIDENCE_MIN: f64 = 2.5;

/// A daylight saving rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DstRule {
    America,
    Europe,
}

pub(super) const DST_RULES: [DstRule; 2] = [DstRule::America, DstRule::Europe];

/// The rule that a feed follows, and the evidence for each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DaylightSaving {
    pub(super) rule: Option<DstRule>,
    pub(super) evidence: [f32; 2],
    /// The hours by which the feed's clock is ahead of UTC. Only hours are counted by that clock.
    pub(super) ahead: usize,
}

/// The direction in which the hours counted so far move to fit the new clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HourRotation {
    None,
    Later,
    Earlier,
}

impl DaylightSaving {
    /// Sets the offset that the rule has at `at`.
    pub(super) fn set_season(&mut self, at: Time) {
        self.ahead = self.rule.map_or(0, |rule| usize::from(rule.season(at).summer));
    }

    /// Learns from entries that fall into these hours of the feed's clock. `busy` is the activity
    /// of each hour so far.
    pub(super) fn learn(&mut self, hours: &[usize], busy: &[f64; 24], at: Time) -> HourRotation {
        for (i, rule) in DST_RULES.into_iter().enumerate() {
            let season = rule.season(at);
            let follows = self.rule == Some(rule);
            if at.secs() - season.since > EVIDENCE_WINDOW_SECS || (self.rule.is_some() && !follows)
            {
                continue;
            }
            // The hour of the old day in which the entry falls, if the rule holds and if it does
            // not.
            let step = if season.summer { 1 } else { 23 };
            let (with, without) = if follows { (0, 24 - step) } else { (step, 0) };
            let log_ratio =
                |hour: &usize| (busy[(hour + with) % 24] / busy[(hour + without) % 24]).ln();
            let added: f64 = hours.iter().map(log_ratio).filter(|added| added.is_finite()).sum();
            let all = f64::from(self.evidence[i]) + added.clamp(-POLL_MAX, POLL_MAX);
            self.evidence[i] = all.clamp(-ALL_MAX, ALL_MAX) as f32;
            let changed = if follows { all < -EVIDENCE_MIN } else { all > EVIDENCE_MIN };
            if changed {
                self.rule = (!follows).then_some(rule);
                // Hours counted before an autumn change are those of summer, in which the two
                // clocks differ.
                return match (season.summer, follows) {
                    (true, _) => HourRotation::None,
                    (false, false) => HourRotation::Later,
                    (false, true) => HourRotation::Earlier,
                };
            }
        }
        HourRotation::None
    }
}

impl TideModel {
    /// Returns a time shifted to the feed's clock.
    pub(super) fn local_time(&self, at: Time) -> Time {
        at.shifted(self.dst.ahead as i64 * HOUR_MS)
    }

    /// Tests the new entries for a rule.
    pub(super) fn detect_dst(&mut self, new: &NewEntries<'_>, at: Time) {
        // Clocks change in March, October and November only.
        let day = at.secs().rem_euclid(YEAR_SECS) / DAY_SECS;
        if new.dated.is_empty() || !(60..120).contains(&day) && !(290..340).contains(&day) {
            return;
        }
        let hour = |date: &Time| self.local_time(*date).millis().div_euclid(HOUR_MS).rem_euclid(24);
        let hours: Vec<usize> = new.dated.iter().map(|date| hour(date) as usize).collect();
        match self.dst.learn(&hours, &self.rhythm.factors.hours, at) {
            HourRotation::None => {}
            HourRotation::Later => self.rhythm.hours.rotate_right(1),
            HourRotation::Earlier => self.rhythm.hours.rotate_left(1),
        }
        self.dst.set_season(at);
    }
}

/// Whether a rule has summer time, and since when.
struct DstSeason {
    summer: bool,
    since: i64,
}

impl DstRule {
    fn season(self, at: Time) -> DstSeason {
        let secs = at.secs();
        // A few days around New Year may count for the neighbouring year: both are winter.
        let year = 1970 + secs.div_euclid(YEAR_SECS);
        let [spring, autumn] = self.changes(year);
        if secs < spring {
            DstSeason { summer: false, since: self.changes(year - 1)[1] }
        } else if secs < autumn {
            DstSeason { summer: true, since: spring }
        } else {
            DstSeason { summer: false, since: autumn }
        }
    }

    /// Returns the start and end of summer time in a year, in seconds since the epoch. The zones of
    /// America change within three hours of each other; this is the middle.
    fn changes(self, year: i64) -> [i64; 2] {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let before = |y: i64| (y - 1) / 4 - (y - 1) / 100 + (y - 1) / 400;
        let march = 365 * (year - 1970) + before(year) - before(1970) + 59 + i64::from(is_leap);
        match self {
            DstRule::America => [
                (sunday_from(march) + 7) * DAY_SECS + 9 * 3600,
                sunday_from(march + 245) * DAY_SECS + 8 * 3600,
            ],
            DstRule::Europe => [
                sunday_from(march + 24) * DAY_SECS + 3600,
                sunday_from(march + 238) * DAY_SECS + 3600,
            ],
        }
    }
}

/// Returns the first Sunday on or after a day. The epoch was a Thursday.
fn sunday_from(day: i64) -> i64 {
    day + (3 - day).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summer_begins_and_ends_as_the_calendars_say() {
        let told = |rule: DstRule, year| rule.changes(year).map(|s| Time::from_secs(s).to_string());
        assert_eq!(told(DstRule::America, 2021), ["2021-03-14T09:00:00Z", "2021-11-07T08:00:00Z"]);
        assert_eq!(told(DstRule::Europe, 2024), ["2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z"]);
        assert_eq!(told(DstRule::America, 2000)[0], "2000-03-12T09:00:00Z");
    }

    #[test]
    fn a_feed_that_does_not_move_is_not_taken_for_one_that_does() {
        let mut busy = [0.5; 24];
        busy[9] = 12.0;
        let mut clock = DaylightSaving::default();
        for day in 0..40 {
            let at = Time::from_secs(1_615_766_400 + day * DAY_SECS);
            assert_eq!(clock.learn(&[9], &busy, at), HourRotation::None);
        }
        assert_eq!((clock.rule, clock.evidence), (None, [-6.0, -6.0]));
    }
}
