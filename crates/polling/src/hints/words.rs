//! Describes what happened to the publisher's hints, for the page.
//!
//! ```
//! use feed::{Hints, Time};
//! use polling::hints::{CacheHints, HintReading, apply};
//!
//! // Without a hint there is nothing to say.
//! let at = Time::from_secs(0);
//! let (hints, reading) = (Hints::default(), HintReading::LowerBound);
//! assert_eq!(apply(at, at, &hints, CacheHints::default(), &[], reading).words(), None);
//! ```

use super::{AsideReason, HintUsed, Hinted};
use crate::spoken;

impl Hinted {
    /// Returns one sentence for the page, if a hint was followed or ignored.
    pub fn words(&self) -> Option<String> {
        let followed = self.followed.map(|hint| format!("{} was followed", hint.words()));
        let aside = self.set_aside.map(|(hint, reason)| {
            let hint = hint.words();
            match reason {
                AsideReason::WouldMiss { percent } => format!(
                    "{hint} was ignored: by then {percent} % of the window would be new, and \
                     entries might be missed"
                ),
                AsideReason::Never => format!("{hint} was ignored: it excludes every time"),
                AsideReason::Capped(most) => {
                    format!("{hint} was read as {}, the longest wait we accept", spoken(most))
                }
            }
        });
        match (followed, aside) {
            (Some(a), Some(b)) => Some(format!("{a}; {b}")),
            (a, b) => a.or(b),
        }
    }
}

impl HintUsed {
    pub fn words(self) -> String {
        match self {
            HintUsed::Ttl(d) => format!("the feed's ttl of {}", spoken(d)),
            HintUsed::UpdateEvery(d, None) => {
                format!("the feed's update period of {}", spoken(d))
            }
            HintUsed::UpdateEvery(d, Some(base)) => {
                format!("the feed's update period of {} from {base}", spoken(d))
            }
            HintUsed::MaxAge(d) => format!("the response's max-age of {}", spoken(d)),
            HintUsed::Expires(t) => format!("the response's Expires at {t}"),
            HintUsed::SkipHours => "the feed's skipHours".to_owned(),
            HintUsed::SkipDays => "the feed's skipDays".to_owned(),
        }
    }
}
