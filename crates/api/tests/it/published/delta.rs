//! `A-IM: feed` (RFC 3229): a client that names the tag of its document gets only what is new.

use feed::{Item, Window, identify};
use parse::{Document, Limits, document};

use super::{HOST, feed};
use crate::fixture::Fixture;
use crate::{Answer, get};

async fn ask(shelf: &Fixture, path: &str, tag: &str) -> Answer {
    get(&shelf.router, path, &[HOST, ("a-im", "feed"), ("if-none-match", tag)]).await
}

fn read(answer: &Answer) -> Document {
    let kind = Some(answer.header("content-type"));
    document(answer.text.as_bytes(), kind, None, &Limits::default()).unwrap()
}

fn titles(items: &[Item]) -> Vec<&str> {
    items.iter().filter_map(|item| item.title.as_deref()).collect()
}

#[tokio::test]
async fn only_new_entries_are_sent_and_the_bytes_saved_are_counted() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    shelf.see("https://a.org/feed", &["red 1", "red 2"], 10);
    for (n, end) in ["atom", "rss", "json"].into_iter().enumerate() {
        let path = format!("/feeds/red.{end}");
        let before = feed(&shelf, &path).await;
        assert_eq!((before.status.as_u16(), before.header("vary")), (200, "A-IM"));
        let tag = before.header("etag").to_owned();
        assert_eq!(ask(&shelf, &path, &tag).await.status, 304);
        let new = format!("red new {end}");
        shelf.see("https://a.org/feed", &[&new], 20 + n as u64);
        let saved = shelf.context.published.deltas.saved();
        let answer = ask(&shelf, &path, &format!("\"other\", {tag}")).await;
        assert_eq!(answer.status, 226, "{}", answer.text);
        assert_eq!((answer.header("im"), answer.header("delta-base")), ("feed", &*tag));
        assert_eq!(answer.header("cache-control"), "no-store, im");
        assert_eq!(titles(&read(&answer).items), [&*new], "{}", answer.text);
        let whole = feed(&shelf, &path).await;
        assert_eq!(whole.header("etag"), answer.header("etag"), "the tag is that of the whole");
        assert_eq!(read(&whole).items.len(), 3 + n);
        let now = shelf.context.published.deltas.saved();
        let shorter = (whole.text.len() - answer.text.len()) as u64;
        assert_eq!((now.0 - saved.0, now.1 - saved.1), (1, shorter));
    }
    let metrics = get(&shelf.router, "/metrics", &[HOST]).await.text;
    assert!(metrics.contains("tidings_published_deltas_total 3\n"), "{metrics}");
    let bytes = shelf.context.published.deltas.saved().1;
    let line = format!("tidings_published_delta_saved_bytes_total {bytes}\n");
    assert!(bytes > 0 && metrics.contains(&line), "{metrics}");
}

#[tokio::test]
async fn the_whole_document_is_sent_where_a_part_would_mislead() {
    let shelf = Fixture::new(true);
    shelf.query("red", "WINDOW LAST 2 ITEMS PUBLISH");
    shelf.see("https://a.org/feed", &["red 1", "red 2"], 10);
    let path = "/feeds/red.atom";
    let tag = feed(&shelf, path).await.header("etag").to_owned();
    let unknown = ask(&shelf, path, "\"unknown\"").await;
    assert_eq!(unknown.status, 200, "a tag that we do not know");
    shelf.see("https://a.org/feed", &["red 3", "red 4", "red 5"], 20);
    assert_eq!(ask(&shelf, path, &tag).await.status, 200, "nothing is left, so some were missed");
    let tag = feed(&shelf, path).await.header("etag").to_owned();
    shelf.query("red", "TITLED \"Other\" WINDOW LAST 2 ITEMS PUBLISH");
    let renamed = ask(&shelf, path, &tag).await;
    assert_eq!(renamed.status, 200, "no entry changed");
    let without = get(&shelf.router, path, &[HOST, ("if-none-match", &tag)]).await;
    assert_eq!(without.status, 200, "the client did not ask for it");
}

/// A subscriber that takes parts ends with the same entries as one that takes whole documents.
#[tokio::test]
async fn parts_add_up_to_the_whole() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    let (path, mut tag) = ("/feeds/red.atom", String::new());
    let mut keys = std::collections::HashSet::new();
    let mut n_parts = 0;
    for step in 0..12_u64 {
        let new: Vec<String> = (0..=step % 3).map(|n| format!("red {step} {n}")).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        shelf.see("https://a.org/feed", &new, 10 + step);
        let answer = ask(&shelf, path, &tag).await;
        n_parts += u32::from(answer.status == 226);
        tag = answer.header("etag").to_owned();
        keys.extend(identify(read(&answer).items, &Window::default()).iter().map(|one| one.key));
        let whole = identify(read(&feed(&shelf, path).await).items, &Window::default());
        assert!(whole.iter().all(|one| keys.contains(&one.key)), "after step {step}");
        assert_eq!(whole.len(), keys.len());
    }
    assert_eq!(n_parts, 11);
}
