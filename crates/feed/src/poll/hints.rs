//! The publisher's hints about when to poll. Hints limit a policy; they never replace it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Time;

/// The hints of a document (`ttl`, `skipHours`, `skipDays`, `sy:`). Missing hints are `None` or
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Hints {
    /// RSS `ttl`.
    pub ttl: Option<Duration>,
    /// Hours of the day (0 to 23, UTC) at which the publisher asks not to be polled.
    pub skip_hours: Vec<u8>,
    /// Days (0 = Monday … 6 = Sunday) at which the publisher asks not to be polled.
    pub skip_days: Vec<u8>,
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    pub update_every: Option<Duration>,
    /// `sy:updateBase`: one moment of the publisher's schedule. Updates come at whole periods
    /// from it.
    #[serde(default)]
    pub update_base: Option<Time>,
}

impl Hints {
    pub fn is_empty(&self) -> bool {
        *self == Hints::default()
    }
}
