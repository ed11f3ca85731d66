//! Allocates the polls of a period for minimal delay (Sia, Cho and Cho 2007, theorem 1; source
//! 002).
//!
//! With M polls per period: m_i = k·√(w_i·λ_i), Σ m_i = M. With cost c_i per poll: m_i =
//! k·√(w_i·λ_i/c_i), Σ c_i·m_i = budget. The total wait of a feed with m evenly spaced polls is
//! w·λ·T/(2m), and equal marginals give the root. m_i < 1 means one poll every 1/m_i periods. If
//! both polls and bytes are limited, a poll costs (1 − t)/M + t·c_i/B with the one t at which
//! neither limit is exceeded ([`min_delay_within`]).
//!
//! ```
//! use polling::budget::allocation::{Demand, min_delay};
//!
//! let feeds = [1.0, 4.0].map(|rate| Demand { rate, weight: 1.0, cost: 1.0 });
//! assert_eq!(min_delay(&feeds, 6.0), [2.0, 4.0]);
//! ```

/// The demand of one feed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Entries per period.
    pub rate: f64,
    /// Subscribers, importance, relevance; zero if nobody reads the feed.
    pub weight: f64,
    /// The cost of one poll: 1, or bytes.
    pub cost: f64,
}

/// Returns the polls per period by theorem 1.
pub fn min_delay(feeds: &[Demand], budget: f64) -> Vec<f64> {
    let root = |d: &Demand| match d.weight * d.rate / d.cost {
        square if square > 0.0 && square.is_finite() => square.sqrt(),
        _ => 0.0,
    };
    let spent: f64 = feeds.iter().map(|d| root(d) * d.cost.max(0.0)).sum();
    let k = if spent > 0.0 { budget.max(0.0) / spent } else { 0.0 };
    feeds.iter().map(|d| k * root(d)).collect()
}

/// Steps of bisection over the share of bytes in the price of a poll; more steps change nothing.
const STEPS: usize = 60;

/// Returns the polls per period if both polls and, by their cost, bytes are limited. It searches
/// the mixed price at which the bytes just suffice: with equal marginals that is the optimum under
/// both limits.
pub fn min_delay_within(feeds: &[Demand], polls: f64, bytes: f64) -> Vec<f64> {
    let possible = polls > 0.0 && bytes > 0.0;
    if !possible {
        return vec![0.0; feeds.len()];
    }
    let at = |t: f64| -> Vec<f64> {
        let price = |d: &Demand| (1.0 - t) / polls + t * d.cost.max(0.0) / bytes;
        let priced: Vec<Demand> = feeds.iter().map(|d| Demand { cost: price(d), ..*d }).collect();
        min_delay(&priced, 1.0)
    };
    let bytes_of = |m: &[f64]| -> f64 { feeds.iter().zip(m).map(|(d, m)| d.cost * m).sum() };
    let by_looks = at(0.0);
    if bytes_of(&by_looks) <= bytes {
        return by_looks;
    }
    let by_bytes = at(1.0);
    if by_bytes.iter().sum::<f64>() <= polls {
        return by_bytes;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if bytes_of(&at(middle)) > bytes { low = middle } else { high = middle }
    }
    at(high)
}

/// Returns Σ w·λ·T/(2m): the expected waiting per period at even spacing, in periods. It is
/// infinite if a feed with entries gets no poll.
pub fn delay(feeds: &[Demand], polls: &[f64]) -> f64 {
    let each = feeds.iter().zip(polls).map(|(d, m)| match d.weight * d.rate {
        0.0 => 0.0,
        waiting => waiting / (2.0 * m),
    });
    each.sum()
}

/// Rounds to whole numbers with the same sum, by largest remainder; ties go to the first.
pub fn whole(polls: &[f64]) -> Vec<u32> {
    let mut whole: Vec<u32> = polls.iter().map(|m| m.max(0.0) as u32).collect();
    let total = polls.iter().sum::<f64>().round().max(0.0) as u64;
    let given: u64 = whole.iter().map(|m| u64::from(*m)).sum();
    let left = usize::try_from(total.saturating_sub(given)).unwrap_or(usize::MAX);
    let remainders = crate::budget::largest((0..polls.len()).collect(), left, |i| polls[i].fract());
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
        let polls = min_delay(&feeds, 12.0);
        assert!((polls[0] / polls[1] - 2.0).abs() < 1e-12);
        assert!((polls[0] + 4.0 * polls[1] - 12.0).abs() < 1e-12);
    }

    #[test]
    fn under_two_limits_both_hold_and_no_exchange_is_better() {
        let demand = |(rate, cost)| Demand { rate, weight: 1.0, cost };
        let feeds = [(1.0, 10.0), (4.0, 1000.0), (9.0, 1.0), (2.0, 200.0)].map(demand);
        let sums = |m: &[f64]| -> (f64, f64) {
            (m.iter().sum(), feeds.iter().zip(m).map(|(d, m)| d.cost * m).sum())
        };
        for (polls, bytes) in [(10.0, 1e9), (1e9, 500.0), (10.0, 1500.0), (10.0, 2500.0)] {
            let m = min_delay_within(&feeds, polls, bytes);
            let (n, size) = sums(&m);
            assert!(n <= polls * (1.0 + 1e-9) && size <= bytes * (1.0 + 1e-9), "{n} {size}");
            let full = n >= polls * (1.0 - 1e-6) || size >= bytes * (1.0 - 1e-6);
            assert!(full, "something is left: {n} {size}");
            // Shift polls among three feeds so that neither sum changes: the waiting must not fall.
            for [i, j, k] in [[0, 1, 2], [0, 2, 3], [1, 2, 3], [0, 1, 3]] {
                let (ci, cj, ck) = (feeds[i].cost, feeds[j].cost, feeds[k].cost);
                for step in [1e-4, -1e-4] {
                    let mut other = m.clone();
                    other[i] += step;
                    other[j] += step * (ck - ci) / (cj - ck);
                    other[k] += step * (ci - cj) / (cj - ck);
                    let shifted = delay(&feeds, &other);
                    assert!(shifted >= delay(&feeds, &m) - 1e-12, "{i} {j} {k}: {m:?} {other:?}");
                }
            }
        }
        assert_eq!(min_delay_within(&feeds, 0.0, 5.0), [0.0; 4]);
    }

    #[test]
    fn a_feed_without_entries_or_weight_costs_nothing() {
        let feeds = [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0)]
            .map(|(rate, weight)| Demand { rate, weight, cost: 1.0 });
        assert_eq!(min_delay(&feeds, 3.0), [0.0, 0.0, 3.0, 0.0]);
    }

    #[test]
    fn whole_polls_keep_the_sum() {
        assert_eq!(whole(&[1.5, 1.5, 1.0]), [2, 1, 1]);
        assert_eq!(whole(&[0.4, 0.4, 0.4]), [1, 0, 0]);
        assert_eq!(whole(&[]), Vec::<u32>::new());
    }
}
