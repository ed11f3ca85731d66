//! Our hub as a subscriber sees it: it verifies the request, pushes new entries, signs them, and
//! stops on request. The numbers are those of the published tests for hubs (websub.rocks).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use crate::documents::rss_of;
use crate::program::{Daemon, Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{self, Next, Request, Response, Server, addresses};

pub const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// One request to the subscriber's callback.
#[derive(Clone, Debug)]
pub struct Push {
    link: String,
    content_type: String,
    signature: String,
    body: String,
}

#[derive(Default)]
struct Heard {
    modes: Vec<String>,
    pushes: Vec<Push>,
}

pub struct Subscriber {
    server: Server,
    address: Ipv4Addr,
    heard: Arc<Mutex<Heard>>,
}

impl Subscriber {
    /// With `agrees` the subscriber confirms verifications.
    pub fn start(agrees: bool) -> Subscriber {
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let (noted, addresses) = (Arc::clone(&heard), addresses(1));
        let server = Server::start(&addresses, move |request, stream| {
            answer(agrees, &noted, request).send(stream)?;
            Ok(Next::Keep)
        });
        Subscriber { server, address: addresses[0], heard }
    }

    pub fn callback(&self) -> String {
        self.server.url(self.address, "/callback%3Fid%3D7")
    }

    pub fn pushes(&self) -> Vec<Push> {
        self.heard.lock().unwrap().pushes.clone()
    }

    pub fn modes(&self) -> Vec<String> {
        self.heard.lock().unwrap().modes.clone()
    }
}

fn answer(agrees: bool, heard: &Mutex<Heard>, request: &Request) -> Response {
    let mut heard = heard.lock().unwrap();
    let parameter = |name: &str| {
        let query = request.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_owned())
    };
    if let Some(challenge) = parameter("hub.challenge") {
        heard.modes.push(parameter("hub.mode").unwrap());
        return if agrees { Response::new(200).body(challenge) } else { Response::new(404) };
    }
    heard.pushes.push(Push {
        link: request.text("link"),
        content_type: request.text("content-type"),
        signature: request.text("x-hub-signature"),
        body: String::from_utf8(request.body.clone()).unwrap(),
    });
    Response::new(204)
}

fn wish(hub: SocketAddr, mode: &str, topic: &str, callback: &str) -> u16 {
    wish_with(hub, mode, topic, callback, "&hub.secret=s3cret")
}

/// The same with more or fewer parameters.
fn wish_with(hub: SocketAddr, mode: &str, topic: &str, callback: &str, more: &str) -> u16 {
    let form = format!("hub.mode={mode}&hub.topic={topic}&hub.callback={callback}{more}");
    wire::post(hub, "/websub/hub", &form).unwrap()
}

/// Returns the number of confirmed subscribers.
pub fn n_subscribers(hub: SocketAddr) -> usize {
    let (_, text) = wire::get(hub, "/metrics").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("tidings_hub_subscribers "));
    line.and_then(|n| n.parse().ok()).expect("the hub counts its subscribers")
}

struct House {
    instance: Instance,
    publisher: Publisher,
    daemon: Daemon,
}

fn house() -> House {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..2));
    let instance = Instance::new();
    let url = publisher.url("/news");
    let file = instance.write("w.query", format!("CREATE FEED News AS RETURN \"{url}\" PUBLISH"));
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let daemon = instance.daemon(&FREELY).ready();
    eventually("the feed is polled", || (instance.entries().len() == 2).then_some(()));
    House { instance, publisher, daemon }
}

#[test]
fn hub_101_and_104_a_subscriber_is_asked_and_then_pushed_what_is_new_until_it_leaves() {
    let House { instance, publisher, daemon } = house();
    let hub = daemon.listen;
    let feed = wire::get(hub, "/feeds/News.atom").unwrap().1;
    let address = format!("http://{hub}/websub/hub");
    assert!(feed.contains(&format!("<link rel=\"hub\" href=\"{address}\"/>")), "{feed}");
    let topic = format!("http://{hub}/feeds/News.atom");
    let subscriber = Subscriber::start(true);
    assert_eq!(wish(hub, "subscribe", &topic, &subscriber.callback()), 202);
    eventually("it is asked", || (subscriber.modes() == ["subscribe"]).then_some(()));

    // Another subscriber stays to the end, which shows that the hub continues.
    let witness = Subscriber::start(true);
    assert_eq!(wish(hub, "subscribe", &topic, &witness.callback()), 202);
    eventually("both agreements are kept", || (n_subscribers(hub) == 2).then_some(()));
    publisher.set("/news", rss_of("news", 0..3));
    instance.run(&["feed", "poll", "1", "--json"]).ok();
    let push = eventually("a push", || subscriber.pushes().first().cloned());
    assert!(push.body.contains("Item 2 of news") && push.body.contains("Item 0 of news"));
    assert!(push.link.contains(&format!("<{address}>; rel=\"hub\"")), "{push:?}");
    assert!(push.link.contains(&format!("<{topic}>; rel=\"self\"")), "{push:?}");
    assert!(push.signature.starts_with("sha256=") && push.signature.len() == 71, "{push:?}");

    assert_eq!(wish(hub, "unsubscribe", &topic, &subscriber.callback()), 202);
    eventually("it is asked again", || (subscriber.modes().len() == 2).then_some(()));
    eventually("its leaving is kept", || (n_subscribers(hub) == 1).then_some(()));
    for last in [3, 4] {
        publisher.set("/news", rss_of("news", 0..last + 1));
        instance.run(&["feed", "poll", "1", "--json"]).ok();
        let item = format!("Item {last} of news");
        eventually("who stayed is pushed", || {
            witness.pushes().iter().any(|push| push.body.contains(&item)).then_some(())
        });
    }
    assert_eq!(subscriber.pushes().len(), 1, "it left");
}

impl House {
    /// Publishes items up to this number, and lets the program poll them.
    fn publish(&self, last: usize) {
        self.publisher.set("/news", rss_of("news", 0..last + 1));
        self.instance.run(&["feed", "poll", "1", "--json"]).ok();
    }

    /// Subscribes with these parameters and waits until the subscription is stored. Returns the
    /// topic.
    fn subscribe(&self, subscriber: &Subscriber, more: &str) -> String {
        self.subscribe_to("/feeds/News.atom", subscriber, more)
    }

    fn subscribe_to(&self, path: &str, subscriber: &Subscriber, more: &str) -> String {
        let hub = self.daemon.listen;
        let (n_asked, n_before) = (subscriber.modes().len(), n_subscribers(hub));
        let topic = format!("http://{hub}{path}");
        assert_eq!(wish_with(hub, "subscribe", &topic, &subscriber.callback(), more), 202);
        eventually("it is asked", || (subscriber.modes().len() > n_asked).then_some(()));
        eventually("it is kept", || (n_subscribers(hub) > n_before).then_some(()));
        topic
    }
}

#[test]
fn hub_100_and_102_the_whole_topic_is_pushed_as_it_is_and_unknown_parameters_are_ignored() {
    let house = house();
    let (plain, chatty) = (Subscriber::start(true), Subscriber::start(true));
    let topic = house.subscribe(&plain, "");
    house.subscribe(&chatty, "&foo=bar&hub.verify=sync&hub.verify_token=1&hub.foo=%F0%9F%9A%A7");
    house.publish(2);
    for subscriber in [&plain, &chatty] {
        let push = eventually("a push", || subscriber.pushes().first().cloned());
        let (status, shown) =
            wire::get(house.daemon.listen, &topic[topic.find("/feeds").unwrap()..]).unwrap();
        assert_eq!((status, &push.body), (200, &shown), "the full contents of the topic");
        assert_eq!(push.content_type, "application/atom+xml; charset=utf-8");
        assert_eq!(push.signature, "", "without a secret nothing is signed");
    }
}

/// Test 105 requests a topic of plain text. We publish feeds only, and the hub accepts no other
/// topics.
#[test]
fn hub_106_a_topic_is_pushed_in_the_form_that_was_subscribed_to() {
    let house = house();
    let forms = [
        ("/feeds/News.json", "application/feed+json"),
        ("/feeds/News.rss", "application/rss+xml; charset=utf-8"),
    ];
    let subscribers = forms.map(|(path, _)| {
        let subscriber = Subscriber::start(true);
        house.subscribe_to(path, &subscriber, "");
        subscriber
    });
    house.publish(2);
    for ((path, kind), subscriber) in forms.into_iter().zip(&subscribers) {
        let push = eventually("a push", || subscriber.pushes().first().cloned());
        let (status, shown) = wire::get(house.daemon.listen, path).unwrap();
        assert_eq!((status, &push.body), (200, &shown), "the full contents of the topic");
        assert_eq!(push.content_type, kind);
    }
    let (hub, text) = (house.daemon.listen, format!("http://{}/healthz", house.daemon.listen));
    let status = wish(hub, "subscribe", &text, &subscribers[0].callback());
    assert!((400..500).contains(&status), "105: plain text is not a topic of ours: {status}");
}

#[test]
fn hub_103_a_subscriber_that_asks_again_is_pushed_once_under_its_new_secret() {
    let house = house();
    let subscriber = Subscriber::start(true);
    let topic = house.subscribe(&subscriber, "&hub.secret=first&hub.lease_seconds=300");
    let (hub, again) = (house.daemon.listen, "&hub.secret=second&hub.lease_seconds=600");
    assert_eq!(wish_with(hub, "subscribe", &topic, &subscriber.callback(), again), 202);
    eventually("it is asked again", || (subscriber.modes().len() == 2).then_some(()));
    // The new secret is stored a moment later. After a few pushes it must be in use.
    let is_new = |push: &Push| push.signature == crate::hub::signature("second", &push.body);
    let mut last = 1;
    let mut publish = || {
        last += 1;
        house.publish(last);
        let item = format!("Item {last} of news");
        eventually("the push of the newest item", || {
            subscriber.pushes().into_iter().find(|push| push.body.contains(&item))
        })
    };
    eventually("a push under the new secret", || is_new(&publish()).then_some(()));
    assert!(is_new(&publish()), "the old secret is no longer in use");
    let mut bodies: Vec<String> = subscriber.pushes().into_iter().map(|p| p.body).collect();
    let n_pushes = bodies.len();
    bodies.sort();
    bodies.dedup();
    assert_eq!((bodies.len(), n_subscribers(hub)), (n_pushes, 1), "one subscription, not two");
}

#[test]
fn nobody_is_pushed_who_did_not_ask_for_it() {
    let House { instance, publisher, daemon } = house();
    let hub = daemon.listen;
    let topic = format!("http://{hub}/feeds/News.atom");
    let victim = Subscriber::start(false);
    assert_eq!(wish(hub, "subscribe", &topic, &victim.callback()), 202);
    eventually("it is asked", || (!victim.modes().is_empty()).then_some(()));
    let witness = Subscriber::start(true);
    assert_eq!(wish(hub, "subscribe", &topic, &witness.callback()), 202);
    eventually("who agreed is kept", || (n_subscribers(hub) == 1).then_some(()));
    for last in [2, 3] {
        publisher.set("/news", rss_of("news", 0..last + 1));
        instance.run(&["feed", "poll", "1", "--json"]).ok();
        let item = format!("Item {last} of news");
        eventually("who agreed is pushed", || {
            witness.pushes().iter().any(|push| push.body.contains(&item)).then_some(())
        });
    }
    assert!(victim.pushes().is_empty());
    assert_eq!(victim.modes().len(), 1, "a callback that says no is not asked twice");

    let callback = victim.callback();
    for topic in [
        "http://elsewhere.example/feeds/News.atom".to_owned(),
        format!("http://{hub}/feeds/None.atom"),
        format!("http://{hub}/feeds/News.atom?before=1"),
        format!("http://{hub}/"),
    ] {
        assert_eq!(wish(hub, "subscribe", &topic, &callback), 404, "{topic}");
    }
    assert_eq!(wish(hub, "sing", &topic, &callback), 400);
    assert_eq!(wish(hub, "subscribe", &topic, "file:///etc/passwd"), 400);
    let long = format!("hub.mode=subscribe&hub.topic={topic}&hub.callback={callback}&hub.secret=");
    let long = long + &"x".repeat(200);
    assert_eq!(wire::post(hub, "/websub/hub", &long).unwrap(), 400);
}
