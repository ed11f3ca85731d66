//! How often and when in the day the allocating strategies look at each feed.
//!
//! Looks per day come from the strategy's allocator; within the day they are spaced evenly or by
//! theorem 3. A feed without entries in what its model learned from
//! counts as λ = 0.5 per 14 days: the paper is silent, and zero would mean never.

use feed::Time;

use super::allocation::{Demand, min_delay, whole};
use super::curve::Curve;
use super::min_miss::Shown;
use super::{Strategy, Tracked, crawl_age, crawl_freshness, lambda_crawl, min_miss, schedule};

const DAY_SECS: f64 = 86_400.0;
const DAY_MS: i64 = 86_400_000;
/// Half an entry in the fourteen days of the paper's learning window, per day.
const RATE_UNKNOWN: f64 = 0.5 / 14.0;
/// A feed that gets less than a look in this many days is looked at so often all the same.
const DAYS_MAX: f64 = 28.0;

/// When one feed is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rhythm {
    Never,
    /// Every so many milliseconds.
    Even(i64),
    /// At these milliseconds of the day, every so many days.
    Points {
        of_day: Vec<i64>,
        every_days: i64,
    },
}

impl Rhythm {
    /// The next look after the one at `last`.
    pub(crate) fn next(&self, last: Time) -> Option<Time> {
        match self {
            Rhythm::Never => None,
            Rhythm::Even(ms) => Some(last.shifted(*ms)),
            Rhythm::Points { of_day, every_days } => {
                let midnight = last.millis().div_euclid(DAY_MS) * DAY_MS;
                let later = of_day.iter().map(|p| midnight + p).find(|t| *t > last.millis());
                let first = of_day.first().map(|p| midnight + DAY_MS + p);
                let next = later.or(first)?;
                Some(Time::from_millis(next.saturating_add((every_days - 1) * DAY_MS)))
            }
        }
    }
}

/// The rhythm of every feed under a budget of so many looks (or bytes) a day.
pub(crate) fn rhythms(strategy: Strategy, feeds: &[Tracked], per_day: f64) -> Vec<Rhythm> {
    let looks = looks_per_day(strategy, feeds, per_day);
    let scheduled = matches!(strategy, Strategy::MinDelay | Strategy::MinDelaySchedule);
    if !scheduled {
        return looks.iter().map(|m| even(*m)).collect();
    }
    // Feeds with at least one look a day get whole numbers of them.
    let often: Vec<f64> = looks.iter().map(|m| if *m >= 1.0 { *m } else { 0.0 }).collect();
    let whole = whole(&often);
    let each = feeds.iter().zip(looks).zip(whole);
    each.map(|((feed, looks), whole)| points(feed, looks, whole)).collect()
}

fn even(looks: f64) -> Rhythm {
    if looks.is_nan() || looks <= 0.0 {
        return Rhythm::Never;
    }
    Rhythm::Even((DAY_MS as f64 / looks.max(1.0 / DAYS_MAX)).max(1000.0) as i64)
}

fn points(feed: &Tracked, looks: f64, whole: u32) -> Rhythm {
    if looks.is_nan() || looks <= 0.0 {
        return Rhythm::Never;
    }
    let (m, every_days) = if looks >= 1.0 {
        (whole.max(1) as usize, 1)
    } else {
        (1, (1.0 / looks).round().clamp(1.0, DAYS_MAX) as i64)
    };
    if m > schedule::POINTS_MAX {
        return even(m as f64);
    }
    let curve = Curve::slots(&feed.model.day(), DAY_SECS);
    let points = schedule::best(&curve, m);
    Rhythm::Points { of_day: points.iter().map(|p| (p * 1000.0) as i64).collect(), every_days }
}

fn looks_per_day(strategy: Strategy, feeds: &[Tracked], per_day: f64) -> Vec<f64> {
    let rate = |f: &Tracked| match f.model.mean_rate() * DAY_SECS {
        rate if rate > 0.0 => rate,
        _ => RATE_UNKNOWN,
    };
    let demands = || -> Vec<Demand> {
        let demand = |f: &Tracked| Demand { rate: rate(f), weight: f.value(), cost: f.cost };
        feeds.iter().map(demand).collect()
    };
    match strategy {
        Strategy::MinDelay | Strategy::MinDelayAllocation => min_delay(&demands(), per_day),
        Strategy::MinMiss => {
            let shown = |f: &Tracked| Shown { rate: rate(f), weight: f.value(), window: f.window };
            min_miss::looks(&feeds.iter().map(shown).collect::<Vec<_>>(), per_day)
        }
        Strategy::CrawlFreshness => crawl_freshness::looks(&demands(), per_day),
        Strategy::CrawlAge => crawl_age::looks(&demands(), per_day),
        Strategy::LambdaCrawl => lambda_crawl::looks(&demands(), per_day),
        Strategy::MinDelaySchedule
        | Strategy::Uniform
        | Strategy::OnlySat
        | Strategy::OnlyTau
        | Strategy::TopKUtility
        | Strategy::TwoSteps => {
            let counts = |f: &Tracked| f64::from(u8::from(f.value() > 0.0));
            let n: f64 = feeds.iter().map(counts).sum();
            feeds.iter().map(|f| if n > 0.0 { counts(f) * per_day / n } else { 0.0 }).collect()
        }
    }
}
