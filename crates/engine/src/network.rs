//! When everything fails at once it is us, our network or our disk: nobody is blamed, nobody is
//! asked for what could not be kept, and polling resumes by itself.

use std::collections::HashMap;
use std::time::Duration;

use feed::{FeedId, Time};
use polling::outage::{Outage, Reach};

/// While our network is down, one feed is tried this often to see whether it is back.
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// Failures younger than this when the outage is recognised were part of it.
const BLAME_WINDOW: Duration = Duration::from_secs(60);
/// Of how many recent failures we remember whom they were blamed on.
const BLAMED_MAX: usize = 20_000;

/// What the engine knows of its own network.
#[derive(Debug, Default)]
pub struct Network {
    outage: Outage,
    /// Feeds that were blamed for an unreachable server lately.
    blamed: HashMap<FeedId, Time>,
    down: bool,
    /// The last poll could not be recorded.
    cannot_record: bool,
    last_probe: Option<Time>,
}

impl Network {
    /// A request ended; `failed` names the feed whose server it did not reach, and how far it
    /// came. Returns the feeds to be forgiven, where this shows that it is our network.
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
        self.down
    }

    /// How many polls may be under way: all, or while our network is down one every few seconds.
    pub fn in_flight_max(&mut self, now: Time, usual: usize) -> usize {
        self.down = self.down && self.outage.verdict(now).is_some();
        if !self.down && !self.cannot_record {
            return usual;
        }
        // A probe that lies ahead was made before the clock was set back.
        usize::from(self.last_probe.is_none_or(|t| t > now || now.since(t) >= PROBE_EVERY))
    }

    /// A poll was kept, or could not be: then one is tried now and then until it can.
    pub fn recorded(&mut self, kept: bool) {
        self.cannot_record = !kept;
    }

    /// Whether the last poll could not be kept.
    pub fn cannot_record(&self) -> bool {
        self.cannot_record
    }

    /// A poll was granted.
    pub fn granted(&mut self, now: Time) {
        if self.down || self.cannot_record {
            self.last_probe = Some(now);
        }
    }
}
