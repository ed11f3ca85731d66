//! Exact fractions, mostly of milliseconds.
//!
//! One unit in the last place at the edge of an hour moves a poll by hours. Values that are
//! compared with a threshold are therefore not computed in floating point. Only the operations of
//! the policies' equations exist.

use std::cmp::Ordering;
use std::time::Duration;

use feed::Time;

/// `num / den` with `den > 0`; mostly an interval or a time in milliseconds.
///
/// ```
/// use polling::Fraction;
/// let third = Fraction::new(10_000, 3);
/// assert!(third < Fraction::new(10_001, 3));
/// assert_eq!(third.floor_times(1_000_000), 3_333_333_333);
/// assert_eq!(third.round_to_second(), feed::Time::from_secs(3));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    num: i128,
    den: i128,
}

impl Fraction {
    /// Returns `num / den`. A zero divisor counts as one: the equations return "undefined" before
    /// they would divide by zero.
    pub const fn new(num: i128, den: i128) -> Fraction {
        match den {
            0 => Fraction { num, den: 1 },
            d if d < 0 => Fraction { num: -num, den: -d },
            _ => Fraction { num, den },
        }
    }

    pub const fn whole(num: i128) -> Fraction {
        Fraction { num, den: 1 }
    }

    /// Returns a duration in milliseconds.
    pub fn millis(d: Duration) -> Fraction {
        match d.subsec_nanos() % 1_000_000 {
            0 => Fraction::whole(as_i128(d.as_millis())),
            _ => Fraction::new(as_i128(d.as_nanos()), 1_000_000),
        }
    }

    pub const fn parts(self) -> (i128, i128) {
        (self.num, self.den)
    }

    /// Adds a whole number.
    pub const fn plus(self, whole: i128) -> Fraction {
        Fraction { num: self.num + whole * self.den, den: self.den }
    }

    /// Adds two fractions, over a common divisor if they share it.
    pub const fn add(self, other: Fraction) -> Fraction {
        if other.den == self.den {
            return Fraction { num: self.num + other.num, den: self.den };
        }
        let num = self.num * other.den + other.num * self.den;
        Fraction { num, den: self.den * other.den }
    }

    /// Multiplies two fractions.
    pub const fn times(self, other: Fraction) -> Fraction {
        Fraction { num: self.num * other.num, den: self.den * other.den }
    }

    /// Returns the largest whole number that is not above.
    pub fn floor(self) -> i128 {
        floor_div(self.num, self.den)
    }

    /// Returns `floor(self × factor)`.
    pub fn floor_times(self, factor: i128) -> i128 {
        match self.num.checked_mul(factor) {
            Some(num) => floor_div(num, self.den),
            None => self.floor().saturating_mul(factor),
        }
    }

    /// Rounds a time in milliseconds half up to whole seconds.
    pub fn round_to_second(self) -> Time {
        let secs = floor_div(self.num + 500 * self.den, 1000 * self.den);
        Time::from_secs(i64::try_from(secs).unwrap_or(if secs < 0 { i64::MIN } else { i64::MAX }))
    }

    /// Returns an interval in milliseconds as a duration, rounded down; negative is zero.
    pub fn duration(self) -> Duration {
        Duration::from_millis(u64::try_from(self.floor().max(0)).unwrap_or(u64::MAX))
    }

    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Fraction) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        if self.den == other.den {
            return self.num.cmp(&other.num);
        }
        match (self.num.checked_mul(other.den), other.num.checked_mul(self.den)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => by_parts(*self, *other),
        }
    }
}

/// Compares whole parts, then the reciprocals of the remainders; it never overflows.
fn by_parts(mut a: Fraction, mut b: Fraction) -> Ordering {
    let mut swapped = false;
    loop {
        let (whole_a, whole_b) = (a.floor(), b.floor());
        let (rest_a, rest_b) = (a.num - whole_a * a.den, b.num - whole_b * b.den);
        let order = whole_a.cmp(&whole_b);
        let order = match (order, rest_a, rest_b) {
            (Ordering::Equal, 0, 0) => Ordering::Equal,
            (Ordering::Equal, 0, _) => Ordering::Less,
            (Ordering::Equal, _, 0) => Ordering::Greater,
            (Ordering::Equal, _, _) => {
                (a, b) =
                    (Fraction { num: a.den, den: rest_a }, Fraction { num: b.den, den: rest_b });
                swapped = !swapped;
                continue;
            }
            (order, _, _) => order,
        };
        return if swapped { order.reverse() } else { order };
    }
}

/// Divides and rounds towards minus infinity. Most values fit 64 bits, for which a division costs a
/// tenth of a 128-bit one.
fn floor_div(num: i128, den: i128) -> i128 {
    match (i64::try_from(num), i64::try_from(den)) {
        (Ok(n), Ok(d)) => i128::from(n.div_euclid(d)),
        _ => num.div_euclid(den),
    }
}

fn as_i128(n: u128) -> i128 {
    i128::try_from(n).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_compare_exactly_also_where_products_overflow() {
        let huge = 1_i128 << 120;
        assert!(Fraction::new(huge + 1, huge) > Fraction::new(huge, huge - 1).plus(-1).plus(0));
        assert!(Fraction::new(huge + 1, huge) < Fraction::new(huge, huge - 1));
        assert_eq!(Fraction::new(huge, huge * 2), Fraction::new(1, 2));
        assert!(Fraction::new(-1, 3) < Fraction::new(-1, 4));
    }

    #[test]
    fn times_are_rounded_half_up() {
        let round = |n, d| Fraction::new(n, d).round_to_second().secs();
        assert_eq!([round(1499, 1), round(1500, 1), round(2999, 2), round(-500, 1)], [1, 2, 1, 0]);
    }
}
