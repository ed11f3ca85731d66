//! Results that the controller has not confirmed yet. A result is sent again every second until an
//! answer names its grant. Pure: the caller gives the time.

use std::collections::BTreeMap;
use std::time::Duration;

use dispatch::{GrantId, PollResult};

/// The wait before a result is sent again.
const RESEND_AFTER: Duration = Duration::from_secs(1);

/// The results that wait for their answers.
#[derive(Debug, Default)]
pub struct Outbox {
    kept: BTreeMap<GrantId, KeptResult>,
}

#[derive(Debug)]
struct KeptResult {
    result: PollResult,
    /// The time from the exchange to `ready_at`.
    held: Duration,
    ready_at: Duration,
    sent_at: Option<Duration>,
}

impl Outbox {
    /// Keeps a result that became ready at `now`.
    pub fn keep(&mut self, result: PollResult, now: Duration) {
        let held = result.held;
        let kept = KeptResult { result, held, ready_at: now, sent_at: None };
        self.kept.insert(kept.result.grant, kept);
    }

    /// Returns the results to send at `now`, with the time that they were held.
    pub fn due(&mut self, now: Duration) -> Vec<PollResult> {
        let is_due = |kept: &&mut KeptResult| {
            kept.sent_at.is_none_or(|at| now.saturating_sub(at) >= RESEND_AFTER)
        };
        let due = self.kept.values_mut().filter(is_due).map(|kept| {
            kept.sent_at = Some(now);
            let held = kept.held + now.saturating_sub(kept.ready_at);
            PollResult { held, ..kept.result.clone() }
        });
        due.collect()
    }

    /// Drops a result that the controller has answered. Returns whether it was kept.
    pub fn answered(&mut self, grant: GrantId) -> bool {
        self.kept.remove(&grant).is_some()
    }

    /// Lets every result be sent again at once, to another controller.
    pub fn send_all_again(&mut self) {
        self.kept.values_mut().for_each(|kept| kept.sent_at = None);
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use dispatch::{PollReading, SoFar};
    use feed::FeedId;

    use super::*;

    fn result(grant: u64) -> PollResult {
        PollResult::bare(GrantId(grant), FeedId(1), 0, SoFar::default(), PollReading::Gone)
    }

    #[test]
    fn a_result_is_sent_until_it_is_answered() {
        let mut outbox = Outbox::default();
        let at = Duration::from_millis;
        outbox.keep(result(1), at(0));
        assert_eq!(outbox.due(at(10)).len(), 1);
        assert!(outbox.due(at(500)).is_empty());
        let again = outbox.due(at(1010));
        assert_eq!(again[0].held, at(1010), "the time since the exchange grows");
        assert!(outbox.answered(GrantId(1)) && !outbox.answered(GrantId(1)));
        assert!(outbox.due(at(9000)).is_empty() && outbox.is_empty());
    }
}
