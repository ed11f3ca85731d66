//! `indhist-agg:θ,T` — the profile of similar feeds while the feed's own history is short
//! (dissertation 003, section 2.5.4, `IndHist/AggHist`; Bright, Gal and Raschid 2006).
//!
//! While NumSub/NumUpdates > T_ind ≈ 0.5 the feed uses its cluster's profile, its own histogram
//! afterwards. NumSub is the hours of the day in which it ever changed, NumUpdates its known
//! changes. The profile gives the shape of the day, the feed's own entries per day the height.
//! [`Profiles`](crate::model::profile::Profiles) finds the clusters, and
//! [`Learned::adopt`](crate::Learned::adopt) sets the profile. Without one the own histogram
//! applies.
//!
//! ```
//! use polling::policy::indhist_agg::is_young;
//!
//! let mut hours = [0; 24];
//! (hours[8], hours[9]) = (1, 1);
//! assert!(is_young(&hours, "0.5".parse().unwrap()));
//! (hours[8], hours[9]) = (3, 2);
//! assert!(!is_young(&hours, "0.5".parse().unwrap()));
//! ```

use feed::Observation;

use crate::bytes::ByteReader;
use crate::model::histogram::{Histogram, Period};
use crate::model::profile::Profile;
use crate::policy::indhist::{self, Hourly};
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction};

/// Returns whether the own history is too short to be stable: NumSub/NumUpdates > T_ind.
pub fn is_young(counts: &[u64], t_ind: Decimal) -> bool {
    let n_hours = counts.iter().filter(|c| **c > 0).count();
    let n_updates: u64 = counts.iter().sum();
    n_updates > 0 && Fraction::new(n_hours as i128, n_updates.into()) > t_ind.fraction()
}

/// The own model and the profile of the feed's cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndHistAggState {
    pub(crate) hourly: Hourly,
    pub(crate) profile: Option<Profile>,
}

impl IndHistAggState {
    pub(crate) fn propose(&self, theta: Decimal, t_ind: Decimal, o: &Observation<'_>) -> Proposal {
        let own = self.hourly.histogram();
        let shared = match (&own, self.profile) {
            (Some(own), Some(profile)) if is_young(&own.counts, t_ind) => {
                Some(in_the_shape_of(own, profile))
            }
            _ => None,
        };
        indhist::propose(shared.as_ref().or(own.as_ref()), theta, o)
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.profile.is_some()));
        let weights = self.profile.iter().flat_map(|p| p.weights);
        bytes.extend(weights.flat_map(u16::to_le_bytes));
        self.hourly.write(bytes);
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<IndHistAggState> {
        let mut profile = None;
        if reader.u8()? == 1 {
            let mut weights = [0; 24];
            for weight in &mut weights {
                *weight = reader.bytes().map(u16::from_le_bytes)?;
            }
            profile = Some(Profile { weights });
        }
        Some(IndHistAggState { profile, hourly: Hourly::read(reader, Period::Day)? })
    }
}

/// Returns a histogram with the entries per day of `own` at the hours of `profile`.
fn in_the_shape_of(own: &Histogram, profile: Profile) -> Histogram {
    let total: u64 = own.counts.iter().sum();
    let weight_sum: u64 = profile.weights.iter().map(|w| u64::from(*w)).sum();
    if weight_sum == 0 {
        return own.clone();
    }
    let counts = profile.weights.iter().map(|w| total.saturating_mul(u64::from(*w))).collect();
    Histogram { counts, days: own.days.saturating_mul(weight_sum), ..own.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounds, Policy, policy::Training};
    use feed::Time;

    /// The next poll of a feed with entries at noon only, in a cluster that publishes at six.
    fn next(n_entries: i64, t_ind: &str, profile: Option<Profile>) -> Time {
        let policy: Policy = format!("indhist-agg:0.5,{t_ind}").parse().unwrap();
        let noon = |day: i64| Time::from_secs(day * 86_400 + 43_200);
        let history: Vec<Time> = (0..n_entries).map(noon).collect();
        let end = Time::from_secs(n_entries * 86_400);
        let training = Training { history: &history, start: end, end, zone_secs: 0 };
        let mut learned = policy.train(&training);
        if let Some(profile) = profile {
            learned.adopt(profile);
        }
        let o = Observation::seen(end, &history, &[]).with_overlap(1);
        let at = policy.wish(&learned, &o, &Bounds::EVALUATION).at;
        Time::from_secs(at.secs() - end.secs())
    }

    #[test]
    fn a_young_feed_follows_its_cluster_and_a_grown_one_itself() {
        let mut weights = [0; 24];
        weights[6] = 65_535;
        let cluster = Some(Profile { weights });
        let (half_past_six, half_past_noon) = (Time::from_secs(23_400), Time::from_secs(45_000));
        assert_eq!(next(1, "0.5", cluster), half_past_six, "1 hour / 1 entry > 0.5");
        assert_eq!(next(2, "0.5", cluster), half_past_noon, "1 / 2 is not above 0.5");
        assert_eq!(next(2, "0.4", cluster), half_past_six);
        assert_eq!(next(1, "0.5", None), half_past_noon, "without a cluster its own");
        assert_eq!(next(1, "0.5", Some(Profile { weights: [0; 24] })), half_past_noon);
    }
}
