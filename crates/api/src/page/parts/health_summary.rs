//! One line that says whether the feeds work, for the pages of feeds and of health.

use store::Counts;

use crate::EngineState;
use crate::words::{count, plural, sentence};

/// The overall state of all feeds.
pub struct HealthSummary {
    /// The class in the stylesheet: `well`, `wait`, `bad` or `off`.
    pub class: &'static str,
    pub text: String,
}

impl HealthSummary {
    pub fn new(live: &EngineState, counts: &Counts) -> HealthSummary {
        let polled = counts.feeds - counts.never_polled.min(counts.feeds);
        let (class, text) = if let Some(why) = &live.not_ready {
            ("bad", sentence(why))
        } else if counts.feeds == 0 {
            ("off", "No feeds yet".to_owned())
        } else if live.outage.is_some() {
            ("bad", "Waiting for the network".to_owned())
        } else if polled == 0 {
            ("off", format!("Starting: {} to poll", plural(counts.feeds, "feed", "feeds")))
        } else if counts.failing == 0 {
            ("well", "All feeds work".to_owned())
        } else {
            // One feed in five is more than the usual decay of the web.
            let class = if counts.failing * 5 > polled { "bad" } else { "wait" };
            let of = count(counts.feeds);
            (class, format!("{} of {of} feeds have problems", count(counts.failing)))
        };
        HealthSummary { class, text }
    }
}
