//! Compares pushes with polls: when pushes are trusted, what a push changes, and when the poll that
//! checks pushes is due. Pure. Policies learn from polls only. A poll includes the entries of
//! pushes since the last one, so a policy sees the same as without pushes.

use feed::{Cause, DocumentDates, Item, KeyedItem, Observed, Time, repair};
use store::{InboxPush, NextPoll, PollInput, PushRecord, PushRow, PushTrust, PushTrustChange};

use super::keep;
use crate::Settings;
use crate::budget;

/// The largest number of pushes in a row that trust needs, however often pushes failed.
const PROOFS_MAX: u32 = 9;

/// Returns whether polls may wait for pushes: the lease runs, and enough pushes came since a poll
/// last found an entry that no push had brought. Many hubs confirm and never push, so one push is
/// the minimum.
pub fn is_trusted(push: &PushRow, trust: PushTrust, at: Time) -> bool {
    let alive = push.lease_until.is_some_and(|until| until > at);
    alive && trust.n_proofs >= trust.n_misses.saturating_add(1).min(PROOFS_MAX)
}

/// Returns the same by the stored trust.
pub fn is_push_trusted(push: &PushRow, now: Time) -> bool {
    is_trusted(push, push.trust, now)
}

/// Returns the trust after an accepted push.
pub fn after_push(trust: PushTrust) -> PushTrust {
    PushTrust { n_proofs: trust.n_proofs.saturating_add(1), ..trust }
}

/// Returns the trust after a poll that found `n_found` entries which no push had brought. A poll
/// that confirms the pushes halves the earlier misses.
pub fn after_poll(push: &PushRow, n_found: usize, n_pushed: usize, at: Time) -> PushTrust {
    let (trust, trusted) = (push.trust, is_trusted(push, push.trust, at));
    if n_found > 0 {
        let n_misses = trust.n_misses.saturating_add(u32::from(trusted));
        return PushTrust { n_proofs: 0, n_misses };
    }
    let confirmed = trusted && n_pushed > 0;
    PushTrust { n_misses: if confirmed { trust.n_misses / 2 } else { trust.n_misses }, ..trust }
}

/// Returns the time of the next check of trusted pushes, after a poll at `last`. It is never after
/// the lease, nor later than a promise of the longest delay.
pub fn safety_net(
    input: &PollInput,
    trust: PushTrust,
    last: Time,
    settings: &Settings,
) -> Option<Time> {
    let push = input.subscription().filter(|push| is_trusted(push, trust, last))?;
    let max_delay = budget::places(input).find_map(|s| s.max_delay);
    let net = settings.push.safety_net.min(max_delay.unwrap_or(settings.push.safety_net));
    Some((last + net).min(push.lease_until?))
}

pub fn held(push: &PushRow) -> String {
    let hub =
        url::Url::parse(&push.hub).map_or_else(|_| push.hub.clone(), |u| feed::mask_secrets(&u));
    format!("{hub} pushes it, so polls only check on that")
}

/// Returns the record of a push. It changes the schedule in one case only: the next poll may become
/// a safety net.
pub fn push_record(
    input: &PollInput,
    push: &PushRow,
    parcel: &InboxPush,
    document: PushedDocument,
    settings: &Settings,
) -> PushRecord {
    let trust = after_push(push.trust);
    let schedule = &input.schedule;
    let mut next = NextPoll {
        at: schedule.next_at.unwrap_or(parcel.at),
        wanted_at: schedule.wanted_at,
        why: schedule.why.clone(),
    };
    let last = input.history.last_poll_at.filter(|_| input.history.failures == 0);
    let trusted = is_trusted(push, trust, parcel.at);
    if let Some(net) = last.and_then(|last| safety_net(input, trust, last, settings))
        && net > next.at
        && trusted
    {
        next.at = net;
        next.why.held = Some(held(push));
        next.why.cause = Some(Cause::PushCheck.code());
    }
    let PushedDocument { items, observed, dates } = document;
    let previous = input.history.last_success_at;
    let repair = |item: &Item| repair(item, dates, parcel.at, previous);
    let mut entries = keep::entry_changes(items, &observed, repair);
    entries.window = Some(observed.window).filter(|w| *w != input.document.window);
    PushRecord {
        feed: input.id,
        generation: input.generation,
        at: parcel.at,
        parcel: parcel.id,
        trust: PushTrustChange { subscription: push.id, trust },
        entries,
        next,
    }
}

/// The document of a push, compared with the feed's window.
pub struct PushedDocument {
    pub items: Vec<KeyedItem>,
    pub observed: Observed,
    pub dates: DocumentDates,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Time = Time::from_secs(1_700_000_000);

    fn row(trust: PushTrust, lease_until: Option<Time>) -> PushRow {
        PushRow {
            id: 1,
            hub: "http://hub/".to_owned(),
            topic: "http://feed/".to_owned(),
            asked_at: None,
            lease_until,
            next_at: NOW,
            error: None,
            pushed_at: None,
            n_pushes: 0,
            trust,
        }
    }

    #[test]
    fn a_hub_is_trusted_once_it_has_pushed_and_while_its_lease_runs() {
        let tomorrow = Some(NOW + Duration::from_secs(86_400));
        let none = PushTrust::default();
        let one = after_push(none);
        assert!(!is_trusted(&row(none, tomorrow), none, NOW), "it has shown nothing yet");
        assert!(is_trusted(&row(one, tomorrow), one, NOW));
        assert!(!is_trusted(&row(one, Some(NOW)), one, NOW), "the lease is over");
        assert!(!is_trusted(&row(one, None), one, NOW), "it was denied");
    }

    #[test]
    fn each_miss_asks_for_one_more_proof_up_to_nine_and_confirmations_forgive() {
        let tomorrow = Some(NOW + Duration::from_secs(86_400));
        let mut push = row(after_push(PushTrust::default()), tomorrow);
        for n_misses in 1..30 {
            push.trust = after_poll(&push, 1, 0, NOW);
            assert!(!is_trusted(&push, push.trust, NOW), "{n_misses}: polls take over at once");
            let mut n_needed = 0;
            while !is_trusted(&push, push.trust, NOW) {
                push.trust = after_push(push.trust);
                n_needed += 1;
            }
            assert_eq!(n_needed, (n_misses + 1).min(9), "after {n_misses} misses");
        }
        let untrusted = row(PushTrust { n_proofs: 0, n_misses: 3 }, tomorrow);
        assert_eq!(after_poll(&untrusted, 5, 0, NOW).n_misses, 3, "a poll that was due anyway");
        assert_eq!(after_poll(&push, 0, 0, NOW).n_misses, 29, "nothing came: nothing confirmed");
        assert_eq!(after_poll(&push, 0, 2, NOW).n_misses, 14);
    }
}
