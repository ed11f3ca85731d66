//! Entries of several feeds that tell the same are one line of a list.

use feed::{EntryId, Item, StoryKeys};
use store::{AccountId, StoryRecord};

use crate::fixture::{Fixture, T0};
use crate::reading::{post, text};

/// Three entries of one story in three feeds, and one that stands alone.
async fn shelf() -> Fixture {
    let shelf = Fixture::new(true);
    for (n, name) in (1..=4).zip(["a", "b", "c", "d"]) {
        let item = Item {
            id: Some(format!("{n}")),
            title: Some(format!("Title {n} <i>of</i> {name}")),
            link: Some(format!("https://{name}.org/{n}")),
            ..Item::default()
        };
        shelf.see_items(&format!("https://{name}.org/f"), vec![item], n);
    }
    let record = |n: i64, same_as: Option<i64>| StoryRecord {
        entry: EntryId(n),
        published_at: T0,
        keys: StoryKeys::default(),
        same_as: same_as.map(EntryId),
        sites: Vec::new(),
    };
    let records = vec![record(1, None), record(2, Some(1)), record(3, Some(2)), record(4, None)];
    shelf.store.record_stories(records, T0).await.unwrap();
    shelf
}

#[tokio::test]
async fn a_story_stands_once_in_a_list_with_the_others_under_it() {
    let shelf = shelf().await;
    let page = text(&shelf, "/").await;
    assert_eq!(page.matches("class=\"line-item").count(), 2, "{page}");
    assert!(page.contains("2 more entries about this"), "{page}");
    assert!(page.contains("Title 1 of a") && !page.contains("<i>of</i>"), "{page}");
    let top = text(&shelf, "/?top=1").await;
    assert!(top.contains("<h1 dir=\"auto\">Top stories</h1>"), "{top}");
    assert_eq!(top.matches("class=\"line-item").count(), 1, "{top}");
    let one = text(&shelf, "/?feed=1").await;
    assert!(!one.contains("about this"), "other feeds are not part of this list");
}

#[tokio::test]
async fn a_reader_may_want_to_read_a_story_as_a_whole() {
    let shelf = shelf().await;
    let n_unread = || shelf.store.read_marks(AccountId::LOCAL).unwrap().n_unread();
    post(&shelf, "/marks", &[("entry", "3"), ("read", "3")]).await;
    assert_eq!(n_unread(), 3);
    post(&shelf, "/choices", &[("stories", "together")]).await;
    let account = text(&shelf, "/account").await;
    assert!(account.contains("value=\"together\" selected"), "{account}");
    post(&shelf, "/marks", &[("entry", "2"), ("read", "2")]).await;
    assert_eq!(n_unread(), 1);
}
