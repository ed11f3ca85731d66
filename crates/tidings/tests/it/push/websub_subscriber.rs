//! The published test cases for subscribers (websub.rocks, which accompanies the W3C
//! recommendation), by their numbers, each over loopback. Test 101 discovers hubs in HTML pages.
//! It does not apply, since we subscribe to feeds only.

use crate::hub::{Hub, Reachable};
use crate::program::eventually;
use crate::wire::Response;

/// Subscribes to a feed at `path`. Returns the first request to the hub.
#[track_caller]
fn asked_for(hub: &Hub, path: &str) -> (Reachable, crate::hub::Wish) {
    let program = Reachable::start("");
    program.add(&hub.url(path));
    let wish = hub.wish(0);
    assert_eq!(wish.mode, "subscribe");
    assert!(wish.callback.as_str().starts_with(&format!("http://{}/websub/", program.listen)));
    let token = wish.callback.path_segments().unwrap().next_back().unwrap();
    assert!(token.len() >= 24 && wish.secret.len() >= 24, "nobody guesses them: {wish:?}");
    (program, wish)
}

#[track_caller]
fn asked_topic(hub: &Hub, path: &str) -> String {
    asked_for(hub, path).1.topic
}

fn links(hub: &str, own: &str) -> String {
    format!("<{hub}>; rel=\"hub\", <{own}>; rel=\"self\"")
}

#[test]
fn websub_100_hub_and_topic_are_found_in_http_headers() {
    let hub = Hub::start();
    let said = links(&hub.url("/hub"), &hub.url("/100"));
    let feed = crate::documents::rss("news", 2);
    hub.set("/100", Response::rss(feed).with("Link", said));
    assert_eq!(asked_topic(&hub, "/100"), hub.url("/100"));
}

#[test]
fn websub_102_hub_and_topic_are_found_in_an_atom_feed() {
    let hub = Hub::start();
    let (at, own) = (hub.url("/hub"), hub.url("/102"));
    let feed = format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>urn:x</id>\
         <link rel=\"hub\" href=\"{at}\"/><link rel=\"self\" href=\"{own}\"/>\
         <updated>2024-01-01T00:00:00Z</updated></feed>"
    );
    hub.set("/102", Response::new(200).with("Content-Type", "application/atom+xml").body(feed));
    assert_eq!(asked_topic(&hub, "/102"), own);
}

#[test]
fn websub_103_hub_and_topic_are_found_in_an_rss_feed() {
    let hub = Hub::start();
    hub.set("/103", Response::rss(hub.rss("/hub", "/103", 0..2)));
    assert_eq!(asked_topic(&hub, "/103"), hub.url("/103"));
}

#[test]
fn websub_104_http_headers_go_before_what_the_document_says() {
    let hub = Hub::start();
    let said = links(&hub.url("/hub"), &hub.url("/104/right"));
    let feed = hub.rss("/wrong-hub", "/104/wrong", 0..2);
    hub.set("/104", Response::rss(feed).with("Link", said));
    let (_program, wish) = asked_for(&hub, "/104");
    assert_eq!((wish.path.as_str(), wish.topic), ("/hub", hub.url("/104/right")));
}

#[test]
fn websub_200_the_topic_is_what_the_feed_calls_itself() {
    let hub = Hub::start();
    hub.set("/200", Response::rss(hub.rss("/hub", "/200/self", 0..2)));
    assert_eq!(asked_topic(&hub, "/200"), hub.url("/200/self"));
}

#[test]
fn websub_201_a_topic_that_redirects_for_now_is_followed() {
    let hub = Hub::start();
    hub.set("/201", Response::new(302).with("Location", "/201/now"));
    hub.set("/201/now", Response::rss(hub.rss("/hub", "/201/now", 0..2)));
    assert_eq!(asked_topic(&hub, "/201"), hub.url("/201/now"));
}

#[test]
fn websub_202_a_topic_that_moved_for_good_is_followed() {
    let hub = Hub::start();
    hub.set("/202", Response::new(301).with("Location", "/202/now"));
    hub.set("/202/now", Response::rss(hub.rss("/hub", "/202/now", 0..2)));
    assert_eq!(asked_topic(&hub, "/202"), hub.url("/202/now"));
}

/// A hub redirects with this status. The second request must equal the first one.
#[track_caller]
fn redirected(status: u16) {
    let hub = Hub::start();
    hub.set("/away", Response::new(status).with("Location", "/hub"));
    hub.set("/feed", Response::rss(hub.rss("/away", "/feed", 0..2)));
    let (_program, first) = asked_for(&hub, "/feed");
    let second = hub.wish(1);
    assert_eq!((first.path.as_str(), second.path.as_str()), ("/away", "/hub"));
    assert_eq!(crate::hub::Wish { path: second.path.clone(), ..first }, second);
    second.confirm();
}

#[test]
fn websub_203_a_hub_that_redirects_for_now_is_followed() {
    redirected(307);
}

#[test]
fn websub_204_a_hub_that_moved_for_good_is_followed() {
    redirected(308);
}

#[test]
fn websub_205_what_we_did_not_ask_for_is_not_confirmed() {
    let hub = Hub::start();
    hub.set("/205", Response::rss(hub.rss("/hub", "/205", 0..2)));
    let (_program, wish) = asked_for(&hub, "/205");
    for (mode, topic) in [
        ("subscribe", hub.url("/another")),
        ("subscribe", String::new()),
        ("unsubscribe", wish.topic.clone()),
        ("publish", wish.topic.clone()),
    ] {
        assert_eq!(wish.verify(mode, &topic, "1000").0, 404, "{mode} {topic}");
    }
    let mut other = wish.clone();
    other.callback.set_path("/websub/callback/AAAAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(other.verify("subscribe", &wish.topic, "1000").0, 404);
    assert_eq!(other.push_signed("<rss/>", None), 410, "a hub may forget this callback");
    wish.confirm();
}

/// A confirmed subscription to a feed with two items.
fn subscribed(hub: &Hub) -> (Reachable, crate::hub::Wish) {
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    let (program, wish) = asked_for(hub, "/feed");
    wish.confirm();
    (program, wish)
}

#[test]
fn websub_300_what_is_pushed_is_taken_with_2xx_and_kept() {
    let hub = Hub::start();
    let (program, wish) = subscribed(&hub);
    wish.push(&hub.rss("/hub", "/feed", 2..3));
    eventually("the pushed entry is kept", || {
        (program.titles().last().map(String::as_str) == Some("Item 2 of news")).then_some(())
    });
}

/// A push with this signature is answered with 2xx and changes nothing. A valid push after it does.
#[track_caller]
fn ignored(signature: Option<&str>) {
    let hub = Hub::start();
    let (program, wish) = subscribed(&hub);
    let status = wish.push_signed(&hub.rss("/hub", "/feed", 2..3), signature);
    assert_eq!(status, 202, "the sender learns nothing");
    wish.push(&hub.rss("/hub", "/feed", 3..4));
    eventually("the genuine push is kept", || (program.titles().len() == 3).then_some(()));
    let titles = program.titles();
    assert_eq!(titles, ["Item 0 of news", "Item 1 of news", "Item 3 of news"]);
}

#[test]
fn websub_301_a_push_with_a_wrong_signature_is_ignored() {
    ignored(Some("sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
}

#[test]
fn websub_302_a_push_without_a_signature_is_ignored() {
    ignored(None);
}
