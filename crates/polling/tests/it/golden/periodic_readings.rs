//! The alternative interpretations of the periodic update (source 000, section 4.2), kept for
//! comparison with ours: the vectors have all three.
//!
//! - literal: λ_j ← a·(λ_j/Div_est)·x + (1 − a)·λ_j. If Div_est is 0 there is nothing to share: a
//!   model at zero stays at zero.
//! - uniform: the same, but if Div_est is 0 every slot touched gets x per hour covered.

/// The sharing of entries over slots whose rates are zero.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    Literal,
    Uniform,
}

/// Returns the entries expected between two times in hours: the rates of the hourly slots, as far
/// as they are covered.
pub fn expect(rates: &[f64], last: f64, at: f64) -> f64 {
    let covered = |slot: i64| at.min(slot as f64 + 1.0) - last.max(slot as f64);
    touched(last, at).map(|slot| rates[place(slot, rates)] * covered(slot)).sum()
}

/// Learns that `x` entries were new at `at`; hours.
pub fn update(rates: &mut [f64], (last, at): (f64, f64), x: f64, a: f64, reading: Reading) {
    let expected = expect(rates, last, at);
    // A slot covered twice is updated once.
    for slot in touched(last, at).take(rates.len()) {
        let rate = &mut rates[place(slot, rates)];
        let share = match reading {
            _ if expected > 0.0 => *rate / expected,
            Reading::Literal => 0.0,
            Reading::Uniform => 1.0 / (at - last),
        };
        *rate = a * share * x + (1.0 - a) * *rate;
    }
}

fn touched(last: f64, at: f64) -> impl Iterator<Item = i64> {
    last.floor() as i64..at.ceil() as i64
}

fn place(slot: i64, rates: &[f64]) -> usize {
    slot.rem_euclid(rates.len() as i64) as usize
}
