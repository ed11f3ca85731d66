//! `lihz:σ` — by weekday: the probability that the feed changes on that day (dissertation 003,
//! section 2.7.3; Lee, Im, Hwang and Zhang 2008).
//!
//! P_t = a·β_t + (1 − a)·δ_u/δ_g with a = 0.9. The share β_t is that of the weekday's past days
//! with a change; δ_u/δ_g is that of all past days. Polls lie whole days apart: P is summed from
//! the next day on until σ is reached. Changes count for the day on which they were found.
//! Training: a poll every 24 hours until seven days were seen; the first poll only sets the start.
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

/// Days seen and days with a change, Monday first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeekdayCounts {
    seen: [u16; 7],
    changed: [u16; 7],
    /// The last day that was polled, and whether its change is counted already.
    last: Option<(i64, bool)>,
    /// Trained beforehand and not changed.
    frozen: bool,
    zone_secs: i32,
}

impl WeekdayCounts {
    pub const fn new() -> WeekdayCounts {
        WeekdayCounts::from_counts([0; 7], [0; 7])
    }

    pub const fn from_counts(seen: [u16; 7], changed: [u16; 7]) -> WeekdayCounts {
        WeekdayCounts { seen, changed, last: None, frozen: false, zone_secs: 0 }
    }

    /// Trains with polls at start + k·24 h; the first only sets the start.
    pub fn train(training: &Training<'_>) -> WeekdayCounts {
        let mut week = WeekdayCounts { zone_secs: training.zone_secs, ..WeekdayCounts::new() };
        let day = std::time::Duration::from_millis(DAY_MS.unsigned_abs());
        let (mut before, mut poll) = (training.start, training.start + day);
        while poll <= training.end && before < poll {
            let new_until = |t: Time| training.history.partition_point(|entry| *entry <= t);
            week.count(poll, new_until(poll) > new_until(before), u16::MAX);
            (before, poll) = (poll, poll + day);
        }
        week.frozen = true;
        week
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() || self.frozen {
            return;
        }
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
            Some(_) => {
                self.count(o.at, !o.new.is_empty(), SEEN_MAX);
                self.last = Some((day, !o.new.is_empty()));
            }
        }
    }

    /// Counts one more day; earlier days are halved once there are `most`.
    fn count(&mut self, at: Time, changed: bool, most: u16) {
        let w = weekday(day_of(at, self.zone_secs));
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
        if n_days < TRAINING_DAYS && !self.frozen {
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
        bytes.push(u8::from(counted) | u8::from(self.frozen) << 1);
    }

    /// Reads the counts. Version 1 of the learned state kept them in one byte each.
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
        let week = WeekdayCounts::from_counts(seen, changed);
        // More changes than days were never written.
        let sane = seen.iter().zip(&changed).all(|(seen, changed)| changed <= seen);
        sane.then_some(WeekdayCounts { last, frozen: flags & 2 == 2, zone_secs, ..week })
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
