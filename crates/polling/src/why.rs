//! Why a policy wished what it wished, with its figures; short for the record of each poll. The
//! words for people are in `words`. It explains; it decides nothing.
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

use std::time::Duration;

use feed::Time;

use crate::model::tide::Busy;
use crate::{Decimal, Limit};

/// The rule's case with its figures, the bound that cut, and the moment that came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Why {
    pub case: Case,
    pub limit: Limit,
    /// The wish that is explained.
    pub next: Time,
}

/// Which branch of which rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Case {
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
    AdaptiveFetch { every: Duration },
    Tide { expected: f32, waited: Duration, price: Duration, busy: Busy },
    Undefined { cause: Cause, wait: Duration },
}

/// Why a rule's equation was undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
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
    /// Short, at most 60 bytes, for the record of each poll: `mavsync sync n=20 u=4320s`.
    pub fn code(&self) -> String {
        let mut code = match self.case {
            Case::Fix { every } => format!("fix u={}s", every.as_secs()),
            Case::FixLearnedW { n, gap } => format!("fix-learned-w n={n} u={}", seconds(gap)),
            Case::FixLearnedA { n, gap } => format!("fix-learned-a n={n} u={}", seconds(gap)),
            Case::AdaptiveTtl { factor, newest } => {
                format!("adaptive-ttl m={factor} newest={newest}")
            }
            Case::Lru2 { gap, .. } => format!("lru-2 u={}", seconds(gap)),
            Case::MavSync { n, gap } => format!("mavsync sync n={n} u={}", seconds(gap)),
            Case::MavSyncVirtual { n, gap } => format!("mavsync virtual n={n} u={}", seconds(gap)),
            Case::IndHist { theta, per_day } => {
                format!("indhist theta={theta} per-day={per_day:.3}")
            }
            Case::Lihz { sigma, days } => format!("lihz sigma={sigma} days={days}"),
            Case::LihzTraining { n_days } => format!("lihz training days={n_days}"),
            Case::AdvaRss { m, runs } => format!("advarss m={m:.2} runs={runs}"),
            Case::AdvaRssTraining { every } => {
                format!("advarss-hybrid training u={}s", every.as_secs())
            }
            Case::WindowRoom { n, wait_for } => format!("window n={n} wait-for={wait_for:.1}"),
            Case::EntryFrequency { per_week } => format!("entry-frequency per-week={per_week}"),
            Case::Empirical { newest: Some(newest) } => format!("empirical newest={newest}"),
            Case::Empirical { newest: None } => "empirical no-entry".to_owned(),
            Case::AdaptiveFetch { every } => format!("adaptive-fetch i={}s", every.as_secs()),
            Case::Tide { expected, waited, price, .. } => {
                let (waited, price) = (waited.as_secs(), price.as_secs());
                format!("tide n={expected:.2} waited={waited}s price={price}s")
            }
            Case::Undefined { cause, wait } => {
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

/// A column of the store; no figure that people meet makes a code longer.
pub(crate) const CODE_BYTES_MAX: usize = 60;

impl Cause {
    pub(crate) const ALL: [Cause; 8] = [
        Cause::NotSeen,
        Cause::FirstWindow,
        Cause::TooFew,
        Cause::Untrained,
        Cause::ZeroModel,
        Cause::NeverAnEntry,
        Cause::NeverForLong,
        Cause::EmptyNow,
    ];

    pub(crate) const fn code(self) -> &'static str {
        match self {
            Cause::NotSeen => "not-seen",
            Cause::FirstWindow => "first-window",
            Cause::TooFew => "too-few",
            Cause::Untrained => "untrained",
            Cause::ZeroModel => "zero-model",
            Cause::NeverAnEntry => "never-an-entry",
            Cause::NeverForLong => "never-for-long",
            Cause::EmptyNow => "empty-now",
        }
    }
}

/// Seconds, with a fraction only where there is one.
fn seconds(d: Duration) -> String {
    match d.subsec_millis() {
        0 => format!("{}s", d.as_secs()),
        ms => format!("{}.{ms:03}s", d.as_secs()),
    }
}
