//! Durations as people write and read them. A day is 24 hours.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 3600;
const DAY: u64 = 86_400;
/// A hundred years; a longer duration is a typing error.
const SECONDS_MAX: u64 = 100 * 365 * DAY;

/// A text that is not a duration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration; write it as 90s, 15m, 1h or 7d")]
pub struct DurationError(String);

/// Reads `90s`, `15m`, `1h`, `7d`.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let refuse = || DurationError(text.chars().take(40).collect());
    let unit = match text.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => MINUTE,
        Some(b'h') => HOUR,
        Some(b'd') => DAY,
        _ => return Err(refuse()),
    };
    let digits = &text[..text.len() - 1];
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refuse());
    }
    let n: u64 = digits.parse().map_err(|_| refuse())?;
    let secs = n.checked_mul(unit).filter(|&s| s <= SECONDS_MAX).ok_or_else(refuse)?;
    Ok(Duration::from_secs(secs))
}

/// Formats a duration in the shortest form that [`parse_duration`] reads back (whole seconds).
pub fn written(d: Duration) -> String {
    match d.as_secs() {
        s if s > 0 && s % DAY == 0 => format!("{}d", s / DAY),
        s if s > 0 && s % HOUR == 0 => format!("{}h", s / HOUR),
        s if s > 0 && s % MINUTE == 0 => format!("{}m", s / MINUTE),
        s => format!("{s}s"),
    }
}

/// Formats a duration for people, in its two largest units.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(polling::spoken(Duration::from_secs(4320)), "1 h 12 min");
/// assert_eq!(polling::spoken(Duration::from_millis(1500)), "1.5 s");
/// ```
pub fn spoken(d: Duration) -> String {
    let s = d.as_secs();
    let pair = |big: u64, unit: &str, small: u64, sub: &str| match s % big / small {
        0 => format!("{} {unit}", s / big),
        rest => format!("{} {unit} {rest} {sub}", s / big),
    };
    match s {
        DAY.. => pair(DAY, "d", HOUR, "h"),
        HOUR.. => pair(HOUR, "h", MINUTE, "min"),
        MINUTE.. => pair(MINUTE, "min", 1, "s"),
        _ if d.subsec_millis() == 0 => format!("{s} s"),
        _ => format!("{:.1} s", d.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for text in ["90s", "15m", "1h", "7d", "0s"] {
            assert_eq!(written(parse_duration(text).unwrap()), text);
        }
        for text in
            ["", "h", "1", "1w", "-1h", "1.5h", "99999999999999999999d", "40000d", "1 h", "ü"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_spoken_in_two_units() {
        let say = |s| spoken(Duration::from_secs(s));
        assert_eq!(say(0), "0 s");
        assert_eq!(say(61), "1 min 1 s");
        assert_eq!(say(3600), "1 h");
        assert_eq!(say(90_061), "1 d 1 h");
    }
}
