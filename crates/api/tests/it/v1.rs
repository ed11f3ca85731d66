//! The JSON API: its description, its scopes, its errors, and each resource.

mod behaviour;
mod bulk;
mod described;
pub mod entries;

use std::sync::{Arc, Mutex};

use api::api_routes;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use dispatch::command::{AddedFeed, Command, CommandResult, NotAdded, PollSummary};
use serde_json::{Value, json};
use store::{NewToken, TokenScope};
use tower::ServiceExt;

use crate::Answer;
use crate::fixture::{Fixture, T0};

async fn send(
    router: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = match body {
        Value::Null => Body::empty(),
        Value::String(text) => Body::from(text),
        other => {
            request = request.header("content-type", "application/json");
            Body::from(other.to_string())
        }
    };
    // The tests send requests from this machine.
    let request = request.header("host", "localhost").body(body).unwrap();
    let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    let bytes = to_bytes(body, 1 << 24).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}

fn read(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text).unwrap_or(Value::Null)
}

async fn get(router: &Router, path: &str) -> Value {
    let answer = send(router, "GET", path, &[], Value::Null).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    read(&answer)
}

/// A fixture with two feeds, three entries and a query.
fn shelf() -> Fixture {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    shelf.see("https://a.org/?key=secret", &["red 1", "blue 2"], 0);
    shelf.see("https://b.org/", &["red 3"], 10);
    shelf
}

/// The same fixture with an engine that records its commands.
fn acting(shelf: &Fixture) -> (Router, Arc<Mutex<Vec<Command>>>) {
    let noted: Arc<Mutex<Vec<Command>>> = Arc::default();
    let notes = Arc::clone(&noted);
    let mut context = shelf.context.clone();
    context.act = Arc::new(move |command| {
        notes.lock().unwrap().push(command.clone());
        Box::pin(std::future::ready(Ok(carried_out(&command))))
    });
    context.rule = Arc::new(|| Some("100/1h tide tide".to_owned()));
    (api::router(context), noted)
}

fn carried_out(command: &Command) -> CommandResult {
    let poll = |candidates: &[&str]| PollSummary {
        feed: 2,
        outcome: "seen".to_owned(),
        new: 1,
        suspected_miss: false,
        next_poll: None,
        detail: "1 new".to_owned(),
        candidates: candidates.iter().map(|url| (*url).to_owned()).collect(),
    };
    match command {
        Command::Add { urls, .. } => {
            let (page, dead) = (urls[0].contains("page"), urls[0].contains("dead"));
            let candidates: &[&str] =
                if page { &["https://c.org/1", "https://c.org/2"] } else { &[] };
            let (id, url, poll) = (2, urls[0].clone(), poll(candidates));
            let (mut feeds, mut not_added) = (vec![], vec![]);
            if page || dead {
                let detail = "404: there is nothing".to_owned();
                not_added.push(NotAdded { url, poll: PollSummary { detail, ..poll } });
            } else {
                let poll = Some(poll);
                feeds.push(AddedFeed { id, url, existed: false, twin: None, poll });
            }
            CommandResult::Added { feeds, not_added }
        }
        Command::Import { feeds, .. } => {
            CommandResult::Imported { added: feeds.len(), known: 0, refused: vec![] }
        }
        Command::Poll { .. } => CommandResult::Polled { polls: vec![poll(&[])] },
        Command::Remove { .. } => CommandResult::Removed { feed: 2, url: String::new() },
        Command::Title { .. } => CommandResult::Titled { feed: 2 },
        Command::Budget { .. } => CommandResult::Budgeted { feeds: 2 },
        Command::Bulk { .. } => {
            CommandResult::Changed { feeds: 2, what: "changed".to_owned(), undo: Some(7) }
        }
        _ => CommandResult::Set { feeds: 1 },
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_as_a_problem() {
    let shelf = shelf();
    let (router, _) = acting(&shelf);
    for (method, path, body, status, said) in [
        ("GET", "/nowhere", json!(null), 404, "the path does not exist"),
        ("PUT", "/feeds", json!(null), 405, "this method is not allowed here"),
        ("GET", "/feeds/99", json!(null), 404, "the feed does not exist"),
        ("GET", "/feeds/99999999999", json!(null), 404, "the feed does not exist"),
        ("GET", "/feeds/x", json!(null), 400, "the number in the path"),
        ("GET", "/feeds?limit=0", json!(null), 400, "limit must be a number from 1 to 500"),
        ("GET", "/feeds?unknown=1", json!(null), 400, "unknown or repeated parameter `unknown`"),
        ("GET", "/feeds?after=x", json!(null), 400, "after is not a cursor"),
        ("GET", "/feeds?state=odd", json!(null), 400, "state must be active"),
        ("GET", "/reading?search=%22open", json!(null), 400, "at 1: the text is not closed"),
        ("GET", "/reading?feed=1&tag=x", json!(null), 400, "name a feed, a tag or a query"),
        ("GET", "/reading?since=soon", json!(null), 400, "since is not a time"),
        ("GET", "/reading?unread=1", json!(null), 400, "unread must be true or false"),
        ("GET", "/queries/none", json!(null), 404, "the query does not exist"),
        ("PATCH", "/tags/none", json!({}), 404, "the tag does not exist"),
        ("POST", "/feeds", json!({}), 400, "the body: `url`: is missing"),
        ("POST", "/feeds", json!({"url": 1}), 400, "the body: `url`: invalid type"),
        ("POST", "/feeds", json!({"url": "u", "x": 1}), 400, "unknown field `x`"),
        ("POST", "/feeds", json!([]), 400, "the body: it must be an object"),
        ("POST", "/feeds", json!("{}"), 415, "send it as application/json"),
        ("PATCH", "/feeds/1", json!({"alpha_seconds": 9_999_999_999_u64}), 400, "seconds are"),
        ("POST", "/me/tokens", json!({"name": "x", "scope": "read"}), 403, "there are no accounts"),
        ("POST", "/opml", json!("no list"), 400, ""),
    ] {
        let answer = send(&router, method, &format!("/api/v1{path}"), &[], body).await;
        let problem = read(&answer);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/problem+json", "{path}");
        assert_eq!(problem["status"], status, "{path}");
        assert_eq!(problem["type"], "about:blank", "{path}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with(said) || detail.contains(said), "{method} {path}: {detail}");
    }
    let huge = json!({"url": "x".repeat(2 << 20)});
    let answer = send(&router, "POST", "/api/v1/feeds", &[], huge).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn a_client_that_has_it_is_spared_the_bytes() {
    let shelf = shelf();
    let first = send(&shelf.router, "GET", "/api/v1/reading", &[], Value::Null).await;
    let tag = first.header("etag");
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let again =
        send(&shelf.router, "GET", "/api/v1/reading", &[("if-none-match", tag)], Value::Null).await;
    assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""));
    assert_eq!(again.header("etag"), tag);
    shelf.see("https://b.org/", &["new"], 20);
    let changed =
        send(&shelf.router, "GET", "/api/v1/reading", &[("if-none-match", tag)], Value::Null).await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_back() {
    let shelf = shelf();
    let first = send(&shelf.router, "GET", "/api/v1/me", &[], Value::Null).await;
    assert_eq!(first.header("ratelimit-limit"), "1200");
    assert_eq!(first.header("ratelimit-remaining"), "1199");
    for _ in 0..1199 {
        shelf.context.rates.take(store::AccountId::LOCAL, (shelf.context.now)());
    }
    let answer = send(&shelf.router, "GET", "/api/v1/me", &[], Value::Null).await;
    assert_eq!(answer.status, 429);
    assert_eq!((answer.header("retry-after"), answer.header("ratelimit-remaining")), ("1", "0"));
    assert_eq!(answer.header("ratelimit-reset"), "20");
}

#[tokio::test]
async fn a_token_reaches_as_far_as_its_scope_on_every_route() {
    let shelf = shelf();
    let anna = shelf.store.add_account("anna", "no hash", T0).unwrap().unwrap();
    let mut secrets = Vec::new();
    for scope in TokenScope::ALL {
        let fresh = api::auth::fresh().unwrap();
        let (name, digest) = (scope.word().to_owned(), fresh.digest);
        let fever_digest = api::auth::fever_digest("anna", &fresh.secret);
        let new = NewToken { account: anna, name, scope, digest, fever_digest };
        shelf.store.add_token(&new, T0).unwrap().unwrap();
        secrets.push((scope, format!("Bearer {}", fresh.secret)));
    }
    for (method, path, needs) in api_routes() {
        // Not 1: one of the routes revokes a token.
        let path = path.replace("{id}", "99").replace("{name}", "red").replace("{tag}", "x");
        let path = format!("/api/v1{path}");
        // A stream never ends.
        let method = if method == "GET" { "HEAD" } else { method.as_str() };
        let stranger = send(&shelf.router, method, &path, &[], Value::Null).await;
        assert_eq!(stranger.status, 401, "{method} {path}");
        for (scope, secret) in &secrets {
            let headers = [("authorization", secret.as_str())];
            let answer = send(&shelf.router, method, &path, &headers, Value::Null).await;
            let refused = answer.status == 403;
            assert_eq!(refused, *scope < needs, "{method} {path} with {}", scope.word());
        }
    }
}

#[tokio::test]
async fn entries_are_read_in_pages_marked_and_starred() {
    let shelf = shelf();
    let router = &shelf.router;
    let ids = |page: &Value| -> Vec<i64> {
        page["entries"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect()
    };
    let first = get(router, "/api/v1/reading?limit=2").await;
    assert_eq!(ids(&first), [3, 2]);
    assert_eq!(first["entries"][0]["content"], Value::Null);
    let next = format!("/api/v1/reading?limit=2&after={}", first["next"].as_str().unwrap());
    let second = get(router, &next).await;
    assert_eq!((ids(&second), &second["next"]), (vec![1], &Value::Null));
    assert_eq!(ids(&get(router, "/api/v1/reading?feed=2").await), [3]);
    assert_eq!(ids(&get(router, "/api/v1/reading?query=red").await), [3, 1]);
    assert_eq!(ids(&get(router, "/api/v1/reading?oldest_first=true").await), [1, 2, 3]);

    let answer =
        send(router, "PATCH", "/api/v1/entries/2", &[], json!({"read": true, "starred": true}));
    let marked = read(&answer.await);
    assert_eq!((&marked["read"], &marked["starred"]), (&true.into(), &true.into()));
    assert_eq!(ids(&get(router, "/api/v1/reading?unread=true").await), [3, 1]);
    assert_eq!(ids(&get(router, "/api/v1/reading?starred=true").await), [2]);
    assert_eq!(get(router, "/api/v1/reading/unread").await["unread"], 2);
    let many = json!({"entries": [2, 99], "read": false, "starred": false});
    let answer = send(router, "POST", "/api/v1/reading/marks", &[], many).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
    assert_eq!(get(router, "/api/v1/reading/unread").await["unread"], 3);
    let up_to = json!({"up_to": 2});
    let answer = send(router, "POST", "/api/v1/reading/read", &[], up_to).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
    assert_eq!(ids(&get(router, "/api/v1/reading?unread=true").await), [3]);
    let one = get(router, "/api/v1/entries/1").await;
    assert_eq!((&one["entry"]["title"], &one["revisions"]), (&"red 1".into(), &json!([])));
}

#[tokio::test]
async fn changes_become_commands_of_the_engine() {
    let shelf = shelf();
    let (router, noted) = acting(&shelf);
    let added = send(&router, "POST", "/api/v1/feeds", &[], json!({"url": "https://b.org/"})).await;
    assert_eq!((added.status.as_u16(), &read(&added)["feed"]["id"]), (200, &2.into()));
    let page = send(&router, "POST", "/api/v1/feeds", &[], json!({"url": "https://c.org/page"}));
    let page = read(&page.await);
    assert_eq!((&page["feed"], page["candidates"].as_array().unwrap().len()), (&Value::Null, 2));
    let dead = send(&router, "POST", "/api/v1/feeds", &[], json!({"url": "https://dead.org/"}));
    let dead = dead.await;
    assert!(dead.status.is_client_error(), "{}", dead.text);
    assert!(dead.text.contains("404: there is nothing") && dead.text.contains("force"));
    let change = json!({"title": null, "tags": ["x"], "alpha_seconds": null, "paused": true});
    let changed = send(&router, "PATCH", "/api/v1/feeds/2", &[], change).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    for (method, path, body) in [
        ("POST", "/feeds/2/poll", json!(null)),
        ("DELETE", "/feeds/2", json!(null)),
        ("PUT", "/budget", json!({"budget": null})),
        ("POST", "/opml", json!("<opml><body><outline xmlUrl='https://d.org/'/></body></opml>")),
    ] {
        let answer = send(&router, method, &format!("/api/v1{path}"), &[], body).await;
        assert!(answer.status.is_success(), "{method} {path}: {}", answer.text);
    }
    let noted: Vec<Value> =
        noted.lock().unwrap().iter().map(|c| serde_json::to_value(c).unwrap()).collect();
    let kinds: Vec<&str> = noted.iter().map(|c| c["kind"].as_str().unwrap()).collect();
    let expected = ["add", "add", "add", "together", "poll", "remove", "budget", "import"];
    assert_eq!(kinds, expected);
    let together = noted[3]["commands"].as_array().unwrap();
    let kinds: Vec<&str> = together.iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["set", "tag", "title"]);
    // Null clears a setting, and a missing field keeps it.
    assert_eq!(together[0]["change"]["alpha"], Value::Null);
    assert_eq!(together[0]["change"]["paused"], true);
}

#[tokio::test]
async fn statements_are_checked_and_tried_without_a_change() {
    let shelf = shelf();
    let router = &shelf.router;
    let text = "CREATE FEED ash AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"blue\"";
    let good = send(router, "POST", "/api/v1/queries/check", &[], json!({"text": text})).await;
    let good = read(&good);
    assert_eq!((&good["good"], &good["queries"][0]["what"]), (&true.into(), &"created".into()));
    let wrong = json!({"text": "CREATE FEED ash AS\nRETURN EVERYTHING"});
    let wrong = read(&send(router, "POST", "/api/v1/queries/check", &[], wrong).await);
    assert_eq!((&wrong["good"], &wrong["faults"][0]["line"]), (&false.into(), &2.into()));
    let tried =
        read(&send(router, "POST", "/api/v1/queries/test", &[], json!({"text": text})).await);
    assert_eq!((&tried["queries"][0]["kept"], &tried["entries"]), (&1.into(), &3.into()));
    assert_eq!(tried["queries"][0]["newest"][0]["title"], "blue 2");
    assert!(shelf.store.query("ash").unwrap().is_none());
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_and_a_token_is_no_password() {
    let shelf = shelf();
    let hashed = api::auth::hash_password("correct horse").unwrap();
    let anna = shelf.store.add_account("anna", &hashed, T0).unwrap().unwrap();
    let fresh = api::auth::fresh().unwrap();
    let fever_digest = api::auth::fever_digest("anna", &fresh.secret);
    let (name, scope) = ("first".to_owned(), TokenScope::Admin);
    let new = NewToken { account: anna, name, scope, digest: fresh.digest, fever_digest };
    shelf.store.add_token(&new, T0).unwrap().unwrap();
    let bearer = format!("Bearer {}", fresh.secret);
    let ask = async |method: &str, path: &str, body: Value| {
        let headers = [("authorization", bearer.as_str())];
        send(&shelf.router, method, &format!("/api/v1{path}"), &headers, body).await
    };
    let wanted = json!({"name": "phone", "scope": "read"});
    let made = ask("POST", "/me/tokens", wanted.clone()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(read(&made)["secret"].as_str().unwrap().len(), 32);
    assert_eq!(ask("POST", "/me/tokens", wanted).await.status, 409);
    let id = read(&made)["token"]["id"].as_i64().unwrap();
    let listed = ask("GET", "/me/tokens", Value::Null).await;
    assert_eq!(read(&listed)["tokens"].as_array().unwrap().len(), 2);
    assert!(!listed.text.contains(&fresh.secret));
    assert_eq!(ask("DELETE", &format!("/me/tokens/{id}"), Value::Null).await.status, 204);
    assert_eq!(ask("DELETE", &format!("/me/tokens/{id}"), Value::Null).await.status, 404);
    let steal = json!({"old": fresh.secret, "password": "another horse"});
    assert_eq!(ask("PUT", "/me/password", steal).await.status, 403);
    let change = json!({"old": "correct horse", "password": "another horse"});
    assert_eq!(ask("PUT", "/me/password", change.clone()).await.status, 204);
    assert_eq!(ask("PUT", "/me/password", change).await.status, 403);
    let weak = json!({"old": "another horse", "password": "short"});
    assert_eq!(ask("PUT", "/me/password", weak).await.status, 400);
}
