//! One test for each attack on the pages that no other file covers; `docs/notes/threats.md` lists
//! all attacks. Stored scripts are searched on every page that a person can reach.

mod markup;
mod payloads;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use feed::{Enclosure, EntryKey, FeedUrl, Item, Outcome, Published};
use store::{NewEntry, NewFeed, PollProblem, PollRecord};

use crate::fixture::{Fixture, T0};
use crate::get;
use markup::{dangers, links};
use payloads::PAYLOADS;

/// An instance with one payload in every field that a publisher can fill.
fn poisoned(payload: &str) -> Fixture {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    let text = || Some(payload.to_owned());
    let url = FeedUrl::parse("https://a.org/feed?x=%22%3E%3Cscript%3Epwn()%3C/script%3E").unwrap();
    let new = NewFeed { url, title: text(), site: text(), tags: vec![payload.to_owned()] };
    let feed = shelf.store.add_feed(&new, T0).unwrap().id;
    for n in 0..3 {
        let at = T0 + Duration::from_secs(60 * n);
        let generation = shelf.store.poll_input(feed).unwrap().generation;
        let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
        let link = if n == 0 { payload.to_owned() } else { format!("https://a.org/{payload}") };
        let item = Item {
            id: text(),
            title: Some(format!("red {payload}")),
            link: Some(link),
            author: text(),
            summary: text(),
            content: Some(format!("<p>{payload}</p>")),
            categories: vec![payload.to_owned()],
            enclosures: vec![Enclosure {
                url: payload.to_owned(),
                mime_type: text(),
                length: Some(1),
                ..Enclosure::default()
            }],
            ..Item::default()
        };
        let mut key = [0; 16];
        key[0] = n as u8;
        let published = Published { claim: Some(at), at };
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item,
            published,
            content: 0,
            facts: store::EntryFacts::default(),
        });
        shelf.store.record_blocking(record).unwrap();
    }
    let at = T0 + Duration::from_secs(300);
    let generation = shelf.store.poll_input(feed).unwrap().generation;
    let mut failed = PollRecord::empty(feed, generation, at, Outcome::Failed, at);
    failed.problem = text().map(PollProblem::new);
    failed.decision.next.why.reason = text();
    shelf.store.record_blocking(failed).unwrap();
    shelf
}

#[tokio::test]
async fn nothing_that_a_feed_says_acts_on_any_page() {
    let mut walked = BTreeSet::new();
    for payload in PAYLOADS {
        let shelf = poisoned(payload);
        let encoded: String = url::form_urlencoded::byte_serialize(payload.as_bytes()).collect();
        let mut waiting: VecDeque<String> = [
            "/".to_owned(),
            "/feed/1".to_owned(),
            format!("/?q={encoded}"),
            format!("/?search={encoded}"),
            format!("/nowhere/{}", encoded.replace('+', "%20")),
            format!("/login?to={encoded}"),
        ]
        .into();
        let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
        let mut n_pages = 0;
        while let Some(path) = waiting.pop_front() {
            let answer = get(&shelf.router, &path, &[("host", "localhost")]).await;
            let kind = answer.header("content-type");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            let policy = answer.header("content-security-policy");
            assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            if !kind.starts_with("text/html") {
                continue;
            }
            n_pages += 1;
            walked.insert(path.split(['?', '#']).next().unwrap().to_owned());
            let found = dangers(&answer.text);
            assert!(found.is_empty(), "{payload} on {path}: {found:?}");
            for link in links(&answer.text) {
                // Links to other sites are not followed, and a stream never ends.
                let ours = link.starts_with('/') && !link.starts_with("//");
                if ours && !link.contains("/stream") && n_pages < 40 && seen.insert(link.clone()) {
                    waiting.push_back(link);
                }
            }
        }
    }
    assert!(walked.len() >= 4, "{walked:?}");
}

#[tokio::test]
async fn no_path_leads_out_of_what_is_served() {
    let shelf = Fixture::new(true);
    for path in [
        "/feeds/../../../../etc/passwd",
        "/feeds/..%2f..%2f..%2fetc%2fpasswd",
        "/feeds/%2e%2e/%2e%2e/etc/passwd",
        "/feeds/....//....//etc/passwd",
        "/feeds/..%5c..%5cetc%5cpasswd",
        "/feeds/%00.atom",
        "/feeds/../tidings.db",
        "/style.css/../../Cargo.toml",
        "/lab/../../../etc/passwd",
        "/lab/..%2f..%2fetc%2fpasswd",
        "/api/v1/../../etc/passwd",
        "/api/v1/queries/..%2f..%2fetc%2fpasswd",
    ] {
        let answer = get(&shelf.router, path, &[("host", "localhost")]).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert!(!answer.text.contains("root:") && !answer.text.contains("[package]"), "{path}");
    }
}

#[tokio::test]
async fn a_host_that_somebody_made_up_changes_no_page_and_breaks_out_of_no_feed() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    shelf.see("https://a.org/", &["red 1"], 0);
    let answer = get(&shelf.router, "/", &[("host", "evil.test")]).await;
    assert_eq!(answer.status, 421, "without accounts only this machine's names are answered");
    for host in ["evil.test", "a\"><script>pwn()</script>", "a'b", "a&b", "a b"] {
        let answer = get(&shelf.router, "/feeds/red.atom", &[("host", host)]).await;
        assert!(!answer.text.contains("<script"), "{host}: {}", answer.text);
        if answer.status == 200 {
            let read =
                parse::document(answer.text.as_bytes(), None, None, &parse::Limits::default());
            assert_eq!(read.map(|document| document.items.len()).ok(), Some(1), "{host}");
        }
    }
    let closed = Fixture::new(false);
    let answer = get(&closed.router, "/", &[("host", "evil.test")]).await;
    assert!(answer.header("location").starts_with("/login"), "a way that Host cannot bend");
}

#[tokio::test]
async fn a_form_that_is_too_large_is_not_read_to_its_end() {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;
    let shelf = Fixture::new(false);
    let body = format!("name=anna&password={}", "x".repeat(9 << 20));
    let request = Request::post("/login")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("host", "localhost")
        .body(Body::from(body));
    let answer = shelf.router.clone().oneshot(request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 413);
}
