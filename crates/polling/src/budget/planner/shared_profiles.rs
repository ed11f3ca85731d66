//! The daily profiles by which `min-delay` schedules a feed: its own, or that of its cluster (Sia,
//! Cho and Cho 2007, section 4.3.1; source 002).
//!
//! The clusters are found once a day, with the allocation, in a sample of a few thousand feeds. All
//! feeds then refine them in one pass of mini-batches, which bounds the time for a million. Every
//! feed belongs to the centre that is nearest to its own day.

use crate::budget::{ProfileChoice, Tracked};
use crate::model::Model;
use crate::model::profile::{Hours, K, Profiles, Refining};

/// The most feeds from which clusters are found.
const SAMPLE: usize = 4096;
/// The days of learning of the paper, over which a feed's entries are counted.
const DAYS: f64 = 14.0;
/// The number of own entries at which own profile and centre weigh the same: one for two hours.
const SHRUNK_AT: f64 = 12.0;
const DAY_SECS: f64 = 86_400.0;
/// Shares become whole numbers for the clustering.
const SHARES: f64 = 1e6;

/// The clusters of one day.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedProfiles {
    choice: ProfileChoice,
    profiles: Option<Profiles>,
}

impl SharedProfiles {
    pub(crate) fn set_choice(&mut self, choice: ProfileChoice) {
        self.choice = choice;
    }

    /// Finds the clusters again.
    pub(crate) fn fit(&mut self, feeds: &[Tracked]) {
        if self.choice == ProfileChoice::Own {
            return;
        }
        let every = feeds.len().div_ceil(SAMPLE).max(1);
        let counts = |feed: &Tracked| {
            shares(&feed.model).map(|shares| shares.map(|share| (share * SHARES) as u32))
        };
        let sampled: Vec<[u32; 24]> = feeds.iter().step_by(every).filter_map(counts).collect();
        self.profiles = Profiles::fit(&sampled, K);
        if every > 1
            && let Some(sample) = self.profiles.take()
        {
            let mut refining = Refining::new(sample, sampled.len());
            feeds.iter().filter_map(counts).for_each(|counts| refining.add(&counts));
            self.profiles = Some(refining.end());
        }
    }

    /// Returns the rates of a day by which a feed is scheduled.
    pub(crate) fn day(&self, model: &Model) -> Hours {
        let own = model.day();
        let (Some(profiles), Some(shares)) = (&self.profiles, shares(model)) else { return own };
        let centre = profiles.nearest(&shares);
        let mean = model.mean_rate();
        let weight = match self.choice {
            ProfileChoice::Own => return own,
            ProfileChoice::Centroid => 1.0,
            ProfileChoice::Shrunk => SHRUNK_AT / (SHRUNK_AT + mean * DAY_SECS * DAYS),
        };
        // Shares of a day times 24 hours are multiples of the mean rate.
        std::array::from_fn(|h| (1.0 - weight) * own[h] + weight * centre[h] * 24.0 * mean)
    }
}

/// Returns the share of each hour in a feed's day; `None` if it has no entries or a flat day.
fn shares(model: &Model) -> Option<Hours> {
    let day = model.day();
    let sum: f64 = day.iter().sum();
    (sum > 0.0 && sum.is_finite() && !model.is_flat()).then(|| day.map(|rate| rate / sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HourlyRates;

    fn feed(hour: usize, rate: f64) -> Tracked {
        let mut hours = vec![0.0; 24];
        (hours[hour], hours[(hour + 1) % 24]) = (rate, rate / 2.0);
        Tracked::new(Model::Frozen(HourlyRates { hours, zone_secs: 0 }))
    }

    #[test]
    fn a_feed_takes_the_day_of_its_cluster_at_its_own_rate() {
        let mut feeds: Vec<Tracked> = (0..20).map(|_| feed(8, 0.01)).collect();
        feeds.extend((0..20).map(|_| feed(20, 0.001)));
        // One feed of the evening cluster posts in a neighbouring hour.
        feeds.push(feed(21, 0.0001));
        let mut shared = SharedProfiles::default();
        assert_eq!(shared.day(&feeds[40].model), feeds[40].model.day(), "own by default");
        shared.set_choice(ProfileChoice::Centroid);
        shared.fit(&feeds);
        let day = shared.day(&feeds[0].model);
        assert!((day[8] / feeds[0].model.day()[8] - 1.0).abs() < 1e-3, "{day:?}");
        let total: f64 = day.iter().sum();
        assert!((total / feeds[0].model.day().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let sampled = (0..10_000).map(|i| feed(i / 7 % 24, 0.01)).collect::<Vec<_>>();
        shared.fit(&sampled);
        assert!(shared.profiles.as_ref().is_some_and(|p| p.centres.len() == K));
    }

    #[test]
    fn a_shrunk_day_lies_between_its_own_and_that_of_its_cluster() {
        let mut feeds: Vec<Tracked> = (0..20).map(|_| feed(8, 0.01)).collect();
        let mut hours = vec![0.0; 24];
        (hours[8], hours[9], hours[10]) = (0.0001, 0.0001, 0.0001);
        feeds.push(Tracked::new(Model::Frozen(HourlyRates { hours, zone_secs: 0 })));
        let mut shared = SharedProfiles { choice: ProfileChoice::Shrunk, profiles: None };
        // One cluster for all: the mean of both kinds.
        let counts: Vec<[u32; 24]> = feeds
            .iter()
            .filter_map(|f| shares(&f.model))
            .map(|shares| shares.map(|share| (share * SHARES) as u32))
            .collect();
        shared.profiles = Profiles::fit(&counts, 1);
        let (own, shrunk) = (feeds[20].model.day(), shared.day(&feeds[20].model));
        assert!(shrunk[8] > own[8] && shrunk[10] < own[10], "{shrunk:?}");
    }
}
