//! Polls as they were recorded, and the daily sums of old ones.

use std::time::Duration;

use feed::{Outcome, Time};
use store::{ExchangeRecord, ObservedWindow, PollProblem, PollRecord, PollRow};

use crate::sample::{add, at, fresh, poll};

#[test]
fn a_poll_is_shown_as_it_was_recorded() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let mut record = PollRecord::empty(id, 0, at(1), Outcome::Failed, at(900));
    record.cause = Some("fix:1m".to_owned());
    record.exchange = ExchangeRecord {
        status: Some(503),
        bytes: 12_345,
        elapsed: Duration::from_millis(678),
        paces: Vec::new(),
    };
    record.problem = Some(PollProblem::new("the server is overloaded"));
    record.observed = ObservedWindow { len: 20, overlap: 19, suspected_miss: true };
    record.decision.failures = 1;
    record.decision.next.wanted_at = Some(at(60));
    record.decision.next.why.reason = Some("every minute, as set".to_owned());
    record.decision.next.why.held = Some("Retry-After of example.org".to_owned());
    f.store.record_blocking(record).unwrap();
    let expected = PollRow {
        generation: 0,
        at: at(1),
        outcome: Outcome::Failed,
        status: Some(503),
        n_new: 0,
        window_len: 20,
        overlap: 19,
        suspected_miss: true,
        bytes: 12_345,
        elapsed: Duration::from_millis(678),
        wanted_at: Some(at(60)),
        next_at: Some(at(900)),
        reason: Some("fix:1m".to_owned()),
        held: Some("Retry-After of example.org".to_owned()),
        error: Some("the server is overloaded".to_owned()),
        warnings: Vec::new(),
    };
    assert_eq!(f.store.polls(id, 10).unwrap(), [expected]);
    let row = f.store.feed(id).unwrap();
    assert_eq!(row.schedule.why.held.as_deref(), Some("Retry-After of example.org"));
    assert_eq!(row.schedule.why.reason.as_deref(), Some("every minute, as set"));
}

#[test]
fn old_polls_become_daily_sums_and_nothing_is_lost_in_them() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let other = add(&f.store, "https://example.org/b");
    poll(&f.store, other, &["x"], at(0));
    poll(&f.store, id, &["a", "b", "c"], at(0));
    let n_polls = 1200_u32;
    for generation in 1..n_polls {
        let outcome = match generation % 10 {
            0 => Outcome::Failed,
            1 => Outcome::Refused,
            _ => Outcome::Unchanged,
        };
        let time = at(i64::from(generation) * 3600);
        let mut record = PollRecord::empty(id, generation, time, outcome, time);
        record.exchange.bytes = 10;
        record.observed.suspected_miss = generation % 100 == 0;
        f.store.record_blocking(record).unwrap();
    }
    let polls = f.store.polls(id, u32::MAX).unwrap();
    assert_eq!(polls.len(), 500);
    assert_eq!(polls[0].generation, n_polls - 1);
    assert!(polls.is_sorted_by(|a, b| a.generation > b.generation));
    let days = f.store.poll_days(id).unwrap();
    assert_eq!(days.len(), 51, "1200 hours touch 51 days");
    assert!(days.is_sorted_by(|a, b| a.day < b.day));
    assert!(days.iter().all(|d| d.day == Time::from_secs(d.day.secs() / 86_400 * 86_400)));
    let sum = |field: fn(&store::PollDay) -> u64| days.iter().map(field).sum::<u64>();
    assert_eq!(sum(|d| d.polls), 1200);
    assert_eq!(sum(|d| d.failed), 119 + 120);
    assert_eq!(sum(|d| d.unchanged), 1200 - 1 - 239);
    assert_eq!((sum(|d| d.n_new), sum(|d| d.misses), sum(|d| d.bytes)), (3, 11, 11_990));
    assert_eq!(f.store.polls(other, 10).unwrap().len(), 1);
}

#[test]
fn the_sizes_of_the_last_polls_are_known_after_a_restart() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let failing = add(&f.store, "https://example.org/b");
    add(&f.store, "https://example.org/never");
    // Many large documents, then eight polls: a small one, a failure, six without a body.
    for generation in 0..20 {
        let (outcome, bytes) = match generation {
            0..12 => (Outcome::Seen, 1_000_000),
            12 => (Outcome::Seen, 7_000),
            13 => (Outcome::Failed, 90_000),
            _ => (Outcome::Unchanged, 0),
        };
        let time = at(i64::from(generation) * 3600);
        let mut record = PollRecord::empty(id, generation, time, outcome, time);
        record.exchange.bytes = bytes;
        f.store.record_blocking(record).unwrap();
    }
    let record = PollRecord::empty(failing, 0, at(0), Outcome::Failed, at(60));
    f.store.record_blocking(record).unwrap();
    assert_eq!(f.store.poll_sizes().unwrap(), std::collections::HashMap::from([(id, 1_000)]));
}

#[test]
fn sums_of_days_long_ago_are_forgotten() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    for generation in 0..=1000 {
        let time = at(i64::from(generation) * 5 * 86_400);
        let record = PollRecord::empty(id, generation, time, Outcome::Unchanged, time);
        f.store.record_blocking(record).unwrap();
    }
    let days = f.store.poll_days(id).unwrap();
    assert_eq!(days.len(), 500 + 1 + 1098 / 5, "three years before the last 500 polls");
}

#[test]
fn warnings_are_kept_with_their_poll_up_to_a_length() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/a");
    let mut record = PollRecord::empty(feed, 0, at(0), Outcome::Damaged, at(60));
    record.decision.failures = 1;
    record.warnings = vec!["line 1: `<` that opens no tag".to_owned(), "two\nlines".to_owned()];
    record.warnings.extend((0..100).map(|n| format!("{n} {}", "é".repeat(50))));
    f.store.record_blocking(record.clone()).unwrap();
    let kept = f.store.polls(feed, 1).unwrap().remove(0);
    assert_eq!(kept.outcome, Outcome::Damaged);
    assert_eq!(kept.warnings[..2], ["line 1: `<` that opens no tag", "two lines"]);
    let n_bytes: usize = kept.warnings.iter().map(|w| w.len() + 1).sum();
    assert!((1800..=2001).contains(&n_bytes), "{n_bytes}");
    assert_eq!(f.store.feed(feed).unwrap().state().word(), "damaged");
    let counts = f.store.counts(at(1)).unwrap();
    assert_eq!((counts.failing, counts.damaged), (1, 1));
    let query = store::FeedListFilter {
        account: store::AccountId::LOCAL,
        text: String::new(),
        state: Some(store::FeedState::Damaged),
        order: store::FeedOrder::Trouble,
        tag: None,
        from: None,
        backwards: false,
        limit: 10,
    };
    let listed = f.store.feed_page(&query, at(0));
    assert_eq!(listed.unwrap().lines.len(), 1);
}
