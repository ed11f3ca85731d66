//! Every list of one person has nothing of another one.

use super::{MARK, pair};

/// printf 'bert:bert-token' | md5sum
const FEVER_KEY: &str = "706eed79c2fce386d9ec97307c945330";

/// Pages and lists that name many objects.
const LISTS: [&str; 62] = [
    "/",
    "/?show=all",
    "/?show=starred",
    "/?show=hidden",
    "/?feed=1&show=all",
    "/?tag=zephyr&show=all",
    "/?label=zephyr",
    "/?query=zephyr",
    "/?q=entry",
    "/?top=1",
    "/feeds",
    "/feeds?q=feed",
    "/tags",
    "/queries",
    "/rules",
    "/rules/new",
    "/discover",
    "/statistics",
    "/account",
    "/account/export.json",
    "/export.opml",
    "/export.opml?secrets=1",
    "/budget",
    "/health",
    "/machines",
    "/offline/entries",
    "/api/v1/me",
    "/api/v1/me/tokens",
    "/api/v1/me/sessions",
    "/api/v1/me/services",
    "/api/v1/me/statistics",
    "/api/v1/me/suggestions",
    "/api/v1/popular-feeds",
    "/api/v1/feeds",
    "/api/v1/tags",
    "/api/v1/labels",
    "/api/v1/queries",
    "/api/v1/rules",
    "/api/v1/bulk",
    "/api/v1/opml",
    "/api/v1/entries",
    "/api/v1/reading",
    "/api/v1/reading?search=entry",
    "/api/v1/reading?label=zephyr",
    "/api/v1/reading?feed=1",
    "/api/v1/reading/unread",
    "/api/v1/budget",
    "/api/v1/health",
    "/reader/api/0/subscription/list",
    "/reader/api/0/tag/list",
    "/reader/api/0/unread-count",
    "/reader/api/0/stream/contents",
    "/reader/api/0/stream/contents/feed/1",
    "/reader/api/0/stream/items/contents?i=1",
    "/reader/api/0/subscription/export",
    "/v1/feeds",
    "/v1/categories",
    "/v1/entries",
    "/v1/export",
    "/v1/feeds/1/entries",
    "/v1/feeds/counters",
    "/metrics",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_list_names_anything_of_somebody_else() {
    let pair = pair().await;
    let mut wrong = Vec::new();
    for path in LISTS {
        let answer = pair.send("bert", "GET", path, "").await;
        let (status, text) = (answer.status.as_u16(), answer.text.to_lowercase());
        if !matches!(status, 200 | 400 | 403 | 404) {
            wrong.push(format!("{path}: {status}"));
        }
        // Bert's token and the address of a list may have the word too.
        let sought = if path.contains(MARK) { "zephyr entry" } else { MARK };
        let text = text.replace("zephyr bert", "");
        if let Some(at) = text.find(sought) {
            let start = text.floor_char_boundary(at.saturating_sub(120));
            let end = text.floor_char_boundary(at + 60);
            wrong.push(format!("{path}: {}", &text[start..end]));
        }
    }
    for asked in ["feeds", "groups", "items", "unread_item_ids", "favicons", "links"] {
        let body = format!("api_key={FEVER_KEY}");
        let answer = pair.send("bert", "POST", &format!("/fever/?api&{asked}"), &body).await;
        assert!(answer.text.contains("\"auth\":1"), "{}", answer.text);
        if answer.text.contains(MARK) {
            wrong.push(format!("fever {asked}: {}", answer.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The same lists do name Anna's objects to her.
    for path in ["/?show=all", "/feeds", "/queries", "/rules", "/api/v1/labels", "/v1/entries"] {
        let answer = pair.send("anna", "GET", path, "").await;
        assert!(answer.text.to_lowercase().contains(MARK), "{path}");
    }
    pair.engine.stop().await;
}
