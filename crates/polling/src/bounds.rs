//! The shortest and the longest interval of a policy, and the interval for an undefined rule
//! (dissertation 003, eq. 4.1).
//!
//! ```
//! use polling::Bounds;
//! use std::time::Duration;
//! let secs = Duration::from_secs;
//! assert!(Bounds::new(secs(60), secs(86_400), secs(3600)).is_ok());
//! assert!(Bounds::new(secs(60), secs(600), secs(3600)).is_err());
//! ```

use std::time::Duration;

use crate::{Fraction, hints::HintReading, spoken};

/// α, β and η: ũ = η if u is undefined, else min(β, max(α, u)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The shortest interval.
    pub alpha: Duration,
    /// The longest interval.
    pub beta: Duration,
    /// The interval if the rule's equation is undefined.
    pub eta: Duration,
    /// Refines η by its cause (003, section 5.4.1): a feed that never had an entry waits a day, and
    /// seven days after a week. Off in the lab, whose vectors use plain η.
    pub eta_by_cause: bool,
}

/// Bounds that contradict each other.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    #[error(
        "the shortest interval is {}; a feed may be polled at most once a second",
        spoken(*.0)
    )]
    AlphaTooSmall(Duration),
    #[error(
        "the bounds {} … {} with default {} contradict each other; alpha ≤ eta ≤ beta is required",
        spoken(*.alpha), spoken(*.beta), spoken(*.eta)
    )]
    Order { alpha: Duration, beta: Duration, eta: Duration },
}

impl Bounds {
    /// The shortest interval that can be configured.
    pub const ALPHA_MIN: Duration = Duration::from_secs(1);

    /// The bounds of the published evaluation: one minute, four weeks (in effect none), one hour.
    pub const EVALUATION: Bounds = Bounds {
        alpha: Duration::from_secs(60),
        beta: Duration::from_secs(28 * 86_400),
        eta: Duration::from_secs(3600),
        eta_by_cause: false,
    };

    /// Checks 1 s ≤ α ≤ η ≤ β.
    pub fn new(alpha: Duration, beta: Duration, eta: Duration) -> Result<Bounds, BoundsError> {
        if alpha < Bounds::ALPHA_MIN {
            return Err(BoundsError::AlphaTooSmall(alpha));
        }
        if alpha > eta || eta > beta {
            return Err(BoundsError::Order { alpha, beta, eta });
        }
        Ok(Bounds { alpha, beta, eta, eta_by_cause: false })
    }

    /// Returns the same bounds with η refined by cause, for live use.
    pub fn by_cause(self) -> Bounds {
        Bounds { eta_by_cause: true, ..self }
    }

    /// Returns the same bounds with another α or β. η and the other bound adapt.
    pub fn narrowed(self, alpha: Option<Duration>, beta: Option<Duration>) -> Bounds {
        let alpha_given = alpha.unwrap_or(self.alpha).max(Bounds::ALPHA_MIN);
        let beta = beta.unwrap_or(self.beta.max(alpha_given)).max(Bounds::ALPHA_MIN);
        let alpha = alpha_given.min(beta);
        Bounds { alpha, beta, eta: self.eta.clamp(alpha, beta), ..self }
    }

    /// Applies the publisher's `ttl` as a bound, in the two interpretations of the source (003,
    /// section 5.2): α = ttl, or α = β = ttl. The operator's bounds limit an absurd `ttl`.
    pub fn with_ttl(self, ttl: Option<Duration>, reading: HintReading) -> Bounds {
        let Some(ttl) = ttl.map(|t| t.clamp(self.alpha, self.beta.max(self.alpha))) else {
            return self;
        };
        match reading {
            HintReading::Ignore => self,
            HintReading::LowerBound => self.narrowed(Some(ttl), None),
            HintReading::Exact => self.narrowed(Some(ttl), Some(ttl)),
        }
    }

    /// Returns min(β, max(α, u)) in milliseconds, and the bound that applied.
    pub(crate) fn clamp(&self, interval: Fraction) -> (Fraction, Limit) {
        let (alpha, beta) = (Fraction::millis(self.alpha), Fraction::millis(self.beta));
        if interval > beta {
            (beta, Limit::Beta)
        } else if interval < alpha {
            (alpha.min(beta), Limit::Alpha)
        } else {
            (interval, Limit::None)
        }
    }
}

/// The bound that changed an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    None,
    Alpha,
    Beta,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn bounds_are_refused_with_the_reason() {
        let error = Bounds::new(secs(0), secs(9), secs(9)).unwrap_err();
        assert!(error.to_string().contains("once a second"), "{error}");
        let error = Bounds::new(secs(60), secs(3600), secs(7200)).unwrap_err();
        assert!(error.to_string().contains("1 min … 1 h with default 2 h"), "{error}");
        assert!(Bounds::new(secs(1), secs(1), secs(1)).is_ok());
    }

    #[test]
    fn eta_gives_way_to_narrower_bounds() {
        let b = Bounds::EVALUATION.narrowed(Some(secs(7200)), Some(secs(86_400)));
        assert_eq!((b.alpha, b.eta, b.beta), (secs(7200), secs(7200), secs(86_400)));
        let b = Bounds::EVALUATION.narrowed(None, Some(secs(30)));
        assert_eq!((b.alpha, b.eta, b.beta), (secs(30), secs(30), secs(30)));
    }

    #[test]
    fn a_ttl_is_a_lower_bound_or_the_interval() {
        let lower = Bounds::EVALUATION.with_ttl(Some(secs(7200)), HintReading::LowerBound);
        assert_eq!((lower.alpha, lower.eta), (secs(7200), secs(7200)));
        let exact = Bounds::EVALUATION.with_ttl(Some(secs(7200)), HintReading::Exact);
        assert_eq!((exact.alpha, exact.beta), (secs(7200), secs(7200)));
        let absurd = Bounds::EVALUATION.with_ttl(Some(Duration::MAX), HintReading::Exact);
        assert_eq!(absurd.beta, Bounds::EVALUATION.beta);
    }
}
