//! Icons: the feed's own one first, then those of the site; seldom, and with few requests.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::Command;
use engine::{ArticlesSettings, Settings};
use feed::FeedId;

use crate::scripted::{Answer, CONDITIONAL, House};

const DAY: Duration = Duration::from_secs(86_400);
/// The first bytes of a small picture.
const GIF: &str = "GIF89a\u{10}\0\u{10}\0\0\0\0;";

fn answered(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nETag: \"1\"\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// A feed of `a.test` that names an icon, and one of `b.test` without any icon.
fn answer(request: &str) -> Option<String> {
    if request.ends_with(CONDITIONAL) {
        return Some("HTTP/1.1 304 Not Modified\r\n\r\n".to_owned());
    }
    let document = |image: &str| {
        format!(
            "<rss version='2.0'><channel><title>t</title><link>/</link>{image}\
             <item><guid>1</guid></item></channel></rss>"
        )
    };
    let image = "<image><url>/own.gif</url><title>i</title><link>/i</link></image>";
    Some(match request {
        "a.test/feed" => answered("200 OK", &document(image)),
        "b.test/feed" => answered("200 OK", &document("")),
        "a.test/own.gif" => answered("200 OK", GIF),
        "b.test/" => answered("200 OK", "<link rel=icon href=/none.png><p>A site</p>"),
        _ => answered("404 Not Found", ""),
    })
}

/// Whether the result of every look is stored. A look that ended after the clock was set would
/// count from the later time.
fn is_idle(house: &House) -> bool {
    house.store.icons_due(house.clock.now(), 10).unwrap().is_empty()
}

fn n_icon_requests(house: &House, host: &str) -> usize {
    let polls = ["feed", "feed if changed"].map(|path| house.n_asked(&format!("{host}/{path}")));
    house.n_at(host) - polls.iter().sum::<usize>()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feeds_own_icon_comes_first_and_is_asked_for_once_in_thirty_days() {
    let articles = ArticlesSettings { icons: true, ..ArticlesSettings::default() };
    let answer: Answer = Arc::new(answer);
    let mut house = House::new(Settings { articles, ..Settings::new() }, answer).await;
    let urls = ["a.test/feed", "b.test/feed"].map(|place| house.url(place)).to_vec();
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
    let has_icon = |house: &House| house.store.feed_icon(FeedId(1)).unwrap().is_some();
    assert!(house.until(|house| has_icon(house) && n_icon_requests(house, "b.test") == 3).await);
    assert!(house.until(is_idle).await);
    assert_eq!(house.n_asked("a.test/own.gif"), 1);
    assert_eq!(n_icon_requests(&house, "a.test"), 1, "nothing else is asked of the site");
    let named = ["b.test/", "b.test/none.png", "b.test/favicon.ico"];
    assert_eq!(named.map(|place| house.n_asked(place)), [1, 1, 1]);
    assert_eq!(house.store.feed_icon(FeedId(2)).unwrap(), None);
    let row = house.store.feed(FeedId(1)).unwrap();
    assert_eq!(row.facts.icon, Some(house.url("a.test/own.gif")));
    assert_eq!(row.facts.title.as_deref(), Some("t"), "the image's title is not the feed's");

    // After a week the failure is looked at again, and the icon is not.
    house.clock.set(house.clock.now() + DAY * 8);
    house.restart().await;
    // A look that the restart interrupts is repeated.
    assert!(house.until(|house| n_icon_requests(house, "b.test") >= 6).await);
    assert_eq!(n_icon_requests(&house, "a.test"), 1);
    house.clock.set(house.clock.now() + DAY * 23);
    house.restart().await;
    let again = format!("a.test/own.gif{CONDITIONAL}");
    assert!(house.until(|house| house.n_asked(&again) == 1 && is_idle(house)).await);
    assert_eq!(n_icon_requests(&house, "a.test"), 2);
    assert!(has_icon(&house), "a 304 keeps the icon");

    let hash = house.store.feed_icon(FeedId(1)).unwrap().unwrap();
    house.act(Command::Remove { feed: house.url("a.test/feed"), account: None }).await;
    assert!(house.store.icon(&hash).unwrap().is_some());
    house.clock.set(house.clock.now() + Duration::from_secs(3601));
    let is_gone = |house: &House| house.store.icon(&hash).unwrap().is_none();
    assert!(house.until(is_gone).await, "the icon of a removed feed is deleted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_without_a_free_turn_does_not_keep_the_others_waiting() {
    let articles = ArticlesSettings { icons: true, ..ArticlesSettings::default() };
    let by_domain = [("b.test".to_owned(), DAY)].into();
    let gaps = engine::Gaps { default: Duration::ZERO, by_domain };
    let house = House::new(Settings { articles, gaps, ..Settings::new() }, Arc::new(answer)).await;
    let add = async |place: &str| {
        let urls = vec![house.url(place)];
        house
            .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
            .await;
    };
    add("b.test/feed").await;
    // The clock stands still, so its icon gets no turn.
    assert!(house.until(|house| house.engine.figures().waiting == 1).await);
    add("a.test/feed").await;
    let has_icon = |house: &House| house.store.feed_icon(FeedId(2)).unwrap().is_some();
    assert!(house.until(has_icon).await);
    assert_eq!(n_icon_requests(&house, "b.test"), 0);
}

/// Two podcasts of one site, each with its own cover.
fn podcasts(request: &str) -> Option<String> {
    if request.ends_with(CONDITIONAL) {
        return Some("HTTP/1.1 304 Not Modified\r\n\r\n".to_owned());
    }
    let document = |cover: &str| {
        format!(
            "<rss version='2.0'><channel><title>t</title><link>/</link>\
             <image><url>{cover}</url></image><item><guid>1</guid></item></channel></rss>"
        )
    };
    let picture = |n: &str| answered("200 OK", &format!("{GIF}{n}"));
    Some(match request {
        "a.test/one" => answered("200 OK", &document("/one.gif")),
        "a.test/two" => answered("200 OK", &document("/two.gif")),
        "a.test/one.gif" => picture("1"),
        "a.test/two.gif" => picture("2"),
        "a.test/favicon.ico" => picture("3"),
        _ => answered("404 Not Found", ""),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_podcasts_of_a_site_do_not_show_the_cover_of_the_first() {
    let articles = ArticlesSettings { icons: true, ..ArticlesSettings::default() };
    let answer: Answer = Arc::new(podcasts);
    let house = House::new(Settings { articles, ..Settings::new() }, answer).await;
    let add = async |place: &str| {
        let urls = vec![house.url(place)];
        house
            .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
            .await;
    };
    add("a.test/one").await;
    let icon = |house: &House, feed| house.store.feed_icon(FeedId(feed)).unwrap();
    assert!(house.until(|house| icon(house, 1).is_some()).await);
    let cover = icon(&house, 1);
    assert_eq!(house.n_asked("a.test/one.gif"), 1);
    add("a.test/two").await;
    assert!(house.until(|house| icon(house, 2).is_some() && icon(house, 2) != cover).await);
    assert_eq!(icon(&house, 1), icon(&house, 2), "both show the icon of the site");
    assert_eq!(house.n_asked("a.test/two.gif"), 0);
    assert_eq!(house.n_asked("a.test/favicon.ico"), 1);
}
