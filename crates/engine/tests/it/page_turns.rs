//! Turns of the pages behind entries: redirects, sites that ask us to wait, many clicks, a setting
//! that is switched off, and requests whose end is never recorded.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use engine::{Gaps, Settings};
use feed::{ArticleMode, EntryId};
use store::{ArticleState, WaitingArticle};

use crate::scripted::{Answer, House};

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Site {
    n_items: AtomicUsize,
    robots: Mutex<String>,
    /// The beginning of all links; empty: the site of the feed.
    links: Mutex<String>,
    /// The header of answers that ask us to wait; empty: none does.
    retry_after: Mutex<String>,
    /// Pages wait.
    is_slow: AtomicBool,
}

fn answered(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

impl Site {
    /// Pages below `/go/` redirect to `/private/`.
    fn answer(&self, request: &str) -> Option<String> {
        let path = request.split_once('/').map(|(_, path)| path).unwrap_or_default();
        if path.starts_with("feed") {
            let links = self.links.lock().unwrap().clone();
            let items: String = (1..=self.n_items.load(Ordering::SeqCst))
                .rev()
                .map(|n| format!("<item><guid>{path} {n}</guid><link>{links}/go/{n}</link></item>"))
                .collect();
            let body = format!(
                "<rss version='2.0'><channel><title>t</title><link>http://a.test/</link>{items}\
                 </channel></rss>"
            );
            return Some(answered("200 OK", "application/rss+xml", &body));
        }
        if path == "robots.txt" {
            let robots = self.robots.lock().unwrap().clone();
            return Some(answered("200 OK", "text/plain", &robots));
        }
        if self.is_slow.load(Ordering::SeqCst) {
            return None;
        }
        let wait = self.retry_after.lock().unwrap().clone();
        if !wait.is_empty() {
            let kind = format!("text/plain\r\nRetry-After: {wait}");
            return Some(answered("503 Service Unavailable", &kind, ""));
        }
        if let Some(n) = path.strip_prefix("go/") {
            let kind = format!("text/plain\r\nLocation: /private/{n}");
            return Some(answered("302 Found", &kind, ""));
        }
        let sentence = "The river rose in the night, and the people carried their books away. ";
        let body = format!("<title>t</title><p>{}</p>", sentence.repeat(12));
        Some(answered("200 OK", "text/html", &body))
    }
}

/// A feed of `a.test` whose first document had one entry and whose next one has `n_items`.
async fn house(site: &Arc<Site>, n_items: usize, gaps: Gaps) -> House {
    let answering = Arc::clone(site);
    let answer: Answer = Arc::new(move |request: &str| answering.answer(request));
    let house = House::new(Settings { gaps, ..Settings::new() }, answer).await;
    site.n_items.store(1, Ordering::SeqCst);
    add(&house, &["a.test/feed"]).await;
    set_mode(&house, ArticleMode::Every).await;
    site.n_items.store(n_items, Ordering::SeqCst);
    house
}

async fn add(house: &House, places: &[&str]) {
    let urls = places.iter().map(|place| house.url(place)).collect();
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
}

async fn set_mode(house: &House, mode: ArticleMode) {
    set_mode_of(house, "1", mode).await;
}

async fn set_mode_of(house: &House, feed: &str, mode: ArticleMode) {
    let change = FeedSettingsChange { articles: Some(Some(mode)), ..Default::default() };
    house.act(Command::Set { target: Target::Feed(feed.to_owned()), change }).await;
}

async fn poll(house: &House) {
    house.act(Command::Poll { feeds: Some(vec!["1".to_owned()]) }).await;
}

fn no_gaps() -> Gaps {
    Settings::new().gaps
}

fn state(house: &House, entry: i64) -> ArticleState {
    house.store.article_state(EntryId(entry)).unwrap()
}

fn waiting(house: &House, entry: i64) -> Option<WaitingArticle> {
    match state(house, entry) {
        ArticleState::Waiting(waiting) => Some(waiting),
        _ => None,
    }
}

fn is_there(house: &House, entry: i64) -> bool {
    matches!(state(house, entry), ArticleState::There { .. })
}

fn nothing(house: &House, entry: i64, why: &str) -> bool {
    matches!(state(house, entry), ArticleState::Nothing { reason } if reason.contains(why))
}

/// The number of requests that wait for the gap of their domain.
fn n_in_line(house: &House) -> usize {
    house.engine.figures().waiting
}

/// Lets minutes pass until `done` holds. The gap counts from the end of a request, so a request
/// needs a second minute if its predecessor ended after the clock was set.
async fn pass_until(house: &House, done: impl Fn(&House) -> bool) -> bool {
    for n_minutes in 0..20 {
        let wait = Duration::from_millis(if n_minutes == 0 { 300 } else { 5000 });
        if tokio::time::timeout(wait, house.until(&done)).await == Ok(true) {
            return true;
        }
        house.clock.set(house.clock.now() + MINUTE);
    }
    false
}

fn n_private(house: &House) -> usize {
    (1..=9).map(|n| house.n_asked(&format!("a.test/private/{n}"))).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn robots_bind_the_page_that_a_link_leads_to() {
    let site = Arc::new(Site::default());
    *site.robots.lock().unwrap() = "User-agent: *\nDisallow: /private\n".to_owned();
    let house = house(&site, 2, no_gaps()).await;
    poll(&house).await;
    assert!(house.until(|house| nothing(house, 2, "robots.txt")).await);
    assert_eq!(house.n_asked("a.test/go/2"), 1);
    assert_eq!(n_private(&house), 0);
    assert_eq!(house.n_asked("a.test/robots.txt"), 1, "the rules are asked for once");
    let loaded = house.load_article(2).await;
    assert!(matches!(loaded, CommandResult::Article { words: Some(_), .. }), "{loaded:?}");
}

/// RFC 9309, 2.5: the first 500 KiB of a file count, however long it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_rules_of_a_very_long_robots_file_hold() {
    let site = Arc::new(Site::default());
    let comments = "# one more comment\n".repeat(160_000);
    let file = format!("User-agent: *\nDisallow: /go/2\n{comments}Disallow: /go/3\n");
    assert!(file.len() > 3_000_000);
    *site.robots.lock().unwrap() = file;
    let house = house(&site, 3, no_gaps()).await;
    poll(&house).await;
    assert!(house.until(|house| is_there(house, 3) && nothing(house, 2, "robots.txt")).await);
    assert_eq!(house.n_asked("a.test/go/2"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_asks_for_a_long_wait_loses_no_page() {
    let site = Arc::new(Site::default());
    let house = house(&site, 3, no_gaps()).await;
    *site.retry_after.lock().unwrap() = "7200".to_owned();
    poll(&house).await;
    // The wait begins when the answer has been handled.
    let has_failed = |house: &House| waiting(house, 2).is_some_and(|one| one.error.is_some());
    assert!(house.until(has_failed).await, "{:?}", state(&house, 2));
    assert_eq!(house.n_asked("a.test/go/2"), 1);
    // The wait is far longer than that between three tries.
    for _ in 0..7 {
        let now = house.clock.now() + MINUTE * 15;
        house.clock.set(now);
        let is_later = |house: &House, entry| {
            waiting(house, entry).and_then(|one| one.next_at).is_some_and(|at| at > now)
        };
        let all_wait = |house: &House| is_later(house, 2) && is_later(house, 3);
        assert!(house.until(all_wait).await, "{:?} {:?}", state(&house, 2), state(&house, 3));
        // A page that does not wait would be asked for now.
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    let n_asked = house.n_asked("a.test/go/2") + house.n_asked("a.test/go/3");
    assert_eq!(n_asked, 1, "the site was left alone");
    for entry in [2, 3] {
        let state = state(&house, entry);
        assert!(matches!(state, ArticleState::Waiting(_)), "entry {entry}: {state:?}");
    }
    site.retry_after.lock().unwrap().clear();
    house.clock.set(house.clock.now() + MINUTE * 30);
    assert!(house.until(|house| is_there(house, 2) && is_there(house, 3)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_that_could_not_be_asked_for_are_asked_for_after_the_wait() {
    let site = Arc::new(Site::default());
    let house = house(&site, 1, no_gaps()).await;
    let origin = house.url("a.test/x").trim_end_matches("/x").to_owned();
    site.links.lock().unwrap().clone_from(&origin);
    add(&house, &["b.test/feed"]).await;
    set_mode_of(&house, "2", ArticleMode::Every).await;
    // A click brings the wait before anybody knows the rules.
    *site.retry_after.lock().unwrap() = "1800".to_owned();
    house.act(Command::Article { entry: 1 }).await;
    site.retry_after.lock().unwrap().clear();
    site.n_items.store(2, Ordering::SeqCst);
    house.act(Command::Poll { feeds: Some(vec!["2".to_owned()]) }).await;
    let waits = |house: &House| waiting(house, 3).is_some_and(|one| one.error.is_some());
    // The answer to the click also lets the other pages of the site rest for a minute.
    house.clock.set(house.clock.now() + MINUTE);
    assert!(house.until(waits).await, "{:?}", state(&house, 3));
    assert_eq!(house.n_asked("a.test/robots.txt"), 0);
    assert_eq!(house.store.robots(&origin).unwrap(), None, "it was not asked");
    house.clock.set(house.clock.now() + MINUTE * 31);
    assert!(house.until(|house| is_there(house, 3)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clicks_do_not_stop_the_polls_of_a_domain() {
    let site = Arc::new(Site::default());
    let by_domain = [("a.test".to_owned(), MINUTE)].into();
    let gaps = Gaps { default: Duration::ZERO, by_domain };
    let house = house(&site, 1, gaps).await;
    site.n_items.store(12, Ordering::SeqCst);
    set_mode(&house, ArticleMode::Never).await;
    house.clock.set(house.clock.now() + MINUTE);
    poll(&house).await;
    let n_polls = || house.n_asked("a.test/feed");
    assert_eq!(n_polls(), 2);
    for entry in 1..=12 {
        assert!(house.store.request_article(EntryId(entry), house.clock.now()).unwrap());
    }
    // The first page waits for its turn before the poll is due. A click brings two requests.
    assert!(house.until(|house| n_in_line(house) == 1).await);
    let n_before = house.n_at("a.test");
    house.clock.set(house.clock.now() + MINUTE * 60 * 24);
    for n in 1..=9 {
        let is_sent = |house: &House| house.n_at("a.test") >= n_before + n;
        assert!(pass_until(&house, is_sent).await, "request {n}");
    }
    assert!(n_polls() > 2, "{} pages were asked for instead", n_private(&house));
    assert!(n_private(&house) > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_does_not_wait_behind_a_page_that_nobody_asked_for() {
    let site = Arc::new(Site::default());
    let by_domain = [("a.test".to_owned(), MINUTE)].into();
    let house = house(&site, 2, Gaps { default: Duration::ZERO, by_domain }).await;
    house.clock.set(house.clock.now() + MINUTE);
    poll(&house).await;
    // The page of the new entry waits for its turn: the clock stands still.
    assert!(house.until(|house| n_in_line(house) == 1).await);
    assert!(house.store.request_article(EntryId(1), house.clock.now()).unwrap());
    assert!(house.until(|house| n_in_line(house) == 2).await);
    assert_eq!(house.n_asked("a.test/robots.txt"), 0);
    house.clock.set(house.clock.now() + MINUTE);
    assert!(house.until(|house| house.n_asked("a.test/go/1") == 1).await);
    assert_eq!(house.n_asked("a.test/robots.txt"), 0, "the click goes first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_that_is_switched_off_asks_for_no_more_pages() {
    let site = Arc::new(Site::default());
    let house = house(&site, 4, no_gaps()).await;
    site.is_slow.store(true, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| house.n_asked("a.test/go/2") == 1).await);
    set_mode(&house, ArticleMode::Never).await;
    site.is_slow.store(false, Ordering::SeqCst);
    let off = |house: &House| [3, 4].iter().all(|entry| nothing(house, *entry, "switched off"));
    assert!(house.until(off).await);
    assert!(is_there(&house, 2), "it was under way");
    assert_eq!(n_private(&house), 1);
    assert_eq!(house.store.n_articles_waiting().unwrap(), 0);
    let loaded = house.load_article(3).await;
    assert!(matches!(loaded, CommandResult::Article { words: Some(_), .. }), "{loaded:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_end_is_never_recorded_is_given_up() {
    let site = Arc::new(Site::default());
    let mut house = house(&site, 2, no_gaps()).await;
    site.is_slow.store(true, Ordering::SeqCst);
    poll(&house).await;
    for n in 1..=3 {
        assert!(house.until(|house| house.n_asked("a.test/go/2") == n).await, "try {n}");
        house.restart().await;
        house.clock.set(house.clock.now() + MINUTE * 10);
    }
    assert!(house.until(|house| nothing(house, 2, "3 tries")).await);
    assert_eq!(house.n_asked("a.test/go/2"), 3);
    assert_eq!(house.store.n_articles_waiting().unwrap(), 0);
}
