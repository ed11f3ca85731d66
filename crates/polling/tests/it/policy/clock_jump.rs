//! A clock that was decades ahead for one poll and was set right. The state learned then must not
//! stop the learning until those decades are over.

use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::Tracked;
use polling::model::ModelKind;
use polling::{Bounds, Policy};

use crate::properties::policies::POLICIES;

const START: Time = Time::from_secs(1_700_000_000);
const HOUR: Duration = Duration::from_secs(3600);
const DECADES: Duration = Duration::from_secs(70 * 365 * 86_400);

/// Polls every hour: an entry a day for ten days, one poll with a clock far ahead, then two entries
/// an hour for thirty days.
fn polls(mut each: impl FnMut(&Observation<'_>)) {
    let mut window: Vec<Time> = Vec::new();
    let mut poll = |at: Time, new: &[Time]| {
        window.extend(new);
        window.drain(..window.len().saturating_sub(20));
        each(&Observation::seen(at, &window, new).with_overlap(1));
    };
    for hour in 0..240 {
        let at = START + HOUR * hour;
        let born = [at - HOUR / 2];
        poll(at, if hour % 24 == 0 { &born } else { &[] });
    }
    poll(START + DECADES, &[]);
    for hour in 240..960 {
        let at = START + HOUR * hour;
        poll(at, &[at - HOUR * 2 / 3, at - HOUR / 3]);
    }
}

#[test]
fn every_model_learns_on_when_the_clock_is_right_again() {
    for kind in ModelKind::ALL {
        let mut tracked = Tracked::new(kind.start());
        polls(|o| tracked.learn(o));
        assert_eq!(tracked.last, Some(START + HOUR * 959), "{kind:?}");
        // The model of changes, with windows of one entry, sees at most one per poll.
        let least = if kind == ModelKind::Changes { 20.0 } else { 30.0 };
        let per_day = tracked.model.mean_rate() * 86_400.0;
        assert!(per_day > least && per_day < 120.0, "{kind:?} {per_day}");
    }
}

#[test]
fn every_policy_wishes_as_if_the_clock_had_been_right() {
    for spec in POLICIES {
        let policy: Policy = spec.parse().expect("known");
        let wish = |skips: bool| {
            let (mut learned, mut wish) = (policy.start(), None);
            polls(|o| {
                if !skips || o.at < START + DECADES {
                    policy.learn(&mut learned, o);
                    wish = Some(policy.wish(&learned, o, &Bounds::EVALUATION).at.since(o.at));
                }
            });
            wish.expect("polled")
        };
        let (ahead, right) = (wish(false), wish(true));
        let ratio = ahead.as_secs_f64() / right.as_secs_f64();
        assert!((0.4..2.5).contains(&ratio), "{spec}: {ahead:?} instead of {right:?}");
    }
}
