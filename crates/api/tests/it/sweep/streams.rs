//! Open event streams end when the person may not read any more.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use feed::FeedId;
use futures_util::StreamExt;
use tower::ServiceExt;

use super::{Pair, pair};

/// Opens a stream, and waits for its first event.
async fn open(pair: &Pair, path: &str) -> axum::body::BodyDataStream {
    let request = Request::get(path).header("authorization", "Bearer bert-token");
    let request = request.body(Body::empty()).unwrap();
    let response = pair.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    let mut events = response.into_body().into_data_stream();
    let first = events.next().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("start"), "{path}");
    events
}

async fn ends(mut events: axum::body::BodyDataStream) -> bool {
    let rest = async { while events.next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(120), rest).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_subscription_the_sharing_or_the_account() {
    let pair = pair().await;
    let store = &pair.store;
    let feed = open(&pair, "/api/v1/entries/stream?feed=2").await;
    store.unsubscribe(pair.bert, &[FeedId(2)], crate::fixture::T0).unwrap();
    assert!(ends(feed).await, "bert reads the feed no more");
    store.share_query("zephyr", true).unwrap();
    let query = open(&pair, "/api/v1/entries/stream?query=zephyr").await;
    store.share_query("zephyr", false).unwrap();
    assert!(ends(query).await, "the query is not shared any more");
    let all = open(&pair, "/api/v1/entries/stream").await;
    let token = store.tokens(pair.bert).unwrap()[0].id;
    assert!(store.revoke_token(pair.bert, token).unwrap());
    assert!(ends(all).await, "the token is revoked");
    pair.engine.stop().await;
}
