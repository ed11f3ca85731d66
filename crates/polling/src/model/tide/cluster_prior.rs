//! Clusters of feeds as the prior of the hours, for an experiment. They replace the shapes of days.

use std::sync::{PoisonError, RwLock};

use crate::model::profile::{Hours, Profiles};

static CLUSTERS: RwLock<Option<Profiles>> = RwLock::new(None);

/// Sets the clusters in all threads of this process; `None` restores the shapes of days.
pub fn set_clusters(profiles: Option<Profiles>) {
    *CLUSTERS.write().unwrap_or_else(PoisonError::into_inner) = profiles;
}

/// Returns the profile under which the entries of each hour are likeliest, with mean one.
pub(super) fn cluster_prior(seen: &Hours) -> Option<Hours> {
    let clusters = CLUSTERS.read().unwrap_or_else(PoisonError::into_inner);
    // Tenths of an entry distinguish counts that have decayed.
    let counts = seen.map(|n| (10.0 * n).round() as u32);
    let weights = clusters.as_ref()?.of(&counts).weights;
    let sum: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    Some(weights.map(|weight| 24.0 * f64::from(weight) / sum))
}
