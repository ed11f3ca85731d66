//! Every object of somebody else, by its number or name.

use feed::{EntryId, FeedId};

use super::{MARK, pair};

/// Routes of the JSON API below `/api/v1` with an object of Anna, and what is sent. `{session}`,
/// `{token}` and `{change}` stand for the numbers of her objects.
const API: [(&str, &str, &str); 35] = [
    ("DELETE", "/accounts/1", ""),
    ("PATCH", "/accounts/1", r#"{"role": "reader"}"#),
    ("POST", "/bulk/{change}/undo", ""),
    ("GET", "/entries/1", ""),
    ("PATCH", "/entries/1", r#"{"read": true}"#),
    ("GET", "/entries/1/article", ""),
    ("POST", "/entries/1/article", "{}"),
    ("GET", "/entries/1/labels", ""),
    ("PUT", "/entries/1/labels", r#"{"labels": ["x"]}"#),
    ("GET", "/entries/1/position", ""),
    ("PUT", "/entries/1/position", r#"{"enclosure": "https://a.example/", "seconds": 1}"#),
    ("POST", "/entries/1/relevance", r#"{"relevant": true}"#),
    ("POST", "/entries/1/share", r#"{"service": 1}"#),
    ("GET", "/feeds/1", ""),
    ("DELETE", "/feeds/1", ""),
    ("PATCH", "/feeds/1", r#"{"title": "x"}"#),
    ("GET", "/feeds/1/behaviour", ""),
    ("POST", "/feeds/1/poll", ""),
    ("GET", "/feeds/1/polls", ""),
    ("GET", "/feeds/1/requests", ""),
    ("PATCH", "/feeds/1/requests", r#"{"user_agent": "x"}"#),
    ("PATCH", "/labels/zephyr", r#"{"name": "x"}"#),
    ("DELETE", "/labels/zephyr", ""),
    ("PUT", "/machines/zephyr/drain", r#"{"on": true}"#),
    ("DELETE", "/me/services/1", ""),
    ("DELETE", "/me/sessions/{session}", ""),
    ("DELETE", "/me/tokens/{token}", ""),
    ("GET", "/queries/zephyr", ""),
    ("DELETE", "/queries/zephyr", ""),
    ("PUT", "/queries/zephyr/shared", r#"{"shared": true}"#),
    ("GET", "/queries/zephyr/deliveries", ""),
    ("GET", "/queries/zephyr/dead-letters", ""),
    ("POST", "/queries/zephyr/replay", ""),
    ("GET", "/rules/zephyr", ""),
    ("DELETE", "/rules/zephyr", ""),
];

/// The same for the pages and the APIs of reader apps.
const OTHERS: [(&str, &str, &str); 37] = [
    ("PATCH", "/api/v1/rules/zephyr", r#"{"on": false}"#),
    ("GET", "/api/v1/entries?feed=1", ""),
    ("GET", "/api/v1/entries/stream?feed=1", ""),
    ("GET", "/api/v1/entries?query=zephyr", ""),
    ("GET", "/api/v1/entries/stream?query=zephyr", ""),
    ("GET", "/api/v1/reading?query=zephyr", ""),
    ("GET", "/entry/1", ""),
    ("POST", "/entry/1/article", ""),
    ("POST", "/entry/1/send", "service=1"),
    ("GET", "/play/1", ""),
    ("POST", "/play/1/position", "seconds=1"),
    ("GET", "/play/1/chapters", ""),
    ("GET", "/play/1/transcript", ""),
    ("GET", "/play/1/captions", ""),
    ("GET", "/icons/1", ""),
    ("GET", "/feed/1", ""),
    ("GET", "/feed/1/remove", ""),
    ("POST", "/feed/1/remove", ""),
    ("POST", "/feed/1/requests", "user_agent=x"),
    ("POST", "/feed/1/title", "title=x"),
    ("POST", "/feed/1/poll", ""),
    ("POST", "/feed/1/pause", ""),
    ("GET", "/feed/1/document/1", ""),
    ("GET", "/query/zephyr", ""),
    ("POST", "/query/zephyr/drop", ""),
    ("POST", "/query/zephyr/replay", ""),
    ("POST", "/query/zephyr/share", "shared=yes"),
    ("GET", "/rule/zephyr", ""),
    ("POST", "/rule/zephyr/delete", ""),
    ("GET", "/people/1/remove", ""),
    ("GET", "/feeds/zephyr.atom", ""),
    ("GET", "/reader/api/0/stream/contents/user/-/label/query:zephyr", ""),
    ("GET", "/v1/feeds/1", ""),
    ("GET", "/v1/feeds/1/icon", ""),
    ("GET", "/v1/entries/1", ""),
    ("GET", "/v1/feeds/1/entries/1", ""),
    ("DELETE", "/v1/feeds/1", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_or_changes_an_object_of_somebody_else() {
    let pair = pair().await;
    let numbered = |path: &str| {
        path.replace("{session}", &pair.session)
            .replace("{token}", &pair.token.to_string())
            .replace("{change}", &pair.change.to_string())
    };
    let of_api = API.map(|(method, path, body)| (method, format!("/api/v1{path}"), body));
    let others = OTHERS.map(|(method, path, body)| (method, path.to_owned(), body));
    let mut wrong = Vec::new();
    for (method, path, body) in of_api.into_iter().chain(others) {
        let answer = pair.send("bert", method, &numbered(&path), body).await;
        let is_refused = matches!(answer.status.as_u16(), 403 | 404);
        if !is_refused || answer.text.contains("pass") {
            let text: String = answer.text.chars().take(300).collect();
            wrong.push(format!("{method} {path}: {} {text}", answer.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Anna has everything that she had before, and Bert has nothing new.
    let store = &pair.store;
    assert_eq!(store.subscriptions(pair.anna).unwrap().len(), 1);
    assert_eq!(store.feed_of(pair.anna, FeedId(1)).unwrap().tags, [MARK, "zephyr more"]);
    assert!(store.query(MARK).unwrap().is_some_and(|row| !row.scope.shared));
    assert!(store.rule(pair.anna, MARK).unwrap().is_some_and(|row| row.is_on));
    assert!(store.label(pair.anna, MARK).unwrap().is_some());
    assert_eq!(store.sessions(pair.anna, crate::fixture::T0).unwrap().len(), 1);
    assert_eq!(store.tokens(pair.anna).unwrap().len(), 1);
    assert_eq!(store.share_targets(pair.anna).unwrap().len(), 1);
    assert!(!store.read_marks(pair.anna).unwrap().is_read(EntryId(1)));
    assert_eq!(store.subscriptions(pair.bert).unwrap().len(), 1);
    assert!(store.stars(pair.bert).unwrap().is_empty());
    pair.engine.stop().await;
}

#[test]
fn the_table_names_every_route_with_an_object() {
    let mut named: Vec<(String, String)> =
        API.iter().map(|(method, path, _)| ((*method).to_owned(), pattern(path))).collect();
    named.push(("PATCH".to_owned(), "/rules/{}".to_owned()));
    // A tag is a name in each account, so nobody else's can be named.
    let missing: Vec<String> = api::api_routes()
        .into_iter()
        .map(|(method, path, _)| (method, path.to_owned()))
        .filter(|(_, path)| path.contains('{') && !path.starts_with("/tags/"))
        .map(|(method, path)| (method, pattern(&path)))
        .filter(|route| !named.contains(route))
        .map(|(method, path)| format!("{method} {path}"))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Replaces what stands for an object in a path.
fn pattern(path: &str) -> String {
    let is_object = |part: &str| part == "1" || part == MARK || part.starts_with('{');
    let parts = path.split('/').map(|part| if is_object(part) { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
