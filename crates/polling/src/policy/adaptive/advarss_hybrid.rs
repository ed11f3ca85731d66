//! `advarss-hybrid` — an adaptive interval for a day, an hourly model of the last day afterwards
//! (dissertation 003, section 2.7.5; Adam, Bouras and Poulopoulos 2010, the later system).
//!
//! Training: unchanged → interval × 1.5, changed → × 0.2, within 10 and 800 minutes; for at least
//! 24 hours and until one new entry was seen. Afterwards the entries of the last 24 hours by hour
//! of day are the model, updated after every poll.
//!
//! The source ranks all feeds by expected entries and polls the top k. It specifies neither k, nor
//! the start, nor a day without entries. Our choice: a feed is due when one new entry is expected,
//! and the first interval is an hour. The training rule continues while the model is all zero. A
//! ranking under a budget belongs to a strategy.
//!
//! ```
//! use polling::policy::advarss_hybrid::next_interval_ms;
//!
//! assert_eq!(next_interval_ms(3_600_000, false), 5_400_000);
//! assert_eq!(next_interval_ms(3_600_000, true), 720_000);
//! assert_eq!(next_interval_ms(720_000, true), 600_000);
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::bytes::{ByteReader, put_time};
use crate::model::histogram::{Histogram, Period, hour_of};
use crate::policy::indhist;
use crate::policy::recent::Recent;
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, RuleCase};

const INTERVAL_MS: (u64, u64) = (10 * 60_000, 800 * 60_000);
const START_MS: u64 = 60 * 60_000;
const TRAINING: Duration = Duration::from_secs(86_400);
/// θ of the second phase.
const ONE: Decimal = Decimal::new(1, 0);
/// The bytes for the entries' gaps, which fill the kilobyte. A feed with more entries a day is in
/// effect a continuous stream.
const ROOM: usize = 940;

/// Applies the training rule.
pub fn next_interval_ms(interval_ms: u64, changed: bool) -> u64 {
    let next = if changed { interval_ms / 5 } else { interval_ms.saturating_mul(3) / 2 };
    next.clamp(INTERVAL_MS.0, INTERVAL_MS.1)
}

/// The interval, and the entries of the last day.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdvaRssHybridState {
    interval_ms: u64,
    first: Option<Time>,
    /// A new entry was found after the first poll.
    found: bool,
    recent: Recent,
}

impl AdvaRssHybridState {
    pub(crate) fn new() -> AdvaRssHybridState {
        let recent = Recent::new(86_400, ROOM);
        AdvaRssHybridState { interval_ms: START_MS, first: None, found: false, recent }
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        self.recent.learn(o.at, o.new);
        if self.first.is_none() {
            self.first = Some(o.at);
            return;
        }
        self.found |= !o.new.is_empty();
        self.interval_ms = next_interval_ms(self.interval_ms, !o.new.is_empty());
    }

    pub(crate) fn propose(&self, o: &Observation<'_>) -> Proposal {
        let trained = self.found && self.first.is_some_and(|first| o.at.since(first) >= TRAINING);
        let model = trained.then(|| self.last_day(o.at)).filter(|model| !model.is_zero());
        match model {
            Some(model) => indhist::propose(Some(&model), ONE, o),
            None => {
                let interval = Fraction::whole(self.interval_ms.into());
                let every = Duration::from_millis(self.interval_ms);
                Proposal::After(interval, RuleCase::AdvaRssTraining { every })
            }
        }
    }

    fn last_day(&self, at: Time) -> Histogram {
        let mut counts = vec![0; 24];
        for secs in self.recent.times_within(at) {
            counts[hour_of(Time::from_secs(secs), Period::Day, 0)] += 1;
        }
        Histogram { period: Period::Day, counts, days: 1, zone_secs: 0 }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.interval_ms.to_le_bytes());
        put_time(bytes, self.first);
        bytes.push(u8::from(self.found));
        self.recent.write(bytes);
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>, version: u8) -> Option<AdvaRssHybridState> {
        let interval_ms = reader.bytes().map(u64::from_le_bytes)?;
        let first = reader.time()?;
        let found = reader.u8()? == 1;
        let recent = AdvaRssHybridState::new().recent.read(reader, version)?;
        Some(AdvaRssHybridState { interval_ms, first, found, recent })
    }
}
