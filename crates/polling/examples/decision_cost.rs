//! What a decision costs: nanoseconds per learn and wish for each policy, and the share of a core
//! that planning for a million feeds takes.
//!
//! `cargo run --release -p polling --example decision_cost [FEEDS]`

use std::hint::black_box;
use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::budget::{Planner, Strategy, Tracked};
use polling::model::single_variable::SingleVariable;
use polling::model::smoothing::Smoothing;
use polling::model::{Model, Rates};
use polling::{Bounds, Policy};

const POLICIES: [&str; 17] = [
    "fix:1h",
    "fix-learned-w",
    "fix-learned-a",
    "adaptive-ttl:0.1",
    "lru-2",
    "mavsync",
    "empirical",
    "adaptive-fetch",
    "advarss",
    "entry-frequency",
    "window-share:0.8",
    "window-share:0.8,periodic",
    "indhist:0.7",
    "indhist-ttl:0.7,0.1,1h,2",
    "indhist-agg:0.7,0.5",
    "lihz:1.0",
    "advarss-hybrid",
];
const POLLS: u32 = 20_000;
/// Of so many polls one is measured, so many times.
const EVERY: u32 = 100;
const TIMES: usize = 200;
const POLLS_PER_SECOND: usize = 1000;
/// Feeds are planned for once a minute: the threshold's published steps of 5 % a cycle would swing
/// if cycles were a thousandth of the feeds' intervals.
const CYCLE: Duration = Duration::from_secs(60);
const WARM_UP: u32 = 60;
const CYCLES: u32 = 30;

/// Nanoseconds that this thread has spent on a core: other processes do not count. Where the
/// system does not tell, real time.
fn spent_ns() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_core = told.and_then(|text| text.split(' ').next()?.parse().ok());
    on_core.unwrap_or_else(real_ns)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn real_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_nanos() as u64)
}

/// The poll number `i` of an hourly feed with a window of twenty, every second one with news.
fn poll(i: u32, window: &mut Vec<Time>) -> Time {
    let at = Time::from_secs(1_700_000_000) + Duration::from_secs(1800) * i;
    if i.is_multiple_of(2) {
        window.remove(0);
        window.push(at - Duration::from_secs(7 * u64::from(i % 100)));
    }
    at
}

/// Nanoseconds per wish and per learning: the median over samples, since others use the machine.
fn costs_of(policy: &Policy) -> (f64, f64) {
    let start = Time::from_secs(1_700_000_000);
    let hours_ago = |h: u64| start - Duration::from_secs(3600 * h);
    let mut window: Vec<Time> = (1..=20).rev().map(hours_ago).collect();
    let mut learned = policy.start();
    let (mut wishing, mut learning) = (Vec::new(), Vec::new());
    for i in 0..POLLS {
        let at = poll(i, &mut window);
        let new = if i.is_multiple_of(2) { &window[19..] } else { &[] };
        let o = observation(at, &window, new);
        if i % EVERY > 0 {
            policy.learn(&mut learned, &o);
            continue;
        }
        let mut copies = vec![learned.clone(); TIMES];
        let before = real_ns();
        copies.iter_mut().for_each(|copy| policy.learn(black_box(copy), &o));
        let between = real_ns();
        for copy in &copies {
            black_box(policy.wish(black_box(copy), black_box(&o), &Bounds::EVALUATION));
        }
        wishing.push(real_ns() - between);
        learning.push(between - before);
        policy.learn(&mut learned, &o);
    }
    (median(wishing) / TIMES as f64, median(learning) / TIMES as f64)
}

fn median(mut samples: Vec<u64>) -> f64 {
    samples.sort_unstable();
    samples[samples.len() / 2] as f64
}

fn observation<'a>(at: Time, window: &'a [Time], new: &'a [Time]) -> Observation<'a> {
    let overlap = window.len() - new.len();
    let outcome = Outcome::Seen;
    Observation { at, outcome, window, new, overlap, suspected_miss: false, partial: false }
}

/// Rates between an entry a month and one every ten minutes, most of them slow.
fn rate(i: usize) -> f64 {
    let spread = (i.wrapping_mul(2_654_435_761) % 10_000) as f64 / 10_000.0;
    (1.0 / 2_600_000.0) * (4000.0_f64).powf(spread * spread)
}

fn model(i: usize, last: Time, periodic: bool) -> Model {
    if periodic {
        let hours = (0..24).map(|h| rate(i) * if (7..23).contains(&h) { 1.4 } else { 0.2 });
        return Model::Frozen(Rates { hours: hours.collect(), zone_secs: 0 });
    }
    let mut model = SingleVariable::new(Smoothing::adjusting());
    (model.flat.rate, model.last) = (rate(i), Some(last));
    Model::SingleVariable(model)
}

fn planning(strategy: Strategy, n: usize, periodic: bool) {
    // Noon: the rates stay as they are for hours.
    let start = Time::from_secs(1_700_049_600);
    let mut planner = Planner::new(strategy, CYCLE);
    // A threshold near that which the budget allows, and feeds anywhere on their way to it: with
    // U = λt²/2 a feed is polled every √(2τ/λ).
    let roots: f64 = (0..n).map(|i| (rate(i) / 2.0).sqrt()).sum();
    let tau = (roots / POLLS_PER_SECOND as f64).powi(2);
    for i in 0..n {
        let part = (i.wrapping_mul(40_503) % 10_007) as f64 / 10_007.0;
        let last = start - Duration::from_secs_f64((2.0 * tau / rate(i)).sqrt() * part);
        let model = model(i, last, periodic);
        planner.track(Tracked { last: Some(last), window: 100, ..Tracked::new(model) });
    }
    planner.set_threshold(tau);
    let (mut spent, mut worst, mut n_polls) = (0, 0, 0);
    for cycle in 0..WARM_UP + CYCLES {
        let at = start + CYCLE * cycle;
        let before = spent_ns();
        let chosen = planner.plan(at, POLLS_PER_SECOND * CYCLE.as_secs() as usize);
        for (i, number) in chosen.iter().enumerate() {
            let window = [at - Duration::from_secs(600); 20];
            let feed = &planner.feeds()[*number];
            let expected = feed.last.map_or(0.0, |last| feed.model.expect(last, at));
            let chance = (i.wrapping_mul(2_654_435_761) % 1000) as f64 / 1000.0;
            let n_new = ((expected + chance) as usize).min(20);
            planner.observe(*number, &observation(at, &window, &window[..n_new]));
        }
        let elapsed = spent_ns() - before;
        // The warm-up is the way to a threshold that fits, or the first allocation.
        if cycle >= WARM_UP {
            spent += elapsed;
            worst = worst.max(elapsed);
            n_polls += chosen.len();
        } else if cycle == 0 {
            println!("{strategy:22} first plan {:>8.1} ms", elapsed as f64 / 1e6);
        }
    }
    let secs = f64::from(CYCLES) * CYCLE.as_secs_f64();
    println!(
        "{strategy:22} {n} feeds ({}): {:.0} polls/s, {:.2} % of a core, longest plan {:.0} ms",
        if periodic { "periodic" } else { "one rate" },
        n_polls as f64 / secs,
        spent as f64 / secs / 1e7,
        worst as f64 / 1e6,
    );
}

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    println!("{:28} {:>10} {:>10}", "policy", "wish ns", "learn ns");
    for spec in POLICIES {
        let Ok(policy) = spec.parse::<Policy>() else { continue };
        let (wish, learn) = costs_of(&policy);
        println!("{spec:28} {wish:>10.0} {learn:>10.0}");
    }
    planning(Strategy::TwoSteps, n, false);
    planning(Strategy::TwoSteps, n, true);
    planning(Strategy::MinDelayAllocation, n, false);
    planning(Strategy::LambdaCrawl, n, false);
}
