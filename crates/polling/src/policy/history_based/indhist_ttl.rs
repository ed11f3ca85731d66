//! `indhist-ttl:θ,M,V,T` — the hourly model, or AdaptiveTTL during a burst (dissertation 003,
//! section 2.5.4; Bright, Gal and Raschid 2006).
//!
//! After each poll the entries seen so far with a time in (τ − V, τ] are compared with the number
//! that the model expects there. Observed > T_burst × expected is a burst, and AdaptiveTTL(M)
//! decides; else IndHist(θ). If nothing was expected, one entry is a burst.
//!
//! ```
//! use feed::Time;
//! use polling::model::histogram::{Histogram, Period};
//! use polling::policy::indhist_ttl::is_burst;
//! use std::time::Duration;
//!
//! let hourly = Histogram { period: Period::Day, counts: vec![7; 24], days: 7, zone_secs: 0 };
//! let (now, hour) = (Time::from_secs(86_400), Duration::from_secs(3600));
//! assert!(!is_burst(&hourly, now, 2, hour, "2".parse().unwrap()));
//! assert!(is_burst(&hourly, now, 3, hour, "2".parse().unwrap()));
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::bytes::ByteReader;
use crate::model::histogram::{Histogram, Period};
use crate::policy::indhist::{self, Hourly};
use crate::policy::recent::Recent;
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, policy::adaptive_ttl};

/// The bytes for the entries' gaps next to a model that is learned daily; together they fill the
/// kilobyte.
const ROOM_DAILY: usize = 240;
/// The same next to a trained model, which is smaller.
const ROOM_TRAINED: usize = 860;

/// Returns whether more than `t_burst` times the expected entries came in the last `span`.
pub fn is_burst(
    model: &Histogram,
    at: Time,
    n_observed: u64,
    span: Duration,
    t_burst: Decimal,
) -> bool {
    let expected = model.expect(at - span, at);
    Fraction::whole(n_observed.into()) > expected.times(t_burst.fraction())
}

/// The model and the entries seen within V.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndHistTtlState {
    hourly: Hourly,
    recent: Recent,
}

impl IndHistTtlState {
    pub(crate) fn new(hourly: Hourly, span: Duration) -> IndHistTtlState {
        let room = match &hourly {
            Hourly::Daily(..) => ROOM_DAILY,
            Hourly::Trained(_) => ROOM_TRAINED,
        };
        let span_secs = i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        IndHistTtlState { hourly, recent: Recent::new(span_secs, room) }
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        self.hourly.learn(o);
        if o.outcome.is_success() {
            self.recent.learn(o.at, o.new);
        }
    }

    pub(crate) fn propose(&self, rule: IndHistTtlParameters, o: &Observation<'_>) -> Proposal {
        let model = self.hourly.histogram();
        let n_observed = self.recent.count(o.at);
        match &model {
            Some(m) if is_burst(m, o.at, n_observed, rule.span, rule.t_burst) => {
                adaptive_ttl::propose(rule.factor, o)
            }
            model => indhist::propose(model.as_ref(), rule.theta, o),
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        self.hourly.write(bytes);
        bytes.extend(self.recent.span_secs().to_le_bytes());
        self.recent.write(bytes);
    }

    /// Reads a state for the span V; a state for another V is useless.
    pub(crate) fn read(&self, reader: &mut ByteReader<'_>, version: u8) -> Option<IndHistTtlState> {
        let hourly = Hourly::read(reader, Period::Day)?;
        let span = Duration::from_secs(self.recent.span_secs().unsigned_abs());
        let empty = IndHistTtlState::new(hourly, span);
        if reader.i64()? != self.recent.span_secs() {
            return None;
        }
        Some(IndHistTtlState { recent: empty.recent.read(reader, version)?, hourly: empty.hourly })
    }
}

/// The rule's four parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndHistTtlParameters {
    pub(crate) theta: Decimal,
    pub(crate) factor: Decimal,
    pub(crate) span: Duration,
    pub(crate) t_burst: Decimal,
}
