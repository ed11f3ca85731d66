//! A feed that changes its behaviour (source 000, figure 9): sixteen weeks each of a uniform day,
//! peaks and waves. The test measures the distance of the periodic model from the last seven days,
//! week by week (`horincar2012_experiments`).
//!
//! The vectors state neither seed, shape nor rate. We found them, since the vectors give every
//! digit:
//! - 60 postings a day, a Poisson number in each cycle of ten minutes, divided by the day's total.
//! - Peaks: every fourth hour from two o'clock on, the others a fiftieth of it. Waves: the upper
//!   half of a cosine around noon, and 0.08 of it at all times.
//! - Polls after 1 to 12 cycles (an hour on average: the paper's 10 minutes to 2 hours), 1 to 288
//!   for a day. All postings are drawn first, then the polls.
//! - `zero_*`: seed 0, a = 0.1, polls every hour. `fig9_*`: the mean over the seeds 0 to 4.

use std::f64::consts::TAU;
use std::time::Duration;

use feed::Time;
use polling::model::periodic::Periodic;
use polling::model::smoothing::Smoothing;
use serde_json::Value;

use crate::golden::periodic_readings::{self, Reading};
use crate::support::draws::Draws;
use crate::support::vectors::{floats, named};

pub const CYCLE_SECS: i64 = 600;
const CYCLES_A_DAY: usize = 144;
pub const CYCLES_A_WEEK: usize = 7 * CYCLES_A_DAY;
const WEEKS_EACH: usize = 16;
const POSTINGS_A_DAY: f64 = 60.0;
/// The most cycles between polls about every hour, and about every day.
const HOURLY: u32 = 12;
const DAILY: u32 = 288;

fn shares(weight: impl Fn(usize) -> f64) -> [f64; 24] {
    let weights: [f64; 24] = std::array::from_fn(weight);
    let total: f64 = weights.iter().sum();
    weights.map(|w| w / total)
}

/// Uniform, peaks, waves.
pub fn shapes() -> [[f64; 24]; 3] {
    let wave = |h: usize| 0.08 + (TAU * (h as f64 - 12.0) / 24.0).cos().max(0.0);
    [shares(|_| 1.0), shares(|h| if h % 4 == 2 { 1.0 } else { 0.02 }), shares(wave)]
}

/// One feed: the postings of each cycle, and the cycles at whose ends it was polled.
pub struct Watched {
    pub published: Vec<f64>,
    pub polls: Vec<usize>,
}

impl Watched {
    pub fn draw(seed: u32, shapes: &[[f64; 24]], weeks: usize, pause_max: u32) -> Watched {
        let mut draws = Draws::new(seed);
        let mut published = Vec::new();
        for shape in shapes {
            for _ in 0..7 * weeks {
                let mean = |cycle: usize| POSTINGS_A_DAY * shape[cycle / 6] / 6.0;
                let day: Vec<f64> = (0..CYCLES_A_DAY).map(|c| draws.poisson(mean(c))).collect();
                let total = day.iter().sum::<f64>().max(1.0);
                published.extend(day.iter().map(|n| n / total));
            }
        }
        let mut pause = || 1 + draws.below(pause_max) as usize;
        let (mut polls, mut at) = (Vec::new(), pause());
        while at <= published.len() {
            polls.push(at);
            at += pause();
        }
        Watched { published, polls }
    }

    /// Returns the distance at the end of each week between the real day and that of a model.
    /// `note` receives each poll: the previous cycle, this cycle, and the new postings.
    fn distances<M>(
        &self,
        mut model: M,
        mut note: impl FnMut(&mut M, (usize, usize), f64),
        hours: impl Fn(&M) -> Vec<f64>,
    ) -> Vec<f64> {
        let (mut last, mut polls) = (0, self.polls.iter().peekable());
        let mut distances = Vec::new();
        for (week, cycles) in self.published.chunks(CYCLES_A_WEEK).enumerate() {
            while let Some(at) = polls.next_if(|at| **at <= (week + 1) * CYCLES_A_WEEK) {
                note(&mut model, (last, *at), self.published[last..*at].iter().sum());
                last = *at;
            }
            let mut real = [0.0; 24];
            for (cycle, n) in cycles.iter().enumerate() {
                real[cycle / 6 % 24] += n / 7.0;
            }
            let squares = real.iter().zip(hours(&model)).map(|(r, h)| (r - h).powi(2));
            distances.push(squares.sum::<f64>().sqrt());
        }
        distances
    }

    fn periodic(&self, a: f64) -> Vec<f64> {
        let day = Duration::from_secs(86_400);
        let mut model = Periodic::new(24, day, Smoothing::Fixed(a)).expect("a day of hours");
        model.update(Time::from_secs(0), 0.0, Some(0.0));
        let note = |model: &mut Periodic, (_, at), x| {
            model.update(Time::from_secs(at as i64 * CYCLE_SECS), x, None);
        };
        self.distances(model, note, |model| model.rates.iter().map(|r| r * 3600.0).collect())
    }

    fn alternative(&self, a: f64, reading: Reading) -> Vec<f64> {
        let hour = |cycle| cycle as f64 / 6.0;
        let note = |rates: &mut Vec<f64>, (last, at), x| {
            periodic_readings::update(rates, (hour(last), hour(at)), x, a, reading);
        };
        self.distances(vec![0.0; 24], note, Vec::clone)
    }
}

/// The vectors are rounded to four places.
#[track_caller]
fn check(name: &str, found: &[f64], expected: &Value) {
    let expected = floats(expected);
    assert_eq!(found.len(), expected.len());
    for (week, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).abs();
        assert!(off < 5e-5 + 1e-9, "{name} in week {week}: {found} is not {expected}");
    }
}

#[test]
fn the_three_readings_of_a_model_at_zero_hold() {
    let feed = Watched::draw(0, &shapes(), WEEKS_EACH, HOURLY);
    for vectors in named("horincar2012_experiments") {
        check("floor", &feed.periodic(0.1), &vectors["zero_floor"]);
        let literal = feed.alternative(0.1, Reading::Literal);
        check("literal", &literal, &vectors["zero_literal"]);
        let uniform = feed.alternative(0.1, Reading::Uniform);
        check("uniform", &uniform, &vectors["zero_uniform"]);
    }
}

#[test]
fn the_periodic_model_follows_a_change_of_behaviour_as_published() {
    for vectors in named("horincar2012_experiments") {
        for (name, weeks) in vectors.as_object().expect("experiments by name") {
            let Some(setting) = name.strip_prefix("fig9_mean") else { continue };
            let (average, a) = setting.split_once("_alpha").expect("an average and a smoothing");
            let pause_max = if average == "1h" { HOURLY } else { DAILY };
            let a: f64 = a.parse().expect("a number");
            let watched = |seed| Watched::draw(seed, &shapes(), WEEKS_EACH, pause_max);
            let runs: Vec<Vec<f64>> = (0..5).map(|seed| watched(seed).periodic(a)).collect();
            let mean = |week: usize| runs.iter().map(|run| run[week]).sum::<f64>() / 5.0;
            let means: Vec<f64> = (0..runs[0].len()).map(mean).collect();
            check(name, &means, weeks);
        }
    }
}
