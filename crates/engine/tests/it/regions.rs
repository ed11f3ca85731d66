//! Feeds and pages that ask for a region without a terminal. They wait and say why. Nobody is
//! blamed, no try is counted, and no server is asked in vain.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use engine::Settings;
use feed::{ArticleMode, EntryId, FeedId, Outcome};
use store::{ArticleState, WaitingArticle};

use crate::scripted::{Answer, House, document};

const LACK: &str = "no terminal of region us is connected";

/// A house in which only terminals of `us` may ask `b.test`; there are none.
async fn house(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> House {
    let answer: Answer = Arc::new(move |request: &str| Some(answer(request)));
    let mut settings = Settings::new();
    settings.regions.insert("b.test".to_owned(), "us".to_owned());
    House::new(settings, answer).await
}

async fn add(house: &House, place: &str) {
    let (urls, tags) = (vec![house.url(place)], Vec::new());
    house.act(Command::Add { urls, tags, poll: false, force: true, account: None }).await;
    house.rest().await;
}

async fn set(house: &House, change: FeedSettingsChange) {
    house.act(Command::Set { target: Target::Feed("1".to_owned()), change }).await;
}

async fn poll(house: &House) -> CommandResult {
    house.act(Command::Poll { feeds: Some(vec!["1".to_owned()]) }).await
}

fn failures(house: &House) -> u32 {
    house.store.poll_input(FeedId(1)).unwrap().history.failures
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_waits_for_a_terminal_of_its_region_and_is_not_blamed() {
    let house = house(|_| document(&["1"])).await;
    add(&house, "a.test/feed").await;
    assert_eq!((house.n_at("a.test"), house.engine.figures().polls), (1, 1));
    let region = |name: Option<&str>| FeedSettingsChange {
        region: Some(name.map(str::to_owned)),
        ..FeedSettingsChange::default()
    };
    set(&house, region(Some("us"))).await;
    let CommandResult::Polled { polls } = poll(&house).await else { panic!("no answer") };
    assert_eq!((polls[0].outcome.as_str(), polls[0].detail.as_str()), ("refused", LACK));
    // By itself it comes again and again, and waits each time.
    house.clock.set(house.clock.now() + Duration::from_secs(30 * 86_400));
    house.pass(10).await;
    assert_eq!(house.n_at("a.test"), 1, "nobody was asked");
    assert_eq!(house.store.polls(FeedId(1), 9).unwrap().len(), 1, "nothing is in its history");
    assert_eq!((house.engine.figures().polls, failures(&house)), (1, 0), "no try is counted");
    set(&house, region(None)).await;
    house.pass(1).await;
    assert_eq!(house.n_at("a.test"), 2, "it goes on as soon as somebody may ask");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_into_a_region_without_a_terminal_does_not_ask_again_and_again() {
    let moved = |request: &str| match request {
        "a.test/feed" => {
            "HTTP/1.1 302 Found\r\nLocation: http://b.test/feed\r\nContent-Length: 0\r\n\r\n".into()
        }
        _ => document(&["1"]),
    };
    let house = house(moved).await;
    add(&house, "a.test/feed").await;
    house.pass(8).await;
    assert_eq!((house.n_at("a.test"), house.n_at("b.test")), (1, 0));
    assert!(house.store.polls(FeedId(1), 9).unwrap().is_empty(), "the poll is not over yet");
    house.pass(4).await;
    let polls = house.store.polls(FeedId(1), 9).unwrap();
    assert_eq!(polls[0].outcome, Outcome::Failed);
    let text = format!("{:?}", polls[0]);
    assert!(text.contains("it redirects to b.test") && text.contains(LACK), "{text}");
    assert_eq!(failures(&house), 0, "the feed is not to blame");
    assert!(house.n_at("a.test") <= 2, "{}", house.n_at("a.test"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_waits_for_a_terminal_of_its_region_and_no_try_is_counted() {
    let site: Arc<OnceLock<String>> = Arc::default();
    let links = Arc::clone(&site);
    let house = house(move |_| {
        let new = links.get().map(|link| format!("<item><guid>2</guid><link>{link}</link></item>"));
        let items = format!("{}<item><guid>1</guid></item>", new.unwrap_or_default());
        let body = format!("<rss version='2.0'><channel><title>t</title>{items}</channel></rss>");
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    })
    .await;
    add(&house, "a.test/feed").await;
    let every = Some(Some(ArticleMode::Every));
    set(&house, FeedSettingsChange { articles: every, ..FeedSettingsChange::default() }).await;
    site.set(house.url("b.test/page")).unwrap();
    poll(&house).await;
    let waiting = |house: &House| match house.store.article_state(EntryId(2)) {
        Ok(ArticleState::Waiting(waiting)) => Some(waiting),
        _ => None,
    };
    let mut before = house.clock.now();
    // Three tries are the limit.
    for n in 0..5 {
        let asked = |house: &House| waiting(house).is_some_and(|w| w.next_at > Some(before));
        assert!(house.until(asked).await, "round {n}: {:?}", waiting(&house));
        let Some(WaitingArticle { tries, error, next_at, .. }) = waiting(&house) else {
            panic!("the page waits")
        };
        assert_eq!((tries, error.as_deref()), (0, Some(LACK)), "round {n}");
        before = next_at.unwrap();
        house.clock.set(before);
    }
    let loaded = house.load_article(2).await;
    let CommandResult::Article { reason, later, .. } = loaded else { panic!("{loaded:?}") };
    assert_eq!((reason.as_deref(), later), (Some(LACK), true), "a reader learns why");
    assert_eq!(house.n_at("b.test"), 0, "neither the page nor robots.txt was asked for");
    let (of_domain, _) = house.store.articles_today("b.test", house.clock.now()).unwrap();
    assert_eq!(of_domain, 0, "it does not count against the ceiling of the day");
}
