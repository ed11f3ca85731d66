//! Made-up feeds: the entries they show at a moment, their validators and their failures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use demo::{DemoDates, DemoFeed, DemoFormat, Mishap, router, with_mishaps};
use feed::Time;
use tower::ServiceExt;

const START: i64 = 1_310_792_400;
const HOUR: Duration = Duration::from_secs(3600);

/// A clock that tests set.
#[derive(Clone)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn set(&self, secs: i64) {
        self.0.store(secs, Ordering::SeqCst);
    }
}

fn site(feeds: Vec<DemoFeed>) -> (Router, Clock) {
    let clock = Clock(Arc::new(AtomicI64::new(START)));
    let read = clock.clone();
    let now = Arc::new(move || Time::from_secs(read.0.load(Ordering::SeqCst)));
    (router(feeds, now), clock)
}

/// A feed with an entry every hour. The first ten are older than the start.
fn hourly(format: DemoFormat) -> DemoFeed {
    DemoFeed {
        host: "amber.test".to_owned(),
        path: "/feed.xml".to_owned(),
        title: "Amber & Sons".to_owned(),
        format,
        times: (0..100).map(|n| Time::from_secs(START - 9 * 3600 + n * 3600)).collect(),
        window: 5,
        age_max: None,
        with_ids: true,
        dates: DemoDates::True,
        ttl: Some(Duration::from_secs(600)),
        supports_304: true,
        mishap: None,
    }
}

/// A response, read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }
}

async fn get(router: &Router, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}

async fn ask(router: &Router, headers: &[(&str, &str)]) -> Answer {
    let mut all = vec![("host", "amber.test:8099")];
    all.extend(headers);
    get(router, "/feed.xml", &all).await
}

fn parsed(answer: &Answer) -> parse::Document {
    let kind = Some(answer.header("content-type"));
    parse::document(answer.text.as_bytes(), kind, None, &parse::Limits::default()).unwrap()
}

#[tokio::test]
async fn every_format_shows_the_last_entries_published_by_now() {
    for format in [DemoFormat::Rss, DemoFormat::Atom, DemoFormat::Json] {
        let (router, clock) = site(vec![hourly(format)]);
        let document = parsed(&ask(&router, &[]).await);
        assert_eq!(document.title.as_deref(), Some("Amber & Sons"));
        let times: Vec<i64> =
            document.items.iter().map(|i| i.published.unwrap().secs() - START).collect();
        assert_eq!(times, [0, -3600, -7200, -10_800, -14_400], "{format:?}");
        clock.set(START + 3599);
        assert_eq!(parsed(&ask(&router, &[]).await).items, document.items);
        clock.set(START + 3600);
        let later = parsed(&ask(&router, &[]).await);
        assert_eq!(later.items[1..], document.items[..4], "{format:?}");
        assert!(document.warnings.is_empty(), "{:?}", document.warnings);
    }
}

#[tokio::test]
async fn a_document_carries_the_ttl_and_ids_of_its_feed() {
    let (router, _) = site(vec![hourly(DemoFormat::Rss)]);
    let document = parsed(&ask(&router, &[]).await);
    assert_eq!(document.hints.ttl, Some(Duration::from_secs(600)));
    assert!(document.items[0].id.as_deref().unwrap().starts_with("tag:amber.test"));
}

#[tokio::test]
async fn validators_stay_valid_until_an_entry_is_published() {
    let (router, clock) = site(vec![hourly(DemoFormat::Atom)]);
    let first = ask(&router, &[]).await;
    let (etag, modified) = (first.header("etag"), first.header("last-modified"));
    assert_eq!(modified, "Sat, 16 Jul 2011 05:00:00 GMT");
    assert_eq!(first.header("date"), modified, "the demonstration's clock, not the machine's");
    for sent in [("if-none-match", etag), ("if-modified-since", modified)] {
        clock.set(START + 60);
        let again = ask(&router, &[sent]).await;
        assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""), "{sent:?}");
        assert_eq!(again.header("etag"), etag);
        clock.set(START + 3600);
        assert_eq!(ask(&router, &[sent]).await.status, 200);
    }
    let both = [("if-none-match", "\"other\""), ("if-modified-since", modified)];
    clock.set(START);
    assert_eq!(ask(&router, &both).await.status, 200, "the tag decides where both are sent");
}

#[tokio::test]
async fn a_feed_without_validators_always_sends_the_whole_document() {
    let feed = DemoFeed { supports_304: false, ..hourly(DemoFormat::Rss) };
    let (router, _) = site(vec![feed]);
    let first = ask(&router, &[]).await;
    assert_eq!((first.header("etag"), first.header("last-modified")), ("", ""));
    let date = first.header("date");
    assert_eq!(ask(&router, &[("if-modified-since", date)]).await.status, 200);
}

#[tokio::test]
async fn a_feed_is_served_only_at_its_own_host_and_path() {
    let (router, _) = site(vec![hourly(DemoFormat::Rss)]);
    for (path, host) in [("/feed.xml", "birch.test"), ("/other.xml", "amber.test")] {
        assert_eq!(get(&router, path, &[("host", host)]).await.status, 404, "{host}{path}");
    }
    assert_eq!(hourly(DemoFormat::Rss).url(8099), "http://amber.test:8099/feed.xml");
}

#[tokio::test]
async fn dates_ids_and_the_age_limit_follow_the_settings_of_the_feed() {
    let feed = DemoFeed {
        dates: DemoDates::Absent,
        with_ids: false,
        age_max: Some(HOUR * 2),
        ..hourly(DemoFormat::Rss)
    };
    let (router, _) = site(vec![feed]);
    let document = parsed(&ask(&router, &[]).await);
    assert_eq!(document.items.len(), 3);
    assert!(document.items.iter().all(|i| i.published.is_none()));
    let feed = DemoFeed { dates: DemoDates::OnTheFly, ..hourly(DemoFormat::Rss) };
    let (router, clock) = site(vec![feed]);
    clock.set(START + 100);
    let document = parsed(&ask(&router, &[]).await);
    assert!(document.items.iter().all(|i| i.published == Some(Time::from_secs(START + 100))));
}

#[tokio::test]
async fn failures_begin_and_end() {
    let start = Time::from_secs(START);
    let until = start + HOUR;
    let busy = Mishap::Busy { from: start, until, retry_after: Duration::from_secs(90) };
    let (router, clock) = site(vec![DemoFeed { mishap: Some(busy), ..hourly(DemoFormat::Rss) }]);
    let answer = ask(&router, &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "90"));
    clock.set(START + 3600);
    assert_eq!(ask(&router, &[]).await.status, 200);

    let empties = DemoFeed { mishap: Some(Mishap::Empties), ..hourly(DemoFormat::Rss) };
    let (router, clock) = site(vec![empties]);
    let mut lengths = Vec::new();
    for quarter in 0..4 {
        clock.set(START + quarter * 900);
        lengths.push(parsed(&ask(&router, &[]).await).items.len());
    }
    lengths.sort_unstable();
    assert_eq!(lengths, [0, 5, 5, 5]);
}

#[tokio::test]
async fn with_mishaps_keeps_every_feed_and_uses_every_kind_of_failure() {
    let feeds: Vec<DemoFeed> = (0..100)
        .map(|n| DemoFeed { path: format!("/{n}.xml"), ..hourly(DemoFormat::Rss) })
        .collect();
    let served = with_mishaps(feeds, Time::from_secs(START));
    let kinds: std::collections::HashSet<_> =
        served.iter().filter_map(|f| f.mishap.as_ref()).map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 7);
    let moved = served.iter().find_map(|f| match &f.mishap {
        Some(Mishap::Moved { to }) => Some((f.path.clone(), to.clone())),
        _ => None,
    });
    let (old, new) = moved.unwrap();
    let (router, _) = site(served);
    let answer = get(&router, &old, &[("host", "amber.test:8099")]).await;
    assert_eq!(answer.status, 301);
    assert_eq!(answer.header("location"), format!("http://amber.test:8099{new}"));
    assert_eq!(get(&router, &new, &[("host", "amber.test:8099")]).await.status, 200);
}
