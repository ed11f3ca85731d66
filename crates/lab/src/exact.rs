//! Logarithm and power from the four basic operations, so that every machine draws the same
//! numbers. Platform libraries differ in the last bit, and one bit moves an entry. The arguments
//! are the moderate ones that drawing needs.

use std::f64::consts::LN_2;

/// Returns the natural logarithm of a normal positive number.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // The exponent has eleven bits, so the cast loses nothing.
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // ln m = 2 artanh((m − 1)/(m + 1)); the argument is at most 1/3, so 20 terms reach 1e-19.
    let y = (mantissa - 1.0) / (mantissa + 1.0);
    let square = y * y;
    let mut term = y;
    let mut sum = 0.0;
    for k in 0..20u32 {
        sum += term / f64::from(2 * k + 1);
        term *= square;
    }
    f64::from(exponent) * LN_2 + 2.0 * sum
}

/// Returns e to the `x`, for |x| up to 700.
pub fn exp(x: f64) -> f64 {
    let halvings = (x / LN_2).round();
    let rest = x - halvings * LN_2;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..20u32 {
        term *= rest / f64::from(k);
        sum += term;
    }
    let step = if halvings < 0.0 { 0.5 } else { 2.0 };
    (0..halvings.abs() as u32).fold(sum, |value, _| value * step)
}

/// Returns `base` to the `exponent`, for positive bases.
pub fn power(base: f64, exponent: f64) -> f64 {
    exp(ln(base) * exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_power_agree_with_the_library_to_twelve_digits() {
        for x in [1e-9, 0.3, 0.999, 1.0, 1.5, 2.0, 17.0, 4e4, 1e12] {
            assert!((ln(x) - x.ln()).abs() < 1e-12 * x.ln().abs().max(1.0), "ln {x}");
            for e in [-3.0, -0.74, 0.0, 0.26, 1.26, 3.0] {
                let expect = x.powf(e);
                assert!((power(x, e) - expect).abs() < 1e-12 * expect, "{x}^{e}");
            }
        }
    }
}
