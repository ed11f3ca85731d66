//! Measures over many feeds: averages in two modes, delays, and the load on sites.

mod delay;
pub mod quality;

pub(crate) use delay::curve;
pub use delay::{Delay, Quantiles};

/// Delay, cost and recall of a policy; `None` if undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    /// Mean delay in seconds.
    pub delay: Option<f64>,
    pub polls_per_entry: Option<f64>,
    pub recall: Option<f64>,
}

/// Returns the mean; `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0_u64);
    for value in values {
        sum += value;
        n += 1;
    }
    (n > 0).then(|| sum / n as f64)
}

/// Polls per registrable domain and hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteLoad {
    /// The most polls of any site within an hour.
    pub hour_max: u32,
    pub polls: u64,
    /// The sum of hours over all sites.
    pub site_hours: u64,
}

impl SiteLoad {
    /// Computes the load from the polls of one site per hour.
    pub(crate) fn of_site(hours: &[u32]) -> SiteLoad {
        SiteLoad {
            hour_max: hours.iter().copied().max().unwrap_or(0),
            polls: hours.iter().map(|n| u64::from(*n)).sum(),
            // The last slot counts polls at the very end.
            site_hours: hours.len().saturating_sub(1) as u64,
        }
    }

    pub(crate) fn add(&mut self, other: &SiteLoad) {
        self.hour_max = self.hour_max.max(other.hour_max);
        self.polls += other.polls;
        self.site_hours += other.site_hours;
    }

    /// Returns the mean polls per site and hour.
    pub fn hour_mean(&self) -> Option<f64> {
        (self.site_hours > 0).then(|| self.polls as f64 / self.site_hours as f64)
    }
}
