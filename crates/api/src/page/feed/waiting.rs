//! The waiting time that is expected to add up between two polls, as points of a curve. It is the
//! sum of the waiting times of all entries that a feed's model expects.
//!
//! W(t) = ∫ (t − s)·λ(s) ds since the last poll, which is the integral of the expected entries up
//! to each moment. The precision is enough for a drawing; no decision depends on it.

use feed::Time;
use polling::model::{Model, ModelKind};
use polling::policy::window_share::WindowTarget;
use polling::{Decimal, Learned, Policy};

/// Points between two polls.
const STEPS: i64 = 24;

/// Returns the model inside a feed's learned state, if the policy uses one.
pub fn model(learned: &[u8]) -> Option<Model> {
    ModelKind::ALL.into_iter().find_map(|model| {
        let policy = Policy::Window { room: WindowTarget::Share(Decimal::new(1, 0)), model };
        let learned = Learned::decode(&policy, learned);
        learned.model().filter(|model| Some(*model) != policy.start().model()).cloned()
    })
}

/// Returns times between `from` and `to` with the entry-seconds of waiting by then.
pub fn curve(model: &Model, from: Time, to: Time) -> Vec<(Time, f64)> {
    let span = to.millis_since(from);
    if span <= 0 {
        return Vec::new();
    }
    let step_secs = span as f64 / 1000.0 / STEPS as f64;
    let (mut waited, mut before) = (0.0, 0.0);
    let mut points = vec![(from, 0.0)];
    for step in 1..=STEPS {
        let at = from.shifted(span * step / STEPS);
        let expected = model.expect(from, at);
        waited += (before + expected) / 2.0 * step_secs;
        before = expected;
        points.push((at, waited));
    }
    points
}

#[cfg(test)]
mod tests {
    use feed::Observation;
    use polling::model::homogeneous::Homogeneous;

    use super::*;

    #[test]
    fn waiting_grows_with_the_square_of_time_at_a_constant_rate() {
        let model = Model::Homogeneous(Homogeneous { rate: 0.5 });
        let points = curve(&model, Time::from_secs(100), Time::from_secs(124));
        assert_eq!(points.len(), 25);
        for (at, waited) in points {
            let t = (at.secs() - 100) as f64;
            assert!((waited - 0.25 * t * t).abs() < 1e-6, "{at} {waited}");
        }
        assert!(curve(&model, Time::from_secs(5), Time::from_secs(5)).is_empty());
    }

    #[test]
    fn the_model_is_found_in_what_was_learned_and_only_there() {
        let policy: Policy = "tide".parse().unwrap();
        let mut learned = policy.start();
        assert_eq!(model(&learned.encode()), None, "nothing was learned yet");
        let window: Vec<Time> = (0..9).map(|h| Time::from_secs(h * 3600)).collect();
        let seen = Observation::first(Time::from_secs(40_000), &window);
        policy.learn(&mut learned, &seen);
        assert_eq!(model(&learned.encode()).as_ref(), learned.model());
        assert_eq!(model(&"fix:1h".parse::<Policy>().unwrap().start().encode()), None);
    }
}
