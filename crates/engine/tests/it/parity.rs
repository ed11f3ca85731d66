//! The engine and the lab get the same world and must make the same polls at the same seconds. The
//! engine uses a store, sockets and a parser; the lab uses an array.

use std::sync::Arc;
use std::time::Duration;

use engine::{BudgetRule, Settings};
use feed::Time;
use lab::budget::{LiveBudget, polls_as_live};
use lab::{Chance, Phases, RunProgress, Setting, World, WorldFeed};
use polling::budget::{Budget, Strategy};
use polling::{Bounds, PolicySpec};

use crate::live;
use crate::terminals::Remote;

const DAY: Duration = Duration::from_secs(86_400);
const START: Time = Time::from_secs(1_700_000_000);

/// Rhythms that take policies through their cases: steady, bursts, mornings only, hardly ever,
/// several at one second, more than the window holds.
fn world() -> World {
    let mut chance = Chance::new(7, 0);
    let secs = |from: i64, gap: usize, chance: &mut Chance| {
        let (mut times, mut at) = (Vec::new(), from);
        while at < 86_400 * 3 {
            times.push(at);
            at += 1 + chance.below(2 * gap) as i64;
        }
        times
    };
    let day = 86_400;
    let steady = secs(-4 * day, 5400, &mut chance);
    let busy = secs(-day, 240, &mut chance);
    let rare = secs(-30 * day, 130_000, &mut chance);
    let morning: Vec<i64> = secs(-9 * day, 1800, &mut chance)
        .into_iter()
        .filter(|s| (s + START.secs()).rem_euclid(day) < day / 4)
        .collect();
    let bursts: Vec<i64> = (-9..9).flat_map(|i| (0..6).map(move |n| i * 40_000 + n * 45)).collect();
    let batches: Vec<i64> = (-9..9).flat_map(|i| [i * 30_011; 4]).collect();
    let feeds = [steady, busy, rare, morning, bursts, batches];
    let feeds = feeds.into_iter().enumerate().map(|(number, times)| {
        let times = times.into_iter().map(|s| Time::from_secs(START.secs() + s)).collect();
        WorldFeed::new(&number.to_string(), times)
    });
    let feeds: Vec<WorldFeed> = feeds.collect();
    let domains = (0..feeds.len()).map(|feed| vec![feed]).collect();
    World { feeds, window: 12, domains }
}

fn bounds() -> Bounds {
    let mut bounds = Bounds::EVALUATION;
    bounds.alpha = Duration::from_secs(15 * 60);
    bounds.beta = DAY / 2;
    bounds
}

async fn compare(specs: &[&str]) {
    let world = Arc::new(world());
    let phases = Phases::over(&world, Some(START), Duration::ZERO, DAY * 2, false).unwrap();
    let setting = Setting { bounds: bounds(), trained: false, ..Setting::new(phases) };
    for text in specs {
        let spec: PolicySpec = text.parse().unwrap();
        let mut simulated = Vec::new();
        let mut tell = |_: &WorldFeed, polls: &[Time]| {
            simulated.push(polls.to_vec());
            Ok::<(), std::convert::Infallible>(())
        };
        let progress = RunProgress::default();
        lab::run_and_tell(&world, &spec, &setting, &progress, Some(&mut tell)).unwrap();
        let settings = Settings { policy: spec, bounds: bounds(), ..Settings::new() };
        let live = live::polls(&world, settings, START, phases.end()).await;
        assert_eq!(live.len(), simulated.len());
        for (number, (live, simulated)) in live.iter().zip(&simulated).enumerate() {
            assert!(live.len() > 3, "{text}, feed {number}: hardly a poll");
            assert_eq!(live, simulated, "{text}, feed {number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simple_policies_make_the_same_polls_live_and_in_the_lab() {
    compare(&[
        "fix:1h",
        "fix-learned-w",
        "fix-learned-a",
        "adaptive-ttl:0.1",
        "lru-2",
        "mavsync",
        "mavsync:kappa=5s",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_that_learn_make_the_same_polls_live_and_in_the_lab() {
    compare(&[
        "indhist:0.7",
        "indhist-ttl:0.7,0.1,1h,2",
        "indhist-agg:0.7,0.5",
        "lihz:1.0",
        "tide",
        "tide:10m",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_running_systems_make_the_same_polls_live_and_in_the_lab() {
    compare(&[
        "advarss",
        "advarss-hybrid",
        "window-share:0.8",
        "window-share:0.8,periodic",
        "window-left:3",
        "entry-frequency",
        "empirical",
        "adaptive-fetch",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strategies_make_the_same_polls_live_and_in_the_lab() {
    let world = Arc::new(world());
    let end = START + DAY / 2;
    for strategy in Strategy::ALL {
        let budget: Budget = "9/1h".parse().unwrap();
        let rule = BudgetRule::new(budget).under(strategy);
        let simulated = LiveBudget {
            budget,
            spender: rule.spender,
            model: rule.model,
            cycle: Duration::from_secs(60),
            alpha: bounds().alpha,
        };
        let simulated = polls_as_live(&world, &simulated, START, end);
        let settings = Settings { budget: Some(rule), bounds: bounds(), ..Settings::new() };
        let live = live::polls(&world, settings, START, end).await;
        assert!(live.iter().map(Vec::len).sum::<usize>() > 20, "{strategy}: hardly a poll");
        for (number, (live, simulated)) in live.iter().zip(&simulated).enumerate() {
            assert_eq!(live, simulated, "{strategy}, feed {number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_machines_make_the_same_polls_as_one_process() {
    let world = Arc::new(world());
    let end = START + DAY / 2;
    let planned = BudgetRule::new("9/1h".parse().unwrap());
    let by_policy = |text: &str| Settings { policy: text.parse().unwrap(), ..Settings::new() };
    let by_budget = Settings { budget: Some(planned), ..Settings::new() };
    for settings in [by_policy("tide"), by_policy("indhist:0.7"), by_budget] {
        let Some(remote) = Remote::start(3).await else { return };
        let settings = Settings { bounds: bounds(), ..settings };
        let one = live::polls(&world, settings.clone(), START, end).await;
        let many = live::polls_by(&world, settings, START, end, Some(&remote)).await;
        assert!(one.iter().map(Vec::len).sum::<usize>() > 20, "hardly a poll");
        assert_eq!(one, many);
    }
}
