//! The pages: their texts, their escaping and their refusals.

use std::sync::Arc;
use std::time::Duration;

use api::{EngineState, ServerContext, router};
use axum::Router;
use feed::{
    DocumentDates, FeedId, FeedUrl, Item, Known, Outcome, Published, Time, Window,
    WindowComparison, identify,
};
use store::{
    FeedFacts, Gone, NewEntry, NewFeed, OpenMode, PollProblem, PollRecord, SettingsChange, Store,
};
use tempfile::TempDir;

use crate::get;

fn now() -> Time {
    "2011-07-16T05:00:00Z".parse().unwrap()
}

fn live() -> EngineState {
    EngineState {
        not_ready: None,
        polls_elsewhere: false,
        demo: false,
        started_at: now() - Duration::from_secs(7200),
        in_flight: 1,
        waiting: 2,
        outage: None,
        lacking_regions: Vec::new(),
        polls_total: 4,
        polls_failed_total: 5,
        polls_last_hour: 6,
        entries_total: 7,
        bytes_total: 8,
    }
}

struct Site {
    store: Store,
    router: Router,
    _folder: TempDir,
}

fn site_with(live: EngineState) -> Site {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let live = Arc::new(move || live.clone());
    let context = ServerContext::new(store.clone(), Arc::new(now), live, "9.9.9").unwrap();
    Site { store, router: router(context), _folder: folder }
}

fn site() -> Site {
    site_with(live())
}

impl Site {
    fn add(&self, url: &str) -> FeedId {
        let url = FeedUrl::parse(url).unwrap();
        let new = NewFeed { url, title: None, site: None, tags: vec![] };
        self.store.add_feed(&new, now() - Duration::from_secs(86_400)).unwrap().id
    }

    /// A poll five minutes ago that saw these items.
    fn see(&self, feed: FeedId, title: &str, items: &[Item]) {
        let at = now() - Duration::from_secs(300);
        let dates = DocumentDates::default();
        let window = Window::default();
        let keyed = identify(items.to_vec(), &window);
        let seen = WindowComparison::new(&keyed, &window);
        let seen = seen.observe(&Known::new(), dates, at, None, false);
        let mut record =
            PollRecord::empty(feed, 0, at, Outcome::Seen, now() + Duration::from_secs(600));
        record.exchange.status = Some(200);
        record.decision.next.why.reason = Some("mavsync: <the> reason".to_owned());
        record.decision.next.why.held = Some("held back by ttl".to_owned());
        record.decision.next.wanted_at = Some(now() + Duration::from_secs(60));
        record.document_mut().facts =
            FeedFacts { title: Some(title.to_owned()), ..FeedFacts::default() };
        record.document_mut().entries.new = seen
            .sightings
            .iter()
            .map(|(index, _, entry)| NewEntry {
                key: entry.key,
                item: items[*index].clone(),
                published: Published { claim: items[*index].published, at: entry.published_at },
                content: entry.content,
                facts: store::EntryFacts::default(),
            })
            .collect();
        record.document_mut().entries.window = Some(seen.window);
        self.store.record_blocking(record).unwrap();
    }

    fn fail(&self, feed: FeedId, outcome: Outcome, status: Option<u16>, error: &str) {
        let at = now() - Duration::from_secs(60);
        let mut record = PollRecord::empty(feed, 0, at, outcome, now() + Duration::from_secs(900));
        record.exchange.status = status;
        record.problem = Some(PollProblem::new(error));
        record.decision.failures = 1;
        if outcome == Outcome::Gone {
            record.location.gone = Some(Gone { at, reason: error.to_owned() });
        }
        self.store.record_blocking(record).unwrap();
    }

    async fn text(&self, path: &str) -> String {
        let answer = get(&self.router, path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        answer.text
    }
}

fn item(title: &str, summary: &str) -> Item {
    Item {
        id: Some(title.to_owned()),
        title: Some(title.to_owned()),
        link: Some("https://example.org/entry".to_owned()),
        author: Some("Ada".to_owned()),
        published: Some(now() - Duration::from_secs(3600)),
        summary: Some(summary.to_owned()),
        ..Item::default()
    }
}

#[tokio::test]
async fn without_feeds_the_page_asks_for_the_first() {
    let text = site().text("/").await;
    assert!(text.contains("action=\"/feeds\"") && text.contains("name=\"url\""), "{text}");
    assert!(text.contains("action=\"/import\"") && text.contains("type=\"file\""), "{text}");
}

#[tokio::test]
async fn the_list_says_how_every_feed_stands() {
    let site = site();
    let well = site.add("https://well.example/feed");
    site.see(well, "Well & fine", &[item("a", "b")]);
    site.fail(site.add("https://bad.example/feed"), Outcome::Failed, Some(404), "no such page");
    site.fail(site.add("https://gone.example/feed"), Outcome::Gone, Some(410), "it ended");
    let paused = site.add("https://paused.example/feed");
    let pause = SettingsChange { paused: Some(Some(true)), ..SettingsChange::default() };
    site.store.set_feed(paused, &pause).unwrap();
    site.add("https://new.example/feed");

    let text = site.text("/feeds").await;
    assert!(text.contains("1 of 5 feeds have problems"), "{text}");
    assert!(
        text.contains("Well &#38; fine")
            && text.contains("5 min ago")
            && text.contains("in 10 min")
    );
    assert!(text.contains("No such page.") && text.contains("There is nothing at this address"));
    assert!(text.contains("not polled yet") && text.contains("never"));

    let gone = site.text("/feeds?state=gone").await;
    assert!(gone.contains("gone.example") && !gone.contains("bad.example/feed"));
    let trouble = site.text("/feeds?sort=trouble").await;
    assert!(trouble.find("bad.example/feed") < trouble.find("well.example/feed"));
    let found = site.text("/feeds?q=WELL.ex").await;
    assert!(found.contains("well.example") && !found.contains("bad.example"));
    assert!(
        site.text("/feeds?q=%25").await.contains("No feed matches"),
        "a per cent sign is a letter"
    );
}

#[tokio::test]
async fn a_title_reads_the_same_in_the_list_as_on_its_page() {
    let shelf = crate::fixture::Fixture::new(true);
    let url = FeedUrl::parse("https://a.org/f").unwrap();
    let title = Some("AT&amp;T <b>bold</b>".to_owned());
    shelf
        .store
        .add_feed(&NewFeed { url, title, site: None, tags: vec![] }, crate::fixture::T0)
        .unwrap();
    for path in ["/feeds", "/feed/1"] {
        let page = get(&shelf.router, path, &[]).await.text;
        assert!(page.contains("AT&#38;T bold"), "{path}: {page}");
    }
}

#[tokio::test]
async fn long_lists_are_turned_page_by_page() {
    let site = site();
    let new: Vec<NewFeed> = (0..120)
        .map(|n| NewFeed {
            url: FeedUrl::parse(&format!("https://s.example/{n:03}")).unwrap(),
            site: None,
            title: None,
            tags: vec![],
        })
        .collect();
    site.store.add_feeds(&new, now()).unwrap();
    let first = site.text("/feeds?sort=title").await;
    assert_eq!(first.matches("<tr class=\"fresh\">").count(), 50);
    assert!(first.contains("1–50 of 120") && !first.contains("rel=\"prev\""));
    let turned = |page: &str, way: &str| {
        let (_, rest) = page.split_once(&format!("rel=\"{way}\" href=\"")).unwrap();
        rest.split('"').next().unwrap().replace("&#38;", "&")
    };
    let second = site.text(&turned(&first, "next")).await;
    assert!(second.contains("51–100 of 120"));
    let last = site.text(&turned(&second, "next")).await;
    assert!(last.contains("101–120 of 120") && !last.contains("rel=\"next\""));
    let back = site.text(&turned(&second, "prev")).await;
    assert!(back.contains("1–50 of 120") && back.contains("s.example/000"));
}

#[tokio::test]
async fn a_feeds_page_shows_its_entries_polls_and_reasons() {
    let site = site();
    let feed = site.add("https://me:secret@well.example/feed?token=abc");
    site.see(feed, "Well", &[item("First", "<p>Some <b>text</b></p>")]);
    let text = site.text(&format!("/feed/{feed}")).await;
    for part in [
        "<h1><bdi>Well</bdi> ",
        "in 10 min",
        "mavsync: &#60;the&#62; reason",
        "Held back by ttl.",
        "Its policy alone would poll it in 1 min.",
        "<svg",
        "1 poll since 2011-07-16T04:55:00Z: 1 with new entries",
        "Some text",
        "fetched <time datetime=\"2011-07-16T04:55:00Z\"",
        "https://***@well.example/feed?token=***",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("secret") && !text.contains("abc"));
}

#[tokio::test]
async fn nothing_a_publisher_writes_becomes_markup_of_ours() {
    let site = site();
    let feed = site.add("https://evil.example/feed");
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let item = Item {
        link: Some("javascript:alert(1)".to_owned()),
        author: Some(evil.to_owned()),
        ..item(evil, evil)
    };
    site.see(feed, evil, &[item]);
    for path in [
        "/",
        "/feeds",
        &format!("/feed/{feed}"),
        "/entry/1",
        "/entry/1?part=1",
        "/?q=%3Cscript%3E%22",
        "/?tag=%3Cscript%3E%22",
        "/feeds?q=%3Cscript%3E%22",
    ] {
        let text = site.text(path).await;
        let text =
            text.replace("<script src=\"/script.js", "").replace("<script src=\"/app.js", "");
        for bad in ["<script", "onerror", "javascript:", "<img src=\"x\""] {
            assert!(
                !text.replace("&#60;img src=x onerror=alert(1)", "").contains(bad),
                "{bad} at {path}"
            );
        }
    }
}

#[tokio::test]
async fn older_entries_are_one_page_away() {
    let site = site();
    let feed = site.add("https://well.example/feed");
    let items: Vec<Item> = (0..20).map(|n| item(&format!("Entry number {n:02}."), "")).collect();
    site.see(feed, "Well", &items);
    let first = site.text(&format!("/feed/{feed}")).await;
    let older = first.split("href=\"").find(|s| s.contains("before=")).unwrap();
    let second = site.text(older.split('"').next().unwrap()).await;
    for entry in items.iter().map(|i| i.title.as_deref().unwrap()) {
        assert!(first.contains(entry) != second.contains(entry), "{entry} is on one of the pages");
    }
}

#[tokio::test]
async fn every_answer_forbids_the_scripts_of_others() {
    let site = site();
    for path in ["/", "/style.css", "/healthz", "/metrics", "/nowhere", "/feed/1"] {
        let answer = get(&site.router, path, &[]).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'"));
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_said_with_what_does() {
    let site = site();
    for path in ["/nowhere", "/feed/7", "/feed/x", "/feed/"] {
        let answer = get(&site.router, path, &[]).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text.contains("<h2>Pages</h2>"), "{path}");
        assert!(answer.text.contains("href=\"/queries\""), "the navigation is there: {path}");
    }
}

#[tokio::test]
async fn the_stylesheet_is_sent_once() {
    let site = site();
    let first = get(&site.router, "/style.css", &[]).await;
    assert!(first.text.contains("color-scheme: light dark"));
    let etag = first.header("etag");
    let again = get(&site.router, "/style.css", &[("if-none-match", etag)]).await;
    assert_eq!((again.status.as_u16(), again.text.len()), (304, 0));
    assert_eq!(get(&site.router, "/style.css", &[("if-none-match", "\"x\"")]).await.status, 200);
    let page = site.text("/").await;
    let used = page.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    assert_eq!(get(&site.router, used.split('"').next().unwrap(), &[]).await.text, first.text);
}

#[tokio::test]
async fn readiness_says_why_not() {
    assert_eq!(site().text("/healthz").await, "ok\n");
    assert_eq!(site().text("/readyz").await, "ready\n");
    let starting =
        site_with(EngineState { not_ready: Some("polling has ended".to_owned()), ..live() });
    let answer = get(&starting.router, "/readyz", &[]).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.text, "not ready: polling has ended\n");
    assert!(starting.text("/metrics").await.contains("\ntidings_ready 0\n"));
    assert!(starting.text("/health").await.contains("Polling has ended"));
}

#[tokio::test]
async fn metrics_tell_of_failing_feeds_and_of_an_outage() {
    let site = site_with(EngineState { outage: Some("no route".to_owned()), ..live() });
    site.fail(site.add("https://bad.example/feed"), Outcome::Failed, None, "x");
    let text = site.text("/metrics").await;
    for line in [
        "tidings_feeds{state=\"all\"} 1",
        "tidings_feeds{state=\"failing\"} 1",
        "tidings_polls_total 4",
        "tidings_network_outage 1",
        "tidings_build_info{version=\"9.9.9\"} 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}");
    }
}

#[tokio::test]
async fn an_outage_blames_no_feed() {
    let site = site_with(EngineState { outage: Some("Nine of ten domains.".to_owned()), ..live() });
    site.see(site.add("https://well.example/feed"), "Well", &[item("a", "b")]);
    let text = site.text("/feeds").await;
    assert!(text.contains("Waiting for the network") && text.contains("Nine of ten domains."));
}

#[tokio::test]
async fn on_loopback_other_names_are_refused_and_the_end_is_heard() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async move {
        ended.await.unwrap();
    };
    let serving = tokio::spawn(api::serve(listener, site().router, shutdown));
    for (host, status) in [("evil.test", "421"), ("localhost:1", "200"), ("[::1]", "200")] {
        let answer = tokio::task::spawn_blocking(move || raw_get(address, host)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
    }
    // A client that never finishes its request does not keep the program from ending.
    let _stalled = tokio::net::TcpStream::connect(address).await.unwrap();
    end.send(()).unwrap();
    serving.await.unwrap().unwrap();
}

fn raw_get(address: std::net::SocketAddr, host: &str) -> String {
    use std::io::{Read, Write};
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}
