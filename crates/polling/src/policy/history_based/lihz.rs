//! `lihz:σ` — by weekday: the probability that the feed changes on that day (dissertation 003,
//! section 2.7.3; Lee, Im, Hwang and Zhang 2008).
//!
//! P_t = a·β_t + (1 − a)·δ_u/δ_g with a = 0.9. The share β_t is that of the weekday's past days
//! with a change; δ_u/δ_g is that of all past days. Polls lie whole days apart: P is summed from
//! the next day on until σ is reached. Changes count for the day on which they were found. A day
//! that the rule did not poll counts as a day without a change.
//!
//! Training (section 4.4.1): a poll every 24 hours; the first poll only sets the start. Live it
//! lasts until seven days were seen, and learning goes on. In the lab the model stays as it was at
//! the end of training ([`WeekdayCounts::train`], or [`WeekdayCounts::in_training`] with own
//! polls).
//!
//! ```
//! use polling::policy::lihz::WeekdayCounts;
//!
//! // Table 2.2: after Monday, Tuesday has 0.36, Wednesday 0.8: at σ = 0.5 Wednesday is polled.
//! let seen = [7, 6, 6, 6, 6, 7, 7];
//! let changed = [3, 2, 5, 2, 2, 6, 5];
//! let week = WeekdayCounts::from_counts(seen, changed);
//! assert_eq!(week.days_until(0, "0.5".parse().unwrap()), Some(2));
//! ```

use feed::{Observation, Time};

use crate::bytes::ByteReader;
use crate::model::histogram::day_of;
use crate::policy::Training;
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, RuleCase, UndefinedCause};

const DAY_MS: i64 = 86_400_000;
/// a = 9/10.
const OWN_SHARE: (i128, i128) = (9, 10);
/// A year of each weekday. Beyond it, live, both counts are halved, so that old days fade. A known
/// history counts in full.
const SEEN_MAX: u16 = 52;
/// Days of training.
const TRAINING_DAYS: u32 = 7;
/// The most days without a poll that count as unchanged: the longest interval of the evaluation
/// (β). A longer pause was not the rule's decision.
const SKIPPED_MAX: i64 = 28;

/// Days seen and days with a change, Monday first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeekdayCounts {
    seen: [u16; 7],
    changed: [u16; 7],
    /// The last day that was polled, and whether its change is counted already.
    last: Option<(i64, bool)>,
    /// Trained beforehand and not changed.
    frozen: bool,
    /// The end of a training phase with own daily polls. The model is frozen afterwards.
    trains_until: Option<Time>,
    zone_secs: i32,
}

impl WeekdayCounts {
    pub const fn new() -> WeekdayCounts {
        WeekdayCounts::from_counts([0; 7], [0; 7])
    }

    pub const fn from_counts(seen: [u16; 7], changed: [u16; 7]) -> WeekdayCounts {
        WeekdayCounts { seen, changed, last: None, frozen: false, trains_until: None, zone_secs: 0 }
    }

    /// Trains with polls at start + k·24 h; the first only sets the start.
    pub fn train(training: &Training<'_>) -> WeekdayCounts {
        let mut week = WeekdayCounts { zone_secs: training.zone_secs, ..WeekdayCounts::new() };
        let every = std::time::Duration::from_millis(DAY_MS.unsigned_abs());
        let (mut before, mut poll) = (training.start, training.start + every);
        while poll <= training.end && before < poll {
            let new_until = |t: Time| training.history.partition_point(|entry| *entry <= t);
            let day = day_of(poll, week.zone_secs);
            week.count(day, new_until(poll) > new_until(before), u16::MAX);
            (before, poll) = (poll, poll + every);
        }
        week.frozen = true;
        week
    }

    /// Returns an empty model that polls daily until `end` and does not change afterwards.
    pub const fn in_training(end: Time, zone_secs: i32) -> WeekdayCounts {
        WeekdayCounts { trains_until: Some(end), zone_secs, ..WeekdayCounts::new() }
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() || self.frozen {
            return;
        }
        if self.trains_until.is_some_and(|end| o.at > end) {
            self.frozen = true;
            return;
        }
        // The last training poll is at the very end.
        self.frozen = self.trains_until == Some(o.at);
        let day = day_of(o.at, self.zone_secs);
        match &mut self.last {
            // The first poll sets the start: its entries are of many days.
            None => self.last = Some((day, true)),
            Some((last, counted)) if *last == day => {
                if !*counted && !o.new.is_empty() {
                    *counted = true;
                    // Damaged state may hold the largest count.
                    let changed = &mut self.changed[weekday(day)];
                    *changed = changed.saturating_add(1);
                }
            }
            Some((last, _)) => {
                for skipped in last.saturating_add(1).max(day.saturating_sub(SKIPPED_MAX))..day {
                    self.count(skipped, false, SEEN_MAX);
                }
                self.count(day, !o.new.is_empty(), SEEN_MAX);
                self.last = Some((day, !o.new.is_empty()));
            }
        }
    }

    /// Counts one more day; earlier days are halved once there are `most`.
    fn count(&mut self, day: i64, changed: bool, most: u16) {
        let w = weekday(day);
        if self.seen[w] >= most {
            self.seen[w] /= 2;
            self.changed[w] /= 2;
        }
        self.seen[w] += 1;
        self.changed[w] += u16::from(changed);
    }

    /// Returns P of a weekday, 0 = Monday; zero if nothing was seen.
    pub fn probability(&self, weekday: usize) -> Fraction {
        let sum = |counts: &[u16; 7]| counts.iter().map(|c| i128::from(*c)).sum::<i128>();
        let (changed, seen) = (sum(&self.changed), sum(&self.seen).max(1));
        let own = (self.changed[weekday], self.seen[weekday].max(1));
        let (a, whole) = OWN_SHARE;
        let by_day = Fraction::new(a * i128::from(own.0), whole * i128::from(own.1));
        by_day.add(Fraction::new((whole - a) * changed, whole * seen))
    }

    /// Returns the days from a poll on `weekday` until the sum of P reaches σ; `None` for an
    /// all-zero model.
    pub fn days_until(&self, weekday: usize, sigma: Decimal) -> Option<i64> {
        // Over one common divisor the sums are whole numbers.
        let p: [Fraction; 7] = std::array::from_fn(|w| self.probability(w));
        let divisor = p.iter().fold(1, |d, f| lcm(d, f.parts().1));
        let p = p.map(|f| f.parts().0 * (divisor / f.parts().1));
        let week: i128 = p.iter().sum();
        let (sigma_num, sigma_den) = sigma.fraction().parts();
        if week == 0 || sigma_num == 0 {
            return None;
        }
        let wanted = sigma_num * divisor;
        let weeks = (wanted + week * sigma_den - 1) / (week * sigma_den) - 1;
        let mut rest = wanted - weeks * week * sigma_den;
        for day in 1..=7 {
            rest -= p[(weekday + day) % 7] * sigma_den;
            if rest <= 0 {
                return i64::try_from(weeks * 7 + day as i128).ok();
            }
        }
        None
    }

    pub(crate) fn propose(&self, sigma: Decimal, o: &Observation<'_>) -> Proposal {
        let n_days: u32 = self.seen.iter().map(|n| u32::from(*n)).sum();
        let in_training = self.trains_until.is_some() || n_days < TRAINING_DAYS;
        if in_training && !self.frozen {
            let day = Fraction::whole(DAY_MS.into());
            return Proposal::After(day, RuleCase::LihzTraining { n_days });
        }
        if n_days == 0 {
            return Proposal::Undefined(UndefinedCause::Untrained);
        }
        match self.days_until(weekday(day_of(o.at, self.zone_secs)), sigma) {
            Some(days) => {
                let interval = Fraction::whole(i128::from(days) * i128::from(DAY_MS));
                Proposal::After(interval, RuleCase::Lihz { sigma, days })
            }
            None => Proposal::Undefined(UndefinedCause::ZeroModel),
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let counts = self.seen.iter().chain(&self.changed);
        bytes.extend(counts.flat_map(|c| c.to_le_bytes()));
        bytes.extend(self.zone_secs.to_le_bytes());
        let (day, counted) = self.last.unwrap_or((i64::MIN, false));
        bytes.extend(day.to_le_bytes());
        let trains = u8::from(self.trains_until.is_some());
        bytes.push(u8::from(counted) | u8::from(self.frozen) << 1 | trains << 2);
        if let Some(end) = self.trains_until {
            bytes.extend(end.millis().to_le_bytes());
        }
    }

    /// Reads the counts. Version 1 of the learned state kept them in one byte each. The end of
    /// training follows only if its flag is set, which older programs never did.
    pub(crate) fn read(reader: &mut ByteReader<'_>, version: u8) -> Option<WeekdayCounts> {
        let mut count = || match version {
            1 => reader.u8().map(u16::from),
            _ => reader.bytes().map(u16::from_le_bytes),
        };
        let (mut seen, mut changed) = ([0; 7], [0; 7]);
        for n in seen.iter_mut().chain(&mut changed) {
            *n = count()?;
        }
        let zone_secs = reader.bytes().map(i32::from_le_bytes)?;
        let day = reader.i64()?;
        let flags = reader.u8()?;
        let last = (day != i64::MIN).then_some((day, flags & 1 == 1));
        let trains_until =
            if flags & 4 == 4 { Some(Time::from_millis(reader.i64()?)) } else { None };
        let week = WeekdayCounts::from_counts(seen, changed);
        // More changes than days were never written.
        let sane = seen.iter().zip(&changed).all(|(seen, changed)| changed <= seen);
        let frozen = flags & 2 == 2;
        sane.then_some(WeekdayCounts { last, frozen, trains_until, zone_secs, ..week })
    }
}

/// Returns the weekday, 0 = Monday; the epoch was a Thursday.
fn weekday(day: i64) -> usize {
    (day + 3).rem_euclid(7) as usize
}

fn lcm(a: i128, b: i128) -> i128 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounds, Policy};

    /// A Monday at noon.
    const MONDAY: i64 = 4 * 86_400 + 43_200;

    fn observed(day: i64, new: &[Time]) -> Observation<'_> {
        Observation::seen(Time::from_secs(MONDAY + day * 86_400), new, new)
    }

    /// The example of section 2.7.3: on the Monday after table 2.2, Tuesday has 0.36. It is not
    /// polled, and 0 is entered for it. Wednesday has 0.8 and is polled.
    #[test]
    fn a_day_that_is_not_polled_counts_as_a_day_without_a_change() {
        let (seen, changed) = ([7, 6, 6, 6, 6, 7, 7], [3, 2, 5, 2, 2, 6, 5]);
        let monday = day_of(Time::from_secs(MONDAY), 0);
        let mut week = WeekdayCounts::from_counts(seen, changed);
        week.last = Some((monday, false));
        assert!((week.probability(1).to_f64() - 0.3555).abs() < 1e-3);
        let news = [Time::from_secs(MONDAY + 86_400)];
        week.learn(&observed(2, &news));
        assert_eq!((week.seen, week.changed), ([7, 7, 7, 6, 6, 7, 7], [3, 2, 6, 2, 2, 6, 5]));
        // A pause longer than any interval of the rule says little about the feed.
        let mut paused = week;
        paused.learn(&observed(1000, &[]));
        let days = |week: &WeekdayCounts| week.seen.iter().sum::<u16>();
        assert_eq!(days(&paused) - days(&week), 29);
        let mut set_back = week;
        set_back.learn(&observed(-5, &[]));
        assert_eq!(days(&set_back) - days(&week), 1);
    }

    /// Section 4.4.1: a poll every 24 hours in training, a multiple of a day afterwards.
    #[test]
    fn own_training_polls_give_the_model_that_a_history_gives() {
        let day = |d: i64| Time::from_secs(MONDAY + d * 86_400);
        let history: Vec<Time> = [0, 1, 3, 5].map(|d| day(d).shifted(3_600_000)).to_vec();
        let training = Training { history: &history, start: day(0), end: day(7), zone_secs: 0 };
        let policy: Policy = "lihz:1.0".parse().unwrap();
        let mut learned = policy.train_by_polling(&training);
        let mut at = day(0);
        for n_polls in 0..8 {
            assert_eq!(at, day(n_polls));
            let new: Vec<Time> = history.iter().copied().filter(|t| *t <= at).collect();
            let before = history.iter().filter(|t| **t <= day(n_polls - 1)).count();
            let o = Observation::seen(at, &new, &new[before..]);
            policy.learn(&mut learned, &o);
            learned = crate::Learned::decode(&policy, &learned.encode());
            at = policy.wish(&learned, &o, &Bounds::EVALUATION).at;
        }
        // 4 of 7 days had a change. From Monday on: Tuesday and Wednesday have 0.9 + 0.1·4/7.
        assert_eq!(at, day(9));
        let (own, given) = match (&learned.memory, policy.train(&training).memory) {
            (
                crate::policy::learned::PolicyState::Lihz(own),
                crate::policy::learned::PolicyState::Lihz(given),
            ) => (*own, given),
            _ => unreachable!("both are of lihz"),
        };
        assert_eq!((own.seen, own.changed), (given.seen, given.changed));
        let mut later = learned.clone();
        policy.learn(&mut later, &observed(9, &history));
        assert_eq!(later.memory, learned.memory, "frozen after training");
    }
}
