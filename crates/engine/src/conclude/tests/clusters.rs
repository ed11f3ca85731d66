//! Feeds that share the daily profiles of clusters.

use polling::model::profile::Profiles;
use polling::{Learned, Policy};

use super::*;
use crate::clusters::Clusters;

#[test]
fn a_young_feed_under_indhist_agg_adopts_the_profile_of_its_cluster() {
    let policy: Policy = "indhist-agg:0.7,0.5".parse().expect("a policy");
    let settings = Settings { policy: policy.into(), ..Settings::new() };
    let mut learned = policy.start();
    let two: Vec<Time> = [31, 30].map(|hour| NOW - Duration::from_secs(3600 * hour)).to_vec();
    policy.learn(&mut learned, &Observation::first(NOW, &two));
    let mut polled = PollInput { learned: learned.encode(), ..input() };
    let hours = learned.hours().expect("two entries");
    let mut opposite = hours;
    opposite.rotate_right(12);
    let clusters = Clusters::default();
    clusters.adopt(&mut polled, &settings);
    assert_eq!(polled.learned, learned.encode(), "there are no clusters yet");
    clusters.set(Profiles::fit(&[hours, hours, opposite], 2));
    clusters.adopt(&mut polled, &settings);
    let mut expected = learned.clone();
    expected.adopt(Profiles::fit(&[hours], 1).expect("a profile").of(&hours));
    assert_eq!(Learned::decode(&policy, &polled.learned), expected);
    let mut other = PollInput { learned: learned.encode(), ..input() };
    clusters.adopt(&mut other, &Settings::new());
    assert_eq!(other.learned, learned.encode(), "another policy has no profile");
}
