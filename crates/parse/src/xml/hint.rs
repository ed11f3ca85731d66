//! Reads the publisher's hints about polling. A hint that makes no sense is ignored.

use std::time::Duration;

/// Longer hints are mistakes: seconds or milliseconds written as minutes.
const TTL_MAX: Duration = Duration::from_secs(366 * 86_400);

/// Reads RSS `ttl`, in minutes.
pub(super) fn ttl(text: &str) -> Option<Duration> {
    let minutes: u64 = text.trim().parse().ok()?;
    let ttl = Duration::from_secs(minutes.checked_mul(60)?);
    (minutes > 0 && ttl <= TTL_MAX).then_some(ttl)
}

/// Reads an hour of the day. Some publishers count 1 to 24, where 24 is midnight.
pub(super) fn hour(text: &str) -> Option<u8> {
    match text.trim().parse().ok()? {
        24 => Some(0),
        hour @ 0..=23 => Some(hour),
        _ => None,
    }
}

/// Reads a day by its English name; 0 is Monday.
pub(super) fn day(text: &str) -> Option<u8> {
    let name = text.trim().to_ascii_lowercase();
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    days.iter().position(|day| name.starts_with(day)).and_then(|n| u8::try_from(n).ok())
}

/// Returns `sy:updatePeriod` divided by `sy:updateFrequency`. The defaults are daily and once.
pub(super) fn update_every(period: Option<&str>, frequency: Option<&str>) -> Option<Duration> {
    if period.is_none() && frequency.is_none() {
        return None;
    }
    let period = match period.map(|p| p.trim().to_ascii_lowercase()).as_deref() {
        Some("hourly") => 3600,
        Some("daily") | None => 86_400,
        Some("weekly") => 7 * 86_400,
        Some("monthly") => 30 * 86_400,
        Some("yearly" | "annually") => 365 * 86_400,
        Some(_) => return None,
    };
    let times: u64 = match frequency {
        Some(text) => text.trim().parse().ok().filter(|n| *n > 0)?,
        None => 1,
    };
    Some(Duration::from_secs(period / times)).filter(|d| !d.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_that_make_sense_are_read_and_others_are_none() {
        assert_eq!(ttl(" 60 "), Some(Duration::from_secs(3600)));
        assert_eq!((ttl("0"), ttl("-5"), ttl("3600000"), ttl("x")), (None, None, None, None));
        assert_eq!((hour("24"), hour("0"), hour("25")), (Some(0), Some(0), None));
        assert_eq!((day("Sunday"), day("tues"), day("Funday")), (Some(6), Some(1), None));
        assert_eq!(update_every(Some("hourly"), Some("2")), Some(Duration::from_secs(1800)));
        assert_eq!(update_every(None, Some("1")), Some(Duration::from_secs(86_400)));
        assert_eq!(update_every(Some("hourly"), Some("0")), None);
        assert_eq!(update_every(None, None), None);
    }
}
