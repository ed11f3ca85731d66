//! Results that the controller has not confirmed yet. A result is sent again every second until an
//! answer names its grant. Pure: the caller gives the time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use dispatch::wire::{MESSAGE_BYTES_MAX, encoded_len};
use dispatch::{GrantId, PollReading, PollResult};
use feed::Trouble;

/// The wait before a result is sent again.
const RESEND_AFTER: Duration = Duration::from_secs(1);
/// Results in one message.
const RESULTS_MAX: usize = 64;
/// Bytes of results in one message, unless one alone is longer. The controller joins the parts of
/// long messages in memory.
const RESULTS_BYTES_MAX: usize = 4_000_000;
/// The longest result or errand that a message carries next to the other fields.
pub const RESULT_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 16 * 1024;

/// A result that a message can carry.
#[derive(Debug)]
pub struct SendableResult {
    result: PollResult,
    /// Its length within a message.
    n_bytes: usize,
}

impl SendableResult {
    /// Measures a result. One that is too long for a message becomes a failure, so that its feed is
    /// polled later, and not at once and in vain.
    pub fn new(mut result: PollResult) -> SendableResult {
        let mut n_bytes = length(&result);
        if n_bytes > RESULT_BYTES_MAX && result.raw.take().is_some() {
            // Only a recording misses the messages of the exchange.
            n_bytes = length(&result);
        }
        if n_bytes > RESULT_BYTES_MAX {
            let (feed, limit) = (result.feed.0, RESULT_BYTES_MAX);
            tracing::warn!(feed, n_bytes, limit, "the result of a poll is too long for the bus");
            let detail = format!("the document is longer than the bus carries ({limit} bytes)");
            result.reading = PollReading::Failed { trouble: Trouble::TooLarge, detail };
            n_bytes = length(&result);
        }
        SendableResult { result, n_bytes }
    }
}

/// A value that cannot be encoded is as bad as one that is too long.
fn length(result: &PollResult) -> usize {
    encoded_len(result).unwrap_or(usize::MAX)
}

/// The results that wait for their answers.
#[derive(Debug, Default)]
pub struct Outbox {
    kept: BTreeMap<GrantId, KeptResult>,
}

#[derive(Debug)]
struct KeptResult {
    result: PollResult,
    n_bytes: usize,
    /// The time from the exchange to `ready_at`.
    held: Duration,
    ready_at: Duration,
    sent_at: Option<Duration>,
}

impl Outbox {
    /// Keeps a result that became ready at `now`. Returns false if the grant has a result already,
    /// which stays. The bus may repeat a job after its life, and such a job is not sent.
    pub fn keep(&mut self, ready: SendableResult, now: Duration) -> bool {
        let SendableResult { result, n_bytes } = ready;
        let Entry::Vacant(vacant) = self.kept.entry(result.grant) else { return false };
        let held = result.held;
        vacant.insert(KeptResult { result, n_bytes, held, ready_at: now, sent_at: None });
        true
    }

    /// Returns the results of the next message to send at `now`, with the time that they were held.
    /// There may be more until it returns none.
    pub fn due(&mut self, now: Duration) -> Vec<PollResult> {
        let is_due = |kept: &&mut KeptResult| {
            kept.sent_at.is_none_or(|at| now.saturating_sub(at) >= RESEND_AFTER)
        };
        let (mut due, mut n_bytes) = (Vec::new(), 0);
        for kept in self.kept.values_mut().filter(is_due) {
            n_bytes += kept.n_bytes;
            if !due.is_empty() && (due.len() == RESULTS_MAX || n_bytes > RESULTS_BYTES_MAX) {
                break;
            }
            kept.sent_at = Some(now);
            let held = kept.held + now.saturating_sub(kept.ready_at);
            due.push(PollResult { held, ..kept.result.clone() });
        }
        due
    }

    /// Drops a result that the controller has answered. Returns whether it was kept.
    pub fn answered(&mut self, grant: GrantId) -> bool {
        self.kept.remove(&grant).is_some()
    }

    /// Lets every result be sent again at once, to another controller.
    pub fn send_all_again(&mut self) {
        self.kept.values_mut().for_each(|kept| kept.sent_at = None);
    }

    /// The bytes of all results in messages.
    pub fn n_bytes(&self) -> usize {
        self.kept.values().map(|kept| kept.n_bytes).sum()
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
    use dispatch::machine::Results;
    use dispatch::{ReadDocument, SoFar, wire};
    use feed::{ExchangeFacts, FeedId, RawAnswer};

    use super::*;

    fn result(grant: u64) -> PollResult {
        PollResult::bare(GrantId(grant), FeedId(1), 0, SoFar::default(), PollReading::Gone)
    }

    /// A result whose document has so many bytes.
    fn long(grant: u64, n_bytes: usize) -> PollResult {
        let warnings = vec!["w".repeat(n_bytes)];
        let document = ReadDocument { warnings, ..ReadDocument::default() };
        PollResult { reading: PollReading::Document(Box::new(document)), ..result(grant) }
    }

    fn keep(outbox: &mut Outbox, result: PollResult) {
        assert!(outbox.keep(SendableResult::new(result), Duration::ZERO));
    }

    #[test]
    fn a_result_is_sent_until_it_is_answered() {
        let mut outbox = Outbox::default();
        let at = Duration::from_millis;
        keep(&mut outbox, result(1));
        assert_eq!(outbox.due(at(10)).len(), 1);
        assert!(outbox.due(at(500)).is_empty());
        let again = outbox.due(at(1010));
        assert_eq!(again[0].held, at(1010), "the time since the exchange grows");
        assert!(outbox.answered(GrantId(1)) && !outbox.answered(GrantId(1)));
        assert!(outbox.due(at(9000)).is_empty() && outbox.is_empty());
        keep(&mut outbox, long(2, 5000));
        assert!((5000..6000).contains(&outbox.n_bytes()), "{}", outbox.n_bytes());
        outbox.answered(GrantId(2));
        assert_eq!(outbox.n_bytes(), 0);
    }

    #[test]
    fn a_job_that_comes_again_does_not_replace_its_result() {
        let mut outbox = Outbox::default();
        keep(&mut outbox, result(1));
        let again = PollResult { reading: PollReading::NotSent, ..result(1) };
        assert!(!outbox.keep(SendableResult::new(again), Duration::from_secs(100)));
        assert_eq!(outbox.due(Duration::from_secs(100))[0].reading, PollReading::Gone);
    }

    #[test]
    fn results_share_messages_that_the_bus_can_carry() {
        let mut outbox = Outbox::default();
        (0..40).for_each(|grant| keep(&mut outbox, long(grant, 1_500_000)));
        keep(&mut outbox, long(40, 9_000_000));
        (41..241).for_each(|grant| keep(&mut outbox, result(grant)));
        let mut sizes = Vec::new();
        loop {
            let results = outbox.due(Duration::ZERO);
            if results.is_empty() {
                break;
            }
            sizes.push(results.len());
            let (terminal, life) = ("t".repeat(64), "l".repeat(64));
            let message = Results { terminal, life, results, errands: Vec::new() };
            assert!(wire::encode(&message).is_ok());
        }
        let (long, short) = sizes.split_at(21);
        assert!(long[..20].iter().all(|n| *n == 2) && long[20] == 1, "{sizes:?}");
        assert_eq!(short, [64, 64, 64, 8]);
    }

    #[test]
    fn a_result_that_is_too_long_becomes_a_failure() {
        let mut outbox = Outbox::default();
        let so_far = SoFar { bytes: 7, ..SoFar::default() };
        keep(&mut outbox, PollResult { so_far, ..long(1, MESSAGE_BYTES_MAX) });
        let due = outbox.due(Duration::ZERO);
        let [PollResult { reading: PollReading::Failed { trouble, .. }, so_far, .. }] = &due[..]
        else {
            panic!("{}", due.len())
        };
        assert_eq!((*trouble, so_far.bytes), (Trouble::TooLarge, 7));
    }

    #[test]
    fn a_document_is_sent_even_if_its_recording_is_too_long() {
        let body = Some(vec![b'x'; MESSAGE_BYTES_MAX]);
        let raw = Some(Box::new(RawAnswer { body, ..RawAnswer::default() }));
        let facts = ExchangeFacts::default();
        let SendableResult { result, n_bytes } =
            SendableResult::new(PollResult { raw, facts, ..long(1, 1000) });
        assert!(matches!(result.reading, PollReading::Document(_)));
        assert!(result.raw.is_none() && n_bytes < 10_000);
    }
}
