//! Fast sums of products of two days, hour by hour: aligned, and with one of them rotated by twelve
//! hours.
//!
//! Rotation swaps the halves of a day. The sum over the common part of the halves stays the same,
//! and the sum over their difference changes its sign. Two sums of half the length therefore give
//! both results.

/// Two numbers for each hour of a day, stored as sum and difference of its halves: twelve of the
/// first numbers, then twelve of the second.
pub(super) struct HalfDays {
    common: [f64; 24],
    differ: [f64; 24],
}

impl HalfDays {
    pub(super) fn of(day: impl Fn(usize) -> (f64, f64)) -> HalfDays {
        let mut halves = HalfDays { common: [0.0; 24], differ: [0.0; 24] };
        for hour in 0..12 {
            let (first, second) = (day(hour), day(hour + 12));
            halves.common[hour] = first.0 + second.0;
            halves.common[hour + 12] = first.1 + second.1;
            halves.differ[hour] = first.0 - second.0;
            halves.differ[hour + 12] = first.1 - second.1;
        }
        halves
    }

    /// Returns the sum of products of two days, aligned and rotated.
    #[inline]
    pub(super) fn products(&self, other: &HalfDays) -> [f64; 2] {
        let common = 0.5 * dot(&self.common, &other.common);
        let differ = 0.5 * dot(&self.differ, &other.differ);
        [common + differ, common - differ]
    }
}

/// Uses four sums that a processor can compute in parallel.
#[inline]
fn dot(a: &[f64; 24], b: &[f64; 24]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_sum_to_what_the_whole_days_do() {
        let one = |hour: usize| ((hour * 7 % 11) as f64, (hour * 5 % 9) as f64);
        let other = |hour: usize| ((hour * 3 % 13) as f64 - 6.0, -((hour * 11 % 7) as f64));
        let plainly = |turned: usize| {
            let product = |hour: usize| {
                let (a, b) = (one(hour), other((hour + turned) % 24));
                a.0 * b.0 + a.1 * b.1
            };
            (0..24).map(product).sum::<f64>()
        };
        assert_eq!(HalfDays::of(one).products(&HalfDays::of(other)), [plainly(0), plainly(12)]);
    }
}
