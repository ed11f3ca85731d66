//! Detects outages of our own network and disk: then nearly everything fails at once. During an
//! outage no feed is blamed and few polls are made. Polling resumes automatically.

use std::collections::HashMap;
use std::time::Duration;

use feed::{FeedId, Time};
use polling::outage::{Outage, Reach};

/// While our network is down, one feed is polled this often to see whether it is back.
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// Failures younger than this when the outage is detected belong to it.
const BLAME_WINDOW: Duration = Duration::from_secs(60);
/// The number of recent failures whose feeds are remembered.
const BLAMED_MAX: usize = 20_000;
/// A terminal that let so many grants in a row end without a result gets probes only. One request
/// may be lost on the bus. But each keeps its domain busy for the whole life of a grant.
const UNANSWERED_MAX: u32 = 3;

/// The state of our own network and disk.
#[derive(Debug, Default)]
pub struct Network {
    outage: Outage,
    /// Feeds whose server was unreachable lately, and when.
    blamed: HashMap<FeedId, Time>,
    down: bool,
    /// The last poll could not be recorded.
    cannot_record: bool,
    last_probe: Option<Time>,
    /// Grants in a row that ended without a result.
    n_unanswered: u32,
}

impl Network {
    /// Records the end of a request. `failed` names the feed whose server it did not reach, and how
    /// far it came. If this reveals an outage, returns the feeds to forgive.
    pub fn heard(&mut self, domain: u32, at: Time, failed: Option<(FeedId, Reach)>) -> Vec<FeedId> {
        self.outage.record(domain, at, failed.map_or(Reach::Answered, |(_, reach)| reach));
        let was_down = self.down;
        self.down = self.outage.verdict(at).is_some();
        if let Some((feed, _)) = failed.filter(|_| !self.down) {
            self.blamed.retain(|_, since| at.since(*since) < BLAME_WINDOW);
            if self.blamed.len() < BLAMED_MAX {
                self.blamed.insert(feed, at);
            }
        }
        if was_down != self.down {
            let word = if self.down { "our network is down" } else { "our network is back" };
            tracing::warn!(domains_failing = self.down, "{word}");
        }
        if self.down && !was_down {
            let young = |since: Time| at.since(since) < BLAME_WINDOW;
            return self.blamed.drain().filter(|(_, s)| young(*s)).map(|(f, _)| f).collect();
        }
        Vec::new()
    }

    pub fn is_down(&self) -> bool {
        self.down || self.n_unanswered >= UNANSWERED_MAX
    }

    /// Records that a result of the terminal arrived, whatever it brought.
    pub fn terminal_answered(&mut self) {
        self.n_unanswered = 0;
    }

    /// Records that a grant of the terminal ended without a result.
    pub fn terminal_did_not_answer(&mut self, name: &str) {
        self.n_unanswered = self.n_unanswered.saturating_add(1);
        if self.n_unanswered == UNANSWERED_MAX {
            tracing::warn!(terminal = name, "the terminal does not answer; it gets probes only");
        }
    }

    /// The number of polls that may be under way: the usual one, or one every few seconds during an
    /// outage.
    pub fn in_flight_max(&mut self, now: Time, usual: usize) -> usize {
        self.down = self.down && self.outage.verdict(now).is_some();
        if !self.is_down() && !self.cannot_record {
            return usual;
        }
        // A probe in the future was made before the clock was set back.
        usize::from(self.last_probe.is_none_or(|t| t > now || now.since(t) >= PROBE_EVERY))
    }

    /// Records whether the store kept a poll. If not, few polls are made until it can.
    pub fn recorded(&mut self, kept: bool) {
        self.cannot_record = !kept;
    }

    /// Returns whether the last poll could not be recorded.
    pub fn cannot_record(&self) -> bool {
        self.cannot_record
    }

    /// Records that a poll was granted.
    pub fn granted(&mut self, now: Time) {
        if self.is_down() || self.cannot_record {
            self.last_probe = Some(now);
        }
    }
}
