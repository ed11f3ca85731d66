//! Measures the simulated polls per second of each policy on one core, and the time to read the
//! trace. Without a trace it uses a synthetic population.
//!
//! `cargo run --release -p lab --example polls_per_second [TRACE.csv.gz] [POLICY…]`

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use feed::Time;
use lab::world::synth::{Population, PopulationSpec};
use lab::{Phases, RunProgress, Setting, TraceRow, World, WorldBuilder};

/// Synthetic feeds have years of history; at this time their windows are full.
const START: Time = Time::from_secs(1_310_792_400);
/// Table 4.11.
const POLICIES: [&str; 15] = [
    "fix:1h",
    "fix:1d",
    "fix:7d",
    "fix-learned-w",
    "fix-learned-a",
    "adaptive-ttl:0.1",
    "adaptive-ttl:3.0",
    "lru-2",
    "mavsync",
    "indhist:0.7",
    "indhist:10",
    "indhist-ttl:0.7,0.1,1h,2",
    "indhist-ttl:10,3,1h,2",
    "lihz:0.1",
    "lihz:1.0",
];

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let before = now();
    let (world, start) = match args.next() {
        Some(file) if file != "-" => (recorded(&file)?, None),
        _ => (synthetic(), Some(START)),
    };
    println!(
        "{} feeds, {} entries in {:.2?}",
        world.feeds.len(),
        world.n_entries(),
        before.elapsed()
    );
    let named: Vec<String> = args.collect();
    let policies = if named.is_empty() { POLICIES.map(str::to_owned).to_vec() } else { named };
    let day = Duration::from_secs(86_400);
    let phases = Phases::over(&world, start, 7 * day, 20 * day, false)?;
    let setting = Setting::new(phases);
    let whole = now();
    println!("{:28} {:>12} {:>9} {:>14}", "policy", "polls", "ms", "polls/s");
    for text in policies {
        let before = now();
        let run = lab::run(&world, &text.parse()?, &setting, &RunProgress::default());
        let secs = before.elapsed().as_secs_f64();
        let polls = run.total.polls;
        println!("{text:28} {polls:>12} {:>9.1} {:>14.0}", secs * 1000.0, polls as f64 / secs);
    }
    println!("all on one core in {:.2?}", whole.elapsed());
    Ok(())
}

fn recorded(file: &str) -> Result<World, Box<dyn std::error::Error>> {
    let mut builder = WorldBuilder::default();
    let reader =
        BufReader::with_capacity(1 << 16, flate2::read::MultiGzDecoder::new(File::open(file)?));
    lab::world::trace::read(file, reader, &mut builder)?;
    Ok(builder.finish(20))
}

fn synthetic() -> World {
    let spec = PopulationSpec { seed: 1, feeds: 5000, start: START, days: 27 };
    let mut builder = WorldBuilder::default();
    for drawn in Population::draw(&spec).feeds {
        let feed = builder.feed(&drawn.name);
        for time in drawn.times {
            let (window, bytes) = (Some(drawn.window as u32), Some(drawn.bytes));
            builder.entry(feed, TraceRow { visible: time, claim: Some(time), window, bytes });
        }
    }
    builder.finish(20)
}
