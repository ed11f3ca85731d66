//! The order of feeds and tags: set by the page and the API, followed everywhere.

use serde_json::Value;
use store::BulkScope;

use super::{Pair, pair, subscribe};

/// The places of some words in a text, in the order of the text.
fn in_text(text: &str, words: &[&str]) -> Vec<String> {
    let mut found: Vec<(usize, String)> = words
        .iter()
        .filter_map(|word| text.find(word).map(|at| (at, (*word).to_owned())))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, word)| word).collect()
}

async fn json(pair: &Pair, path: &str) -> Value {
    let answer = pair.send("bert", "GET", path, "").await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    serde_json::from_str(&answer.text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_surface_follows_the_order_of_the_account() {
    let pair = pair().await;
    let store = &pair.store;
    let berts = feed::FeedId(2);
    let first = subscribe(store, pair.bert, "https://one.example/", "One", "berts");
    let second = subscribe(store, pair.bert, "https://two.example/", "Two", "other");
    let titles = ["The feed of Bert", "One", "Two"];
    let body = format!("{{\"feeds\": [{second}, {first}, {berts}]}}");
    let set = pair.send("bert", "PUT", "/api/v1/feed-order", &body).await;
    assert_eq!((set.status.as_u16(), set.text.as_str()), (200, "{\"feeds\":[4,3,2]}"));
    // The buttons of the page move one feed within its tag.
    let up = format!("feed={berts}&tag=berts&act=up");
    assert_eq!(pair.send("bert", "POST", "/feed-order", &up).await.status, 303);
    let order = json(&pair, "/api/v1/feed-order").await;
    assert_eq!(order["feeds"].to_string(), "[4,2,3]");
    let page = pair.send("bert", "GET", "/feed-order?tag=berts", "").await.text;
    assert_eq!(in_text(&page, &titles), ["The feed of Bert", "One"]);
    let tags = ["other".to_owned(), "berts".to_owned()];
    let scope = BulkScope { actor: pair.bert, owner: pair.bert };
    store.order_tags(scope, &tags, "ordered", crate::fixture::T0).unwrap();
    for path in ["/export.opml", "/api/v1/opml", "/reader/api/0/subscription/export", "/v1/export"]
    {
        let text = pair.send("bert", "GET", path, "").await.text;
        assert_eq!(in_text(&text, &titles), ["Two", "The feed of Bert", "One"], "{path}");
        assert_eq!(in_text(&text, &["\"berts\"", "\"other\""]), ["\"other\"", "\"berts\""]);
    }
    for path in ["/v1/feeds", "/reader/api/0/subscription/list"] {
        let text = pair.send("bert", "GET", path, "").await.text;
        assert_eq!(in_text(&text, &titles), ["Two", "The feed of Bert", "One"], "{path}");
    }
    let fever = "api_key=706eed79c2fce386d9ec97307c945330";
    let text = pair.send("bert", "POST", "/fever/?api&feeds", fever).await.text;
    assert_eq!(in_text(&text, &titles), ["Two", "The feed of Bert", "One"]);
    let fold = pair.send("bert", "GET", "/fold?tag=berts", "").await.text;
    assert_eq!(in_text(&fold, &titles), ["The feed of Bert", "One"]);
    let prefs = json(&pair, "/reader/api/0/preference/stream/list").await;
    let ordering = |stream: &str| prefs["streamprefs"][stream][0]["value"].as_str().unwrap();
    assert_eq!(ordering("user/-/label/berts"), "0000000200000003");
    let root = ordering("user/-/state/com.google/root");
    let labels = json(&pair, "/reader/api/0/tag/list").await;
    let labels = labels["tags"].as_array().unwrap().iter();
    let sorted: String = labels.filter_map(|tag| tag["sortid"].as_str()).collect();
    assert_eq!((root.len(), root), (16, sorted.as_str()));
    // A token that only reads changes nothing, and nobody orders for somebody else.
    super::add_token(store, pair.bert, "eye", store::TokenScope::Read);
    for path in ["/feed-order", "/feed-order/all"] {
        assert_eq!(pair.send("eye", "POST", path, "feed=2&act=up&tag=3").await.status, 403);
    }
    let anna = pair.send("anna", "GET", "/api/v1/feed-order", "").await.text;
    assert_eq!(anna, "{\"feeds\":[1]}");
    pair.engine.stop().await;
}
