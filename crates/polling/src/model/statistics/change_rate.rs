//! The change rate of a source that shows only its latest state. A window of one entry hides
//! earlier entries between two polls (dissertation 003, section 2.4.3; Cho and Garcia-Molina 2003).
//!
//! The naive rate, changes seen over time, is biased low. The improved estimator for n polls at
//! frequency f with X changes is λ = −ln((n − X + 0.5)/(n + 0.5))·f. For polls that are not equally
//! spaced λ solves Σ_{changed} t/(e^{λt} − 1) = Σ_{unchanged} t (maximum likelihood over the
//! intervals t), by bisection.
//!
//! ```
//! use polling::model::change_rate::{improved, likeliest};
//!
//! assert!((improved(10, 6, 1.0) - 0.847_297_860_387_203_6).abs() < 1e-12);
//! // One interval of each kind, equally long: e^λt = 2.
//! let rate = likeliest(&[(1.0, true), (1.0, false)]).unwrap();
//! assert!((rate - std::f64::consts::LN_2).abs() < 1e-12);
//! ```

/// Steps of bisection; each halves the error, and an f64 has no more bits to gain.
const STEPS: usize = 200;

/// Returns the improved estimate for `n` equally spaced polls, `f` per second.
pub fn improved(n: u32, changed: u32, f: f64) -> f64 {
    let (n, x) = (f64::from(n), f64::from(changed.min(n)));
    -((n - x + 0.5) / (n + 0.5)).ln() * f
}

/// Returns the maximum-likelihood rate per second over intervals in seconds, each with whether a
/// change was seen at its end. `None` without any interval, or if every one saw a change: then each
/// larger rate is likelier.
pub fn likeliest(intervals: &[(f64, bool)]) -> Option<f64> {
    let usable = || intervals.iter().filter(|(t, _)| t.is_finite() && *t > 0.0);
    let unchanged: f64 = usable().filter(|(_, changed)| !changed).map(|(t, _)| t).sum();
    let n_changed = usable().filter(|(_, changed)| *changed).count();
    if unchanged <= 0.0 {
        return None;
    }
    if n_changed == 0 {
        return Some(0.0);
    }
    let excess = |rate: f64| -> f64 {
        let hidden = usable().filter(|(_, changed)| *changed);
        hidden.map(|(t, _)| t / (rate * t).exp_m1()).sum::<f64>() - unchanged
    };
    // t/(e^{λt} − 1) < 1/λ, so at λ = n_changed/unchanged the excess is negative already.
    let (mut low, mut high) = (0.0, n_changed as f64 / unchanged);
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(low + (high - low) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_improved_estimate_is_finite_where_every_poll_saw_a_change() {
        assert!(improved(10, 10, 1.0).is_finite());
        assert_eq!(improved(10, 0, 1.0), 0.0);
        assert!(improved(10, 6, 1.0) > 0.6, "the naive rate is biased low");
    }

    #[test]
    fn equal_intervals_give_the_textbook_rate() {
        let intervals: Vec<(f64, bool)> = (0..100).map(|i| (3600.0, i % 4 == 0)).collect();
        let rate = likeliest(&intervals).unwrap();
        let textbook = -(0.75_f64).ln() / 3600.0;
        assert!((rate / textbook - 1.0).abs() < 1e-12, "{rate} {textbook}");
    }

    #[test]
    fn uneven_intervals_solve_the_likelihood_equation() {
        let intervals = [(10.0, true), (3.0, false), (100.0, true), (25.0, false), (0.5, true)];
        let rate = likeliest(&intervals).unwrap();
        let left: f64 = intervals.iter().filter(|i| i.1).map(|i| i.0 / (rate * i.0).exp_m1()).sum();
        assert!((left - 28.0).abs() < 1e-9, "{left}");
    }

    #[test]
    fn degenerate_histories_have_an_answer() {
        assert_eq!(likeliest(&[]), None);
        assert_eq!(likeliest(&[(5.0, true)]), None);
        assert_eq!(likeliest(&[(5.0, false)]), Some(0.0));
        assert_eq!(likeliest(&[(f64::NAN, true), (5.0, false)]), Some(0.0));
    }
}
