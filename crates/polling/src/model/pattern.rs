//! The eight update patterns of feeds (dissertation 003, section 3.7.5).
//!
//! Rules where the source gives numbers, in this order: no entry is **empty**, one is **single
//! entry**; a median gap of zero with the newest entry within a second of the response is
//! **on-the-fly**; all times equal is **chunked**; the newest at least eight weeks old and eight
//! median gaps old is **zombie**; no gap above two hours is **constant**; a median gap of a day or
//! more is **spontaneous**; the rest comes in parts of the day: **sliced**. The patterns overlap,
//! the source says; the order is our choice.
//!
//! ```
//! use feed::Time;
//! use polling::model::pattern::{Pattern, pattern_of};
//!
//! let hourly: Vec<Time> = (0..48).map(|h| Time::from_secs(h * 3600)).collect();
//! assert_eq!(pattern_of(&hourly, Time::from_secs(48 * 3600)), Pattern::Constant);
//! assert_eq!(pattern_of(&hourly, Time::from_secs(9_999_999)), Pattern::Zombie);
//! ```

use feed::Time;

/// How a feed publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
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

impl Pattern {
    pub const fn word(self) -> &'static str {
        match self {
            Pattern::Empty => "empty",
            Pattern::SingleEntry => "single entry",
            Pattern::OnTheFly => "on-the-fly",
            Pattern::Chunked => "chunked",
            Pattern::Zombie => "zombie",
            Pattern::Constant => "constant",
            Pattern::Spontaneous => "spontaneous",
            Pattern::Sliced => "sliced",
        }
    }
}

/// The pattern of the publication `times`, oldest first, as known at the last poll; `answered_at`
/// is the response's `Date`, or the poll where there was none.
pub fn pattern_of(times: &[Time], answered_at: Time) -> Pattern {
    let (Some(oldest), Some(newest)) = (times.first(), times.last()) else { return Pattern::Empty };
    if times.len() == 1 {
        return Pattern::SingleEntry;
    }
    let mut gaps: Vec<i64> = times.windows(2).map(|w| w[1].millis_since(w[0])).collect();
    gaps.sort_unstable();
    let median = gaps[gaps.len() / 2];
    let longest = gaps[gaps.len() - 1];
    let age = answered_at.millis_since(*newest);
    if median == 0 && age.abs() <= ON_THE_FLY_MS {
        Pattern::OnTheFly
    } else if oldest == newest {
        Pattern::Chunked
    } else if age >= ZOMBIE_MS && age >= median.saturating_mul(ZOMBIE_GAPS) {
        Pattern::Zombie
    } else if longest <= CONSTANT_GAP_MS {
        Pattern::Constant
    } else if median >= SPONTANEOUS_GAP_MS {
        Pattern::Spontaneous
    } else {
        Pattern::Sliced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(days: &[f64], at: f64) -> Pattern {
        let time = |d: f64| Time::from_millis((d * 86_400_000.0) as i64);
        pattern_of(&days.iter().map(|d| time(*d)).collect::<Vec<_>>(), time(at))
    }

    #[test]
    fn every_pattern_is_told_by_its_rule() {
        assert_eq!(pattern(&[], 1.0), Pattern::Empty);
        assert_eq!(pattern(&[1.0], 2.0), Pattern::SingleEntry);
        assert_eq!(pattern(&[2.0, 2.0, 2.0], 2.0), Pattern::OnTheFly);
        assert_eq!(pattern(&[1.0, 1.0, 1.0], 2.0), Pattern::Chunked);
        assert_eq!(pattern(&[1.0, 15.0, 29.0], 29.0 + 112.0), Pattern::Zombie);
        assert_eq!(pattern(&[1.0, 15.0, 29.0], 29.0 + 111.0), Pattern::Spontaneous);
        assert_eq!(pattern(&[1.0, 1.01, 1.05, 2.0, 2.01], 2.1), Pattern::Sliced);
    }
}
