//! Subscriptions that a person hardly opens.

use std::time::Duration;

/// The time over which opened entries are compared with all entries.
pub const RARELY_SPAN: Duration = Duration::from_secs(90 * 86_400);
/// A shorter time may be a holiday.
const TIME_MIN: Duration = Duration::from_secs(30 * 86_400);
/// Fewer entries say little.
const ENTRIES_MIN: u64 = 10;
/// One of this many entries must be opened.
const ONE_OF: u64 = 20;

/// The part of a feed's entries that a person has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedShare {
    pub opened: u64,
    pub entries: u64,
    /// Both numbers are of this time.
    pub over: Duration,
}

/// Returns whether a person opens so little of a feed that they may want to unsubscribe: less than
/// 5 % of at least ten entries, in at least 30 days.
pub fn is_rarely_opened(share: OpenedShare) -> bool {
    share.over >= TIME_MIN
        && share.entries >= ENTRIES_MIN
        && share.opened.saturating_mul(ONE_OF) < share.entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_of_much_over_long_is_rare() {
        for (opened, entries, days, expect) in [
            (3, 80, 90, true),
            (4, 80, 90, false),
            (0, 10, 30, true),
            (0, 9, 90, false),
            (0, 500, 29, false),
            (u64::MAX, 80, 90, false),
        ] {
            let over = Duration::from_secs(days * 86_400);
            let share = OpenedShare { opened, entries, over };
            assert_eq!(is_rarely_opened(share), expect, "{share:?}");
        }
    }
}
