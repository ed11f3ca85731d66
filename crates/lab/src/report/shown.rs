//! Formats figures for people, in reports and on a terminal.

/// Formats seconds: `12 h 5 min`.
pub fn spoken(seconds: f64) -> String {
    super::axis::name(seconds, super::Unit::Seconds)
}

/// Formats a share or a ratio with three digits.
pub fn share(value: f64) -> String {
    format!("{value:.3}")
}

/// Formats a whole number in groups of three digits.
pub fn count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut shown = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats bytes in a suitable unit.
pub fn bytes(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} GB", v / 1e9),
        v if v >= 1e6 => format!("{:.1} MB", v / 1e6),
        v => format!("{:.0} kB", v / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 1_234_567.0].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
