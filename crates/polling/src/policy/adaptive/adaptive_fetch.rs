//! `adaptive-fetch` — the rule of Apache Nutch (`AdaptiveFetchSchedule`, with the values of its
//! default configuration: inc 0.4, dec 0.2, sync 0.3).
//!
//! Changed: I ← I·(1 − dec); unchanged: I ← I·(1 + inc). Then synchronise: Δ = fetch − modified; if
//! Δ > I then I ← Δ; next = fetch − Δ·sync + I. I stays within 1 minute and 365 days. *Modified* is
//! the newest entry's time here. Nutch starts at 30 days, which suits pages; this rule starts at an
//! hour.
//!
//! ```
//! use polling::policy::adaptive_fetch::Interval;
//!
//! let mut i = Interval::start();
//! i.step(true, 0.0);
//! assert_eq!((i.secs, i.wait_secs), (2880.0, 2880.0));
//! i.step(false, 10_000.0);
//! assert_eq!((i.secs, i.wait_secs), (10_000.0, 7000.0));
//! ```

use std::time::Duration;

use feed::Observation;

use crate::bytes::ByteReader;
use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase};

const INC: f64 = 0.4;
const DEC: f64 = 0.2;
const SYNC: f64 = 0.3;
const START_SECS: f64 = 3600.0;
const SECS: (f64, f64) = (60.0, 365.0 * 86_400.0);

/// Nutch's interval I, and the wait after synchronisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub secs: f64,
    pub wait_secs: f64,
}

impl Interval {
    pub const fn start() -> Interval {
        Interval { secs: START_SECS, wait_secs: START_SECS }
    }

    /// Learns one fetch, `delta_secs` after the page was modified.
    pub fn step(&mut self, changed: bool, delta_secs: f64) {
        self.secs *= if changed { 1.0 - DEC } else { 1.0 + INC };
        let delta = delta_secs.max(0.0);
        self.secs = self.secs.max(delta).clamp(SECS.0, SECS.1);
        self.wait_secs = self.secs - delta.min(SECS.1) * SYNC;
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            let delta = o.window.last().map_or(0.0, |newest| o.at.since(*newest).as_secs_f64());
            self.step(!o.new.is_empty(), delta);
        }
    }

    pub(crate) fn propose(self) -> Proposal {
        let wait = Fraction::whole((self.wait_secs * 1000.0).round().max(0.0) as i128);
        let every = Duration::try_from_secs_f64(self.secs).unwrap_or(Duration::ZERO);
        Proposal::After(wait, RuleCase::AdaptiveFetch { every })
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.secs.to_le_bytes());
        bytes.extend(self.wait_secs.to_le_bytes());
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<Interval> {
        let (secs, wait_secs) =
            (reader.bytes().map(f64::from_le_bytes)?, reader.bytes().map(f64::from_le_bytes)?);
        let sane = (SECS.0..=SECS.1).contains(&secs) && (0.0..=SECS.1).contains(&wait_secs);
        sane.then_some(Interval { secs, wait_secs })
    }
}
