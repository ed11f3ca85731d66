//! The limits of the pages behind entries: the ceilings of a day, the number of tries, and the
//! rest of a domain whose pages do not come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use engine::{ArticlesSettings, Settings};
use feed::{ArticleMode, EntryId};
use store::ArticleState;

use crate::scripted::{Answer, House};

const DAY: Duration = Duration::from_secs(86_400);
const MINUTE: Duration = Duration::from_secs(60);

struct Site {
    n_items: AtomicUsize,
    /// Pages are answered with an error.
    is_broken: AtomicBool,
}

impl Site {
    fn answer(&self, request: &str) -> Option<String> {
        let path = request.split_once('/').map(|(_, path)| path).unwrap_or_default();
        let sentence = "The river rose in the night, and the people carried their books away. ";
        let (status, kind, body) = if path.starts_with("feed") {
            let items: String = (1..=self.n_items.load(Ordering::SeqCst))
                .rev()
                .map(|n| format!("<item><guid>{n}</guid><link>/page/{n}</link></item>"))
                .collect();
            let document = format!(
                "<rss version='2.0'><channel><title>t</title><link>http://a.test/</link>{items}\
                 </channel></rss>"
            );
            ("200 OK", "application/rss+xml", document)
        } else if path == "robots.txt" {
            ("404 Not Found", "text/plain", String::new())
        } else if self.is_broken.load(Ordering::SeqCst) {
            ("500 Internal Server Error", "text/html", String::new())
        } else {
            ("200 OK", "text/html", format!("<title>t</title><p>{}</p>", sentence.repeat(12)))
        };
        let length = body.len();
        Some(format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }
}

/// A feed whose first document had one entry and whose next one has `n_items`.
async fn house(n_items: usize, articles: ArticlesSettings) -> (House, Arc<Site>) {
    let (n_first, is_broken) = (AtomicUsize::new(1), AtomicBool::new(false));
    let site = Arc::new(Site { n_items: n_first, is_broken });
    let answering = Arc::clone(&site);
    let answer: Answer = Arc::new(move |request: &str| answering.answer(request));
    let house = House::new(Settings { articles, ..Settings::new() }, answer).await;
    let urls = vec![house.url("a.test/feed")];
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
    let articles = Some(Some(ArticleMode::Every));
    let change = FeedSettingsChange { articles, ..Default::default() };
    house.act(Command::Set { target: Target::Feed("1".to_owned()), change }).await;
    site.n_items.store(n_items, Ordering::SeqCst);
    (house, site)
}

async fn poll(house: &House) {
    house.act(Command::Poll { feeds: Some(vec!["1".to_owned()]) }).await;
}

fn n_there(house: &House) -> usize {
    let state = |entry| house.store.article_state(EntryId(entry));
    (2..=5).filter(|entry| matches!(state(*entry), Ok(ArticleState::There { .. }))).count()
}

fn n_pages(house: &House) -> usize {
    (1..=5).map(|n| house.n_asked(&format!("a.test/page/{n}"))).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_gives_no_more_pages_in_a_day_than_the_operator_allows() {
    let articles = ArticlesSettings { per_domain_max: 2, ..ArticlesSettings::default() };
    let (house, _site) = house(5, articles).await;
    poll(&house).await;
    let rest_waits = |house: &House| {
        let waits = |entry| match house.store.article_state(EntryId(entry)) {
            Ok(ArticleState::Waiting(waiting)) => {
                waiting.error.is_some_and(|why| why.contains("in a day"))
            }
            _ => false,
        };
        (2..=5).filter(|entry| waits(*entry)).count() == 2
    };
    assert!(house.until(rest_waits).await);
    assert_eq!((n_there(&house), n_pages(&house)), (2, 2));
    // A click is a person's request: the ceilings are for pages that nobody asked for.
    let loaded = house.load_article(1).await;
    assert!(matches!(loaded, CommandResult::Article { words: Some(_), .. }), "{loaded:?}");
    house.clock.set(house.clock.now() + DAY);
    assert!(house.until(|house| n_there(house) == 4).await, "the next day brings the others");
    assert_eq!(n_pages(&house), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_tried_three_times_and_its_domain_rests_in_between() {
    let (house, site) = house(3, ArticlesSettings::default()).await;
    site.is_broken.store(true, Ordering::SeqCst);
    poll(&house).await;
    // The rest begins when the answer has been handled.
    let has_failed = |house: &House| {
        (2..=3).any(|entry| match house.store.article_state(EntryId(entry)) {
            Ok(ArticleState::Waiting(waiting)) => waiting.error.is_some(),
            _ => false,
        })
    };
    assert!(house.until(has_failed).await);
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(n_pages(&house), 1, "the other page waits until the domain has rested");
    house.clock.set(house.clock.now() + MINUTE);
    assert!(house.until(|house| n_pages(house) == 2).await);
    // Polls of the domain go on.
    poll(&house).await;
    let given_up = |house: &House| {
        let state = |entry| house.store.article_state(EntryId(entry));
        (2..=3).all(|entry| match state(entry) {
            Ok(ArticleState::Nothing { reason }) => reason.contains("3 tries"),
            _ => false,
        })
    };
    // Each try needs a look of the engine and some time of the clock. Five days are enough, and
    // after seven the pages would be given up for another reason.
    for _ in 0..480 {
        if given_up(&house) {
            break;
        }
        house.clock.set(house.clock.now() + MINUTE * 15);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(given_up(&house));
    assert_eq!(n_pages(&house), 6, "two pages, three tries each");
    assert_eq!(house.store.n_articles_waiting().unwrap(), 0);
}
