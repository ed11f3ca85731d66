//! Online estimation on days of known shape (Horincar, Amann and Artières 2012; source 000, figures
//! 8 to 10). Measures the error of an estimator with frequent and rare polls, and whether it
//! follows a feed that changes its behaviour.
//!
//! Feeds publish at random along a day of *peaks*, a *uniform* day or *waves*. Polls come at random
//! around an average (an hour means ten minutes to two hours), in cycles of ten minutes. The models
//! are those of `polling`. They start at zero and use no publication dates, as in the paper.
//!
//! The paper can be read in two ways ([`ShapeReading`]), and an experiment records both.

use std::time::Duration;

use feed::Time;
use polling::model::Model;
use polling::model::smoothing::Smoothing;

use crate::{Chance, parallel};

pub const CYCLE: Duration = Duration::from_secs(600);
const DAY: Duration = Duration::from_secs(86_400);
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: f64 = 3_600_000.0;
/// Ten feeds of each shape, as in the paper.
pub const FEEDS: u64 = 10;
/// The paper used feeds with at least ten entries per day.
const PER_DAY: f64 = 30.0;
/// The smoothing that fits best is chosen for each estimator and average, from the paper's useful
/// range.
pub const SMOOTHINGS: [f64; 4] = [0.01, 0.05, 0.1, 0.2];
/// The window of the paper's other experiment.
const WINDOW: usize = 20;

/// The shape of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DayShape {
    Peaks,
    Uniform,
    Waves,
}

/// A reading of the paper's experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeReading {
    /// The estimators learn entries, and errors are divided by the mean total of a day. The real
    /// day is the shape that publishes. Three hours of the day have peaks.
    Counted,
    /// As printed: an entry counts 1/N, with the N of its own day. The real day is the mean of the
    /// last seven days. Peaks come every four hours, as the paper's argument needs.
    Normalised,
}

impl ShapeReading {
    pub const ALL: [ShapeReading; 2] = [ShapeReading::Counted, ShapeReading::Normalised];
}

/// An online estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlineEstimator {
    SingleVariable,
    Periodic,
}

impl DayShape {
    pub const ALL: [DayShape; 3] = [DayShape::Peaks, DayShape::Uniform, DayShape::Waves];

    pub const fn word(self) -> &'static str {
        match self {
            DayShape::Peaks => "peaks",
            DayShape::Uniform => "uniform",
            DayShape::Waves => "waves",
        }
    }

    /// Returns the share of a day's entries in each hour.
    pub fn hours(self, reading: ShapeReading) -> [f64; 24] {
        let is_peak = |hour: usize| match reading {
            ShapeReading::Counted => [7, 12, 19].contains(&hour),
            ShapeReading::Normalised => hour % 4 == 3,
        };
        let weight = |hour: usize| match self {
            DayShape::Uniform => 1.0,
            // Batches of a program: a few hours have nearly all entries.
            DayShape::Peaks => [0.02, 1.0][usize::from(is_peak(hour))],
            // People: quiet at night, most active in the early afternoon, in steps of four hours.
            DayShape::Waves => [0.1, 0.3, 1.0, 1.8, 1.6, 0.7][hour / 4],
        };
        let weights: [f64; 24] = std::array::from_fn(weight);
        let total: f64 = weights.iter().sum();
        weights.map(|w| w / total)
    }

    /// Returns the publication times of some days from `start` on.
    fn publish(
        self,
        reading: ShapeReading,
        start: Time,
        days: u32,
        chance: &mut Chance,
    ) -> Vec<Time> {
        let hours = self.hours(reading);
        let mut times = Vec::new();
        for hour in 0..days * 24 {
            let begin = start.shifted(i64::from(hour) * 3_600_000);
            let mean = HOUR_MS / (PER_DAY * hours[hour as usize % 24]);
            let mut at = chance.exponential(mean);
            while at < HOUR_MS {
                times.push(begin.shifted(at as i64));
                at += chance.exponential(mean);
            }
        }
        times
    }
}

/// The entries of one feed, with what each counts.
struct CountedEntries {
    times: Vec<Time>,
    /// The sum of what the entries before each one count; one more than there are entries.
    sums: Vec<f64>,
}

impl CountedEntries {
    fn new(times: Vec<Time>, reading: ShapeReading) -> CountedEntries {
        let day = |t: &Time| t.millis().div_euclid(DAY_MS);
        let mut sums = vec![0.0];
        for of_day in times.chunk_by(|a, b| day(a) == day(b)) {
            let each = match reading {
                ShapeReading::Counted => 1.0,
                ShapeReading::Normalised => 1.0 / of_day.len() as f64,
            };
            for _ in of_day {
                sums.push(sums[sums.len() - 1] + each);
            }
        }
        CountedEntries { times, sums }
    }

    /// Returns what the entries in a range of numbers count.
    fn amount(&self, from: usize, to: usize) -> f64 {
        self.sums[to] - self.sums[from]
    }

    /// Returns the mean of the seven days before `end`: what the entries of each hour count.
    fn last_week(&self, end: Time) -> [f64; 24] {
        let mut hours = [0.0; 24];
        let from = self.times.partition_point(|t| *t < end.shifted(-7 * DAY_MS));
        let to = self.times.partition_point(|t| *t < end);
        for (entry, time) in self.times.iter().enumerate().take(to).skip(from) {
            let hour = time.millis().div_euclid(DAY_MS / 24).rem_euclid(24) as usize;
            hours[hour] += self.amount(entry, entry + 1) / 7.0;
        }
        hours
    }
}

impl OnlineEstimator {
    pub const ALL: [OnlineEstimator; 2] =
        [OnlineEstimator::SingleVariable, OnlineEstimator::Periodic];

    pub const fn word(self) -> &'static str {
        match self {
            OnlineEstimator::SingleVariable => "single-variable",
            OnlineEstimator::Periodic => "periodic",
        }
    }

    /// Returns a model that starts at zero, watched from `at` on.
    fn start(self, smoothing: f64, at: Time) -> Model {
        let smoothing = Smoothing::Fixed(smoothing);
        match self {
            OnlineEstimator::SingleVariable => Model::single_variable(smoothing),
            OnlineEstimator::Periodic => Model::daily(smoothing),
        }
        .from_zero(at)
    }
}

/// A reader that polls one feed at random moments around an average.
struct SimulatedReader<'a> {
    published: &'a CountedEntries,
    model: Model,
    last: Time,
    n_seen: usize,
    next: Time,
    average: Duration,
    chance: Chance,
    /// Whether entries beyond the window are lost, as for any aggregator.
    honest: bool,
}

impl SimulatedReader<'_> {
    /// Simulates one cycle. Returns the error of the model in entries, then polls if it is due.
    fn cycle(&mut self, now: Time) -> f64 {
        let CountedEntries { times, .. } = self.published;
        let n = self.n_seen + times[self.n_seen..].partition_point(|t| *t <= now);
        let error = self.published.amount(self.n_seen, n) - self.model.expect(self.last, now);
        if now >= self.next {
            let from =
                if self.honest { self.n_seen.max(n.saturating_sub(WINDOW)) } else { self.n_seen };
            let found = self.published.amount(from, n);
            match &mut self.model {
                Model::SingleVariable(model) => model.update(now, found, None),
                Model::Periodic(model) => model.update(now, found, None),
                _ => {}
            }
            (self.last, self.n_seen) = (now, n);
            self.next = now + self.pause();
        }
        error
    }

    /// Returns a random pause, from one cycle to twice the average less one.
    fn pause(&mut self) -> Duration {
        let cycles = (2.0 * self.average.as_secs_f64() / CYCLE.as_secs_f64()) as usize;
        CYCLE * (1 + self.chance.below(cycles.max(2) - 1)) as u32
    }
}

/// The divergence error of one estimator on one shape, relative to the total of a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Robustness {
    pub shape: DayShape,
    pub online: OnlineEstimator,
    pub average: Duration,
    /// The error if the estimator knows how many entries were published, as in the paper.
    pub error: f64,
    /// The error if the estimator knows only the windows.
    pub error_honest: f64,
}

/// Four weeks of learning, then four weeks of measuring.
const WEEKS: u32 = 4;

/// Measures every shape and estimator at every average, with the best smoothing.
pub fn robustness(
    reading: ShapeReading,
    averages: &[Duration],
    seed: u64,
    threads: usize,
) -> Vec<Robustness> {
    let mut cases = Vec::new();
    for shape in DayShape::ALL {
        for online in OnlineEstimator::ALL {
            cases.extend(averages.iter().map(|average| (shape, online, *average)));
        }
    }
    parallel::map_each(cases.len(), threads, |i, _| {
        let (shape, online, average) = cases[i];
        let best = |honest: bool| {
            let setting = |smoothing| ReaderSetting { reading, online, smoothing, average, honest };
            let errors = SMOOTHINGS.map(|smoothing| error(shape, setting(smoothing), seed));
            errors.into_iter().fold(f64::INFINITY, f64::min)
        };
        Robustness { shape, online, average, error: best(false), error_honest: best(true) }
    })
}

/// Returns the error of ten readers on one shape.
fn error(shape: DayShape, setting: ReaderSetting, seed: u64) -> f64 {
    let start = Time::from_secs(0);
    let publish = |feed| {
        let chance = &mut Chance::new(seed, feed);
        let times = shape.publish(setting.reading, start, 2 * WEEKS * 7, chance);
        CountedEntries::new(times, setting.reading)
    };
    let feeds: Vec<CountedEntries> = (0..FEEDS).map(publish).collect();
    let mut readers: Vec<SimulatedReader<'_>> =
        (0..FEEDS).zip(&feeds).map(|(feed, each)| setting.reader(each, seed ^ feed)).collect();
    let n_cycles = 2 * WEEKS * 7 * (DAY.as_secs() / CYCLE.as_secs()) as u32;
    let mut sum = 0.0;
    for cycle in 1..=n_cycles {
        let now = start + CYCLE * cycle;
        let squares: f64 = readers.iter_mut().map(|r| r.cycle(now).powi(2)).sum();
        if cycle > n_cycles / 2 {
            sum += (squares / readers.len() as f64).sqrt();
        }
    }
    let day_total = match setting.reading {
        ShapeReading::Counted => PER_DAY,
        ShapeReading::Normalised => 1.0,
    };
    sum / f64::from(n_cycles / 2) / day_total
}

/// The estimator of a reader, and how often it polls.
#[derive(Clone, Copy)]
struct ReaderSetting {
    reading: ShapeReading,
    online: OnlineEstimator,
    smoothing: f64,
    average: Duration,
    honest: bool,
}

impl ReaderSetting {
    fn reader(self, published: &CountedEntries, seed: u64) -> SimulatedReader<'_> {
        let (last, next) = (Time::from_secs(0), Time::from_secs(0) + CYCLE);
        let chance = Chance::new(seed, 1 << 32);
        let model = self.online.start(self.smoothing, last);
        let ReaderSetting { average, honest, .. } = self;
        SimulatedReader { published, model, last, n_seen: 0, next, average, chance, honest }
    }
}

/// Returns, for each week, the distance of the estimated day from the real one: the mean Euclidean
/// distance of the 24 shares. The feeds have sixteen weeks each of uniform, peaks and waves.
pub fn adaptation(
    reading: ShapeReading,
    average: Duration,
    smoothing: f64,
    seed: u64,
    threads: usize,
) -> Vec<f64> {
    let online = OnlineEstimator::Periodic;
    let setting = ReaderSetting { reading, online, smoothing, average, honest: false };
    let feeds = parallel::map_each(FEEDS as usize, threads, |feed, _| {
        one_adaptation(setting, seed, feed as u64)
    });
    let n_weeks = feeds.first().map_or(0, Vec::len);
    (0..n_weeks).map(|w| feeds.iter().map(|f| f[w]).sum::<f64>() / FEEDS as f64).collect()
}

/// The weeks of each behaviour.
pub const WEEKS_EACH: u32 = 16;

fn one_adaptation(setting: ReaderSetting, seed: u64, feed: u64) -> Vec<f64> {
    let shapes = [DayShape::Uniform, DayShape::Peaks, DayShape::Waves];
    let (start, mut chance) = (Time::from_secs(0), Chance::new(seed, feed));
    let mut times = Vec::new();
    for (i, shape) in (0_u32..).zip(shapes) {
        let from = start + DAY * (i * WEEKS_EACH * 7);
        times.extend(shape.publish(setting.reading, from, WEEKS_EACH * 7, &mut chance));
    }
    let published = CountedEntries::new(times, setting.reading);
    let mut reader = setting.reader(&published, seed ^ feed);
    let per_week = 7 * (DAY.as_secs() / CYCLE.as_secs()) as u32;
    let mut distances = Vec::new();
    for week in 0..3 * WEEKS_EACH {
        for cycle in 1..=per_week {
            reader.cycle(start + CYCLE * (week * per_week + cycle));
        }
        // The rates are per second.
        let believed = reader.model.day().map(|rate| rate * 3600.0);
        let total: f64 = believed.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (real, unit) = match setting.reading {
            ShapeReading::Counted => {
                (shapes[(week / WEEKS_EACH) as usize].hours(setting.reading), total)
            }
            ShapeReading::Normalised => (published.last_week(start + DAY * (7 * (week + 1))), 1.0),
        };
        let squares = real.iter().zip(believed).map(|(r, b)| (r - b / unit).powi(2));
        distances.push(squares.sum::<f64>().sqrt());
    }
    distances
}
