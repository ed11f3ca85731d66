//! Cases that `tide` must get right independent of its fitted constants.

use feed::{Observation, Time};
use polling::{Bounds, Policy};

fn observe<'a>(at: Time, window: &'a [Time], new: &'a [Time]) -> Observation<'a> {
    Observation::seen(at, window, new)
}

/// A machine that posts every eight minutes has no rhythm, even if its first window covers little
/// of the week.
#[test]
fn a_steady_feed_is_expected_to_stay_steady() {
    let start = 1_794_600_000;
    let times: Vec<Time> = (0..1200).map(|i| Time::from_secs(start + i * 480)).collect();
    for shown in [20, 100, 300] {
        let policy: Policy = "tide".parse().unwrap();
        let mut learned = policy.start();
        let (mut known, mut at) = (0, times[shown] + std::time::Duration::from_secs(60));
        for _ in 0..120 {
            let by = times.partition_point(|t| *t <= at);
            let from = by.saturating_sub(shown);
            let seen = observe(at, &times[from..by], &times[known.max(from)..by]);
            policy.learn(&mut learned, &seen);
            let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
            let hour = learned.model().unwrap().expect(at, at.shifted(3_600_000));
            assert!((3.0..13.0).contains(&hour), "{shown} shown: {hour} of 7.5 in the next hour");
            (known, at) = (by, wish.at);
        }
    }
}
