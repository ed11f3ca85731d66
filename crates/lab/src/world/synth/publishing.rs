//! Draws the publication times of a synthetic feed: rates by the power law, days and weeks in the
//! time zone of the publisher. Times are whole seconds.

use feed::Time;

use super::SynthPattern;
use crate::Chance;

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
const WEEK: f64 = 7.0 * DAY;

/// The published exponent of entries in four weeks.
const EXPONENT: f64 = 0.74;
/// The longest history before the start: enough to fill any realistic window.
const HISTORY_MAX: f64 = 1000.0 * DAY;
/// Time zones in hours from UTC, weighted by the origin of feeds.
const ZONES: [(i32, u32); 9] =
    [(-8, 15), (-5, 25), (-3, 4), (0, 14), (1, 22), (2, 5), (3, 4), (8, 6), (9, 5)];

/// The publishing process of one feed.
#[derive(Clone, Debug)]
pub struct PublishingProcess {
    kind: ProcessKind,
    /// Mean gap in seconds.
    gap: f64,
    window: usize,
    /// The offset of local time from UTC in seconds.
    zone: f64,
    /// The first active hour, and the number of active hours.
    open: f64,
    active: f64,
    weekdays_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ProcessKind {
    Never,
    Irregular,
    Regular,
    Hours,
    Chunks,
    /// Ended this many seconds before the start.
    Ended(f64),
}

impl PublishingProcess {
    pub fn draw(pattern: SynthPattern, window: usize, chance: &mut Chance) -> PublishingProcess {
        let (low, high) = match pattern {
            SynthPattern::Spontaneous => (1.0, 56.0),
            SynthPattern::Single => (1.0, 200.0),
            SynthPattern::Sliced | SynthPattern::Chunked | SynthPattern::OnTheFly => (28.0, 1200.0),
            SynthPattern::Constant => (400.0, 20_000.0),
            // The rate before the feed fell silent.
            SynthPattern::Zombie | SynthPattern::Empty => (2.0, 200.0),
        };
        let gap = 4.0 * WEEK / chance.power_law(low, high, EXPONENT);
        let kind = match pattern {
            SynthPattern::Empty => ProcessKind::Never,
            SynthPattern::Spontaneous | SynthPattern::Single => ProcessKind::Irregular,
            SynthPattern::Constant => ProcessKind::Regular,
            SynthPattern::Sliced | SynthPattern::OnTheFly => ProcessKind::Hours,
            SynthPattern::Chunked => ProcessKind::Chunks,
            SynthPattern::Zombie => {
                // Eight weeks, and eight median gaps. The median gap of an irregular feed is below
                // its mean.
                ProcessKind::Ended((8.0 * WEEK).max(8.0 * gap) + chance.between(0.0, 52.0 * WEEK))
            }
        };
        let zone = f64::from(chance.weighted(&ZONES).unwrap_or(0)) * HOUR;
        let open = chance.between(5.0, 10.0);
        let active = chance.between(8.0, 14.0);
        let weekdays_only = chance.percent(45.0);
        PublishingProcess { kind, gap, window, zone, open, active, weekdays_only }
    }

    /// Returns publication times from before `start`, early enough to fill the window, until `days`
    /// after it.
    pub fn times(&self, start: Time, days: u16, chance: &mut Chance) -> Vec<Time> {
        let end = f64::from(days) * DAY;
        let history = (self.gap * self.window as f64 * 1.5).clamp(4.0 * WEEK, HISTORY_MAX);
        let origin = start.secs();
        let mut times = match self.kind {
            ProcessKind::Never => Vec::new(),
            ProcessKind::Irregular => self.irregular(origin, -history, end, chance),
            ProcessKind::Ended(ago) => self.irregular(origin, -ago - history, -ago, chance),
            ProcessKind::Regular => self.regular(-history, end, chance),
            ProcessKind::Hours => self.hours(origin, -history, end, chance),
            ProcessKind::Chunks => self.chunks(origin, -history, end, chance),
        };
        times.sort_by(f64::total_cmp);
        times.into_iter().map(|t| Time::from_secs(origin + t.floor() as i64)).collect()
    }

    /// Mixes short and long gaps, rarely at night.
    fn irregular(&self, origin: i64, from: f64, to: f64, chance: &mut Chance) -> Vec<f64> {
        let mut times = Vec::new();
        let mut t = from;
        loop {
            // A quarter of the gaps are a tenth of the mean; the others compensate.
            let mean = if chance.percent(25.0) { 0.1 * self.gap } else { 1.3 * self.gap };
            t += chance.exponential(mean).max(1.0);
            let hour = self.local_hour(origin, t);
            let slept = if hour < 6.0 && chance.percent(85.0) {
                t + (6.0 - hour) * HOUR + chance.between(0.0, 3.0 * HOUR)
            } else {
                t
            };
            if t >= to {
                return times;
            }
            if slept < to {
                times.push(slept);
            }
        }
    }

    fn regular(&self, from: f64, to: f64, chance: &mut Chance) -> Vec<f64> {
        let mut times = Vec::new();
        let mut t = from;
        while t < to {
            times.push(t);
            t += self.gap * chance.between(0.85, 1.15);
        }
        times
    }

    /// A Poisson process in active hours, and nothing outside them.
    fn hours(&self, origin: i64, from: f64, to: f64, chance: &mut Chance) -> Vec<f64> {
        let share = self.active / 24.0 * if self.weekdays_only { 5.0 / 7.0 } else { 1.0 };
        let mut times = Vec::new();
        let mut t = from;
        loop {
            t += chance.exponential(self.gap * share).max(1.0);
            if t >= to {
                return times;
            }
            let since_open = (self.local_hour(origin, t) - self.open).rem_euclid(24.0);
            let resting = self.weekdays_only && self.local_weekday(origin, t) >= 5;
            if since_open < self.active && !resting {
                times.push(t);
            }
        }
    }

    /// Publishes a whole window at one moment, once a day, or once a week at low rates.
    fn chunks(&self, origin: i64, from: f64, to: f64, chance: &mut Chance) -> Vec<f64> {
        let every = if self.gap <= DAY { DAY } else { WEEK };
        let size = self.window.max(2);
        let mut times = Vec::new();
        let mut t = from - (self.local_hour(origin, from) - self.open) * HOUR;
        while t < to {
            let at = t + chance.between(0.0, 20.0 * 60.0);
            if at >= from && at < to {
                times.extend(std::iter::repeat_n(at, size));
            }
            t += every;
        }
        times
    }

    fn local_hour(&self, origin: i64, t: f64) -> f64 {
        (origin as f64 + t + self.zone).rem_euclid(DAY) / HOUR
    }

    /// Returns the weekday; 0 is Monday.
    fn local_weekday(&self, origin: i64, t: f64) -> u32 {
        // 1970-01-01 was a Thursday.
        (((origin as f64 + t + self.zone) / DAY).floor() as i64 + 3).rem_euclid(7) as u32
    }
}
