//! Parameters read as decimal fractions and shown as they were written. [`Fraction`] does the
//! arithmetic.

use std::fmt;
use std::str::FromStr;

use crate::Fraction;

/// The most decimals of a parameter: enough for any threshold that people write, and few enough
/// that no product overflows.
const SCALE_MAX: u8 = 9;
/// The largest parameter. A threshold of a million entries exceeds every window.
const DECIMAL_MAX: i64 = 1_000_000;

/// A parameter such as `0.7`, read as 7/10 and shown as it was written.
///
/// ```
/// let m: polling::Decimal = "0.10".parse().unwrap();
/// assert_eq!(m.to_string(), "0.10");
/// assert_eq!(m.fraction(), polling::Fraction::new(1, 10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    digits: i64,
    scale: u8,
}

/// A text that is not a parameter.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a number from 0 to {DECIMAL_MAX} with at most {SCALE_MAX} decimals, like 0.7"
)]
pub struct DecimalError(String);

impl Decimal {
    /// Returns `digits / 10^scale`; at most nine decimals are kept.
    pub const fn new(digits: i64, scale: u8) -> Decimal {
        Decimal { digits, scale: if scale > SCALE_MAX { SCALE_MAX } else { scale } }
    }

    pub const fn fraction(self) -> Fraction {
        Fraction::new(self.digits as i128, 10_i128.pow(self.scale as u32))
    }

    pub fn to_f64(self) -> f64 {
        self.fraction().to_f64()
    }

    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.fraction() == other.fraction()
    }
}

impl Eq for Decimal {}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_i64.pow(u32::from(self.scale));
        let (whole, rest) = (self.digits / unit, self.digits % unit);
        match self.scale {
            0 => write!(f, "{whole}"),
            scale => write!(f, "{whole}.{rest:0width$}", width = usize::from(scale)),
        }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Decimal, DecimalError> {
        let refuse = || DecimalError(text.chars().take(40).collect());
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let dangling = text.ends_with('.') || whole.is_empty();
        if dangling || !plain(whole) || !plain(decimals) || decimals.len() > SCALE_MAX.into() {
            return Err(refuse());
        }
        let whole: i64 = whole.parse().map_err(|_| refuse())?;
        let scale = decimals.len() as u8;
        let unit = 10_i64.pow(u32::from(scale));
        let rest: i64 =
            if decimals.is_empty() { 0 } else { decimals.parse().map_err(|_| refuse())? };
        if whole > DECIMAL_MAX || (whole == DECIMAL_MAX && rest > 0) {
            return Err(refuse());
        }
        Ok(Decimal { digits: whole * unit + rest, scale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_and_shown_as_written() {
        for text in ["0.7", "1.0", "100", "0.5625", "1000000", "0.000000001"] {
            assert_eq!(text.parse::<Decimal>().unwrap().to_string(), text);
        }
        for text in ["", ".", "1.", ".5", "-1", "1e3", "0.0000000001", "1000001", "NaN", "+1"] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }
}
