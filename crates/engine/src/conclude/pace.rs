//! The pace of domains as the store keeps it: after a poll, after an errand, and at a start.

use std::time::Duration;

use dispatch::PassedDomain;
use feed::{Domain, Time};
use polling::pace::DomainPace;
use store::StoredPace;

use super::PollFacts;

/// A domain with a request this shortly before a restart may still be handling it.
const RECENTLY_ASKED: Duration = Duration::from_secs(60);

/// Returns the pace of every domain that received a request, for the store.
pub fn paces(poll: &PollFacts<'_>) -> Vec<StoredPace> {
    let passed = poll.passed.iter().map(|PassedDomain { domain, at }| StoredPace {
        domain: domain.clone(),
        last_request_at: Some(*at),
        not_before: None,
        reason: None,
    });
    passed.chain([last_pace(poll)]).collect()
}

fn last_pace(poll: &PollFacts<'_>) -> StoredPace {
    let not_before = poll.pace.and_then(|p| p.not_before);
    pace(Domain::of(poll.url), poll.ended, not_before, poll.facts.status)
}

/// Returns a domain's pace after a request that ended at `asked`, for the store.
pub fn pace(
    domain: Domain,
    asked: Time,
    not_before: Option<Time>,
    status: Option<u16>,
) -> StoredPace {
    StoredPace {
        domain,
        last_request_at: Some(asked),
        not_before,
        reason: not_before.map(|until| match status {
            Some(status) => format!("it answered {status} and asked us to wait until {until}"),
            None => format!("it asked us to wait until {until}"),
        }),
    }
}

/// Returns how far the clock was set back, at least, since it showed `shown`.
pub fn set_back(shown: Option<Time>, now: Time) -> Duration {
    shown.map_or(Duration::ZERO, |at| at.since(now))
}

/// Restores a domain's pace. A request may have been under way when the engine stopped, so a domain
/// with a recent request waits for its gap from now on.
pub fn stored_pace(stored: &StoredPace, now: Time) -> DomainPace {
    let back = set_back(stored.last_request_at, now);
    let recent = stored.last_request_at.filter(|at| now.since(*at) < RECENTLY_ASKED);
    DomainPace {
        last_request_end: recent.map(|_| now),
        not_before: stored.not_before.map(|at| at - back).filter(|at| *at > now),
        refusals: 0,
    }
}
