//! The reader's choices (order with its cursors, text size, time zone) and the undo of "mark all
//! read", by forms and without scripts.

use axum::http::StatusCode;
use feed::EntryId;
use store::AccountId;

use crate::fixture::Fixture;
use crate::get;
use crate::reading::{post, text};
use crate::v1::entries::events;

fn shelf_of(n: u64) -> (Fixture, Vec<String>) {
    let shelf = Fixture::new(true);
    let titles: Vec<String> = (0..n).map(|n| format!("Entry {n:02}.")).collect();
    for (n, title) in (0..).zip(&titles) {
        shelf.see("https://a.org/f", &[title], 100 + n);
    }
    (shelf, titles)
}

/// Returns the titles on all pages of a list, in their order.
async fn listed(shelf: &Fixture, start: &str, titles: &[String]) -> Vec<String> {
    let (mut seen, mut path) = (Vec::new(), start.to_owned());
    loop {
        let page = text(shelf, &path).await;
        let mut here: Vec<(usize, &String)> =
            titles.iter().filter_map(|title| Some((page.find(title.as_str())?, title))).collect();
        here.sort_unstable();
        seen.extend(here.into_iter().map(|(_, title)| title.clone()));
        let Some((_, next)) = page.split_once("rel=\"next\" href=\"") else { return seen };
        path = next.split('"').next().unwrap().replace("&#38;", "&");
    }
}

#[tokio::test]
async fn both_orders_go_from_page_to_page_without_gap_or_repetition() {
    let (shelf, mut titles) = shelf_of(90);
    let chosen = post(&shelf, "/choices", &[("order", "oldest"), ("back", "/?feed=1")]).await;
    assert_eq!(chosen.header("location"), "/?feed=1");
    for start in ["/", "/?feed=1", "/?show=all"] {
        assert_eq!(listed(&shelf, start, &titles).await, titles, "{start}");
    }
    let page = text(&shelf, "/").await;
    assert!(page.contains("Newer →") && page.contains(".up\""), "{page}");
    let (_, next) = page.split_once("rel=\"next\" href=\"").unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    post(&shelf, "/choices", &[("order", "newest")]).await;
    assert!(text(&shelf, &next).await.contains("Entry 40."), "a cursor keeps its order");
    titles.reverse();
    assert_eq!(listed(&shelf, "/", &titles).await, titles);
}

#[tokio::test]
async fn the_neighbours_of_an_entry_follow_the_order() {
    let (shelf, _) = shelf_of(3);
    post(&shelf, "/choices", &[("order", "oldest")]).await;
    let entry = text(&shelf, "/entry/2?show=all").await;
    assert!(entry.contains("rel=\"next\" href=\"/entry/3?show=all\">Newer"), "{entry}");
    assert!(entry.contains("rel=\"prev\" href=\"/entry/1?show=all\">← Older"), "{entry}");
}

#[tokio::test]
async fn mark_all_read_offers_an_undo_once() {
    let (shelf, _) = shelf_of(5);
    post(&shelf, "/marks", &[("read", "2")]).await;
    let marked = post(&shelf, "/marks/all", &[("list", "feed=1"), ("shown_to", "4")]).await;
    assert_eq!(marked.status, StatusCode::SEE_OTHER);
    assert_eq!(marked.header("location"), "/?feed=1&marked=1");
    let page = text(&shelf, "/?feed=1&marked=1").await;
    assert!(page.contains("3 entries marked as read.") && page.contains("/marks/undo"), "{page}");
    assert!(!text(&shelf, "/?feed=1").await.contains("/marks/undo"), "only right after the act");
    post(&shelf, "/marks/undo", &[("list", "feed=1")]).await;
    let marks = shelf.store.read_marks(AccountId::LOCAL).unwrap();
    let read: Vec<i64> = (1..=5).filter(|n| marks.is_read(EntryId(*n))).collect();
    assert_eq!(read, [2]);
    assert!(!text(&shelf, "/?feed=1&marked=1").await.contains("/marks/undo"));
}

#[tokio::test]
async fn times_and_days_follow_the_zone_and_size_is_kept() {
    let (shelf, _) = shelf_of(1);
    // 2023-11-14T22:15:00Z.
    let cookie = [("cookie", "tidings_zone=Asia/Tokyo")];
    let with = get(&shelf.router, "/feeds", &cookie).await.text;
    assert!(with.contains("15 Nov, 07:15") && with.contains("data-zone=\"Asia/Tokyo\""), "{with}");
    assert!(with.contains("title=\"2023-11-14T22:15:00Z\""), "UTC on hover");
    let without = text(&shelf, "/feeds").await;
    assert!(without.contains("14 Nov, 22:15") && without.contains("data-zone=\"UTC\""));
    post(&shelf, "/choices", &[("zone", "America/New_York")]).await;
    let set = get(&shelf.router, "/feeds", &cookie).await.text;
    assert!(
        set.contains("14 Nov, 17:15") && !set.contains("data-zone"),
        "the account's goes first"
    );
    post(&shelf, "/choices", &[("zone", "Nowhere/Else")]).await;
    assert!(text(&shelf, "/feeds").await.contains("14 Nov, 22:15"), "nonsense is not a choice");
    post(&shelf, "/choices", &[("size", "large")]).await;
    assert!(text(&shelf, "/").await.contains("data-size=\"large\""));
}

/// Returns the first event for an open list.
async fn first(shelf: &Fixture, path: &str) -> serde_json::Value {
    let events = events(shelf, path, None, 1).await;
    let data = events[0].lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    serde_json::from_str(data).unwrap()
}

#[tokio::test]
async fn an_open_list_is_told_of_new_entries() {
    let (shelf, _) = shelf_of(2);
    let told = first(&shelf, "/news?feed=1&since=2").await;
    assert_eq!(told, serde_json::json!({"new": "", "unread": "2"}));
    shelf.see("https://a.org/f", &["late", "later"], 300);
    shelf.see("https://b.org/f", &["elsewhere"], 301);
    let told = first(&shelf, "/news?feed=1&since=2").await;
    assert_eq!(told, serde_json::json!({"new": "2 new entries", "unread": "5"}));
    let told = first(&shelf, "/news?since=4").await;
    assert_eq!(told, serde_json::json!({"new": "1 new entry", "unread": "5"}));
    assert_eq!(get(&shelf.router, "/news", &[]).await.status, StatusCode::BAD_REQUEST);
}
