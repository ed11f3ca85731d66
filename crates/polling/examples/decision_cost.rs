//! Measures the cost of a decision in nanoseconds per poll for each policy, and the share of a core
//! for planning a million feeds under each strategy. It compares both with their targets.
//!
//! `cargo run --release -p polling --example decision_cost [FEEDS]`

mod planning;

use std::hint::black_box;
use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::{Bounds, Policy};

/// The target for a decision, in nanoseconds.
const SIMPLE: f64 = 100.0;
/// The target for rules that keep a history or a model of the day.
const PERIODIC: f64 = 2000.0;
/// The target for the rule that plans many polls ahead.
const OUTLOOK: f64 = 5000.0;

const POLICIES: [(&str, f64); 20] = [
    ("fix:1h", SIMPLE),
    ("fix-learned-w", SIMPLE),
    ("fix-learned-a", SIMPLE),
    ("adaptive-ttl:0.1", SIMPLE),
    ("lru-2", SIMPLE),
    ("mavsync", SIMPLE),
    ("mavsync:kappa=5s", SIMPLE),
    ("empirical", SIMPLE),
    ("adaptive-fetch", SIMPLE),
    ("advarss", SIMPLE),
    ("window-share:0.8", SIMPLE),
    ("entry-frequency", PERIODIC),
    ("window-share:0.8,periodic", PERIODIC),
    ("indhist:0.7", PERIODIC),
    ("indhist:0.7,week", PERIODIC),
    ("indhist-ttl:0.7,0.1,1h,2", PERIODIC),
    ("indhist-agg:0.7,0.5", PERIODIC),
    ("lihz:1.0", PERIODIC),
    ("advarss-hybrid", PERIODIC),
    ("tide", OUTLOOK),
];
const POLLS: u32 = 20_000;
/// One of this many polls is measured, this many times.
const EVERY: u32 = 100;
const TIMES: usize = 200;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn real_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_nanos() as u64)
}

/// The poll number `i` of an hourly feed with a window of twenty; every second one finds new
/// entries.
fn poll(i: u32, window: &mut Vec<Time>) -> Time {
    let at = Time::from_secs(1_700_000_000) + Duration::from_secs(1800) * i;
    if i.is_multiple_of(2) {
        window.remove(0);
        window.push(at - Duration::from_secs(7 * u64::from(i % 100)));
    }
    at
}

/// Returns nanoseconds per wish and per learning: the median over samples, since others use the
/// machine.
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
    Observation { overlap, outcome, ..Observation::seen(at, window, new) }
}

fn verdict(found: f64, target: f64) -> &'static str {
    if found <= target { "ok" } else { "OVER" }
}

fn main() {
    let argument = |i| std::env::args().nth(i);
    let n = argument(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    if let Some(Ok(strategy)) = argument(2).map(|name| name.parse()) {
        planning::measure(strategy, n, argument(3).as_deref() == Some("true"));
        return;
    }
    println!(
        "{:<28} {:>8} {:>8} {:>11} {:>7} {:>5}",
        "policy", "wish ns", "learn ns", "decision ns", "target", ""
    );
    for (spec, target) in POLICIES {
        let Ok(policy) = spec.parse::<Policy>() else {
            println!("{spec:<28} is not a policy");
            continue;
        };
        let (wish, learn) = costs_of(&policy);
        let both = wish + learn;
        let verdict = verdict(both, target);
        println!("{spec:<28} {wish:>8.0} {learn:>8.0} {both:>11.0} {target:>7.0} {verdict:>5}");
    }
    println!("\n{n} feeds, in cycles of a minute:");
    planning::print(n);
}
