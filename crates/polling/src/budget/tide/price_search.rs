//! The search for the price: doubles its step until two trials enclose the price, then bisects.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // The search starts at a price far too low for a poll an hour.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.001));
//! planner.track(feed(0.001));
//! planner.set_budget(Some("1/1h".parse().unwrap()));
//! let mut polls = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         polls[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((9..=11).contains(&(polls[0] + polls[1])), "{polls:?}");
//! ```

use super::price::RANGE;

const TRIALS: usize = 12;
/// Close enough: the models are less exact.
const CLOSE: f64 = 0.01;
/// The first step, as a logarithm.
const STEP: f64 = 0.1;

/// Returns the logarithm of the price at which `excess` is one. `excess` falls with the price.
pub(super) fn search(start: f64, excess: &mut impl FnMut(f64) -> f64) -> f64 {
    let (least, most) = (RANGE.0.ln(), RANGE.1.ln());
    let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
    let (mut log, mut step) = (start.clamp(least, most), STEP);
    for _ in 0..TRIALS {
        let relative = excess(log.exp());
        if (relative - 1.0).abs() < CLOSE {
            break;
        }
        if relative > 1.0 {
            low = Some(log);
        } else {
            high = Some(log);
        }
        let next = match (low, high) {
            (Some(low), Some(high)) => (low + high) / 2.0,
            (Some(low), None) => low + step,
            (None, high) => high.unwrap_or(log) - step,
        };
        step *= 2.0;
        if (next.clamp(least, most) - log).abs() < CLOSE {
            break;
        }
        log = next.clamp(least, most);
    }
    log
}
