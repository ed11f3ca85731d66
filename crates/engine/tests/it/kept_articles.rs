//! Pages behind entries and their articles: which of them are kept, and for how long.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::{Command, CommandResult};
use engine::{ArticlesSettings, Settings};
use feed::EntryId;
use store::ArticleState;

use crate::scripted::{Answer, House};

const DAY: Duration = Duration::from_secs(86_400);

fn page() -> String {
    let sentence = "The river rose in the night, and the people carried their books upstairs. ";
    format!("<title>River</title><article><h1>River</h1><p>{}</p></article>", sentence.repeat(20))
}

/// A feed with one entry, whose page was loaded.
async fn loaded(articles: ArticlesSettings) -> House {
    let answer: Answer = Arc::new(|request: &str| {
        let (kind, body) = match request.ends_with("feed") {
            true => (
                "application/rss+xml",
                "<rss version='2.0'><channel><title>t</title><link>http://a.test/</link><item>\
                 <guid>1</guid><title>River</title><link>/page</link><description>Short.\
                 </description></item></channel></rss>"
                    .to_owned(),
            ),
            false => ("text/html", page()),
        };
        let length = body.len();
        Some(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    });
    let house = House::new(Settings { articles, ..Settings::new() }, answer).await;
    let urls = vec![house.url("a.test/feed")];
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
    let done = house.act(Command::Article { entry: 1 }).await;
    assert!(matches!(done, CommandResult::Article { words: Some(_), .. }), "{done:?}");
    house
}

/// Tries a selector. Returns the words that it found.
async fn tried(house: &House) -> u64 {
    let selector = Some("h1".to_owned());
    match house.act(Command::TryArticle { entry: 1, selector }).await {
        CommandResult::TriedArticle { words, reason: None, .. } => words,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_kept_only_if_the_operator_says_so() {
    let house = loaded(ArticlesSettings { keep_html: true, ..ArticlesSettings::default() }).await;
    let kept = house.store.article_page(EntryId(1)).unwrap();
    assert_eq!(kept, Some(page().into_bytes()), "as it came");
    assert_eq!(tried(&house).await, 1);
    assert_eq!(house.n_asked("a.test/page"), 1, "a trial reads the page that is there");

    let house = loaded(ArticlesSettings::default()).await;
    assert_eq!(house.store.article_page(EntryId(1)).unwrap(), None);
    assert_eq!(tried(&house).await, 1);
    assert_eq!(house.n_asked("a.test/page"), 2, "a trial asks for the page");
    assert_eq!(house.store.article_page(EntryId(1)).unwrap(), None, "and keeps nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn articles_have_an_age_of_their_own() {
    let age_max = Some(2 * DAY);
    let house = loaded(ArticlesSettings { age_max, ..ArticlesSettings::default() }).await;
    let is_there = |house: &House| {
        matches!(house.store.article_state(EntryId(1)), Ok(ArticleState::There { .. }))
    };
    house.clock.set(house.clock.now() + DAY);
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert!(is_there(&house), "it is a day old");
    house.clock.set(house.clock.now() + 2 * DAY);
    assert!(house.until(|house| !is_there(house)).await);
    let entry = house.store.entry(EntryId(1)).unwrap().unwrap();
    assert_eq!(entry.summary.as_deref(), Some("Short."), "the feed's text stays");
    assert_eq!(house.n_asked("a.test/page"), 1, "nobody asks for it again");
}
