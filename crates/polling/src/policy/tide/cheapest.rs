//! The inner search of the lookahead, which every decision runs 64 times.

/// Returns the minimum of base − at·seen over the last `n` times, at least one, and the first index
/// that has it. The earlier poll wins a tie; a horizon of whole weeks has such ties. The bases
/// before those are infinite.
///
/// It finds the minimum first, in four lanes that a processor can compute in parallel, then its
/// index.
pub(super) fn cheapest(bases: &[f64], at: &[f64], n: usize, seen: f64) -> (f64, usize) {
    let cost = |base: &f64, at: &f64| base - at * seen;
    let lower = |a: f64, b: f64| if b < a { b } else { a };
    let ((rest, fours), (at_rest, at_fours)) = (bases.as_rchunks::<4>(), at.as_rchunks::<4>());
    let mut minima = [f64::INFINITY; 4];
    for (bases, at) in fours.iter().zip(at_fours).rev().take(n.div_ceil(4)) {
        for (least, (base, at)) in minima.iter_mut().zip(bases.iter().zip(at)) {
            *least = lower(*least, cost(base, at));
        }
    }
    if n > 4 * fours.len() {
        let rest = rest.iter().zip(at_rest).map(|(base, at)| cost(base, at));
        minima[0] = rest.fold(minima[0], lower);
    }
    let least = minima.into_iter().fold(f64::INFINITY, lower);
    let first = bases.len() - n;
    let place = (first..bases.len()).find(|j| cost(&bases[*j], &at[*j]) <= least);
    (least, place.unwrap_or(bases.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_of_the_last_moments_is_found_wherever_it_lies() {
        let at: Vec<f64> = (0..23).map(f64::from).collect();
        for len in 1..=at.len() {
            for n in 1..len {
                for cheap in len - n..len {
                    let base = |j: usize| 40.0 + 2.0 * at[j] - f64::from(u8::from(j == cheap));
                    let mut bases: Vec<f64> = (0..len).map(base).collect();
                    bases[..len - n].fill(f64::INFINITY);
                    // All others cost the same.
                    assert_eq!(cheapest(&bases, &at[..len], n, 2.0), (39.0, cheap), "{len} {n}");
                    bases[cheap] += 1.0;
                    assert_eq!(cheapest(&bases, &at[..len], n, 2.0), (40.0, len - n), "{len} {n}");
                }
            }
        }
    }
}
