//! `recording` — the interval while a data set is recorded (dissertation 003, section 3.5.4,
//! equations 3.2 to 3.5).
//!
//! u = (t_max − t_min) / (|W| − 1), or β if the window has fewer than two distinct times. Both
//! bounds apply. If u = β, the wait is β − γ with γ between 0 and β/2. Most feeds are slow, and γ
//! spreads their polls. It follows from the poll and its window, so that a replay gives the same
//! polls.
//!
//! ```
//! use std::time::Duration;
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "recording".parse().unwrap();
//! let bounds = Bounds { alpha: Duration::from_secs(3600), beta: Duration::from_secs(10_800),
//!     ..Bounds::EVALUATION };
//! let wait = |window: &[i64]| {
//!     let window: Vec<Time> = window.iter().map(|s| Time::from_secs(*s)).collect();
//!     let seen = Observation::first(Time::from_secs(100_000), &window);
//!     let mut learned = policy.start();
//!     policy.learn(&mut learned, &seen);
//!     policy.wish(&learned, &seen, &bounds).at.secs() - 100_000
//! };
//! assert_eq!(wait(&[0, 60, 120]), 3600);
//! assert_eq!(wait(&[0, 7200, 14_400]), 7200);
//! assert!((5400..=10_800).contains(&wait(&[0, 20_000])));
//! assert!((5400..=10_800).contains(&wait(&[])));
//! ```

use std::time::Duration;

use feed::Observation;

use super::fix_learned;
use crate::policy::wish::Proposal;
use crate::{Bounds, Fraction, RuleCase};

pub(crate) fn propose(o: &Observation<'_>, bounds: &Bounds) -> Proposal {
    let beta = Fraction::millis(bounds.beta);
    let observed = fix_learned::interval_w(o.window).unwrap_or(beta);
    let n = u32::try_from(o.window.len()).unwrap_or(u32::MAX);
    let gap = observed.duration();
    if observed < beta {
        return Proposal::After(observed, RuleCase::Recording { n, gap, less: Duration::ZERO });
    }
    let less = bounds.beta.mul_f64(share(o) / 2.0);
    let wait = Fraction::millis(bounds.beta.saturating_sub(less));
    Proposal::After(wait, RuleCase::Recording { n, gap: bounds.beta, less })
}

/// Returns a number from 0 to 1 that looks random and depends on the poll only.
fn share(o: &Observation<'_>) -> f64 {
    let mut state = o.at.millis().unsigned_abs();
    for time in o.window.iter().rev().take(4) {
        state = mixed(state ^ time.millis().unsigned_abs());
    }
    (mixed(state ^ o.window.len() as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The mixing step of SplitMix64.
const fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use feed::Time;

    use super::*;

    #[test]
    fn slow_feeds_are_spread_evenly_over_the_second_half_of_beta() {
        let mut quarters = [0_u32; 4];
        for i in 0..4000 {
            let window = [Time::from_secs(0), Time::from_secs(1_000_000)];
            let o = Observation::first(Time::from_secs(2_000_000 + i), &window);
            let share = share(&o);
            assert!((0.0..1.0).contains(&share));
            quarters[(share * 4.0) as usize] += 1;
        }
        assert!(quarters.iter().all(|n| (900..1100).contains(n)), "{quarters:?}");
    }
}
