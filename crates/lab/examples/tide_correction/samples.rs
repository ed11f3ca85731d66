//! Samples for the correction of `tide`: simulated polls of recorded histories. Each sample has the
//! state of the model at a poll, the entries that it expects in some steps ahead, and the entries
//! that came.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use feed::Time;
use lab::{PolledFeed, World, WorldBuilder};
use polling::model::Model;
use polling::model::tide::correction::{INPUTS, STEP_INPUTS, StepsAhead};
use polling::{Bounds, Policy};

const WINDOW: u32 = 20;
const DAY_SECS: i64 = 86_400;
/// The ends of the steps, in intervals to the planned poll. The lookahead covers six.
const STEP_ENDS: [f64; STEPS] = [0.12, 0.25, 0.4, 0.55, 0.75, 1.0, 1.3, 1.7, 2.2, 3.0, 4.2, 6.0];
pub const STEPS: usize = 12;
/// The shortest and the longest interval whose steps are sampled.
const INTERVAL_SECS: (f64, f64) = (600.0, 400_000.0);
/// The prices of the simulated polls; feeds take turns.
const PRICES_SECS: [u64; 3] = [600, 1800, 5400];
/// The most samples of one run. A run with more is thinned out evenly.
const RUN_MAX: usize = 4_000;
/// Added to the entries that are expected until the next poll, so that no sample counts without
/// limit.
const EXPECTED_MIN: f32 = 0.05;

/// The histories, with the kind of their feeds.
pub const KINDS: [&str; 6] = ["posts", "commits", "releases", "news", "uploads", "blogs"];

struct Source {
    kind: usize,
    trace: &'static str,
    /// The first start, the seconds between two starts, and how many there are.
    first: i64,
    every_days: i64,
    runs: i64,
    days: i64,
}

const SOURCES: [Source; 8] = [
    source(0, "congress_tweets", 1_500_000_000, 75, 14, 30),
    source(1, "git_commits", 1_420_000_000, 120, 34, 30),
    source(2, "crates_releases", 1_560_000_000, 75, 28, 60),
    source(3, "facebook_news_2017", 1_497_916_800, 9, 4, 23),
    source(4, "debian_changelogs", 1_100_000_000, 150, 50, 90),
    source(5, "scripting_news", 1_495_000_000, 120, 26, 40),
    source(5, "simonwillison_blog", 1_420_000_000, 120, 36, 40),
    source(5, "opportunities_blog", 1_771_000_000, 30, 8, 40),
];

const fn source(
    kind: usize,
    trace: &'static str,
    first: i64,
    every_days: i64,
    runs: i64,
    days: i64,
) -> Source {
    Source { kind, trace, first, every_days, runs, days }
}

/// One step ahead of a sample.
#[derive(Clone, Copy)]
pub struct Step {
    pub inputs: [f32; STEP_INPUTS],
    pub expected: f32,
    pub came: f32,
    pub weight: f32,
}

/// One poll of one feed.
#[derive(Clone)]
pub struct Sample {
    pub kind: usize,
    pub odd: bool,
    pub at: Time,
    pub inputs: [f32; INPUTS],
    pub steps: [Step; STEPS],
}

/// Returns the samples of all histories in the folder.
pub fn all(traces: &Path) -> super::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for source in &SOURCES {
        let world = read(&traces.join(format!("{}.csv.gz", source.trace)))?;
        let before = samples.len();
        for run in 0..source.runs {
            let start = source.first + run * source.every_days * DAY_SECS;
            let mut found = Vec::new();
            for number in 0..world.feeds.len() {
                of_feed(&world, source, number, start, &mut found);
            }
            let every = found.len().div_ceil(RUN_MAX).max(1);
            samples.extend(found.into_iter().step_by(every));
        }
        eprintln!("{}: {} samples", source.trace, samples.len() - before);
    }
    Ok(samples)
}

fn read(file: &Path) -> super::Result<World> {
    let mut builder = WorldBuilder::default();
    let name = file.display().to_string();
    let unpacked = flate2::read::MultiGzDecoder::new(File::open(file)?);
    lab::world::trace::read(&name, BufReader::with_capacity(1 << 16, unpacked), &mut builder)?;
    Ok(builder.finish(WINDOW))
}

/// Polls a feed from its first entry after `start`, or from `start` if it is older.
fn of_feed(world: &World, source: &Source, number: usize, start: i64, samples: &mut Vec<Sample>) {
    let feed = &world.feeds[number];
    let visible = feed.visible();
    let (start, end) = (Time::from_secs(start), Time::from_secs(start + source.days * DAY_SECS));
    let Some(first) = visible.first().copied() else { return };
    if visible.last().is_none_or(|last| *last <= start) || first >= end {
        return;
    }
    let price = Duration::from_secs(PRICES_SECS[number % PRICES_SECS.len()]);
    let policy = Policy::Tide { price, miss: polling::policy::tide::MISS };
    let (mut learned, mut polled) = (policy.start(), PolledFeed::new(world, feed));
    let mut at = first.max(start);
    while at <= end {
        polled.poll(at);
        let Some(seen) = polled.observation() else { break };
        policy.learn(&mut learned, &seen);
        let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
        if let Some(model) = learned.model() {
            samples.extend(sample(source.kind, number, model, at, wish.at, visible));
        }
        at = wish.at;
    }
}

fn sample(
    kind: usize,
    number: usize,
    model: &Model,
    at: Time,
    wish: Time,
    visible: &[Time],
) -> Option<Sample> {
    let Model::Tide(tide) = model else { return None };
    let interval = wish.since(at).as_secs_f64().clamp(INTERVAL_SECS.0, INTERVAL_SECS.1);
    let last = visible.last()?;
    let n_by = |time: Time| visible.partition_point(|t| *t <= time);
    let (mut from, mut n_from) = (0.0, n_by(at));
    let ahead = StepsAhead::new(tide, at);
    let mut steps = STEP_ENDS.map(|end| {
        let (begin, end) = (from, end * interval);
        let time = |secs: f64| at.shifted((secs * 1000.0) as i64);
        let expected = model.expect(time(begin), time(end));
        let n_end = n_by(time(end));
        let came = (n_end - n_from) as f32;
        (from, n_from) = (end, n_end);
        let middle = (begin + end) / 2.0;
        // The history ends here: nothing is known about the time after it.
        let weight =
            if time(end) <= *last { 1.0 / (1.0 + (middle / interval).powi(2)) } else { 0.0 };
        Step {
            inputs: ahead.inputs(begin, end - begin, expected).unwrap_or_default(),
            expected: expected as f32,
            came,
            weight: weight as f32,
        }
    });
    // A rate that is wrong by a factor costs a share of the price of a poll. So a poll of a slow
    // feed counts as much as one of a busy feed.
    let until_wish = STEP_ENDS.iter().zip(&steps).filter(|(end, _)| **end <= 1.0);
    let expected: f32 = until_wish.map(|(_, step)| step.expected).sum();
    steps.iter_mut().for_each(|step| step.weight /= expected + EXPECTED_MIN);
    Some(Sample { kind, odd: number % 2 == 1, at, inputs: tide.correction_inputs(), steps })
}
