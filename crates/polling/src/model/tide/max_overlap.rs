//! Finds the numbers that most weighted ranges share, on a line of minutes or on the circle of a
//! clock.

/// The longest run of numbers that most ranges share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MaxOverlap {
    pub(super) from: usize,
    pub(super) len: usize,
    /// The total weight of the ranges that share it.
    pub(super) agree: i32,
}

impl MaxOverlap {
    /// Returns the middle, the later of two: a poll right after the earlier one might come too
    /// early. On a circle it may exceed the circle's length.
    pub(super) fn middle(&self) -> usize {
        self.from + self.len / 2
    }
}

/// The largest circle is the minutes of a day. Most circles are those of an hour.
const DAY: usize = 1440;
const HOUR: usize = 60;

/// Searches the numbers 1..=N. A range is its first and last number and may end beyond N.
pub(super) fn on_line<const N: usize>(
    ranges: impl Iterator<Item = ((usize, usize), i32)>,
) -> MaxOverlap {
    let mut steps = [0_i32; N];
    for ((first, last), weight) in ranges {
        if first > last || last == 0 || first > N {
            continue;
        }
        steps[first.max(1) - 1] += weight;
        if last < N {
            steps[last] -= weight;
        }
    }
    let found = longest(steps.len(), sums(&mut steps));
    MaxOverlap { from: found.from + 1, ..found }
}

/// Searches the circle 0..n with n at most 1440. A range that exceeds n − 1 continues at 0.
pub(super) fn on_circle(
    n: usize,
    ranges: impl Iterator<Item = ((usize, usize), i32)>,
) -> MaxOverlap {
    if n <= HOUR {
        on_doubled_line(n, &mut [0; 2 * HOUR][..2 * n], ranges)
    } else {
        let n = n.min(DAY);
        on_doubled_line(n, &mut [0; 2 * DAY][..2 * n], ranges)
    }
}

/// Searches the circle unrolled twice.
fn on_doubled_line(
    n: usize,
    steps: &mut [i32],
    ranges: impl Iterator<Item = ((usize, usize), i32)>,
) -> MaxOverlap {
    let mut everywhere = 0;
    for ((first, last), weight) in ranges.filter(|((first, last), _)| first <= last) {
        if last - first + 1 >= n {
            everywhere += weight;
            continue;
        }
        let (first, len) = (first % n, last - first + 1);
        // Mark both copies. A range that ends beyond the second copy began in the first.
        for begin in [first, first + n] {
            steps[begin] += weight;
            if let Some(end) = steps.get_mut(begin + len) {
                *end -= weight;
            }
        }
        if first + len > n {
            steps[0] += weight;
            steps[first + len - n] -= weight;
        }
    }
    let sums = sums(steps);
    sums.iter_mut().for_each(|sum| *sum += everywhere);
    let found = longest(n, sums);
    MaxOverlap { from: found.from % n.max(1), ..found }
}

/// Turns the starts and ends of ranges into the weight at each number.
fn sums(steps: &mut [i32]) -> &mut [i32] {
    let mut sum = 0;
    for step in steps.iter_mut() {
        sum += *step;
        *step = sum;
    }
    steps
}

/// Returns the longest run of the highest weight, of at most `n` numbers.
fn longest(n: usize, counts: &[i32]) -> MaxOverlap {
    let most = counts.iter().copied().max().unwrap_or(0);
    let mut found = MaxOverlap { agree: most, ..MaxOverlap::default() };
    let mut len = 0;
    for (number, count) in counts.iter().enumerate() {
        len = if *count == most { len + 1 } else { 0 };
        if len > found.len && len <= n {
            found = MaxOverlap { from: number + 1 - len, len, ..found };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_on_a_line_agree_where_most_of_them_overlap() {
        let found = on_line::<120>(
            [((5, 30), 2), ((20, 400), 3), ((0, 24), 4), ((90, 100), 5)].into_iter(),
        );
        assert_eq!(found, MaxOverlap { from: 20, len: 5, agree: 9 });
        assert_eq!(found.middle(), 22);
        let none = on_line::<120>([((500, 600), 1)].into_iter());
        assert_eq!((none.agree, none.len), (0, 120));
    }

    /// Counts each number of the circle directly.
    fn plainly(n: usize, ranges: &[(usize, usize)]) -> (i32, usize) {
        let holds = |number: usize, (first, last): &(usize, usize)| {
            (*first..=*last).any(|minute| minute % n == number)
        };
        let count = |number| ranges.iter().filter(|range| holds(number, range)).count();
        let counts: Vec<usize> = (0..n).map(count).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let run = |from: usize| (0..n).take_while(|i| counts[(from + i) % n] == most).count();
        (most as i32, (0..n).map(run).max().unwrap_or(0))
    }

    #[test]
    fn a_circle_has_no_end() {
        let found = on_circle(30, [((25, 34), 1), ((28, 31), 1), ((58, 70), 1)].into_iter());
        assert_eq!(found, MaxOverlap { from: 28, len: 4, agree: 3 });
        for n in [10, 15, 20, 30, 60, 144] {
            for seed in 0..200_usize {
                let range = |i: usize| {
                    let first = seed * 37 % (61 + 13 * i);
                    (first, first + (seed * 11 + i * 17) % 70)
                };
                let ranges: Vec<(usize, usize)> = (0..5).map(range).collect();
                let found = on_circle(n, ranges.iter().map(|range| (*range, 1)));
                assert_eq!((found.agree, found.len), plainly(n, &ranges), "{n} {ranges:?}");
                assert!(found.from < n);
            }
        }
    }
}
