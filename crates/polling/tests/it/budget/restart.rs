//! A planner after a restart, its explanations, and polls outside the plan.

use polling::budget::{Budget, PlanCase, Planner, Strategy, Tracked};
use polling::model::Model;

use crate::budget::running::{CYCLE, START, answer, at, planner, run};

#[test]
fn a_restart_goes_on_where_it_was() {
    for strategy in Strategy::ALL {
        let mut first = planner(strategy, 50, "7/1h");
        run(&mut first, 0..33);
        let mut second = Planner::new(strategy, CYCLE);
        second.set_budget(first.budget());
        first.feeds().iter().for_each(|feed| {
            second.track(feed.clone());
        });
        second.resume(&first.progress());
        assert_eq!(second.threshold(), first.threshold());
        assert_eq!(second.progress(), first.progress());
        let kept = second.progress();
        second.resume(&kept[..kept.len() - 1]);
        second.resume(b"not ours");
        assert_eq!(second.progress(), kept);
        let polls = [run(&mut first, 33..177), run(&mut second, 33..177)];
        let [there, here] = polls.each_ref().map(|polls| polls.iter().sum::<usize>());
        if matches!(strategy, Strategy::TwoSteps | Strategy::Uniform | Strategy::TopKUtility) {
            assert_eq!(polls[0], polls[1], "{strategy}: cycle by cycle");
        }
        // Under an allocation each feed's schedule restarts, so the polls differ. A restart must
        // neither starve the feeds nor exceed the budget: 7 an hour for 24 hours, and the credit of
        // two cycles. It may spend more than the other planner: these feeds share one day, so their
        // points coincide, and a feed without a poll skips a point.
        assert!(here >= there * 9 / 10 && here <= 168 + 3, "{strategy}: {there} {here}");
    }
}

#[test]
fn every_strategy_says_why_in_figures_and_in_one_sentence() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 30, "60/1h");
        run(&mut planner, 0..10);
        let fresh = planner.track(Tracked::new(Model::homogeneous()));
        planner.revalue(0, 1.0, 0.0);
        planner.hold(1, at(500));
        let now = at(10);
        assert_eq!(planner.why(fresh, now).unwrap().case, PlanCase::NeverPolled);
        assert_eq!(planner.why(0, now).unwrap().case, PlanCase::Worthless);
        assert_eq!(planner.why(1, now).unwrap().held_until, Some(at(500)));
        assert_eq!(planner.why(99, now), None);
        for feed in 0..31 {
            let why = planner.why(feed, now).unwrap();
            let (code, words) = (why.code(), why.words());
            assert!(code.starts_with(strategy.word()) && code.len() <= 60, "{code}");
            assert!(words.len() > 20 && words.len() < 300, "{words}");
            assert!(!words.contains("NaN") && !words.contains("inf"), "{words}");
        }
        let away = planner.spend(now);
        assert!(away.iter().all(|f| planner.why(*f, now).unwrap().case == PlanCase::InFlight));
    }
}

#[test]
fn a_poll_comes_when_its_explanation_said() {
    for strategy in [Strategy::TwoSteps, Strategy::OnlyTau, Strategy::MinDelay, Strategy::CrawlAge]
    {
        let mut planner = planner(strategy, 1, "1/10m");
        planner.spend(START);
        let mut now = START;
        let said = loop {
            let why = planner.why(0, now).unwrap();
            match why.case {
                PlanCase::Price { at: Some(at), .. } | PlanCase::Allotted { at, .. } => break at,
                _ => answer(&mut planner, 0, now),
            }
            now = now + CYCLE;
        };
        let price = planner.threshold();
        let polled = (0..100).map(|c| now + CYCLE * c).find(|t| {
            planner.set_threshold(price);
            !planner.spend(*t).is_empty()
        });
        let polled = polled.unwrap();
        assert!(polled >= said && polled <= said + CYCLE, "{strategy}: {polled}, said {said}");
    }
}

#[test]
fn polls_outside_the_plan_are_paid_from_the_budget() {
    let budget: Budget = "60/1h".parse().unwrap();
    let mut planner = planner(Strategy::Uniform, 100, "60/1h");
    assert_eq!(planner.budget(), Some(budget));
    run(&mut planner, 0..3);
    planner.note_polls(15, 0);
    assert_eq!(run(&mut planner, 3..6), [0, 5, 10]);
}
