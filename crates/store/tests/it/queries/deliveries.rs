//! Cursors of receivers move only from their present position, and dead letters can be sent again.

use store::{DeadLetter, NewQuery, QueryChange, Store};

use crate::sample::{T0, at, fresh};

fn receiver(store: &Store) -> store::DueDelivery {
    let new = NewQuery {
        name: "Q".to_owned(),
        text: "x".to_owned(),
        urls: Vec::new(),
        receivers: vec!["webhook https://example.org/".to_owned()],
        scope: store::QueryScope::default(),
        link_key: String::new(),
        signing_key: String::new(),
    };
    store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
    let id = store.query("Q").unwrap().unwrap().id;
    let row = store.deliveries(Some(id)).unwrap().remove(0);
    store::DueDelivery {
        id: row.id,
        query: row.query,
        receiver: row.receiver,
        position: row.position,
        attempts: row.attempts,
        next_at: row.next_at,
    }
}

fn row(store: &Store) -> store::DeliveryRow {
    store.deliveries(None).unwrap().remove(0)
}

#[tokio::test]
async fn a_cursor_moves_only_from_where_it_stands() {
    let fresh = fresh();
    let store = &fresh.store;
    let due = receiver(store);
    store.delivered(due.id, 0, 3, None, at(1)).await.unwrap();
    store.delivered(due.id, 0, 9, None, at(2)).await.unwrap();
    assert_eq!(row(store).position, 3, "one that was overtaken changes nothing");
    store.postpone_delivery(due.id, 2, at(50), Some("503".to_owned())).await.unwrap();
    let after = row(store);
    assert_eq!(
        (after.attempts, after.next_at, after.error.as_deref()),
        (2, Some(at(50)), Some("503"))
    );
}

/// The number of deliveries at once is limited: receivers with many matches must not block the
/// others.
#[tokio::test]
async fn whoever_got_something_last_comes_last() {
    let fresh = fresh();
    let store = &fresh.store;
    store.install(Box::new(crate::record::retention::MatchesAll)).unwrap();
    let new = NewQuery {
        name: "Q".to_owned(),
        text: "x".to_owned(),
        urls: Vec::new(),
        receivers: vec!["file first".to_owned(), "file second".to_owned()],
        scope: store::QueryScope::default(),
        link_key: String::new(),
        signing_key: String::new(),
    };
    store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
    let feed = crate::sample::add(store, "https://example.org/a");
    crate::sample::poll(store, feed, &["2", "1"], T0);
    let due = || store.deliveries_due(at(9)).unwrap();
    let first = due().remove(0);
    store.delivered(first.id, 0, 1, None, at(1)).await.unwrap();
    assert_eq!(due().iter().position(|due| due.id == first.id), Some(1));
    let second = due().remove(0);
    store.delivered(second.id, 0, 1, None, at(2)).await.unwrap();
    assert_eq!(due()[0].id, first.id);
}

#[tokio::test]
async fn what_is_laid_aside_can_be_asked_for_again() {
    let fresh = fresh();
    let store = &fresh.store;
    store.install(Box::new(crate::record::retention::MatchesAll)).unwrap();
    let due = receiver(store);
    let feed = crate::sample::add(store, "https://example.org/a");
    crate::sample::poll(store, feed, &["2", "1"], T0);
    let letter = |position| DeadLetter {
        delivery: due.id,
        position,
        entry: feed::EntryId(position),
        at: at(1),
        attempts: 12,
        error: "410".to_owned(),
        to_replay: false,
    };
    store.add_dead_letter(letter(1), 0).await.unwrap();
    store.add_dead_letter(letter(2), 0).await.unwrap();
    store.add_dead_letter(letter(2), 1).await.unwrap();
    assert_eq!(store.dead_letters(due.id).unwrap(), [letter(1), letter(2)]);
    assert!(store.deliveries_due(at(9)).unwrap().is_empty(), "nobody asked for them");
    assert_eq!(store.replay_dead_letters(due.query).unwrap(), 2);
    assert_eq!(store.deliveries_due(at(9)).unwrap().len(), 1);
    store.letter_delivered(due.id, 1, at(10)).await.unwrap();
    store.letter_refused(due.id, 2, "still 410".to_owned(), at(11)).await.unwrap();
    assert!(store.deliveries_due(at(12)).unwrap().is_empty());
    let left = store.dead_letters(due.id).unwrap();
    assert_eq!((left.len(), left[0].attempts, left[0].error.as_str()), (1, 13, "still 410"));
}

/// A receiver that cannot take a single match again, such as a file, must not stay due without end.
#[tokio::test]
async fn what_is_no_longer_kept_is_not_asked_for_again() {
    let fresh = fresh();
    let store = &fresh.store;
    store.install(Box::new(crate::record::retention::MatchesAll)).unwrap();
    let due = receiver(store);
    let feed = crate::sample::add(store, "https://example.org/a");
    crate::sample::poll(store, feed, &["1"], T0);
    crate::sample::poll(store, feed, &["2"], at(40 * 86_400));
    let age = std::time::Duration::from_secs(86_400);
    let rule = store::Retention { entries_age_max: Some(age), ..store::Retention::off() };
    assert_eq!(store.retain(&rule, at(40 * 86_400)).unwrap().entries, 1);
    assert_eq!(store.dead_letters(due.id).unwrap().len(), 1);
    store.delivered(due.id, 0, 2, None, at(40 * 86_400)).await.unwrap();
    assert_eq!(store.replay_dead_letters(due.query).unwrap(), 0);
    assert!(store.deliveries_due(at(41 * 86_400)).unwrap().is_empty());
    assert_eq!(store.dead_letters(due.id).unwrap().len(), 1, "it stays written down");
    assert_eq!(store.check().unwrap(), []);
}

/// After any sequence of changes, the due deliveries are those that a check of every row and match
/// finds.
#[tokio::test]
async fn those_that_are_due_are_those_with_something_to_get() {
    for seed in 0..20_u64 {
        let (fresh, feed) = (fresh(), "https://example.org/a");
        let store = &fresh.store;
        store.install(Box::new(crate::record::retention::MatchesAll)).unwrap();
        receiver(store);
        let feed = crate::sample::add(store, feed);
        let mut draw = seed;
        for step in 0..60_i64 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let (now, before) = (at(step * 10), row(store));
            let (id, from) = (before.id, before.position);
            let last = store.last_position(before.query).unwrap().unwrap();
            let dead = store.dead_letters(id).unwrap().first().map(|letter| letter.position);
            match (draw >> 33) % 7 {
                0 => drop(crate::sample::poll(store, feed, &[&format!("e{step}")], now)),
                1 if last > from => store.delivered(id, from, from + 1, None, now).await.unwrap(),
                2 => store.postpone_delivery(id, 1, now, None).await.unwrap(),
                3 if last > from => {
                    let (position, entry) = (from + 1, feed::EntryId(from + 1));
                    let error = "no".to_owned();
                    let (delivery, at, attempts, to_replay) = (id, now, 12, false);
                    let letter =
                        DeadLetter { delivery, position, entry, at, attempts, error, to_replay };
                    store.add_dead_letter(letter, from).await.unwrap();
                }
                4 => drop(store.replay_dead_letters(before.query).unwrap()),
                5 => {
                    let position = dead.unwrap_or(0);
                    store.letter_delivered(id, position, now).await.unwrap();
                }
                _ => {
                    let (position, no) = (dead.unwrap_or(0), "no".to_owned());
                    store.letter_refused(id, position, no, now).await.unwrap();
                }
            }
            let after = row(store);
            let has_work = after.n_waiting > 0 || after.n_to_replay > 0;
            let due = store.deliveries_due(now).unwrap();
            assert_eq!(due.len(), usize::from(has_work), "{seed}/{step}: {after:?}");
            assert_eq!(store.check().unwrap(), [], "{seed}/{step}");
        }
    }
}
