//! Explains a policy's wish with its figures, as a short code for the record of each poll. Module
//! `words` turns it into sentences.
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
//! assert_eq!(wish.why.code(), "fix u=3600s");
//! ```

pub(crate) mod words;

use std::time::Duration;

use feed::Time;

use crate::model::tide::PostingTimes;
use crate::{Decimal, Limit};

/// The rule's case with its figures, the bound that applied, and the resulting time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Why {
    pub case: RuleCase,
    pub limit: Limit,
    /// The wish that is explained.
    pub next: Time,
}

/// A case of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleCase {
    Fix { every: Duration },
    FixLearnedW { n: u32, gap: Duration },
    FixLearnedA { n: u32, gap: Duration },
    AdaptiveTtl { factor: Decimal, newest: Time },
    Lru2 { newest: Time, gap: Duration },
    MavSync { n: u32, gap: Duration },
    MavSyncVirtual { n: u32, gap: Duration },
    IndHist { theta: Decimal, per_day: f32 },
    Lihz { sigma: Decimal, days: i64 },
    LihzTraining { n_days: u32 },
    AdvaRss { m: f32, runs: u32 },
    AdvaRssTraining { every: Duration },
    WindowRoom { n: u32, wait_for: f32 },
    EntryFrequency { per_week: i64 },
    Empirical { newest: Option<Time> },
    Recording { n: u32, gap: Duration, less: Duration },
    AdaptiveFetch { every: Duration },
    Tide { expected: f32, waited: Duration, price: Duration, posting: PostingTimes },
    Undefined { cause: UndefinedCause, wait: Duration },
}

/// The reason why a rule's equation was undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndefinedCause {
    /// No poll has succeeded yet.
    NotSeen,
    /// The first window did not suffice, and only the first counts.
    FirstWindow,
    /// The window holds fewer entries than the rule needs.
    TooFew,
    /// The model has no history yet.
    Untrained,
    /// The model expects nothing, ever.
    ZeroModel,
    /// The feed never had an entry.
    NeverAnEntry,
    /// The feed never had an entry, for a week or longer.
    NeverForLong,
    /// The feed had entries before and shows none now.
    EmptyNow,
}

impl Why {
    /// Returns a short code of at most 60 bytes for the record of each poll: `mavsync sync n=20
    /// u=4320s`.
    pub fn code(&self) -> String {
        let mut code = match self.case {
            RuleCase::Fix { every } => format!("fix u={}s", every.as_secs()),
            RuleCase::FixLearnedW { n, gap } => format!("fix-learned-w n={n} u={}", seconds(gap)),
            RuleCase::FixLearnedA { n, gap } => format!("fix-learned-a n={n} u={}", seconds(gap)),
            RuleCase::AdaptiveTtl { factor, newest } => {
                format!("adaptive-ttl m={factor} newest={newest}")
            }
            RuleCase::Lru2 { gap, .. } => format!("lru-2 u={}", seconds(gap)),
            RuleCase::MavSync { n, gap } => format!("mavsync sync n={n} u={}", seconds(gap)),
            RuleCase::MavSyncVirtual { n, gap } => {
                format!("mavsync virtual n={n} u={}", seconds(gap))
            }
            RuleCase::IndHist { theta, per_day } => {
                format!("indhist theta={theta} per-day={per_day:.3}")
            }
            RuleCase::Lihz { sigma, days } => format!("lihz sigma={sigma} days={days}"),
            RuleCase::LihzTraining { n_days } => format!("lihz training days={n_days}"),
            RuleCase::AdvaRss { m, runs } => format!("advarss m={m:.2} runs={runs}"),
            RuleCase::AdvaRssTraining { every } => {
                format!("advarss-hybrid training u={}s", every.as_secs())
            }
            RuleCase::WindowRoom { n, wait_for } => format!("window n={n} wait-for={wait_for:.1}"),
            RuleCase::EntryFrequency { per_week } => format!("entry-frequency per-week={per_week}"),
            RuleCase::Empirical { newest: Some(newest) } => format!("empirical newest={newest}"),
            RuleCase::Empirical { newest: None } => "empirical no-entry".to_owned(),
            RuleCase::Recording { n, gap, less } => {
                format!("recording n={n} u={} less={}", seconds(gap), seconds(less))
            }
            RuleCase::AdaptiveFetch { every } => format!("adaptive-fetch i={}s", every.as_secs()),
            RuleCase::Tide { expected, waited, price, .. } => {
                let (waited, price) = (waited.as_secs(), price.as_secs());
                format!("tide n={expected:.2} waited={waited}s price={price}s")
            }
            RuleCase::Undefined { cause, wait } => {
                format!("default {} eta={}s", cause.code(), wait.as_secs())
            }
        };
        code.push_str(match self.limit {
            Limit::None => "",
            Limit::Alpha => " alpha",
            Limit::Beta => " beta",
        });
        debug_assert!(code.is_ascii(), "a code is cut at a byte");
        code.truncate(CODE_BYTES_MAX);
        code
    }
}

/// The width of a column in the store; realistic figures fit.
pub(crate) const CODE_BYTES_MAX: usize = 60;

impl UndefinedCause {
    pub(crate) const ALL: [UndefinedCause; 8] = [
        UndefinedCause::NotSeen,
        UndefinedCause::FirstWindow,
        UndefinedCause::TooFew,
        UndefinedCause::Untrained,
        UndefinedCause::ZeroModel,
        UndefinedCause::NeverAnEntry,
        UndefinedCause::NeverForLong,
        UndefinedCause::EmptyNow,
    ];

    pub(crate) const fn code(self) -> &'static str {
        match self {
            UndefinedCause::NotSeen => "not-seen",
            UndefinedCause::FirstWindow => "first-window",
            UndefinedCause::TooFew => "too-few",
            UndefinedCause::Untrained => "untrained",
            UndefinedCause::ZeroModel => "zero-model",
            UndefinedCause::NeverAnEntry => "never-an-entry",
            UndefinedCause::NeverForLong => "never-for-long",
            UndefinedCause::EmptyNow => "empty-now",
        }
    }
}

/// Formats seconds, with a fraction only if there is one.
fn seconds(d: Duration) -> String {
    match d.subsec_millis() {
        0 => format!("{}s", d.as_secs()),
        ms => format!("{}.{ms:03}s", d.as_secs()),
    }
}
