//! A policy with its own bounds, as written in the configuration: `SPEC@1m..1d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Policy;
use crate::spec::{SpecError, shortened};
use crate::{Bounds, parse_duration};

/// A policy with the bounds of its specification.
///
/// ```
/// use polling::{Bounds, PolicySpec};
/// let spec: PolicySpec = "mavsync@1m..1d".parse().unwrap();
/// assert_eq!(spec.bounds(Bounds::EVALUATION).beta, std::time::Duration::from_secs(86_400));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySpec {
    pub policy: Policy,
    pub alpha: Option<Duration>,
    pub beta: Option<Duration>,
    /// The text as it was given, for display.
    text: String,
}

impl PolicySpec {
    /// Returns the bounds of this policy; `default` applies to the bounds that it does not set.
    pub fn bounds(&self, default: Bounds) -> Bounds {
        default.narrowed(self.alpha, self.beta)
    }
}

impl From<Policy> for PolicySpec {
    fn from(policy: Policy) -> PolicySpec {
        PolicySpec { policy, alpha: None, beta: None, text: policy.to_string() }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PolicySpec, SpecError> {
        let text = text.trim();
        let (policy, bounds) = match text.split_once('@') {
            Some((policy, bounds)) => (policy, Some(bounds)),
            None => (text, None),
        };
        let policy = policy.parse()?;
        let refuse = || SpecError::Bounds { text: shortened(text) };
        let (alpha, beta) = match bounds {
            None => (None, None),
            Some(bounds) => {
                let (alpha, beta) = bounds.split_once("..").ok_or_else(refuse)?;
                (one_bound(alpha, text)?, one_bound(beta, text)?)
            }
        };
        let ordered = match (alpha, beta) {
            (Some(a), Some(b)) => a <= b,
            (None, None) => bounds.is_none(),
            _ => true,
        };
        let enough = [alpha, beta].into_iter().flatten().all(|d| d >= Bounds::ALPHA_MIN);
        if !ordered || !enough {
            return Err(refuse());
        }
        Ok(PolicySpec { policy, alpha, beta, text: text.to_owned() })
    }
}

fn one_bound(written: &str, text: &str) -> Result<Option<Duration>, SpecError> {
    if written.is_empty() {
        return Ok(None);
    }
    let duration = parse_duration(written);
    duration.map(Some).map_err(|source| SpecError::Duration { text: shortened(text), source })
}
