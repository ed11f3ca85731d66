//! Statistics of a trace: gaps, rates, update patterns, shapes of the day, periodicity.
//!
//! The crate `polling` classifies patterns (dissertation 003, section 3.7.5) and shapes (Horincar,
//! Amann and Artières 2012); this module counts them. The pattern of a feed follows from the window
//! that it shows at the end of the trace, and from all its entries.

use feed::Time;
use polling::model::pattern::{UpdatePattern, pattern_of_window};
use polling::model::shape::{ActivityShape, periodicity, shape_of};

use crate::measure::mean;
use crate::{PolledFeed, World, WorldFeed};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;
/// The periodicity of a feed with more than ten years counts only the last ten.
const DAYS_MAX: usize = 3660;

/// The statistics of one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    pub feeds: usize,
    pub entries: usize,
    pub first: Time,
    pub last: Time,
    /// Seconds between two entries of one feed.
    pub gaps: Option<Spread>,
    /// Entries per day and feed, over the time from its first to its last entry.
    pub per_day: Option<Spread>,
    /// Entries per feed.
    pub per_feed: Option<Spread>,
    pub patterns: Vec<(UpdatePattern, usize)>,
    /// All feeds with a shape, then the activity classes of the paper.
    pub classes: Vec<ActivityClass>,
    /// Entries per hour of the day and per weekday (Monday first), as shares.
    pub hours: [f64; 24],
    pub weekdays: [f64; 7],
}

/// Mean and quantiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
    pub max: f64,
}

/// The feeds of one activity class, by the shape of their day and by periodicity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivityClass {
    /// The lower limit of entries per day, exclusive.
    pub above_per_day: f64,
    pub feeds: usize,
    pub peaks: usize,
    pub uniform: usize,
    pub waves: usize,
    /// By the printed rule: the sum over the active hours divided by 24.
    pub periodic: usize,
    /// By the mean over the active hours, which does not favour sparse feeds.
    pub periodic_active: usize,
}

/// All feeds; more than 10, 24 and 48 entries per day (source 000: > 10, > 1 per hour, > 48).
const CLASSES: [f64; 4] = [0.0, 10.0, 24.0, 48.0];

const PATTERNS: [UpdatePattern; 8] = [
    UpdatePattern::Empty,
    UpdatePattern::SingleEntry,
    UpdatePattern::OnTheFly,
    UpdatePattern::Chunked,
    UpdatePattern::Zombie,
    UpdatePattern::Constant,
    UpdatePattern::Spontaneous,
    UpdatePattern::Sliced,
];

/// Computes the statistics of a world; `None` if it is empty. The time of the last entry is "now"
/// for patterns.
pub fn stats(world: &World) -> Option<Stats> {
    let (first, last) = world.span()?;
    let mut gaps = Vec::new();
    let (mut rates, mut counts) = (Vec::new(), Vec::new());
    let mut patterns = PATTERNS.map(|pattern| (pattern, 0)).to_vec();
    let mut classes = CLASSES.map(ActivityClass::above).to_vec();
    let (mut hours, mut weekdays) = ([0.0; 24], [0.0; 7]);
    for feed in &world.feeds {
        let times = feed.visible();
        gaps.extend(times.windows(2).map(|w| w[1].millis_since(w[0]) as f64 / 1000.0));
        counts.push(times.len() as f64);
        let pattern = pattern(world, feed, last);
        patterns.iter_mut().filter(|(p, _)| *p == pattern).for_each(|(_, n)| *n += 1);
        for time in times {
            hours[hour_of(*time)] += 1.0;
            weekdays[weekday_of(*time)] += 1.0;
        }
        if let Some(per_day) = per_day(times) {
            rates.push(per_day);
            let kind = DayProfile::of(times);
            classes.iter_mut().filter(|c| per_day > c.above_per_day).for_each(|c| c.add(&kind));
        }
    }
    let entries = world.n_entries() as f64;
    Some(Stats {
        feeds: world.feeds.len(),
        entries: world.n_entries(),
        first,
        last,
        gaps: Spread::of(gaps),
        per_day: Spread::of(rates),
        per_feed: Spread::of(counts),
        patterns,
        classes,
        hours: hours.map(|n| n / entries),
        weekdays: weekdays.map(|n| n / entries),
    })
}

/// Returns the pattern of a feed, as a poll at `at` shows it. An entry without a date has that of
/// its appearance.
fn pattern(world: &World, feed: &WorldFeed, at: Time) -> UpdatePattern {
    let mut polled = PolledFeed::new(world, feed);
    polled.poll(at);
    let claim = |entry: usize| feed.claim(entry).unwrap_or(feed.visible()[entry]);
    let mut window: Vec<Time> = polled.shown().map(claim).collect();
    if feed.dated_on_request {
        window.fill(at);
    }
    window.sort_unstable();
    pattern_of_window(&window, feed.visible(), at)
}

/// Returns the entries per day from the first to the last. Uses at least one day, so that a single
/// burst does not give a high rate.
fn per_day(times: &[Time]) -> Option<f64> {
    let span = times.last()?.millis_since(*times.first()?).max(DAY_MS);
    Some(times.len() as f64 * DAY_MS as f64 / span as f64)
}

/// Returns the entries in each hour of the day.
pub(crate) fn hours_of(times: &[Time]) -> [u32; 24] {
    let mut hours = [0; 24];
    times.iter().for_each(|time| hours[hour_of(*time)] += 1);
    hours
}

fn hour_of(time: Time) -> usize {
    time.millis().div_euclid(HOUR_MS).rem_euclid(24) as usize
}

/// Monday is 0; the epoch was a Thursday.
fn weekday_of(time: Time) -> usize {
    (time.millis().div_euclid(DAY_MS) + 3).rem_euclid(7) as usize
}

/// The shape and periodicity of the days of a feed.
struct DayProfile {
    shape: Option<ActivityShape>,
    periodic: bool,
    periodic_active: bool,
}

impl DayProfile {
    fn of(times: &[Time]) -> DayProfile {
        let days = days(times);
        let mut sums = [0.0; 24];
        for day in &days {
            sums.iter_mut().zip(day).for_each(|(sum, n)| *sum += f64::from(*n));
        }
        let repeats = periodicity(&days);
        DayProfile {
            shape: shape_of(&sums),
            periodic: repeats.is_some_and(|p| p.is_periodic()),
            periodic_active: repeats.is_some_and(|p| p.cv_active <= 1.0),
        }
    }
}

/// Returns the entries per hour of each day, including days without entries.
fn days(times: &[Time]) -> Vec<[u32; 24]> {
    let Some(last) = times.last() else { return Vec::new() };
    let day = |t: &Time| t.millis().div_euclid(DAY_MS);
    let first = times.first().map_or(0, day).max(day(last) - DAYS_MAX as i64 + 1);
    let mut days = vec![[0; 24]; usize::try_from(day(last) - first + 1).unwrap_or(0)];
    for time in times {
        if let Ok(i) = usize::try_from(day(time) - first) {
            days[i][hour_of(*time)] += 1;
        }
    }
    days
}

impl ActivityClass {
    fn above(above_per_day: f64) -> ActivityClass {
        let (peaks, uniform, waves, periodic, periodic_active) = (0, 0, 0, 0, 0);
        ActivityClass { above_per_day, feeds: 0, peaks, uniform, waves, periodic, periodic_active }
    }

    fn add(&mut self, kind: &DayProfile) {
        self.feeds += 1;
        match kind.shape {
            Some(ActivityShape::Peaks) => self.peaks += 1,
            Some(ActivityShape::Uniform) => self.uniform += 1,
            Some(ActivityShape::Waves) => self.waves += 1,
            None => {}
        }
        self.periodic += usize::from(kind.periodic);
        self.periodic_active += usize::from(kind.periodic_active);
    }
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Spread> {
        let mean = mean(values.iter().copied())?;
        let max = values.iter().copied().reduce(f64::max)?;
        let mut at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100).max(1);
            *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
        };
        Some(Spread { mean, p10: at(10), p50: at(50), p90: at(90), max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldFeed;

    #[test]
    fn feeds_are_counted_by_pattern_shape_and_class() {
        // Two weeks from a Monday on: every ten minutes, and weekdays at nine.
        let monday = 1_499_644_800;
        let busy = (0..14 * 144).map(|i| Time::from_secs(monday + i * 600)).collect();
        let office = (0..14).filter(|d| d % 7 < 5);
        let office = office.map(|d| Time::from_secs(monday + d * 86_400 + 9 * 3600)).collect();
        let feeds = vec![WorldFeed::new("busy", busy), WorldFeed::new("office", office)];
        let world = World { feeds, window: 20, domains: vec![vec![0], vec![1]] };
        let stats = stats(&world).unwrap();
        let counted: Vec<_> = stats.patterns.iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, [&(UpdatePattern::Constant, 1), &(UpdatePattern::Spontaneous, 1)]);
        let above_48 = stats.classes[3];
        assert_eq!((above_48.feeds, above_48.uniform, above_48.periodic_active), (1, 1, 1));
        assert_eq!((stats.classes[0].feeds, stats.classes[0].peaks), (2, 1));
        assert!((stats.hours.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(stats.gaps.unwrap().p50, 600.0);
        assert!((stats.per_day.unwrap().max - 144.0).abs() < 0.1);
    }
}
