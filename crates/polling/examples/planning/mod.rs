//! Measures the cost of planning: a million feeds, a thousand polls per second, each strategy.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use feed::Time;
use polling::budget::{Budget, Planner, Strategy, Tracked};
use polling::model::single_variable::SingleVariable;
use polling::model::smoothing::Smoothing;
use polling::model::{HourlyRates, Model};

use crate::{observation, verdict};

const POLLS_PER_SECOND: u32 = 1000;
/// One plan a minute. The threshold's published steps of 5 % a cycle would oscillate if cycles were
/// a thousandth of the feeds' intervals.
const CYCLE: Duration = Duration::from_secs(60);
/// Cycles until the threshold fits and the first allocation is made; then the measured cycles.
const WARM_UP: u32 = 30;
const CYCLES: u32 = 20;
/// The share of one core that planning may take, in percent.
const TARGET: f64 = 5.0;

/// Returns the nanoseconds that this thread has spent on a core, so that other processes do not
/// count. Falls back to real time.
fn spent_ns() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_core = told.and_then(|text| text.split(' ').next()?.parse().ok());
    on_core.unwrap_or_else(crate::real_ns)
}

/// Returns the memory of this process in bytes; 0 if the system does not tell.
fn held_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = told.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Rates between an entry a month and one every ten minutes, most of them slow.
fn rate(i: usize) -> f64 {
    let spread = (i.wrapping_mul(2_654_435_761) % 10_000) as f64 / 10_000.0;
    (1.0 / 2_600_000.0) * (4000.0_f64).powf(spread * spread)
}

fn model(i: usize, last: Time, periodic: bool) -> Model {
    if periodic {
        let busy = |h: usize| if (7 + i % 5..20 + i % 3).contains(&h) { 1.4 } else { 0.2 };
        let hours = (0..24).map(|h| rate(i) * busy(h)).collect();
        return Model::Frozen(HourlyRates { hours, zone_secs: 0 });
    }
    let mut model = SingleVariable::new(Smoothing::adjusting());
    (model.flat.rate, model.last) = (rate(i), Some(last));
    Model::SingleVariable(model)
}

/// A planner with a threshold near that of the budget, and feeds at random times before it: with U
/// = λt²/2 a feed is polled every √(2τ/λ).
fn planner(strategy: Strategy, n: usize, periodic: bool, start: Time) -> Planner {
    let mut planner = Planner::new(strategy, CYCLE);
    let polls = POLLS_PER_SECOND * 3600;
    planner.set_budget(Some(Budget { polls, per: Duration::from_secs(3600), bytes: None }));
    let roots: f64 = (0..n).map(|i| (rate(i) / 2.0).sqrt()).sum();
    let tau = (roots / f64::from(POLLS_PER_SECOND)).powi(2);
    planner.set_threshold(tau);
    for i in 0..n {
        let part = (i.wrapping_mul(40_503) % 10_007) as f64 / 10_007.0;
        let last = start - Duration::from_secs_f64((2.0 * tau / rate(i)).sqrt() * part);
        let model = model(i, last, periodic);
        planner.track(Tracked { last: Some(last), window: 100, ..Tracked::new(model) });
    }
    planner
}

/// Runs one cycle: the plan, and every poll observed.
fn cycle(planner: &mut Planner, at: Time) -> usize {
    let chosen = planner.spend(at);
    for (i, number) in chosen.iter().enumerate() {
        let window = [at - Duration::from_secs(600); 20];
        let feed = &planner.feeds()[*number];
        let expected = feed.last.map_or(0.0, |last| feed.model.expect(last, at));
        let chance = (i.wrapping_mul(2_654_435_761) % 1000) as f64 / 1000.0;
        let n_new = ((expected + chance) as usize).min(20);
        planner.observe(*number, &observation(at, &window, &window[..n_new]));
    }
    chosen.len()
}

pub fn print(n: usize) {
    println!(
        "\n{:<22} {:<9} {:>8} {:>9} {:>10} {:>10} {:>7} {:>7} {:>4}",
        "strategy",
        "model",
        "polls/s",
        "bytes/feed",
        "first ms",
        "longest ms",
        "core %",
        "target",
        ""
    );
    for strategy in Strategy::ALL {
        for periodic in [false, true] {
            let run = in_a_process_of_its_own(strategy, n, periodic);
            if !run.is_ok_and(|status| status.success()) {
                measure(strategy, n, periodic);
            }
        }
    }
}

/// Memory can be measured only in a fresh process.
fn in_a_process_of_its_own(strategy: Strategy, n: usize, periodic: bool) -> io::Result<ExitStatus> {
    let program = std::env::current_exe()?;
    let arguments = [n.to_string(), strategy.to_string(), periodic.to_string()];
    Command::new(program).args(arguments).status()
}

pub fn measure(strategy: Strategy, n: usize, periodic: bool) {
    // Noon: the rates stay as they are for hours.
    let start = Time::from_secs(1_700_049_600);
    let before = held_bytes();
    let mut planner = planner(strategy, n, periodic, start);
    let (mut first, mut spent, mut longest, mut n_polls) = (0, 0, 0, 0);
    for i in 0..WARM_UP + CYCLES {
        let began = spent_ns();
        let polls = cycle(&mut planner, start + CYCLE * i);
        let took = spent_ns() - began;
        if i == 0 {
            first = took;
        }
        if i >= WARM_UP {
            (spent, longest, n_polls) = (spent + took, longest.max(took), n_polls + polls);
        }
    }
    let secs = f64::from(CYCLES) * CYCLE.as_secs_f64();
    let share = spent as f64 / secs / 1e7;
    println!(
        "{:<22} {:<9} {:>8.0} {:>10} {:>10.0} {:>10.0} {:>7.2} {:>7} {:>4}",
        strategy.word(),
        if periodic { "periodic" } else { "one rate" },
        n_polls as f64 / secs,
        held_bytes().saturating_sub(before) / n as u64,
        first as f64 / 1e6,
        longest as f64 / 1e6,
        share,
        TARGET,
        verdict(share, TARGET)
    );
}
