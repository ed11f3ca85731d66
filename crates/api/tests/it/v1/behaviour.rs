//! `/feeds/{id}/behaviour` and the same facts on the feed's page.

use serde_json::{Value, json};

use super::{get, read, send};
use crate::fixture::Fixture;

#[tokio::test]
async fn a_feed_is_described_in_the_terms_of_the_papers() {
    let shelf = Fixture::new(true);
    for hour in 0..10 * 24_u64 {
        shelf.see("https://a.org/feed", &[&format!("entry {hour}")], hour * 3600);
    }
    let found = get(&shelf.router, "/api/v1/feeds/1/behaviour").await;
    for (name, expect) in [
        ("activity_class", json!("high")),
        ("coefficient_of_variation", json!(0.0)),
        ("periodic", json!(true)),
        ("shape", json!("uniform")),
        ("update_pattern", json!("constant")),
    ] {
        assert_eq!(found[name], expect, "{name} in {found}");
    }
    let facts = found["facts"].as_array().unwrap();
    assert_eq!(facts.len(), 5);
    let page = send(&shelf.router, "GET", "/feed/1", &[], Value::Null).await.text;
    for fact in facts {
        let (name, meaning) = (fact["name"].as_str().unwrap(), fact["meaning"].as_str().unwrap());
        assert!(page.contains(name) && page.contains(meaning), "{name}: {meaning}");
    }
}

#[tokio::test]
async fn a_feed_that_was_never_polled_has_no_behaviour() {
    let shelf = Fixture::new(true);
    let url = feed::FeedUrl::parse("https://a.org/feed").unwrap();
    let new = store::NewFeed { url, title: None, site: None, tags: vec![] };
    shelf.store.add_feed(&new, crate::fixture::T0).unwrap();
    let path = "/api/v1/feeds/1/behaviour";
    let answer = send(&shelf.router, "GET", path, &[], Value::Null).await;
    assert_eq!(answer.status, 404);
    assert_eq!(read(&answer)["detail"], "the feed was not polled yet");
    let page = send(&shelf.router, "GET", "/feed/1", &[], Value::Null).await.text;
    assert!(!page.contains("How it posts"));
}
