//! `fix-learned-w`, `fix-learned-a` — an interval learned once, from the first window (dissertation
//! 003, eq. 4.3, 4.4, 4.6).
//!
//! - W: u = (t_end − t_start) / (|W_A| − 1), needs |W_A| ≥ 2; equal times leave it undefined.
//! - A: u = (τ_A − t_start) / |W_A|, needs |W_A| ≥ 1; undefined if t_start = τ_A.
//!
//! The divisor of W is the number of gaps: four hourly entries give one hour, not 45 minutes.
//!
//! ```
//! use feed::Time;
//! use polling::{Fraction, policy::fix_learned};
//!
//! let hourly = [0, 3600, 7200, 10_800].map(Time::from_secs);
//! assert_eq!(fix_learned::interval_w(&hourly), Some(Fraction::whole(3_600_000)));
//! let seen_at = Time::from_secs(14_400);
//! assert_eq!(fix_learned::interval_a(seen_at, &hourly), Some(Fraction::whole(3_600_000)));
//! ```

use feed::{Observation, Time};

use crate::bytes::ByteReader;
use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase, UndefinedCause};

/// Returns eq. 4.3, in milliseconds.
pub fn interval_w(window: &[Time]) -> Option<Fraction> {
    let gaps = window.len().checked_sub(1).filter(|&n| n > 0)?;
    let span = window.last()?.millis_since(*window.first()?);
    (span > 0).then(|| Fraction::new(span.into(), gaps as i128))
}

/// Returns eq. 4.4, in milliseconds. An oldest entry from the future gives a negative interval.
pub fn interval_a(at: Time, window: &[Time]) -> Option<Fraction> {
    let age = at.millis_since(*window.first()?);
    (age != 0).then(|| Fraction::new(age.into(), window.len() as i128))
}

/// The result of the first window, which never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FirstWindow {
    NotSeen,
    Undefined,
    Every { span_ms: i64, n: u32 },
}

impl FirstWindow {
    /// Learns from the first window. A partial document is not a window, and a failed poll showed
    /// none.
    pub(crate) fn learn(
        &mut self,
        o: &Observation<'_>,
        interval: impl FnOnce() -> Option<Fraction>,
    ) {
        if *self != FirstWindow::NotSeen || !o.outcome.is_success() || o.partial {
            return;
        }
        let parts = interval().map(Fraction::parts);
        *self = match parts.map(|(span, n)| (i64::try_from(span), u32::try_from(n))) {
            Some((Ok(span_ms), Ok(n))) => FirstWindow::Every { span_ms, n },
            _ => FirstWindow::Undefined,
        };
    }

    /// Proposes the interval. `case` builds the explanation from the number of intervals and their
    /// mean.
    pub(crate) fn propose(self, case: impl FnOnce(u32, Fraction) -> RuleCase) -> Proposal {
        match self {
            FirstWindow::NotSeen => Proposal::Undefined(UndefinedCause::NotSeen),
            FirstWindow::Undefined => Proposal::Undefined(UndefinedCause::FirstWindow),
            FirstWindow::Every { span_ms, n } => {
                let u = Fraction::new(span_ms.into(), n.into());
                Proposal::After(u, case(n, u))
            }
        }
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        let (state, span_ms, n) = match self {
            FirstWindow::NotSeen => (0, 0, 0),
            FirstWindow::Undefined => (1, 0, 0),
            FirstWindow::Every { span_ms, n } => (2, span_ms, n),
        };
        bytes.push(state);
        bytes.extend(span_ms.to_le_bytes());
        bytes.extend(n.to_le_bytes());
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<FirstWindow> {
        match (reader.u8()?, reader.i64()?, reader.u32()?) {
            (0, _, _) => Some(FirstWindow::NotSeen),
            (1, _, _) => Some(FirstWindow::Undefined),
            (2, span_ms, n) if n > 0 => Some(FirstWindow::Every { span_ms, n }),
            _ => None,
        }
    }
}
