//! Entries that get their page without being asked, and links that lead to something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use engine::{ArticlesSettings, Settings};
use feed::{ArticleMode, EntryId};
use store::{ArticleState, LanguageOrigin};

use crate::scripted::{Answer, House};

/// Each entry links to the place of its number, and a date says how many days ago it appeared.
const ENTRIES: [(&str, u64); 4] = [("page", 0), ("file.pdf", 0), ("huge", 0), ("page?old", 9)];

fn answered(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn answer(request: &str, n_items: usize, now: feed::Time) -> String {
    let path = request.split_once('/').map(|(_, path)| path).unwrap_or_default();
    let item = |(n, (link, days)): (usize, &(&str, u64))| {
        let at = now - Duration::from_secs(days * 86_400);
        format!("<item><guid>{n}</guid><link>/{link}</link><pubDate>{at}</pubDate></item>")
    };
    let sentence = "The river rose in the night, and the people carried their books away. ";
    match path {
        "feed" => {
            let items: String = ENTRIES.iter().enumerate().take(n_items).map(item).collect();
            let body = format!(
                "<rss version='2.0'><channel><title>t</title><link>http://a.test/</link>\
                 <item><guid>first</guid><link>/first</link></item>{items}</channel></rss>"
            );
            answered("application/rss+xml", &body)
        }
        "robots.txt" => answered("text/plain", ""),
        "file.pdf" => answered("application/pdf", "%PDF"),
        "huge" => answered("text/html", &"<p>word</p>".repeat(2_000_000)),
        _ => answered("text/html", &format!("<title>t</title><p>{}</p>", sentence.repeat(12))),
    }
}

/// A feed with one entry and the tag `news`, and the number of entries that it shows besides.
async fn house(articles: ArticlesSettings) -> (House, Arc<AtomicUsize>) {
    let n_items: Arc<AtomicUsize> = Arc::default();
    let shown = Arc::clone(&n_items);
    let now = feed::Time::from_secs(1_700_000_000);
    let respond: Answer =
        Arc::new(move |request: &str| Some(answer(request, shown.load(Ordering::SeqCst), now)));
    let house = House::new(Settings { articles, ..Settings::new() }, respond).await;
    let (urls, tags) = (vec![house.url("a.test/feed")], vec!["news".to_owned()]);
    house.act(Command::Add { urls, tags, poll: true, force: false, account: None }).await;
    (house, n_items)
}

async fn set(house: &House, target: Target, mode: ArticleMode) {
    let change = FeedSettingsChange { articles: Some(Some(mode)), ..Default::default() };
    house.act(Command::Set { target, change }).await;
}

async fn poll(house: &House) {
    house.act(Command::Poll { feeds: Some(vec!["1".to_owned()]) }).await;
}

fn state(house: &House, entry: i64) -> ArticleState {
    house.store.article_state(EntryId(entry)).unwrap()
}

/// Returns the entry with a link that ends so.
fn entry(house: &House, link: &str) -> i64 {
    let filter = store::EntryFilter { feed: None, limit: 10 };
    let rows = house.store.entries(EntryId(0), &filter).unwrap();
    let ends = |row: &&store::EntryRow| row.link.as_deref().is_some_and(|l| l.ends_with(link));
    rows.iter().find(ends).unwrap().id.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_asks_for_the_pages_of_its_feeds_and_a_feed_for_its_own() {
    let (house, n_items) = house(ArticlesSettings::default()).await;
    set(&house, Target::Tag("news".to_owned()), ArticleMode::Every).await;
    n_items.store(1, Ordering::SeqCst);
    poll(&house).await;
    assert!(house.until(|house| matches!(state(house, 2), ArticleState::There { .. })).await);
    set(&house, Target::Feed("1".to_owned()), ArticleMode::Never).await;
    n_items.store(4, Ordering::SeqCst);
    poll(&house).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    for entry in 3..=5 {
        assert_eq!(state(&house, entry), ArticleState::NotAsked, "the feed's own setting wins");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_entries_wait_for_a_click_and_files_are_no_articles() {
    let (house, n_items) = house(ArticlesSettings::default()).await;
    set(&house, Target::Feed("1".to_owned()), ArticleMode::Every).await;
    n_items.store(4, Ordering::SeqCst);
    poll(&house).await;
    let reason = |house: &House, link| match state(house, entry(house, link)) {
        ArticleState::Nothing { reason } => reason,
        _ => String::new(),
    };
    assert!(house.until(|house| reason(house, "/file.pdf").contains("application/pdf")).await);
    assert!(house.until(|house| !reason(house, "/huge").is_empty()).await);
    let code = |link| {
        let row = house.store.article(EntryId(entry(&house, link))).unwrap().unwrap();
        row.content.unwrap_err().code
    };
    assert_eq!((code("/file.pdf").as_str(), code("/huge").as_str()), ("not-html", "too-large"));
    let old = entry(&house, "/page?old");
    assert_eq!(state(&house, old), ArticleState::NotAsked, "nine days old");
    let loaded = house.load_article(old).await;
    assert!(matches!(loaded, CommandResult::Article { words: Some(_), .. }), "{loaded:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_says_nothing_has_the_language_of_the_operator() {
    let default_language = Some("pt".to_owned());
    let (house, _) = house(ArticlesSettings { default_language, ..Default::default() }).await;
    let language = house.store.entry(EntryId(1)).unwrap().unwrap().facts.language.unwrap();
    assert_eq!((language.tag.as_str(), language.source), ("pt", LanguageOrigin::Default));
}
