//! A population drawn like that of the vectors of source 002, and the waiting of its postings.
//! Module `populations` explains the choices.

use std::collections::HashMap;

use polling::budget::allocation::Demand;
use polling::budget::curve::Curve;
use polling::budget::{schedule, search};

use crate::support::draws::Draws;
use crate::support::vectors::{floats, named};

const DAYS: f64 = 90.0;
const DAYS_LEARNED: f64 = 14.0;
const DAYS_MEASURED: f64 = 76.0;
/// Minutes of a day.
pub const MINUTES: f64 = 1440.0;
/// Name and upper end of the share of feeds.
const PATTERNS: [(&str, f64); 6] = [
    ("flat", 0.2),
    ("day", 0.5),
    ("afternoon", 0.7),
    ("evening", 0.85),
    ("burst_10", 0.9),
    ("burst_23", 1.0),
];

/// Days with their patterns, and the least delays on the grid.
pub struct Days {
    curves: Vec<Curve>,
    least: HashMap<(usize, usize), f64>,
}

impl Days {
    pub fn new() -> Days {
        let vectors = &named("sia_vectors")[0];
        let curve = |(name, _)| {
            let rates: Vec<f64> =
                floats(&vectors["patterns"][name]).iter().map(|share| share * 24.0).collect();
            Curve::slots(&rates, 1.0)
        };
        Days { curves: PATTERNS.map(curve).into(), least: HashMap::new() }
    }

    /// Returns the mean delay of a pattern's postings in minutes, polled `m` times at the best
    /// points.
    pub fn least(&mut self, pattern: usize, m: usize) -> f64 {
        let curve = &self.curves[pattern];
        *self.least.entry((pattern, m)).or_insert_with(|| {
            let slots = search::on_grid(curve, m, schedule::GRID);
            let at = |slot: usize| slot as f64 / schedule::GRID as f64;
            MINUTES * schedule::delay(curve, &slots.into_iter().map(at).collect::<Vec<_>>())
        })
    }

    pub fn at_midnight(&self, pattern: usize) -> f64 {
        MINUTES * schedule::delay(&self.curves[pattern], &[0.0])
    }
}

/// The feeds as drawn.
pub struct Population {
    /// Postings per day.
    pub rates: Vec<f64>,
    believed: Vec<f64>,
    pub patterns: Vec<usize>,
    roundings: Vec<f64>,
}

impl Population {
    pub fn draw(n: usize, x_max: f64, rates_known: bool) -> Population {
        const E: f64 = 0.22;
        let mut draws = Draws::new(0);
        let postings = |u: f64| (1.0 + u * (x_max.powf(E) - 1.0)).powf(1.0 / E);
        let rates: Vec<f64> = draws.units(n).into_iter().map(|u| postings(u) / DAYS).collect();
        let pattern = |u: f64| PATTERNS.partition_point(|(_, upper)| *upper <= u);
        let patterns = draws.units(n).into_iter().map(pattern).collect();
        let believed = match rates_known {
            true => rates.clone(),
            false => {
                let mut learned =
                    |rate: &f64| draws.poisson(rate * DAYS_LEARNED).max(0.5) / DAYS_LEARNED;
                rates.iter().map(&mut learned).collect()
            }
        };
        Population { rates, believed, patterns, roundings: draws.units(n) }
    }

    pub fn len(&self) -> f64 {
        self.rates.len() as f64
    }

    /// Returns the mean over postings of the waiting of each feed's postings.
    pub fn mean(&self, mut waiting: impl FnMut(usize) -> f64) -> f64 {
        let waited: f64 = self.rates.iter().enumerate().map(|(i, rate)| rate * waiting(i)).sum();
        waited / self.rates.iter().sum::<f64>()
    }

    pub fn demands(&self) -> Vec<Demand> {
        let demand = |rate: &f64| Demand { rate: *rate, weight: 1.0, cost: 1.0 };
        self.believed.iter().map(demand).collect()
    }

    /// Returns the mean delay in minutes for polls per day at even spacing.
    pub fn even(&self, polls: &[f64]) -> f64 {
        self.mean(|i| match polls[i] > 0.0 {
            true => MINUTES / 2.0 / polls[i],
            false => MINUTES / 2.0 * DAYS_MEASURED,
        })
    }

    pub fn scheduled(&self, days: &mut Days, polls: usize) -> f64 {
        self.mean(|i| days.least(self.patterns[i], polls))
    }

    /// Returns the mean delay and the polls per feed for whole polls at the best points.
    pub fn combined(&self, days: &mut Days, polls: &[f64]) -> (f64, f64) {
        let mut spent = 0.0;
        let delay = self.mean(|i| {
            let whole = |x: f64| x.floor() + f64::from(u8::from(self.roundings[i] < x.fract()));
            if polls[i] >= 1.0 {
                let m = whole(polls[i]);
                spent += m;
                return days.least(self.patterns[i], m as usize);
            }
            let every = whole(1.0 / polls[i]);
            spent += 1.0 / every;
            MINUTES / 2.0 * (every - 1.0) + days.least(self.patterns[i], 1)
        });
        (delay, spent / self.len())
    }
}
