//! Policies at equal cost.

use std::time::Duration;

use feed::Time;
use lab::run::calibration::{Goal, PolicyTemplate, TOLERANCE, calibrate};
use lab::{Phases, RunProgress, Setting};

use crate::run::runs::synthetic;

#[test]
fn policies_with_a_free_parameter_spend_the_wanted_polls() {
    let world = synthetic(40, 27);
    let day = Duration::from_secs(86_400);
    let start = Some(Time::from_secs(1_500_000_000));
    let phases = Phases::over(&world, start, 7 * day, 20 * day, false).unwrap();
    let setting = Setting::new(phases);
    let progress = RunProgress::default();
    let wanted = lab::run(&world, &"mavsync".parse().unwrap(), &setting, &progress).total.polls;
    for text in ["entry-frequency", "indhist:?", "adaptive-ttl:?", "fix:?", "fix:?@1m..7d"] {
        let free = PolicyTemplate::of(text).unwrap();
        let found = calibrate(&world, &free, Goal::Polls(wanted), &setting, &progress).unwrap();
        let polls = found.run.total.polls;
        let off = polls.abs_diff(wanted) as f64 / wanted as f64;
        assert!(found.reached && off <= TOLERANCE, "{}: {polls} of {wanted}", found.run.policy);
        assert!(!found.run.policy.contains('?'));
    }
    let rival = lab::run(&world, &"mavsync".parse().unwrap(), &setting, &progress);
    let goal = Goal::delay_of(&rival).unwrap();
    let found = calibrate(&world, &PolicyTemplate::of("fix:?").unwrap(), goal, &setting, &progress)
        .unwrap();
    let off = found.run.by_entry.delay.unwrap() / rival.by_entry.delay.unwrap() - 1.0;
    assert!(found.reached && off.abs() <= TOLERANCE, "{}: {off}", found.run.policy);
    let bounded = PolicyTemplate::of("entry-frequency@7d..28d").unwrap();
    assert!(
        !calibrate(&world, &bounded, Goal::Polls(wanted), &setting, &progress).unwrap().reached
    );
    assert!(
        calibrate(
            &world,
            &PolicyTemplate::of("nosuch:?").unwrap(),
            Goal::Polls(1),
            &setting,
            &progress
        )
        .is_err()
    );
}
