//! Why a policy wished what it wished, in one plain sentence for people.
//!
//! ```
//! use feed::{Observation, Outcome, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "fix:1h".parse().unwrap();
//! let window = [0, 3600, 7200, 10_800].map(Time::from_secs);
//! let seen = Observation {
//!     at: Time::from_secs(21_600), outcome: Outcome::Seen, window: &window, new: &window,
//!     overlap: 0, suspected_miss: false, partial: false, late: &[],
//! };
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! let words = "it is looked at every 1 h; next look at 1970-01-01T07:00:00Z";
//! assert_eq!(wish.why.words(), words);
//! ```

use std::time::Duration;

use crate::model::tide::{Busy, Shown, Weekdays};
use crate::{Case, Cause, Limit, Why, spoken};

impl Why {
    /// One plain sentence.
    pub fn words(&self) -> String {
        let next = self.next;
        let limit = match self.limit {
            Limit::None => "",
            Limit::Alpha => " (not sooner: the shortest interval allowed)",
            Limit::Beta => " (not later: the longest interval allowed)",
        };
        match self.case {
            Case::MavSync { n, gap } => format!(
                "the {n} entries in its window came every {} on average, so the next is expected \
                 at {next}{limit}",
                spoken(gap)
            ),
            case => format!("{}; next look at {next}{limit}", case.words()),
        }
    }
}

impl Case {
    fn words(self) -> String {
        match self {
            Case::Fix { every } => format!("it is looked at every {}", spoken(every)),
            Case::FixLearnedW { n, gap } => format!(
                "at the first poll its {} entries lay {} apart on average, and that interval stays",
                u64::from(n) + 1,
                spoken(gap)
            ),
            Case::FixLearnedA { n, gap } => format!(
                "at the first poll it showed one entry per {} ({n} in all), and that interval \
                 stays",
                spoken(gap)
            ),
            Case::AdaptiveTtl { factor, newest } => {
                format!("the wait is {factor} times the age of its newest entry, of {newest}")
            }
            Case::Lru2 { newest, gap } => {
                format!("its newest entry, of {newest}, came {} after the one before", spoken(gap))
            }
            Case::MavSync { n, gap } | Case::MavSyncVirtual { n, gap } => format!(
                "the expected entry is overdue or out of bounds; counted up to now, {n} {} came \
                 every {} on average",
                if n == 1 { "entry" } else { "entries" },
                spoken(gap)
            ),
            Case::IndHist { theta, per_day } => format!(
                "by its habits of the day ({per_day:.2} entries a day) {theta} new entries are \
                 expected by then"
            ),
            Case::Lihz { sigma, days } => format!(
                "by its habits of the week the chances of a change add up to {sigma} in {days} {}",
                if days == 1 { "day" } else { "days" }
            ),
            Case::LihzTraining { n_days } => format!(
                "its week is not known yet ({n_days} of 7 days seen), so it is looked at daily"
            ),
            Case::AdvaRss { m, runs } => {
                format!(
                    "after its last changes it is looked at every {runs} runs of 8 min (M = {m:.2})"
                )
            }
            Case::AdvaRssTraining { every } => format!(
                "its day is not known yet; the interval, longer without and shorter after a \
                 change, is {}",
                spoken(every)
            ),
            Case::WindowRoom { n, wait_for } => format!(
                "its window shows {n} entries, and {wait_for:.1} new ones are expected by then"
            ),
            Case::EntryFrequency { .. } | Case::Empirical { .. } | Case::AdaptiveFetch { .. } => {
                self.system_words()
            }
            Case::Tide { expected, waited, price, busy } => format!(
                "by then about {} will have waited {} on average{}; price {}",
                new_entries(f64::from(expected)),
                spoken(waited),
                busy_words(busy),
                spoken(price)
            ),
            Case::Undefined { cause, wait } => {
                format!("{}, so the default of {} holds", cause.words(), spoken(wait))
            }
        }
    }

    /// The rules of systems that people run.
    fn system_words(self) -> String {
        match self {
            Case::EntryFrequency { per_week: 0 } => {
                "the last week tells no frequency, so it is looked at once a day".to_owned()
            }
            Case::EntryFrequency { per_week } => {
                format!("at the last week's gaps it would have {per_week} entries a week")
            }
            Case::Empirical { newest: Some(newest) } => {
                format!("the wait goes by the age of its newest entry, of {newest}, and its gaps")
            }
            Case::Empirical { newest: None } => "it shows no entry".to_owned(),
            Case::AdaptiveFetch { every } => format!(
                "its interval, longer without and shorter after a change, is {}, counted from the \
                 newest entry",
                spoken(every)
            ),
            _ => String::new(),
        }
    }
}

/// A number of new entries as people say it: 0.04, 0.8, 12.
pub(crate) fn new_entries(n: f64) -> String {
    let amount = match n {
        n if n < 0.095 => format!("{n:.2}"),
        n if n < 0.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    };
    let entries = if amount == "1" { "entry" } else { "entries" };
    format!("{amount} new {entries}")
}

/// When most entries come, where that is worth saying.
fn busy_words(busy: Busy) -> String {
    let days = match busy.days {
        Weekdays::All => "",
        Weekdays::MondayToFriday => " on weekdays",
    };
    let mut words = match busy.hours {
        Some((from, to)) => format!("; this feed posts mostly{days} {from}–{to} h UTC"),
        None if days.is_empty() => String::new(),
        None => format!("; this feed posts mostly{days}"),
    };
    words.push_str(&shown_words(busy.shown));
    words
}

/// How entries become visible, where that is not at once.
fn shown_words(shown: Shown) -> String {
    match shown {
        Shown::AtOnce | Shown::Unruly => String::new(),
        Shown::After { minutes } => {
            let late = Duration::from_secs(60 * u64::from(minutes));
            format!("; its entries show up about {} after their date", spoken(late))
        }
        Shown::OnClock { period: 60, minute } => {
            format!("; its entries show up at {minute} min past the hour")
        }
        Shown::OnClock { period: 1440, minute } => {
            format!("; its entries show up about {:02}:{:02} UTC", minute / 60, minute % 60)
        }
        Shown::OnClock { period, minute } => {
            format!("; its entries show up every {period} min, first at {minute} past the hour")
        }
    }
}

impl Cause {
    const fn words(self) -> &'static str {
        match self {
            Cause::NotSeen => "no poll has succeeded yet",
            Cause::FirstWindow => "the first window told no interval",
            Cause::TooFew => "the window holds too few entries for the rule",
            Cause::Untrained => "no whole day of its history is known yet",
            Cause::ZeroModel => "by its recent history no entry is expected",
            Cause::NeverAnEntry => "the feed never had an entry",
            Cause::NeverForLong => "the feed never had an entry, for a week or longer",
            Cause::EmptyNow => "the feed shows no entry now, though it did before",
        }
    }
}
