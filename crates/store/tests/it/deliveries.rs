//! Cursors of receivers: they move only from where they stand, and dead letters come back.

use store::{DeadLetter, NewQuery, QueryChange, Store};

use crate::sample::{T0, at, fresh};

fn receiver(store: &Store) -> store::DueDelivery {
    let new = NewQuery {
        name: "Q".to_owned(),
        text: "x".to_owned(),
        urls: Vec::new(),
        receivers: vec!["webhook https://example.org/".to_owned()],
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

#[tokio::test]
async fn what_is_laid_aside_can_be_asked_for_again() {
    let fresh = fresh();
    let store = &fresh.store;
    let due = receiver(store);
    let letter = |position| DeadLetter {
        delivery: due.id,
        position,
        entry: feed::EntryId(position),
        at: at(1),
        attempts: 12,
        error: "410".to_owned(),
        to_replay: false,
    };
    store.bury(letter(1), 0).await.unwrap();
    store.bury(letter(2), 0).await.unwrap();
    store.bury(letter(2), 1).await.unwrap();
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
