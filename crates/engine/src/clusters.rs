//! The daily profiles that feeds under `indhist-agg` share (dissertation 003, section 2.5.4).
//!
//! Once a day the hours of these feeds are clustered (k-means, K = 12; source 002, section 4.3.1).
//! A feed takes the profile of its cluster when it is polled, and stores it with its learned state.
//! The clusters are found in a sample of a few thousand feeds. If there are more feeds, all of them
//! refine the clusters in one pass of mini-batches, which bounds time and memory for a million.
//! Without a feed under this policy there is nothing to do.

use std::sync::{Arc, PoisonError, RwLock};

use polling::model::profile::{K, Profiles, Refining};
use polling::{Learned, Policy};
use store::{PollInput, Store, StoreError};

use crate::{Settings, chance, conclude};

/// The most feeds from which clusters are found.
const SAMPLE_MAX: usize = 4096;
/// The name of the policy, with which its specification begins.
const NAME: &str = "indhist-agg";

/// The profiles of the last clustering, if there was one.
#[derive(Debug, Default)]
pub struct Clusters(RwLock<Option<Arc<Profiles>>>);

impl Clusters {
    pub(crate) fn set(&self, profiles: Option<Profiles>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = profiles.map(Arc::new);
    }

    fn get(&self) -> Option<Arc<Profiles>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives a feed under `indhist-agg` the profile of its cluster. The learned state of other
    /// feeds stays as it is.
    pub fn adopt(&self, input: &mut PollInput, settings: &Settings) {
        // Every poll passes here, and most instances never cluster.
        let Some(profiles) = self.get() else { return };
        let policy = conclude::policy(input, settings);
        if !matches!(policy, Policy::IndHistAgg { .. }) {
            return;
        }
        let mut learned = Learned::decode(&policy, &input.learned);
        if let Some(hours) = learned.hours() {
            learned.adopt(profiles.of(&hours));
            input.learned = learned.encode();
        }
    }

    /// Finds the clusters again. Returns the number of feeds that took part.
    pub fn find(&self, store: &Store, settings: &Settings) -> Result<usize, StoreError> {
        let is_used = matches!(settings.policy.policy, Policy::IndHistAgg { .. })
            || store.has_policy(NAME)?;
        if !is_used {
            self.set(None);
            return Ok(0);
        }
        let mut sample = Sample::default();
        let mut n_feeds = 0;
        let each = |input: &PollInput| {
            let policy = conclude::policy(input, settings);
            let is_member = matches!(policy, Policy::IndHistAgg { .. });
            is_member.then(|| Learned::decode(&policy, &input.learned).hours()).flatten()
        };
        store.poll_inputs(|input| {
            let place = chance::unit(settings.seed, input.id, 0);
            if let Some(hours) = each(&input) {
                n_feeds += 1;
                sample.add(place, hours);
            }
        })?;
        let hours = sample.end();
        let mut profiles = Profiles::fit(&hours, K);
        if n_feeds > hours.len()
            && let Some(sampled) = profiles.take()
        {
            let mut refining = Refining::new(sampled, hours.len());
            store.poll_inputs(|input| {
                each(&input).into_iter().for_each(|hours| refining.add(&hours));
            })?;
            profiles = Some(refining.end());
        }
        self.set(profiles);
        Ok(n_feeds)
    }
}

/// A sample of bounded size that every feed enters with the same chance: those with the smallest
/// places, which are evenly distributed numbers.
#[derive(Default)]
struct Sample(Vec<(f64, [u32; 24])>);

impl Sample {
    fn add(&mut self, place: f64, hours: [u32; 24]) {
        self.0.push((place, hours));
        if self.0.len() >= 2 * SAMPLE_MAX {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        if self.0.len() > SAMPLE_MAX {
            self.0.select_nth_unstable_by(SAMPLE_MAX, |a, b| a.0.total_cmp(&b.0));
            self.0.truncate(SAMPLE_MAX);
        }
    }

    /// Returns the hours in the order of the places.
    fn end(mut self) -> Vec<[u32; 24]> {
        self.shorten();
        self.0.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        self.0.into_iter().map(|(_, hours)| hours).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_the_smallest_places_of_any_number_of_feeds() {
        let n = 3 * SAMPLE_MAX;
        let mut sample = Sample::default();
        for i in 0..n {
            // Every number below n once, in a mixed order.
            let place = (i * 7919 % n) as f64;
            sample.add(place, [place as u32; 24]);
        }
        let kept: Vec<usize> = sample.end().into_iter().map(|hours| hours[0] as usize).collect();
        assert_eq!(kept, (0..SAMPLE_MAX).collect::<Vec<_>>());
    }
}
