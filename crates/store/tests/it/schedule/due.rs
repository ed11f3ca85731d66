//! The input of the next poll: validators, window, learned state, time.

use std::time::Duration;

use feed::{Domain, FeedId, Hints, Outcome, Window};
use store::{
    FeedFacts, Gone, PendingRedirect, PollRecord, SettingsChange, StoreError, StoredPace,
    StoredValidators,
};

use crate::sample::{T0, add, at, fresh, items, new_feed, poll, seen, unchanged, url};

#[test]
fn a_feed_never_polled_has_no_time_and_shares_its_domain_s_place() {
    let f = fresh();
    for text in ["https://a.example.org/1", "https://b.example.org/2", "https://other.net/"] {
        add(&f.store, text);
    }
    let index = f.store.due_index().unwrap();
    assert_eq!(index.domains.len(), 2);
    assert_eq!(index.due[0].domain, index.due[1].domain);
    assert_eq!(index.domains[index.due[2].domain as usize].as_str(), "other.net");
    assert!(index.due.iter().all(|due| due.next_at.is_none() && due.generation == 0));
    assert_eq!(f.store.counts(T0).unwrap().due, 3);
}

#[test]
fn all_that_a_poll_left_is_there_for_the_next() {
    let f = fresh();
    let id = f.store.add_feed(&new_feed("https://example.org/a"), T0).unwrap().id;
    let hints = Hints {
        ttl: Some(Duration::from_secs(3600)),
        skip_hours: vec![0, 23],
        skip_days: vec![6],
        update_every: Some(Duration::from_secs(86_400)),
        update_base: Some(at(-3_000)),
    };
    let etag = b"W/\"caf\xe9 \x80\"".to_vec();
    let mut record = seen(&f.store, id, &items(&["2", "1"]), at(10));
    record.document_mut().validators = StoredValidators {
        etag: Some(etag.clone()),
        last_modified: Some(b"Tue, 14 Nov 2023 22:13:20 GMT".to_vec()),
        of: Some(-7),
    };
    record.document_mut().hints = hints.clone();
    record.decision.learned = Some(vec![1, 2, 3]);
    record.location.pending =
        Some(PendingRedirect { to: url("https://new.example.org/a"), count: 1 });
    record.decision.next.wanted_at = Some(at(500));
    record.decision.next.at = at(600);
    record.document_mut().facts = FeedFacts {
        title: Some("A title".into()),
        site: None,
        language: Some("en".into()),
        hub: Some("https://hub.example/".into()),
        categories: vec!["News".into(), "a, \"b\"".into()],
        ..FeedFacts::default()
    };
    let window = record.document_mut().entries.window.clone().unwrap();
    f.store.record_blocking(record).unwrap();

    let input = f.store.poll_input(id).unwrap();
    assert_eq!(input.generation, 1);
    assert_eq!(
        (input.document.validators.etag, input.document.validators.of),
        (Some(etag), Some(-7))
    );
    assert_eq!(input.document.body_hash, Some([7; 16]));
    assert_eq!((input.document.window, input.learned), (window, vec![1, 2, 3]));
    assert_eq!(input.document.hints, hints);
    assert_eq!(input.location.pending.unwrap().count, 1);
    assert_eq!((input.schedule.wanted_at, input.schedule.next_at), (Some(at(500)), Some(at(600))));
    assert_eq!(input.history.last_success_at, Some(at(10)));
    let facts = f.store.feed(id).unwrap().facts;
    assert_eq!(facts.hub.as_deref(), Some("https://hub.example/"));
    assert_eq!(facts.categories, ["News", "a, \"b\""]);
    assert_eq!(f.store.due(id).unwrap().unwrap().1.next_at, Some(at(600)));
    assert_eq!(f.store.feed(id).unwrap().shown_title(), Some("A title"));
}

#[test]
fn an_unchanged_poll_keeps_validators_window_and_learned_state() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["2", "1"], at(10));
    let before = f.store.poll_input(id).unwrap();
    f.store.record_blocking(unchanged(&f.store, id, at(20))).unwrap();
    let after = f.store.poll_input(id).unwrap();
    assert_eq!(after.document.validators, before.document.validators);
    assert_eq!(
        (after.document.window, after.document.body_hash),
        (before.document.window, before.document.body_hash)
    );
    assert_eq!((after.generation, after.history.last_change_at), (2, Some(at(10))));
    assert_eq!(
        (after.history.last_poll_at, after.history.last_success_at),
        (Some(at(20)), Some(at(20)))
    );
}

#[test]
fn validators_that_a_server_stopped_sending_are_forgotten() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(10));
    let mut record = seen(&f.store, id, &items(&["2", "1"]), at(20));
    record.document_mut().validators = StoredValidators::default();
    f.store.record_blocking(record).unwrap();
    assert_eq!(f.store.poll_input(id).unwrap().document.validators, StoredValidators::default());
}

#[test]
fn a_stale_poll_is_refused_and_leaves_nothing() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let late = seen(&f.store, id, &items(&["late"]), at(10));
    poll(&f.store, id, &["1"], at(20));
    let error = f.store.record_blocking(late).unwrap_err();
    assert!(matches!(error, StoreError::Stale { generation: 0, .. }), "{error}");
    assert_eq!(f.store.feed(id).unwrap().entries, 1);
    assert_eq!(f.store.polls(id, 10).unwrap().len(), 1);
    let unknown = PollRecord::empty(FeedId(99), 0, at(1), Outcome::Failed, at(2));
    assert!(matches!(f.store.record_blocking(unknown), Err(StoreError::NoFeed(FeedId(99)))));
}

#[test]
fn a_believed_redirect_moves_the_feed_to_another_domain() {
    let f = fresh();
    let id = add(&f.store, "https://old.example.net/a");
    let mut record = unchanged(&f.store, id, at(1));
    record.location.effective_url = Some(url("https://feeds.example.com/a"));
    f.store.record_blocking(record).unwrap();
    let row = f.store.feed(id).unwrap();
    assert_eq!(row.domain, "example.com");
    assert_eq!(row.location.effective_url, Some(url("https://feeds.example.com/a")));
    assert_eq!(f.store.due(id).unwrap().unwrap().0.as_str(), "example.com");
    assert_eq!(f.store.find_feed("https://old.example.net/a").unwrap(), Some(id));

    let mut back = unchanged(&f.store, id, at(2));
    back.location.effective_url = Some(url("https://old.example.net/a"));
    f.store.record_blocking(back).unwrap();
    let row = f.store.feed(id).unwrap();
    assert_eq!((row.location.effective_url, row.domain.as_str()), (None, "example.net"));
}

#[test]
fn the_pace_of_domains_is_kept_with_the_poll() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let pace = |name: &str, until| StoredPace {
        domain: Domain::from_stored(name),
        last_request_at: Some(at(5)),
        not_before: until,
        reason: until.map(|_| "Retry-After".to_owned()),
    };
    let mut record = unchanged(&f.store, id, at(5));
    record.exchange.paces = vec![pace("example.org", Some(at(900))), pace("elsewhere.net", None)];
    f.store.record_blocking(record).unwrap();
    let mut record = unchanged(&f.store, id, at(6));
    record.exchange.paces = vec![pace("elsewhere.net", Some(at(50)))];
    f.store.record_blocking(record).unwrap();
    let mut states = f.store.domain_states().unwrap();
    states.sort_by(|a, b| a.domain.cmp(&b.domain));
    assert_eq!(states, [pace("elsewhere.net", Some(at(50))), pace("example.org", Some(at(900)))]);
    assert_eq!(f.store.counts(at(100)).unwrap().domains_held, 1);
}

#[test]
fn settings_of_tags_come_with_the_poll() {
    let f = fresh();
    let mut new = new_feed("https://example.org/a");
    new.tags = vec!["b".into(), "a".into(), "none".into()];
    let id = f.store.add_feed(&new, T0).unwrap().id;
    for (tag, policy) in [("a", "fix:1h"), ("b", "mavsync"), ("elsewhere", "fix:2h")] {
        let change =
            SettingsChange { policy: Some(Some(policy.to_owned())), ..SettingsChange::default() };
        f.store.set_tag(tag, &change).unwrap();
    }
    assert!(f.store.has_policy("mavsync").unwrap() && !f.store.has_policy("indhist").unwrap());
    let own = SettingsChange {
        policy: Some(Some("indhist-agg:0.7,0.5".to_owned())),
        ..SettingsChange::default()
    };
    let other = f.store.add_feed(&new_feed("https://example.org/b"), T0).unwrap().id;
    f.store.set_feed(other, &own).unwrap();
    assert!(f.store.has_policy("indhist-agg").unwrap());
    let input = f.store.poll_input(id).unwrap();
    let set: Vec<_> = input
        .settings
        .of_tags
        .iter()
        .map(|(tag, set)| (tag.as_str(), set.policy.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(set, [("a", "fix:1h"), ("b", "mavsync")]);
    assert_eq!(input.document.window, Window::default());
}

#[test]
fn all_inputs_in_one_pass_are_those_of_each_feed() {
    let f = fresh();
    let tags = [vec!["b", "a"], vec![], vec!["a", "plain"], vec!["quiet"], vec!["quiet", "a"]];
    let ids: Vec<FeedId> = (0..)
        .zip(tags)
        .map(|(n, tags)| {
            let mut new = new_feed(&format!("https://example.org/{n}"));
            new.tags = tags.into_iter().map(str::to_owned).collect();
            f.store.add_feed(&new, T0).unwrap().id
        })
        .collect();
    let pause = |on| SettingsChange { paused: Some(Some(on)), ..SettingsChange::default() };
    let policy = |of: &str| SettingsChange { policy: Some(Some(of.to_owned())), ..pause(false) };
    f.store.set_tag("a", &policy("fix:1h")).unwrap();
    f.store.set_tag("b", &policy("mavsync")).unwrap();
    f.store.set_tag("quiet", &pause(true)).unwrap();
    f.store.set_feed(ids[4], &policy("tide")).unwrap();
    poll(&f.store, ids[0], &["x", "y"], at(10));
    let mut gone = PollRecord::empty(ids[2], 0, at(2), Outcome::Gone, at(100));
    gone.location.gone = Some(Gone { at: at(2), reason: "410".to_owned() });
    f.store.record_blocking(gone).unwrap();
    let mut inputs = Vec::new();
    f.store.poll_inputs(|input| inputs.push(input)).unwrap();
    let polled = [ids[0], ids[1], ids[4]];
    assert_eq!(inputs, polled.map(|id| f.store.poll_input(id).unwrap()));
    assert_eq!(inputs[0].settings.of_tags.len(), 2);
    let due: Vec<FeedId> = f.store.due_index().unwrap().due.iter().map(|due| due.feed).collect();
    assert_eq!(due, polled);
}
