//! The eight update patterns of feeds (dissertation 003, section 3.7.5).
//!
//! The source gives these rules; their order is our choice, since the patterns overlap. The window
//! of the last poll decides four patterns. No entry is **empty**, one is **single entry**. A median
//! gap of zero with the newest entry within a second of the response's `Date` is **on-the-fly**.
//! All times equal is **chunked**.
//!
//! All known entries decide the others. The newest at least eight weeks old and eight median gaps
//! old is **zombie**. No gap above two hours is **constant**. A median gap of a day or more is
//! **spontaneous**. The rest, active in parts of the day, is **sliced**. The median of an even
//! number of gaps is the lower of the two in the middle.
//!
//! ```
//! use feed::Time;
//! use polling::model::pattern::{UpdatePattern, pattern_of};
//!
//! let hourly: Vec<Time> = (0..48).map(|h| Time::from_secs(h * 3600)).collect();
//! assert_eq!(pattern_of(&hourly, Time::from_secs(48 * 3600)), UpdatePattern::Constant);
//! assert_eq!(pattern_of(&hourly, Time::from_secs(9_999_999)), UpdatePattern::Zombie);
//! ```

use feed::Time;

/// The update pattern of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatePattern {
    Empty,
    SingleEntry,
    OnTheFly,
    Chunked,
    Zombie,
    Constant,
    Spontaneous,
    Sliced,
}

const ON_THE_FLY_MS: i64 = 1000;
const ZOMBIE_MS: i64 = 8 * 7 * 86_400_000;
const ZOMBIE_GAPS: i64 = 8;
const CONSTANT_GAP_MS: i64 = 2 * 3_600_000;
const SPONTANEOUS_GAP_MS: i64 = 86_400_000;

impl UpdatePattern {
    pub const fn word(self) -> &'static str {
        match self {
            UpdatePattern::Empty => "empty",
            UpdatePattern::SingleEntry => "single entry",
            UpdatePattern::OnTheFly => "on-the-fly",
            UpdatePattern::Chunked => "chunked",
            UpdatePattern::Zombie => "zombie",
            UpdatePattern::Constant => "constant",
            UpdatePattern::Spontaneous => "spontaneous",
            UpdatePattern::Sliced => "sliced",
        }
    }
}

/// Returns the pattern of a feed whose one window shows all of its publication `times`, oldest
/// first. `answered_at` is the response's `Date`, or else the time of the poll.
pub fn pattern_of(times: &[Time], answered_at: Time) -> UpdatePattern {
    pattern_of_window(times, times, answered_at)
}

/// Returns the pattern of a feed with these publication times, oldest first: those that the
/// `window` of the last poll showed, and all that are `known`. `answered_at` is the
/// response's `Date`, or else the time of the poll.
pub fn pattern_of_window(window: &[Time], known: &[Time], answered_at: Time) -> UpdatePattern {
    let (Some(oldest), Some(newest)) = (window.first(), window.last()) else {
        return UpdatePattern::Empty;
    };
    if window.len() == 1 {
        return UpdatePattern::SingleEntry;
    }
    let age = answered_at.millis_since(*newest);
    if GapSummary::of(window).median == 0 && age.abs() <= ON_THE_FLY_MS {
        return UpdatePattern::OnTheFly;
    }
    if oldest == newest {
        return UpdatePattern::Chunked;
    }
    // Without a history the window is all that is known.
    let known = if known.len() < window.len() { window } else { known };
    let GapSummary { median, longest } = GapSummary::of(known);
    if age >= ZOMBIE_MS && age >= median.saturating_mul(ZOMBIE_GAPS) {
        UpdatePattern::Zombie
    } else if longest <= CONSTANT_GAP_MS {
        UpdatePattern::Constant
    } else if median >= SPONTANEOUS_GAP_MS {
        UpdatePattern::Spontaneous
    } else {
        UpdatePattern::Sliced
    }
}

/// The gaps between entries, in milliseconds.
struct GapSummary {
    /// The lower of the two in the middle.
    median: i64,
    longest: i64,
}

impl GapSummary {
    /// Returns zeros for fewer than two entries.
    fn of(times: &[Time]) -> GapSummary {
        let mut gaps: Vec<i64> = times.windows(2).map(|w| w[1].millis_since(w[0])).collect();
        let Some(longest) = gaps.iter().copied().max() else {
            return GapSummary { median: 0, longest: 0 };
        };
        let middle = (gaps.len() - 1) / 2;
        GapSummary { median: *gaps.select_nth_unstable(middle).1, longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(days: &[f64], at: f64) -> UpdatePattern {
        let time = |d: f64| Time::from_millis((d * 86_400_000.0) as i64);
        pattern_of(&days.iter().map(|d| time(*d)).collect::<Vec<_>>(), time(at))
    }

    #[test]
    fn every_pattern_follows_from_its_rule() {
        assert_eq!(pattern(&[], 1.0), UpdatePattern::Empty);
        assert_eq!(pattern(&[1.0], 2.0), UpdatePattern::SingleEntry);
        assert_eq!(pattern(&[2.0, 2.0, 2.0], 2.0), UpdatePattern::OnTheFly);
        assert_eq!(pattern(&[1.0, 1.0, 1.0], 2.0), UpdatePattern::Chunked);
        assert_eq!(pattern(&[1.0, 15.0, 29.0], 29.0 + 112.0), UpdatePattern::Zombie);
        assert_eq!(pattern(&[1.0, 15.0, 29.0], 29.0 + 111.0), UpdatePattern::Spontaneous);
        assert_eq!(pattern(&[1.0, 1.01, 1.05, 2.0, 2.01], 2.1), UpdatePattern::Sliced);
    }
    /// The window of the last poll decides single, chunked and on-the-fly, whatever came before.
    #[test]
    fn the_last_window_decides_where_the_history_would_say_sliced() {
        let time = |d: f64| Time::from_millis((d * 86_400_000.0) as i64);
        let known: Vec<Time> = [1.0, 1.01, 1.05, 2.0, 2.01, 3.0, 3.0].map(time).to_vec();
        let judged = |window: &[Time], at: f64| pattern_of_window(window, &known, time(at));
        assert_eq!(judged(&known[6..], 4.0), UpdatePattern::SingleEntry);
        assert_eq!(judged(&known[5..], 4.0), UpdatePattern::Chunked);
        assert_eq!(judged(&known[5..], 3.0), UpdatePattern::OnTheFly);
        assert_eq!(judged(&known[4..], 4.0), UpdatePattern::Sliced);
        assert_eq!(judged(&[], 4.0), UpdatePattern::Empty);
    }

    /// Two gaps of 12 hours and 36 hours: the lower median is below a day.
    #[test]
    fn the_median_of_an_even_number_of_gaps_is_the_lower_one() {
        assert_eq!(pattern(&[1.0, 1.5, 3.0], 3.5), UpdatePattern::Sliced);
        assert_eq!(pattern(&[1.0, 2.0, 3.5], 3.5), UpdatePattern::Spontaneous);
    }
}
