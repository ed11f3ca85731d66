//! Runs one policy through one world, and counts polls, entries and delays.
//!
//! The first poll of a feed is at the start of the run, or when its first entry appears. The policy
//! decides all other polls. The first poll does not count: its entries have no delay, and recall
//! ignores them. With `warm_up` the run begins with the training phase, and counts from the end of
//! that phase.
//!
//! Trained policies (`indhist`, `lihz`) start with a model of the time before the test phase, as in
//! the source. The same command gives the same figures, bit for bit, on any number of threads.
//!
//! ```
//! use feed::Time;
//! use lab::{Phases, RunProgress, Setting, World, WorldFeed};
//! use std::time::Duration;
//!
//! let hour = Duration::from_secs(3600);
//! let start = Time::from_secs(0);
//! let times = (1..48).map(|h| start + hour * h).collect();
//! let feeds = vec![WorldFeed::new("hourly", times)];
//! let world = World { feeds, window: 20, domains: vec![vec![0]] };
//! let phases = Phases::over(&world, Some(start), 24 * hour, 23 * hour, false).unwrap();
//! let (spec, setting) = ("mavsync".parse().unwrap(), Setting::new(phases));
//! let run = lab::run(&world, &spec, &setting, &RunProgress::default());
//! assert_eq!((run.total.found, run.total.missed, run.total.delay_ms), (23, 0, 0));
//! ```

pub mod calibration;
mod comparison;
mod feed_run;
mod participation;
mod phases;
mod tally;

use std::sync::atomic::{AtomicU64, Ordering};

use feed::Time;
use polling::hints::HintReading;
use polling::model::Model;
use polling::model::profile::{K, Profiles};
use polling::{Bounds, Policy, PolicySpec};

use crate::{Averages, Delay, Quantiles, SiteLoad, World, WorldFeed, measure, parallel};
pub use comparison::PolicyComparison;
use feed_run::{FeedRunOutput, PolicySimulation};
pub use participation::{ChosenStart, Participation, chosen_start};
pub use phases::{PhaseError, Phases};
pub use tally::FeedTally;
pub(crate) use tally::HEADER_BYTES;

const HOUR_SECS: u64 = 3600;
const DAY_SECS: u64 = 86_400;
/// Polls are reported after this many domains, so that memory holds only a part of them.
const DOMAINS_AT_ONCE: usize = 4096;

/// The setting that all policies of a comparison share.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub phases: Phases,
    pub bounds: Bounds,
    /// The use of a feed's `ttl`.
    pub hints: HintReading,
    /// Whether policies are trained on the time before the test phase. Otherwise they start without
    /// knowledge, as live.
    pub trained: bool,
    /// The time zone of trained models, in seconds east of UTC.
    pub zone_secs: i32,
    pub threads: usize,
    /// The entries that policies learn from.
    pub learns: LearnsFrom,
}

/// The entries that a policy learns from, in a world that knows which are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LearnsFrom {
    #[default]
    All,
    /// As live with `learn = "relevant"` (dissertation 003, section 5.4.3).
    Wanted,
}

impl Setting {
    /// Returns a setting with the bounds of the published evaluation, no hints, UTC, one thread.
    pub fn new(phases: Phases) -> Setting {
        let bounds = Bounds::EVALUATION;
        Setting {
            phases,
            bounds,
            hints: HintReading::Ignore,
            trained: true,
            zone_secs: 0,
            threads: 1,
            learns: LearnsFrom::All,
        }
    }
}

/// The progress of a run, for another thread to read.
#[derive(Debug, Default)]
pub struct RunProgress {
    pub feeds: AtomicU64,
    pub polls: AtomicU64,
}

/// The result of one policy.
#[derive(Clone, Debug)]
pub struct PolicyRun {
    /// The specification of the policy, as given.
    pub policy: String,
    pub total: FeedTally,
    /// Every feed weighs the same.
    pub by_feed: Averages,
    /// Every entry weighs the same.
    pub by_entry: Averages,
    /// The mean delay of entries, weighted by feed.
    pub weighted_delay: Option<f64>,
    pub delays: Option<Quantiles>,
    /// The percentiles 1 to 100 of the delays of found entries, in seconds.
    pub delay_curve: Vec<f64>,
    pub freshness: Option<f64>,
    pub age: Option<f64>,
    pub window_freshness: Option<f64>,
    /// The load on sites.
    pub load: SiteLoad,
    /// Whether the trace has document sizes.
    pub has_bytes: bool,
    /// Bytes of each day of the test. The last value counts polls at the very end.
    pub bytes_by_day: Vec<u64>,
    /// One per feed of the world; `None` for feeds that do not take part.
    pub per_feed: Vec<Option<FeedTally>>,
}

impl PolicyRun {
    /// Returns the share of all entries that were found within some seconds; `None` without
    /// entries.
    pub fn found_within(&self, seconds: f64) -> Option<f64> {
        let recall = self.by_entry.recall?;
        let n_within = self.delay_curve.partition_point(|delay| *delay <= seconds);
        Some(recall * n_within as f64 / self.delay_curve.len().max(1) as f64)
    }
}

/// Runs one policy.
pub fn run(
    world: &World,
    spec: &PolicySpec,
    setting: &Setting,
    progress: &RunProgress,
) -> PolicyRun {
    let nobody: Option<&mut Ignore> = None;
    match run_and_tell(world, spec, setting, progress, nobody) {
        Ok(run) => run,
        Err(never) => match never {},
    }
}

/// Returns all polls of a policy at one feed, including the first.
pub fn polls_of(
    world: &World,
    feed: &WorldFeed,
    spec: &PolicySpec,
    setting: &Setting,
) -> Vec<Time> {
    let feeds = vec![feed.clone()];
    let alone = World { feeds, window: world.window, domains: vec![vec![0]] };
    let mut moments = Vec::new();
    let mut tell = |_: &WorldFeed, polls: &[Time]| -> Result<(), std::convert::Infallible> {
        moments.extend_from_slice(polls);
        Ok(())
    };
    match run_and_tell(&alone, spec, setting, &RunProgress::default(), Some(&mut tell)) {
        Ok(_) => moments,
        Err(never) => match never {},
    }
}

/// Runs one policy with a given model for each feed.
pub fn run_knowing(
    world: &World,
    spec: &PolicySpec,
    setting: &Setting,
    models: &[Model],
    progress: &RunProgress,
) -> PolicyRun {
    let bounds = spec.bounds(setting.bounds);
    let known = Some(models);
    let simulation =
        PolicySimulation { world, policy: spec.policy, bounds, setting, profiles: None, known };
    let nobody: Option<&mut Ignore> = None;
    match run_feeds(&simulation, spec, progress, nobody) {
        Ok(run) => run,
        Err(never) => match never {},
    }
}

type Ignore = fn(&WorldFeed, &[Time]) -> Result<(), std::convert::Infallible>;

/// Runs one policy and reports all polls of each feed to `tell`, in the order of the world's
/// domains. Includes first polls. Stops if `tell` fails.
pub fn run_and_tell<E>(
    world: &World,
    spec: &PolicySpec,
    setting: &Setting,
    progress: &RunProgress,
    tell: Option<&mut impl FnMut(&WorldFeed, &[Time]) -> Result<(), E>>,
) -> Result<PolicyRun, E> {
    let bounds = spec.bounds(setting.bounds);
    let mut simulation = PolicySimulation {
        world,
        policy: spec.policy,
        bounds,
        setting,
        profiles: None,
        known: None,
    };
    let profiles = profiles(&simulation);
    simulation.profiles = profiles.as_ref();
    run_feeds(&simulation, spec, progress, tell)
}

/// Simulates all feeds.
fn run_feeds<E>(
    simulation: &PolicySimulation<'_>,
    spec: &PolicySpec,
    progress: &RunProgress,
    mut tell: Option<&mut impl FnMut(&WorldFeed, &[Time]) -> Result<(), E>>,
) -> Result<PolicyRun, E> {
    let PolicySimulation { world, setting, .. } = *simulation;
    let mut per_feed = vec![None; world.feeds.len()];
    let (mut delays, mut load) = (Vec::new(), SiteLoad::default());
    let mut bytes_by_day = vec![0; n_days(&setting.phases)];
    let keep_polls = tell.is_some();
    for domains in world.domains.chunks(DOMAINS_AT_ONCE) {
        let (finished, kept) =
            parallel::map_batched(domains.len(), setting.threads, |i, kept: &mut Vec<Delay>| {
                run_domain(simulation, &domains[i], keep_polls, kept, progress)
            });
        for (feeds, site) in domains.iter().zip(finished) {
            load.add(&site.load);
            bytes_by_day.iter_mut().zip(site.bytes).for_each(|(sum, bytes)| *sum += bytes);
            for ((feed, tally), polls) in feeds.iter().zip(site.tallies).zip(site.polls) {
                per_feed[*feed] = tally;
                if let Some(tell) = &mut tell {
                    tell(&world.feeds[*feed], &polls)?;
                }
            }
        }
        delays.extend(kept.into_iter().flatten());
    }
    Ok(PolicyRun { load, bytes_by_day, ..summary(world, spec, per_feed, &mut delays) })
}

/// The feeds of one domain. They run one after the other, and their polls count together.
struct Site {
    tallies: Vec<Option<FeedTally>>,
    polls: Vec<Vec<Time>>,
    load: SiteLoad,
    /// Bytes per day.
    bytes: Vec<u64>,
}

/// Returns the days of the test phase, plus one for the moment of its end.
fn n_days(phases: &Phases) -> usize {
    phases.test.as_secs().div_ceil(DAY_SECS) as usize + 1
}

fn run_domain(
    simulation: &PolicySimulation<'_>,
    feeds: &[usize],
    keep_polls: bool,
    delays: &mut Vec<Delay>,
    progress: &RunProgress,
) -> Site {
    let n_hours = simulation.setting.phases.test.as_secs().div_ceil(HOUR_SECS);
    let mut hours = vec![0_u32; n_hours as usize + 1];
    let mut bytes = vec![0; n_days(&simulation.setting.phases)];
    let (mut tallies, mut all_polls) = (Vec::new(), Vec::new());
    for feed in feeds {
        let mut polls = Vec::new();
        let kept = keep_polls.then_some(&mut polls);
        let output = FeedRunOutput { delays, hours: &mut hours, bytes: &mut bytes, polls: kept };
        let tally = simulation.run_feed(*feed, output);
        progress.feeds.fetch_add(1, Ordering::Relaxed);
        progress.polls.fetch_add(tally.map_or(0, |t| t.polls), Ordering::Relaxed);
        tallies.push(tally);
        all_polls.push(polls);
    }
    Site { tallies, polls: all_polls, load: SiteLoad::of_site(&hours), bytes }
}

/// Clusters the feeds by their hours, for the one policy that shares histories.
fn profiles(simulation: &PolicySimulation<'_>) -> Option<Profiles> {
    if !matches!(simulation.policy, Policy::IndHistAgg { .. }) {
        return None;
    }
    let feeds = &simulation.world.feeds;
    let hours = |i: usize, _: &mut ()| simulation.start(i).hours();
    let (hours, _) = parallel::map_batched(feeds.len(), simulation.setting.threads, hours);
    Profiles::fit(&hours.into_iter().flatten().collect::<Vec<_>>(), K)
}

fn summary(
    world: &World,
    spec: &PolicySpec,
    per_feed: Vec<Option<FeedTally>>,
    delays: &mut [Delay],
) -> PolicyRun {
    let mut total = FeedTally::default();
    per_feed.iter().flatten().for_each(|tally| total.add(tally));
    let delay_curve = measure::curve(delays);
    let mean = |value: fn(&FeedTally) -> Option<f64>| {
        measure::mean(per_feed.iter().flatten().filter_map(value))
    };
    PolicyRun {
        policy: spec.to_string(),
        by_feed: Averages {
            delay: mean(FeedTally::delay),
            polls_per_entry: mean(FeedTally::polls_per_entry),
            recall: mean(FeedTally::recall),
        },
        by_entry: Averages {
            delay: total.delay(),
            polls_per_entry: total.polls_per_entry(),
            recall: total.recall(),
        },
        weighted_delay: weighted_delay(world, &per_feed),
        delays: Quantiles::of(&delay_curve),
        delay_curve,
        freshness: mean(FeedTally::freshness),
        age: mean(FeedTally::age),
        window_freshness: mean(FeedTally::window_freshness),
        load: SiteLoad::default(),
        bytes_by_day: Vec::new(),
        has_bytes: world.feeds.iter().any(|feed| !feed.sizes().is_empty()),
        total,
        per_feed,
    }
}

fn weighted_delay(world: &World, per_feed: &[Option<FeedTally>]) -> Option<f64> {
    let (mut waited, mut weights) = (0.0, 0.0);
    for (feed, tally) in world.feeds.iter().zip(per_feed) {
        let Some(tally) = tally else { continue };
        waited += feed.weight * (tally.delay_ms as f64 / 1000.0);
        weights += feed.weight * tally.n_delays as f64;
    }
    (weights > 0.0).then(|| waited / weights)
}
