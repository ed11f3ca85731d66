//! Pages behind entries: fetched behind polls, with permission, once, and seen by queries that wait
//! for them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::command::{Command, CommandResult, FeedSettingsChange, QueriesCommand, Target};
use engine::{ArticlesSettings, Settings};
use feed::{ArticleMode, EntryId};
use store::{ArticleState, EntryFilter};

use crate::scripted::{Answer, CONDITIONAL, House};

/// The answers of the site.
struct Site {
    n_items: AtomicUsize,
    /// The file for robots; empty: 404.
    robots: Mutex<String>,
    /// The pages wait.
    is_slow: AtomicBool,
    is_hostile: AtomicBool,
    /// The site does not say its rules.
    is_broken: AtomicBool,
    /// How often the texts of the feed have changed.
    edition: AtomicUsize,
}

fn answered(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

impl Site {
    fn new() -> Arc<Site> {
        Arc::new(Site {
            n_items: AtomicUsize::new(2),
            robots: Mutex::default(),
            is_slow: AtomicBool::new(false),
            is_hostile: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            edition: AtomicUsize::new(0),
        })
    }

    fn answer(&self, request: &str) -> Option<String> {
        let path = request.split_once('/').map(|(_, path)| path).unwrap_or_default();
        if path.starts_with("feed") {
            let edition = "!".repeat(self.edition.load(Ordering::SeqCst));
            let items: String = (1..=self.n_items.load(Ordering::SeqCst))
                .rev()
                .map(|n| {
                    format!(
                        "<item><guid>{n}</guid><title>Entry {n}</title><category>Politik\
                         </category><link>/page/{n}</link><description>Short.{edition}\
                         </description></item>"
                    )
                })
                .collect();
            let body = format!(
                "<rss version='2.0'><channel><title>t</title><link>http://a.test/</link>{items}\
                 </channel></rss>"
            );
            return Some(answered("200 OK", "application/rss+xml", &body));
        }
        if path == "robots.txt" && self.is_broken.load(Ordering::SeqCst) {
            return Some(answered("503 Service Unavailable", "text/plain", ""));
        }
        if path == "robots.txt" {
            let robots = self.robots.lock().unwrap().clone();
            return Some(match robots.is_empty() {
                true => answered("404 Not Found", "text/plain", ""),
                false => answered("200 OK", "text/plain", &robots),
            });
        }
        if self.is_slow.load(Ordering::SeqCst) {
            return None;
        }
        if self.is_hostile.load(Ordering::SeqCst) {
            return Some(answered("200 OK", "text/html", &"<div>".repeat(100_000)));
        }
        let sentence = "Der Vulkan auf Island ist wieder ausgebrochen, und die Menschen in den \
                        Dörfern mussten ihre Häuser in der Nacht verlassen. ";
        let page = format!(
            "<html lang=de><head><title>Whole {path}</title></head><body><article><h1>Whole \
             {path}</h1><p>{0}</p><p>{0}</p></article></body></html>",
            sentence.repeat(6)
        );
        if path.ends_with(CONDITIONAL) {
            return Some("HTTP/1.1 304 Not Modified\r\n\r\n".to_owned());
        }
        let kind = "text/html; charset=utf-8\r\nETag: \"1\"\r\nX-Robots-Tag: noarchive";
        Some(answered("200 OK", kind, &page))
    }
}

async fn house(site: &Arc<Site>, articles: ArticlesSettings) -> House {
    let site = Arc::clone(site);
    let answer: Answer = Arc::new(move |request: &str| site.answer(request));
    House::new(Settings { articles, ..Settings::new() }, answer).await
}

async fn add(house: &House, mode: ArticleMode) {
    let urls = vec![house.url("a.test/feed")];
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
    let change = FeedSettingsChange { articles: Some(Some(mode)), ..Default::default() };
    house.act(Command::Set { target: Target::Feed("1".to_owned()), change }).await;
}

async fn poll(house: &House) {
    let feeds = Some(vec!["1".to_owned()]);
    house.act(Command::Poll { feeds }).await;
}

async fn apply(house: &House, text: &str) {
    let (file, text) = ("test.query".to_owned(), text.to_owned());
    let wish = QueriesCommand::Apply { file, text, past: None, account: None };
    house.act(Command::Query { wish }).await;
}

fn positions(house: &House, name: &str) -> Vec<(i64, i64)> {
    let Some(query) = house.store.query(name).unwrap() else { return Vec::new() };
    let page = house.store.query_entries(query.id, 0, 100).unwrap();
    page.entries.iter().map(|one| (one.position, one.entry.id.0)).collect()
}

fn is_there(house: &House, entry: i64) -> bool {
    matches!(house.store.article_state(EntryId(entry)), Ok(ArticleState::There { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_entries_get_their_pages_and_a_first_window_does_not() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    site.n_items.store(4, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| is_there(house, 3) && is_there(house, 4)).await);
    for (page, n) in [("1", 0), ("2", 0), ("3", 1), ("4", 1)] {
        assert_eq!(house.n_asked(&format!("a.test/page/{page}")), n, "page {page}");
    }
    assert_eq!(house.n_asked("a.test/robots.txt"), 1, "the rules hold for a day");
    let article = house.store.article(EntryId(3)).unwrap().unwrap();
    let text = article.content.unwrap();
    assert!(text.text.contains("Vulkan auf Island"), "{}", text.text);
    let entry = house.store.entry(EntryId(3)).unwrap().unwrap();
    assert_eq!(entry.summary.as_deref(), Some("Short."), "the feed's text stays");
    assert_eq!(entry.facts.language.unwrap().tag, "de", "the page shows the language");
    assert_eq!(entry.facts.topic, Some(11));
    let languages = house.store.languages().unwrap();
    assert_eq!(languages.iter().find(|one| one.language == "de").unwrap().n_entries, 2);
    assert!(house.store.check().unwrap().is_empty());
    poll(&house).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(house.n_asked("a.test/page/3"), 1, "a page is fetched once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn robots_bind_what_nobody_asked_for() {
    let site = Site::new();
    *site.robots.lock().unwrap() = "User-agent: *\nDisallow: /page/3\n".to_owned();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    site.n_items.store(4, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| is_there(house, 4)).await);
    let refused = |house: &House| {
        matches!(house.store.article_state(EntryId(3)), Ok(ArticleState::Nothing { .. }))
    };
    assert!(house.until(refused).await);
    assert_eq!(house.n_asked("a.test/page/3"), 0);
    let loaded = house.load_article(3).await;
    assert!(matches!(loaded, CommandResult::Article { words: Some(_), .. }), "{loaded:?}");
    assert_eq!(house.n_asked("a.test/page/3"), 1, "a person may read what a browser shows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_does_not_say_its_rules_is_asked_once_and_not_for_each_page() {
    let site = Site::new();
    site.is_broken.store(true, Ordering::SeqCst);
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    site.n_items.store(6, Ordering::SeqCst);
    poll(&house).await;
    let waits = |house: &House| {
        (3..=6).all(|entry| match house.store.article_state(EntryId(entry)) {
            Ok(ArticleState::Waiting(waiting)) => waiting.error.is_some(),
            _ => false,
        })
    };
    assert!(house.until(waits).await);
    assert_eq!(house.n_asked("a.test/robots.txt"), 1);
    assert_eq!(house.n_asked("a.test/page/3"), 0, "no rules, no page");
    // Each failure doubles the wait, and after a week the page is given up.
    house.clock.set(house.clock.now() + Duration::from_secs(3601));
    let origin = house.url("a.test/x").trim_end_matches("/x").to_owned();
    let answered_at = |house: &House, at| {
        house.store.robots(&origin).unwrap().is_some_and(|row| row.fetched_at == at)
    };
    let second = house.clock.now();
    assert!(house.until(|house| answered_at(house, second)).await);
    assert_eq!(house.n_asked("a.test/robots.txt"), 2);
    house.clock.set(house.clock.now() + Duration::from_secs(3601));
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(house.n_asked("a.test/robots.txt"), 2);
    house.clock.set(house.clock.now() + Duration::from_secs(7 * 86_400));
    let given_up = |house: &House| {
        (3..=6).all(|entry| {
            matches!(house.store.article_state(EntryId(entry)), Ok(ArticleState::Nothing { .. }))
        })
    };
    assert!(house.until(given_up).await);
    assert_eq!(house.n_asked("a.test/robots.txt"), 3);
    assert_eq!(house.store.n_articles_waiting().unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selector_is_tried_without_being_stored() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Never).await;
    let tried = async |selector: Option<&str>| {
        let selector = selector.map(str::to_owned);
        match house.act(Command::TryArticle { entry: 1, selector }).await {
            CommandResult::TriedArticle { words, text, reason, .. } => (words, text, reason),
            other => panic!("{other:?}"),
        }
    };
    let (words, text, reason) = tried(Some("article p:first-of-type")).await;
    assert!(words > 50 && text.starts_with("Der Vulkan") && reason.is_none(), "{text} {reason:?}");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(tried(None).await.1.lines().count(), 2);
    assert!(tried(Some("#nothing")).await.2.unwrap().contains("#nothing"));
    assert!(tried(Some("p:::")).await.2.is_some());
    assert!(matches!(house.store.article_state(EntryId(1)), Ok(ArticleState::NotAsked)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_article_stays_if_its_page_is_asked_for_again_in_vain() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Never).await;
    house.load_article(1).await;
    let before = house.store.article(EntryId(1)).unwrap().unwrap();
    let article_selector = Some(Some("#nothing".to_owned()));
    let change = FeedSettingsChange { article_selector, ..Default::default() };
    house.act(Command::Set { target: Target::Feed("1".to_owned()), change }).await;
    let again = house.load_article(1).await;
    assert!(matches!(again, CommandResult::Article { words: None, .. }), "{again:?}");
    assert_eq!(house.store.article(EntryId(1)).unwrap().unwrap(), before);
    assert!(is_there(&house, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_page_costs_an_article_and_nothing_else() {
    let site = Site::new();
    site.is_hostile.store(true, Ordering::SeqCst);
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Never).await;
    let loaded = house.load_article(1).await;
    let CommandResult::Article { words: None, reason: Some(reason), later: false, .. } = loaded
    else {
        panic!("{loaded:?}")
    };
    assert!(reason.contains("too deep"), "{reason}");
    site.n_items.store(3, Ordering::SeqCst);
    poll(&house).await;
    let filter = EntryFilter { feed: None, limit: 10 };
    assert_eq!(house.store.entries(EntryId(0), &filter).unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_wait_for_the_page_and_others_do_not() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    let queries = r#"
        CREATE FEED Volcano AS RETURN ALL FEEDS WHERE ARTICLE CONTAINS "vulkan";
        CREATE FEED Readers AS RETURN FEED Volcano WHERE TITLE CONTAINS "entry";
        CREATE FEED Both AS RETURN FEED Prompt WHERE ARTICLE CONTAINS "vulkan";
        CREATE FEED Topical AS RETURN ALL FEEDS WHERE TOPIC = "politics";
        CREATE FEED Prompt AS RETURN ALL FEEDS WHERE TITLE CONTAINS "entry";"#;
    apply(&house, queries).await;
    site.is_slow.store(true, Ordering::SeqCst);
    site.n_items.store(4, Ordering::SeqCst);
    poll(&house).await;
    assert_eq!(positions(&house, "Prompt"), [(1, 3), (2, 4)], "decides at once");
    assert_eq!(positions(&house, "Topical"), [(1, 3), (2, 4)]);
    assert_eq!(positions(&house, "Volcano"), [], "waits");
    site.is_slow.store(false, Ordering::SeqCst);
    assert!(house.until(|house| is_there(house, 3) && is_there(house, 4)).await);
    for name in ["Volcano", "Readers", "Both"] {
        let found = positions(&house, name);
        let places: Vec<i64> = found.iter().map(|one| one.0).collect();
        assert_eq!(places, [1, 2], "{name}: {found:?}");
    }
    assert_eq!(positions(&house, "Prompt").len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_over_the_past_waits_for_pages_that_are_on_their_way() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    site.is_slow.store(true, Ordering::SeqCst);
    site.n_items.store(3, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| house.n_asked("a.test/page/3") > 0).await);
    let text = r#"CREATE FEED Volcano AS RETURN ALL FEEDS WHERE ARTICLE CONTAINS "vulkan""#;
    let (file, text) = ("test.query".to_owned(), text.to_owned());
    let past = Some(86_400);
    house
        .act(Command::Query { wish: QueriesCommand::Apply { file, text, past, account: None } })
        .await;
    assert_eq!(positions(&house, "Volcano"), []);
    site.is_slow.store(false, Ordering::SeqCst);
    assert!(house.until(|house| positions(house, "Volcano") == [(1, 3)]).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_deadline_queries_decide_without_the_page_once() {
    let site = Site::new();
    let wait = Duration::from_secs(600);
    let mut house = house(&site, ArticlesSettings { wait, ..ArticlesSettings::default() }).await;
    add(&house, ArticleMode::Every).await;
    let queries = r#"CREATE FEED Without AS RETURN ALL FEEDS
        WHERE TITLE CONTAINS "entry" AND NOT ARTICLE CONTAINS "vulkan";
        CREATE FEED With AS RETURN ALL FEEDS WHERE ARTICLE CONTAINS "vulkan""#;
    apply(&house, queries).await;
    site.is_slow.store(true, Ordering::SeqCst);
    site.n_items.store(3, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| house.n_asked("a.test/page/3") > 0).await);
    assert_eq!(positions(&house, "Without"), []);
    // Nothing of the wait is in memory only.
    house.restart().await;
    house.clock.set(house.clock.now() + Duration::from_secs(601));
    assert!(house.until(|house| positions(house, "Without") == [(1, 3)]).await);
    site.is_slow.store(false, Ordering::SeqCst);
    house.clock.set(house.clock.now() + Duration::from_secs(6000));
    assert!(house.until(|house| is_there(house, 3)).await);
    assert_eq!(positions(&house, "Without"), [(1, 3)], "once");
    assert_eq!(positions(&house, "With"), [], "the deadline has decided");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_asked_for_again_is_asked_conditionally() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Never).await;
    house.load_article(1).await;
    let stored = |house: &House| house.store.article(EntryId(1)).unwrap().unwrap();
    let before = stored(&house);
    assert!(before.content.as_ref().unwrap().noarchive, "the header says so");
    house.clock.set(house.clock.now() + Duration::from_secs(60));
    let again = house.load_article(1).await;
    assert!(matches!(again, CommandResult::Article { words: Some(_), .. }), "{again:?}");
    let conditional = format!("a.test/page/1{CONDITIONAL}");
    assert_eq!((house.n_asked("a.test/page/1"), house.n_asked(&conditional)), (1, 1));
    let after = stored(&house);
    assert_eq!(after.content, before.content, "the article stays");
    assert!(after.fetched_at > before.fetched_at);
    assert_eq!(house.store.n_articles_waiting().unwrap(), 0);

    // Another rule makes another article of the same page.
    let article_selector = Some(Some("h1".to_owned()));
    let change = FeedSettingsChange { article_selector, ..Default::default() };
    house.act(Command::Set { target: Target::Feed("1".to_owned()), change }).await;
    house.load_article(1).await;
    assert_eq!((house.n_asked("a.test/page/1"), house.n_asked(&conditional)), (2, 1));
    assert!(stored(&house).content.unwrap().text.len() < before.content.unwrap().text.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_edit_of_an_entry_asks_for_its_page_again() {
    let site = Site::new();
    let house = house(&site, ArticlesSettings::default()).await;
    add(&house, ArticleMode::Every).await;
    site.n_items.store(3, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| is_there(house, 3)).await);
    let again = format!("a.test/page/3{CONDITIONAL}");
    for edition in 1..4 {
        site.edition.store(edition, Ordering::SeqCst);
        poll(&house).await;
        assert!(house.until(|house| house.n_asked(&again) == 1).await, "edition {edition}");
    }
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(house.n_asked(&again), 1, "texts that always change do not bring a request each");
    assert_eq!(house.n_asked("a.test/page/3"), 1);
    assert_eq!(house.n_asked("a.test/page/1"), 0, "pages that were never fetched stay so");
    assert!(is_there(&house, 3), "a 304 keeps the article");
}
