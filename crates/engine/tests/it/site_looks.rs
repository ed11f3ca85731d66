//! Sites that several feeds link to are searched for feeds: once in 30 days, with one page each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use dispatch::command::Command;
use engine::{PeopleSettings, Settings};
use store::AccountId;

use crate::scripted::{Answer, House};

const DAY: Duration = Duration::from_secs(86_400);
const FEEDS: [&str; 3] = ["a.test/feed", "b.test/feed", "c.test/feed"];

fn answered(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Three feeds with an entry that links to `liked.test`, which names a feed, and to `shy.test`,
/// which does not want programs.
async fn house(suggestions: bool) -> House {
    let port = Arc::new(AtomicU16::new(0));
    let known = Arc::clone(&port);
    let answer: Answer = Arc::new(move |request| {
        let port = known.load(Ordering::SeqCst);
        let feed = format!(
            "<rss version='2.0'><channel><title>t</title><item><guid>1</guid><description>\
             &lt;a href='http://www.liked.test:{port}/page'&gt;x&lt;/a&gt; \
             &lt;a href='http://shy.test:{port}/page'&gt;y&lt;/a&gt;\
             </description></item></channel></rss>"
        );
        let page = "<link rel=alternate type='application/rss+xml' title=Liked href=/rss>";
        let moved = format!(
            "HTTP/1.1 301 Moved\r\nLocation: http://liked.test:{port}/\r\nContent-Length: 0\r\n\r\n"
        );
        Some(match request {
            request if FEEDS.contains(&request) => answered("200 OK", &feed),
            "www.liked.test/" => moved,
            "liked.test/" => answered("200 OK", page),
            "shy.test/robots.txt" => answered("200 OK", "User-agent: *\nDisallow: /\n"),
            _ => answered("404 Not Found", ""),
        })
    });
    let people = PeopleSettings { suggestions, ..PeopleSettings::default() };
    let mut house = House::new(Settings { people, ..Settings::new() }, answer).await;
    let url: url::Url = house.url("a.test/feed").parse().unwrap();
    port.store(url.port().unwrap(), Ordering::SeqCst);
    let urls = FEEDS.map(|place| house.url(place)).to_vec();
    let (tags, poll, force, account) = (Vec::new(), true, false, None);
    house.act(Command::Add { urls, tags, poll, force, account }).await;
    let n_linked = |house: &House| store::testing::count(&house.store, "linked_sites");
    assert!(house.until(|house| n_linked(house) == 6).await, "{}", n_linked(&house));
    // A search follows a start.
    house.restart().await;
    house
}

fn n_looks(house: &House) -> u64 {
    house.store.n_site_looks(house.clock.now() - DAY * 100).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linked_site_is_searched_once_in_thirty_days_and_robots_are_obeyed() {
    let mut house = house(true).await;
    assert!(house.until(|house| n_looks(house) == 2).await);
    let asked = |house: &House| {
        ["liked.test/robots.txt", "liked.test/", "shy.test/robots.txt", "shy.test/"]
            .map(|place| house.n_asked(place))
    };
    assert_eq!(asked(&house), [1, 1, 1, 0]);
    let since = house.clock.now() - DAY;
    let found = house.store.linked_sites_of(AccountId::LOCAL, 3, since, 10).unwrap();
    assert_eq!(
        found.iter().map(|one| (one.site.as_str(), one.n_feeds)).collect::<Vec<_>>(),
        [("liked.test", 3)]
    );
    let feeds = house.store.site_feeds(&["liked.test".to_owned()]).unwrap();
    assert_eq!(feeds[0].url, house.url("liked.test/rss"));
    assert_eq!(feeds[0].title.as_deref(), Some("Liked"));

    house.clock.set(house.clock.now() + DAY * 20);
    house.restart().await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert_eq!(asked(&house), [1, 1, 1, 0], "its time has not come");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_searched_if_suggestions_are_switched_off() {
    let house = house(false).await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert_eq!((n_looks(&house), house.n_at("liked.test"), house.n_at("shy.test")), (0, 0, 0));
    house.engine.stop().await;
}
