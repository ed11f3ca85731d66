//! Explains in plain sentences why a policy chose a time for the next poll.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "fix:1h".parse().unwrap();
//! let window = [0, 3600, 7200, 10_800].map(Time::from_secs);
//! let seen = Observation::first(Time::from_secs(21_600), &window);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.why.words(), "The feed is polled every 1 h.");
//! ```

use std::time::Duration;

use crate::model::tide::{BusyDays, PostingTimes, Visibility};
use crate::{Limit, RuleCase, UndefinedCause, Why, spoken};

impl Why {
    /// Returns plain sentences. "By then" is the time of the next poll, which is shown next to
    /// them.
    pub fn words(&self) -> String {
        case_sentences(&self.case, self.limit)
    }
}

/// Returns the sentences for a case, and for the bound that moved the poll.
pub(crate) fn case_sentences(case: &RuleCase, limit: Limit) -> String {
    let limit = match limit {
        Limit::None => "",
        Limit::Alpha => " (Moved to the shortest interval allowed.)",
        Limit::Beta => " (Moved to the longest interval allowed.)",
    };
    format!("{}{limit}", case.words())
}

impl RuleCase {
    fn words(self) -> String {
        match self {
            RuleCase::Fix { every } => format!("The feed is polled every {}.", spoken(every)),
            RuleCase::FixLearnedW { n, gap } => format!(
                "At the first poll its {} entries were {} apart on average. That interval is kept.",
                u64::from(n) + 1,
                spoken(gap)
            ),
            RuleCase::FixLearnedA { n, gap } => format!(
                "At the first poll it had one entry per {} ({n} in total). That interval is kept.",
                spoken(gap)
            ),
            RuleCase::AdaptiveTtl { factor, newest } => {
                format!("The wait is {factor} times the age of its newest entry ({newest}).")
            }
            RuleCase::Lru2 { gap, .. } => {
                format!("Its newest entry came {} after the one before.", spoken(gap))
            }
            RuleCase::MavSync { n, gap } => format!(
                "The {n} entries in its window came every {} on average. The next one is expected \
                 by then.",
                spoken(gap)
            ),
            RuleCase::MavSyncVirtual { n, gap } => format!(
                "The next entry is overdue or out of bounds. Counted up to now, {n} {} came every \
                 {} on average.",
                if n == 1 { "entry" } else { "entries" },
                spoken(gap)
            ),
            RuleCase::IndHist { theta, per_day } => format!(
                "Its daily pattern ({per_day:.2} entries a day) predicts {theta} new entries by \
                 then."
            ),
            RuleCase::Lihz { sigma, days } => format!(
                "By its weekly pattern the chances of a change add up to {sigma} in {days} {}.",
                if days == 1 { "day" } else { "days" }
            ),
            RuleCase::LihzTraining { n_days } => format!(
                "Its weekly pattern is not known yet ({n_days} of 7 days seen), so the feed is \
                 polled once a day."
            ),
            RuleCase::AdvaRss { m, runs } => format!(
                "After its last changes the feed is polled every {runs} runs of the policy \
                 (M = {m:.2})."
            ),
            RuleCase::AdvaRssTraining { every } => format!(
                "Its daily pattern is not known yet. The interval grows without changes and \
                 shrinks after one; it is {} now.",
                spoken(every)
            ),
            RuleCase::WindowRoom { n, wait_for } => format!(
                "The feed shows {n} entries at a time, and {wait_for:.1} new ones are expected by \
                 then."
            ),
            RuleCase::EntryFrequency { .. }
            | RuleCase::Empirical { .. }
            | RuleCase::Recording { .. }
            | RuleCase::AdaptiveFetch { .. } => self.system_words(),
            RuleCase::Tide { expected, waited, price, posting } => {
                expected_words(f64::from(expected), waited, price) + &posting_words(posting)
            }
            RuleCase::Undefined { cause, wait } => {
                format!("{}, so the default interval of {} applies.", cause.words(), spoken(wait))
            }
        }
    }

    /// Returns the sentences for the rules of other systems and of recordings.
    fn system_words(self) -> String {
        match self {
            RuleCase::EntryFrequency { per_week: 0 } => {
                "The last week shows no frequency, so the feed is polled once a day.".to_owned()
            }
            RuleCase::EntryFrequency { per_week } => {
                format!("At last week's rate it has {per_week} entries a week.")
            }
            RuleCase::Empirical { newest: Some(newest) } => {
                format!("The wait depends on the age of its newest entry ({newest}) and its gaps.")
            }
            RuleCase::Empirical { newest: None } => "The feed shows no entry.".to_owned(),
            RuleCase::Recording { gap, less: Duration::ZERO, .. } => format!(
                "For a recording, the wait is the mean gap of its window ({}).",
                spoken(gap)
            ),
            RuleCase::Recording { less, .. } => format!(
                "Its entries are rare, so a recording waits almost as long as it may. {} less \
                 spreads the polls.",
                spoken(less)
            ),
            RuleCase::AdaptiveFetch { every } => format!(
                "The interval grows without changes and shrinks after one; it is {} now, counted \
                 from the newest entry.",
                spoken(every)
            ),
            _ => String::new(),
        }
    }
}

/// Returns the expected result of the next poll, and the price of a poll.
pub(crate) fn expected_words(expected: f64, waited: Duration, price: Duration) -> String {
    format!(
        "{} by then, {} old on average. (One poll is worth {} of waiting.)",
        new_entries(expected),
        spoken(waited),
        spoken(price)
    )
}

/// Returns the expected number of new entries in words.
pub(crate) fn new_entries(n: f64) -> String {
    match n {
        n if n < 0.095 => format!("Less than 1 new entry ({n:.2}) is expected"),
        n if n < 0.5 => format!("Less than 1 new entry ({n:.1}) is expected"),
        n if n < 1.5 => "About 1 new entry is expected".to_owned(),
        n => format!("About {n:.0} new entries are expected"),
    }
}

/// Returns the time of most entries, if there is a clear one.
fn posting_words(posting: PostingTimes) -> String {
    let days = match posting.days {
        BusyDays::All => "",
        BusyDays::MondayToFriday => " on weekdays",
    };
    let mut words = match posting.hours {
        Some((from, to)) => format!(" This feed posts mostly{days} {from}–{to} h UTC."),
        None if days.is_empty() => String::new(),
        None => format!(" This feed posts mostly{days}."),
    };
    words.push_str(&visibility_words(posting.visibility));
    words
}

/// Returns how entries become visible, if not at once.
fn visibility_words(shown: Visibility) -> String {
    match shown {
        Visibility::AtOnce | Visibility::Irregular => String::new(),
        Visibility::After { minutes } => {
            let late = Duration::from_secs(60 * u64::from(minutes));
            format!(" Its entries appear about {} after their date.", spoken(late))
        }
        Visibility::OnClock { period: 60, minute } => {
            format!(" Its entries appear at {minute} min past the hour.")
        }
        Visibility::OnClock { period: 1440, minute } => {
            format!(" Its entries appear at about {:02}:{:02} UTC.", minute / 60, minute % 60)
        }
        Visibility::OnClock { period, minute } => {
            format!(" Its entries appear every {period} min, first at {minute} past the hour.")
        }
    }
}

impl UndefinedCause {
    const fn words(self) -> &'static str {
        match self {
            UndefinedCause::NotSeen => "No poll has succeeded yet",
            UndefinedCause::FirstWindow => "The first document did not show an interval",
            UndefinedCause::TooFew => "The feed shows too few entries for this policy",
            UndefinedCause::Untrained => "No whole day of its history is known yet",
            UndefinedCause::ZeroModel => "Its recent history predicts no new entry",
            UndefinedCause::NeverAnEntry => "The feed never had an entry",
            UndefinedCause::NeverForLong => "The feed has had no entry for a week or longer",
            UndefinedCause::EmptyNow => "The feed shows no entry now, but did before",
        }
    }
}
