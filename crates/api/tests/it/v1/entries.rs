//! `/api/v1/entries` in pages and as events, and ratings of entries.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::StreamExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::fixture::Fixture;
use crate::get;

async fn json(shelf: &Fixture, path: &str) -> Value {
    let answer = get(&shelf.router, path, &[]).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    serde_json::from_str(&answer.text).unwrap()
}

fn titles(page: &Value) -> Vec<&str> {
    let entries = page["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["title"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/?key=secret", &["red 1", "blue 2", "red 3"], 0);
    let first = json(&shelf, "/api/v1/entries?limit=2").await;
    assert_eq!(titles(&first), ["red 1", "blue 2"]);
    assert!(!first.to_string().contains("secret"), "{first}");
    let next = format!("/api/v1/entries?after={}", first["next"].as_str().unwrap());
    let second = json(&shelf, &next).await;
    assert_eq!(titles(&second), ["red 3"]);
    let end = format!("/api/v1/entries?after={}", second["next"].as_str().unwrap());
    assert!(titles(&json(&shelf, &end).await).is_empty());

    let red = json(&shelf, "/api/v1/entries?query=red&limit=1").await;
    assert_eq!((titles(&red), &red["gap"]), (vec!["red 1"], &false.into()));
    let next = format!("/api/v1/entries?query=red&after={}", red["next"].as_str().unwrap());
    assert_eq!(titles(&json(&shelf, &next).await), ["red 3"]);
    let old = json(&shelf, "/api/v1/entries?query=red&after=q77-5").await;
    assert_eq!((titles(&old).len(), &old["gap"]), (2, &true.into()), "of a query that is gone");
    for ahead in ["?query=red&after=q1-99", "?after=e99"] {
        let page = json(&shelf, &format!("/api/v1/entries{ahead}")).await;
        assert_eq!((titles(&page)[0], &page["gap"]), ("red 1", &true.into()), "of another store");
    }
    for (path, status) in [
        ("?after=x", 400),
        ("?limit=0", 400),
        ("?limit=1001", 400),
        ("?query=none", 404),
        ("?feed=99", 404),
        ("?query=red&after=e1", 400),
        ("?after=q1-1", 400),
        ("?limt=1", 400),
        ("?limit=1&limit=2", 400),
        ("?query=red&feed=1", 400),
        ("/stream?form=now", 400),
        ("/stream?query=red&feed=1", 400),
    ] {
        let answer = get(&shelf.router, &format!("/api/v1/entries{path}"), &[]).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.text.contains("\"detail\""), "{}", answer.text);
    }
}

/// Entries with texts of 900 kB each, as a hostile publisher writes them.
fn long_items(n: usize) -> Vec<feed::Item> {
    let item = |n: usize| feed::Item {
        id: Some(format!("{n}")),
        title: Some(format!("red {n}")),
        link: Some(format!("https://e.org/{n}")),
        content: Some(format!("<p>{}</p>", "word ".repeat(180_000))),
        ..feed::Item::default()
    };
    (0..n).map(item).collect()
}

/// The largest answer: 2 MB of texts, the entry that exceeds the limit, and the JSON around it.
const ANSWER_BYTES_MAX: usize = 3_500_000;

#[tokio::test]
async fn pages_of_long_entries_end_early_and_their_cursors_go_on() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see_items("https://a.org/", long_items(10), 0);
    crate::search::index_all(&shelf.store).await;
    for (path, next) in [
        ("/api/v1/entries?limit=1000", "after"),
        ("/api/v1/entries?limit=1000&feed=1", "after"),
        ("/api/v1/entries?limit=1000&query=red", "after"),
        ("/api/v1/reading?limit=500&content=true", "after"),
        ("/api/v1/reading?limit=500&content=true&query=red", "after"),
        ("/api/v1/reading?limit=500&content=true&search=word", "after"),
    ] {
        let (mut found, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let answer = get(&shelf.router, &format!("{path}{cursor}"), &[]).await;
            assert_eq!(answer.status, 200, "{path}: {:.300}", answer.text);
            assert!(answer.text.len() < ANSWER_BYTES_MAX, "{path}: {}", answer.text.len());
            let page: Value = serde_json::from_str(&answer.text).unwrap();
            found.extend(titles(&page).into_iter().map(str::to_owned));
            pages += 1;
            match page["next"].as_str() {
                Some(at) if !titles(&page).is_empty() => cursor = format!("&{next}={at}"),
                _ => break,
            }
        }
        found.sort_unstable();
        let expect: Vec<String> = (0..10).map(|n| format!("red {n}")).collect();
        assert_eq!(found, expect, "{path}");
        assert!(pages >= 4, "{path}: {pages}");
    }
}

#[tokio::test]
async fn a_published_feed_of_long_entries_goes_on_at_the_next_page() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see_items("https://a.org/", long_items(10), 0);
    let answer = get(&shelf.router, "/feeds/red.json", &[]).await;
    assert!(answer.text.len() < ANSWER_BYTES_MAX, "{}", answer.text.len());
    let feed: Value = serde_json::from_str(&answer.text).unwrap();
    let n = feed["items"].as_array().unwrap().len();
    assert!((1..10).contains(&n), "{n}");
    assert!(feed["next_url"].is_string(), "{:.300}", answer.text);
}

/// Returns the first `n` events of a stream.
pub async fn events(shelf: &Fixture, path: &str, last: Option<&str>, n: usize) -> Vec<String> {
    let mut request = Request::get(path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = shelf.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body().into_data_stream();
    let mut text = String::new();
    while text.matches("\n\n").count() < n {
        text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
    }
    text.split("\n\n").take(n).map(str::to_owned).collect()
}

fn id(event: &str) -> &str {
    event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_after_the_last_event_that_arrived() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/", &["red 1", "blue 2", "red 3"], 0);
    let path = "/api/v1/entries/stream?query=red";
    let first = events(&shelf, path, None, 2).await;
    assert!(first[0].contains("event: start") && first[1].contains("red 1"), "{first:?}");
    let resumed = events(&shelf, path, Some(id(&first[1])), 2).await;
    assert!(resumed[1].contains("red 3"), "{resumed:?}");
    // A client that was cut off before the first entry still sees the entries that follow.
    let waiting = events(&shelf, path, Some(id(&resumed[1])), 1).await;
    shelf.see("https://a.org/", &["red 4"], 50);
    let late = events(&shelf, path, Some(id(&waiting[0])), 2).await;
    assert!(late[1].contains("red 4"), "{late:?}");
    let now = events(&shelf, "/api/v1/entries/stream?after=now", None, 1).await;
    assert_eq!(id(&now[0]), "e4");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_long_entries_brings_them_all() {
    let shelf = Fixture::new(true);
    shelf.see_items("https://a.org/", long_items(30), 0);
    let all = events(&shelf, "/api/v1/entries/stream", None, 31).await;
    for n in 0..30 {
        assert!(all[n + 1].contains(&format!("\"red {n}\"")), "{n}: {:.200}", all[n + 1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_says_once_that_nothing_is_left_and_goes_on() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/", &["red 1", "red 2"], 0);
    shelf.store.remove_feed(feed::FeedId(1)).unwrap();
    for (path, last, title) in [
        ("/api/v1/entries/stream?query=red", "q1-1", "red 3"),
        ("/api/v1/entries/stream", "e1", "red 4"),
    ] {
        let (events, ()) = tokio::join!(events(&shelf, path, Some(last), 3), async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            shelf.see("https://b.org/", &[title], 60);
        });
        assert!(events[1].contains("event: gap"), "{events:?}");
        assert!(events[2].contains("red 3"), "{events:?}");
    }
}

#[tokio::test]
async fn a_consumers_word_is_taken_as_json_only() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/", &["blue 1"], 0);
    let say = async |path: &str, kind: &str, body: &'static str| {
        let request = Request::post(path).header("content-type", kind).body(Body::from(body));
        shelf.router.clone().oneshot(request.unwrap()).await.unwrap().status()
    };
    let path = "/api/v1/entries/1/relevance";
    let word = r#"{"relevant":true}"#;
    assert_eq!(say(path, "application/json", word).await, StatusCode::NO_CONTENT);
    assert_eq!(say(path, "text/plain", word).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(say(path, "application/json", r#"{"relevant":1}"#).await.is_client_error());
    assert_eq!(say("/api/v1/entries/9/relevance", "application/json", word).await, 404);
    let share = shelf.store.share(feed::FeedId(1)).unwrap().unwrap();
    assert_eq!(share.kept, share.seen.min(1.0));
}
