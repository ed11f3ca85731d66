//! `indhist:θ`, `indhist:θ,week` — poll when the hourly model expects θ new entries (dissertation
//! 003, sections 2.5.4 and 4.2; Gal and Eckstein 2001, Bright, Gal and Raschid 2006).
//!
//! The rates λ_h of the (partial) hours from τ_z on are summed until they reach θ: that is the next
//! poll. An all-zero model is undefined. The model is [`Histogram`]: trained beforehand on a
//! history, or daily from observations ([`SlidingDays`]).
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy, policy::Training};
//!
//! let policy: Policy = "indhist:0.5".parse().unwrap();
//! let noons: Vec<Time> = (0..7).map(|d| Time::from_secs(d * 86_400 + 43_200)).collect();
//! let end = Time::from_secs(7 * 86_400);
//! let training = Training { history: &noons, start: Time::from_secs(0), end, zone_secs: 0 };
//! let learned = policy.train(&training);
//! let seen = Observation::first(end, &noons);
//! // One entry a day, between noon and one: half of it is expected by half past twelve.
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.at, Time::from_secs(7 * 86_400 + 45_000));
//! ```

use feed::Observation;

use crate::bytes::ByteReader;
use crate::model::histogram::{Histogram, Period};
use crate::model::sliding_days::SlidingDays;
use crate::policy::wish::Proposal;
use crate::{Decimal, RuleCase, UndefinedCause};

/// The source of an hourly model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hourly {
    /// Trained beforehand and not changed.
    Trained(Histogram),
    /// Learned daily.
    Daily(SlidingDays, Period),
}

impl Hourly {
    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if let Hourly::Daily(days, _) = self {
            days.learn(o);
        }
    }

    pub(crate) fn histogram(&self) -> Option<Histogram> {
        match self {
            Hourly::Trained(histogram) => Some(histogram.clone()),
            Hourly::Daily(days, period) => days.histogram(*period),
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Hourly::Daily(days, _) => {
                bytes.push(0);
                days.write(bytes);
            }
            Hourly::Trained(h) => {
                bytes.push(1);
                bytes.extend(h.zone_secs.to_le_bytes());
                bytes.extend((h.days as u32).to_le_bytes());
                bytes.push((h.counts.len() / 24) as u8);
                // A count above u32::MAX would take an entry per second for a century.
                let counts = h.counts.iter().map(|c| u32::try_from(*c).unwrap_or(u32::MAX));
                bytes.extend(counts.flat_map(u32::to_le_bytes));
            }
        }
    }

    /// Reads a model for `period`; the daily counts serve every period.
    pub(crate) fn read(reader: &mut ByteReader<'_>, period: Period) -> Option<Hourly> {
        if reader.u8()? == 0 {
            return Some(Hourly::Daily(SlidingDays::read(reader)?, period));
        }
        let zone_secs = reader.bytes().map(i32::from_le_bytes)?;
        let days = u64::from(reader.u32()?);
        if usize::from(reader.u8()?) * 24 != period.hours() || days == 0 {
            return None;
        }
        let mut counts = Vec::with_capacity(period.hours());
        for _ in 0..period.hours() {
            counts.push(u64::from(reader.u32()?));
        }
        Some(Hourly::Trained(Histogram { period, counts, days, zone_secs }))
    }
}

/// Proposes the earliest time with θ entries expected.
pub(crate) fn propose(model: Option<&Histogram>, theta: Decimal, o: &Observation<'_>) -> Proposal {
    let Some(model) = model else { return Proposal::Undefined(UndefinedCause::Untrained) };
    match model.reach(o.at, theta) {
        Some(next) => {
            let interval = next.plus(-i128::from(o.at.millis()));
            let per_day = model.counts.iter().sum::<u64>() as f64 / model.days as f64;
            Proposal::After(interval, RuleCase::IndHist { theta, per_day: per_day as f32 })
        }
        None => Proposal::Undefined(UndefinedCause::ZeroModel),
    }
}
