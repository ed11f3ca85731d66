//! Icons: which sites are due, and what stays of sites whose feeds were removed.

use feed::FeedId;
use store::{IconLook, IconRecord, IconRow, Store};

use crate::sample::{add, at, fresh};

fn origin(n: usize) -> String {
    format!("https://site{n}.example")
}

fn icon(n: usize) -> IconRow {
    let mime_type = "image/gif".to_owned();
    IconRow { hash: format!("{n:032x}"), mime_type, width: 16, height: 16, bytes: vec![1] }
}

/// Notes the origin of a feed and stores an icon that is due again at once.
async fn found(store: &Store, feed: FeedId, n: usize) {
    store.note_icon_origins(vec![(feed, origin(n))], at(0)).await.unwrap();
    let url = format!("{}/favicon.ico", origin(n));
    let found = IconLook::Found { icon: icon(n), url, etag: None };
    let record = IconRecord { origin: origin(n), found, at: at(0), next_at: at(1) };
    store.record_icon(record).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_of_removed_feeds_are_not_due_and_their_icons_are_forgotten() {
    let f = fresh();
    let feeds: Vec<FeedId> =
        (0..10).map(|n| add(&f.store, &format!("{}/feed", origin(n)))).collect();
    for (n, feed) in feeds.iter().enumerate() {
        found(&f.store, *feed, n).await;
    }
    assert_eq!(f.store.icons_due(at(2), 8).unwrap().len(), 8);
    for feed in &feeds[..9] {
        f.store.remove_feed(*feed).unwrap();
    }
    // The sites of removed feeds take no place among the few of a round.
    let due: Vec<String> =
        f.store.icons_due(at(2), 8).unwrap().into_iter().map(|due| due.origin).collect();
    assert_eq!(due, [origin(9)]);
    assert_eq!(f.store.forget_icon_origins().unwrap(), 9);
    for n in 0..10 {
        let is_there = f.store.icon(&icon(n).hash).unwrap().is_some();
        assert_eq!(is_there, n == 9, "icon {n}");
    }
    assert_eq!(f.store.forget_icon_origins().unwrap(), 0);
    assert_eq!(f.store.check().unwrap(), []);
}
