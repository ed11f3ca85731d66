//! Strategies that allocate spend their grants, even if a feed's gap is not a whole number of
//! cycles.

use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::{Budget, Planner, Strategy, Tracked};
use polling::model::{HourlyRates, Model};

const CYCLE: Duration = Duration::from_secs(60);

/// Feeds from an entry in four days to sixty a day. Under the budget below, the busiest are due
/// little more than a cycle after their last poll.
fn planner(strategy: Strategy) -> Planner {
    let mut planner = Planner::new(strategy, CYCLE);
    planner.set_budget(Some(Budget { polls: 1800, per: Duration::from_secs(3600), bytes: None }));
    for i in 0..100 {
        let rate = 1.057_f64.powi(i) / 345_600.0;
        let model = Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 });
        planner.track(Tracked { window: 20, ..Tracked::new(model) });
    }
    planner
}

#[test]
fn every_allocating_strategy_spends_its_budget() {
    for strategy in [
        Strategy::MinDelay,
        Strategy::MinDelayAllocation,
        Strategy::MinDelaySchedule,
        Strategy::MinMiss,
        Strategy::CrawlAge,
        Strategy::LambdaCrawl,
    ] {
        let mut planner = planner(strategy);
        let (start, hours) = (Time::from_secs(1_700_000_000), 6);
        let mut n_polls = 0;
        for minute in 0..hours * 60 {
            let at = start + CYCLE * minute;
            for feed in planner.spend(at) {
                n_polls += 1;
                planner.observe(feed, &unchanged(at));
            }
        }
        let budget = 1800 * hours;
        assert!(n_polls <= budget, "{strategy}: {n_polls} of {budget}");
        assert!(f64::from(n_polls) > 0.97 * f64::from(budget), "{strategy}: {n_polls} of {budget}");
    }
}

fn unchanged(at: Time) -> Observation<'static> {
    Observation::unchanged(at, &[])
}
