//! How many looks each feed gets in a period, for minimal delay (Sia, Cho and Cho 2007, theorem 1;
//! source 002).
//!
//! With M looks per period: m_i = k·√(w_i·λ_i), Σ m_i = M. With cost c_i per look:
//! m_i = k·√(w_i·λ_i/c_i), Σ c_i·m_i = budget. A feed looked at m times at even spacing waits
//! w·λ·T/(2m) in all, and equal marginals give the root. m_i < 1 means one look every 1/m_i periods.
//!
//! ```
//! use polling::budget::allocation::{Demand, min_delay};
//!
//! let feeds = [1.0, 4.0].map(|rate| Demand { rate, weight: 1.0, cost: 1.0 });
//! assert_eq!(min_delay(&feeds, 6.0), [2.0, 4.0]);
//! ```

/// What a feed asks of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Entries per period.
    pub rate: f64,
    /// Subscribers, importance, relevance; a feed that feeds nothing weighs nothing.
    pub weight: f64,
    /// Of one look: 1, or bytes.
    pub cost: f64,
}

/// Looks per period, by theorem 1.
pub fn min_delay(feeds: &[Demand], budget: f64) -> Vec<f64> {
    let root = |d: &Demand| match d.weight * d.rate / d.cost {
        square if square > 0.0 && square.is_finite() => square.sqrt(),
        _ => 0.0,
    };
    let spent: f64 = feeds.iter().map(|d| root(d) * d.cost.max(0.0)).sum();
    let k = if spent > 0.0 { budget.max(0.0) / spent } else { 0.0 };
    feeds.iter().map(|d| k * root(d)).collect()
}

/// Σ w·λ·T/(2m): the expected waiting per period at even spacing, in periods. Infinite where a feed
/// with entries gets no look.
pub fn delay(feeds: &[Demand], looks: &[f64]) -> f64 {
    let each = feeds.iter().zip(looks).map(|(d, m)| match d.weight * d.rate {
        0.0 => 0.0,
        waiting => waiting / (2.0 * m),
    });
    each.sum()
}

/// Whole numbers with the same sum, by largest remainder; of equal ones the first.
pub fn whole(looks: &[f64]) -> Vec<u32> {
    let mut whole: Vec<u32> = looks.iter().map(|m| m.max(0.0) as u32).collect();
    let total = looks.iter().sum::<f64>().round().max(0.0) as u64;
    let given: u64 = whole.iter().map(|m| u64::from(*m)).sum();
    let left = usize::try_from(total.saturating_sub(given)).unwrap_or(usize::MAX);
    let remainders = super::largest((0..looks.len()).collect(), left, |i| looks[i].fract());
    for i in remainders {
        whole[i] += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_paid_from_the_budget() {
        let feeds = [
            Demand { rate: 4.0, weight: 1.0, cost: 1.0 },
            Demand { rate: 4.0, weight: 1.0, cost: 4.0 },
        ];
        let looks = min_delay(&feeds, 12.0);
        assert!((looks[0] / looks[1] - 2.0).abs() < 1e-12);
        assert!((looks[0] + 4.0 * looks[1] - 12.0).abs() < 1e-12);
    }

    #[test]
    fn a_feed_without_entries_or_weight_costs_nothing() {
        let feeds = [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0)]
            .map(|(rate, weight)| Demand { rate, weight, cost: 1.0 });
        assert_eq!(min_delay(&feeds, 3.0), [0.0, 0.0, 3.0, 0.0]);
    }

    #[test]
    fn whole_looks_keep_the_sum() {
        assert_eq!(whole(&[1.5, 1.5, 1.0]), [2, 1, 1]);
        assert_eq!(whole(&[0.4, 0.4, 0.4]), [1, 0, 0]);
        assert_eq!(whole(&[]), Vec::<u32>::new());
    }
}
