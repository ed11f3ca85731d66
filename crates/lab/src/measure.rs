//! Figures over many feeds: averages in the two modes, and the load that a site sees.

mod delay;
pub mod quality;

pub(crate) use delay::curve;
pub use delay::{Delay, Quantiles};

/// Delay, cost and recall of a policy; `None` where undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    /// Mean delay in seconds.
    pub delay: Option<f64>,
    pub polls_per_entry: Option<f64>,
    pub recall: Option<f64>,
}

/// The mean of what is defined; `None` if nothing is.
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
    /// The most that any site saw within an hour of the clock.
    pub hour_max: u32,
    pub polls: u64,
    /// Hours over all sites.
    pub site_hours: u64,
}

impl SiteLoad {
    /// From the polls that one site saw, hour by hour.
    pub(crate) fn of_site(hours: &[u32]) -> SiteLoad {
        SiteLoad {
            hour_max: hours.iter().copied().max().unwrap_or(0),
            polls: hours.iter().map(|n| u64::from(*n)).sum(),
            // The last slot holds what falls on the very end.
            site_hours: hours.len().saturating_sub(1) as u64,
        }
    }

    pub(crate) fn add(&mut self, other: &SiteLoad) {
        self.hour_max = self.hour_max.max(other.hour_max);
        self.polls += other.polls;
        self.site_hours += other.site_hours;
    }

    /// Polls that a site sees in an hour, on average.
    pub fn hour_mean(&self) -> Option<f64> {
        (self.site_hours > 0).then(|| self.polls as f64 / self.site_hours as f64)
    }
}
