//! The update pattern of a feed by the code behind the dissertation (003, section 3.7.6, figure
//! 3.11), for comparison with the rules of its text in `polling::model::pattern`.

use feed::Time;
use polling::model::pattern::UpdatePattern;

const SHORT_MS: i64 = 5000;
const DAY_MS: i64 = 86_400_000;
const ZOMBIE_MS: i64 = 56 * DAY_MS;
const CONSTANT_GAP_MS: i64 = 2 * 3_600_000;

/// All patterns, in the order of the dissertation.
pub const ALL: [UpdatePattern; 8] = [
    UpdatePattern::Empty,
    UpdatePattern::SingleEntry,
    UpdatePattern::OnTheFly,
    UpdatePattern::Chunked,
    UpdatePattern::Zombie,
    UpdatePattern::Spontaneous,
    UpdatePattern::Constant,
    UpdatePattern::Sliced,
];

/// Returns the pattern of a feed by the code. `times` are the publication times of all entries,
/// oldest first; `at` is the last poll.
///
/// The standard deviation is that of the gaps. Until 2013 the code took that of the times by
/// mistake, so that nearly every feed passed its test.
pub fn pattern_by_code(times: &[Time], at: Time) -> UpdatePattern {
    let (Some(oldest), Some(newest)) = (times.first(), times.last()) else {
        return UpdatePattern::Empty;
    };
    if times.len() == 1 {
        return UpdatePattern::SingleEntry;
    }
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1].millis_since(pair[0])).collect();
    let mean = gaps.iter().map(|gap| *gap as f64).sum::<f64>() / gaps.len() as f64;
    let variance =
        gaps.iter().map(|gap| (*gap as f64 - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let longest = gaps.iter().copied().max().unwrap_or(0);
    let middle = (gaps.len() - 1) / 2;
    let median = *gaps.select_nth_unstable(middle).1;
    let age = at.millis_since(*newest);
    let days = (newest.millis_since(*oldest) / DAY_MS).max(1);
    let per_day = times.len() as f64 / days as f64;
    if median < SHORT_MS && age < SHORT_MS {
        UpdatePattern::OnTheFly
    } else if median < SHORT_MS {
        UpdatePattern::Chunked
    } else if age > ZOMBIE_MS && age >= median.saturating_mul(8) {
        UpdatePattern::Zombie
    } else if variance.sqrt() >= median as f64 / 10.0 && median > DAY_MS {
        UpdatePattern::Spontaneous
    } else if longest < CONSTANT_GAP_MS && longest < median.saturating_mul(12) && per_day >= 4.0 {
        UpdatePattern::Constant
    } else {
        UpdatePattern::Sliced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(hours: &[f64], at: f64) -> UpdatePattern {
        let time = |h: f64| Time::from_millis((h * 3_600_000.0) as i64);
        pattern_by_code(&hours.iter().map(|h| time(*h)).collect::<Vec<_>>(), time(at))
    }

    #[test]
    fn every_pattern_follows_from_the_rule_of_the_code() {
        assert_eq!(pattern(&[], 1.0), UpdatePattern::Empty);
        assert_eq!(pattern(&[1.0], 1.0), UpdatePattern::SingleEntry);
        assert_eq!(pattern(&[1.0, 1.0, 1.001], 1.001), UpdatePattern::OnTheFly);
        assert_eq!(pattern(&[1.0, 1.0, 1.001], 9.0), UpdatePattern::Chunked);
        assert_eq!(pattern(&[0.0, 24.0, 48.0], 48.0 + 57.0 * 24.0), UpdatePattern::Zombie);
        assert_eq!(pattern(&[0.0, 40.0, 100.0], 110.0), UpdatePattern::Spontaneous);
        let hourly: Vec<f64> = (0..48).map(f64::from).collect();
        assert_eq!(pattern(&hourly, 48.0), UpdatePattern::Constant);
        assert_eq!(pattern(&[0.0, 1.0, 2.0, 24.0, 25.0], 26.0), UpdatePattern::Sliced);
    }
}
