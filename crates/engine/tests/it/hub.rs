//! Our hub among the polls of the same engine: it asks no domain more often than a poll would, and
//! a callback that never answers delays nobody else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::command::{Command, QueriesCommand};
use engine::{Gaps, Rendered, Settings, Topics};
use feed::{Domain, EntryKey, Item, Outcome, Published};
use store::{
    NewEntry, NewFeed, PollRecord, SubscriberProtocol, SubscriberRequest, SubscriberRequestKind,
    SubscriberRequestOutcome,
};
use url::Url;

use crate::scripted::House;

const GAP: Duration = Duration::from_secs(2);

/// The topics of a test, published while `is_open`.
fn topics(is_open: Arc<AtomicBool>) -> Topics {
    let rendered = Rendered {
        body: "<feed/>".to_owned(),
        content_type: "application/atom+xml",
        hub: "http://us.test/websub/hub".to_owned(),
    };
    let asked = Arc::clone(&is_open);
    Topics {
        is_open: Arc::new(move |_| Ok(asked.load(Ordering::SeqCst))),
        render: Arc::new(move |_| Ok(is_open.load(Ordering::SeqCst).then(|| rendered.clone()))),
    }
}

/// An answer with a body.
fn ok(body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// The echo of a callback that confirms everything.
fn challenge(place: &str) -> &str {
    let query = place.split_once('?').map_or("", |(_, query)| query);
    let found = query.split('&').find_map(|pair| pair.strip_prefix("hub.challenge="));
    found.unwrap_or_default()
}

/// Requests at each place that were begun and not answered.
#[derive(Default)]
struct AtOnce(Mutex<Vec<String>>);

fn wish(house: &House, place: &str) -> SubscriberRequestOutcome {
    let query = house.store.query("Q").unwrap().unwrap().id;
    let callback = Url::parse(&house.url(place)).unwrap();
    let wish = SubscriberRequest {
        query,
        topic: "http://us.test/feeds/Q.atom".to_owned(),
        domain: Domain::of(&callback),
        callback: callback.into(),
        from: "203.0.113.1".to_owned(),
        kind: SubscriberRequestKind::Subscribe { secret: None, lease: Duration::from_secs(86_400) },
        protocol: SubscriberProtocol::WebSub,
    };
    house.store.add_hub_request(&wish, house.clock.now()).unwrap()
}

/// A house with a query and a hub that serves its subscribers.
async fn hub(settings: Settings, answer: crate::scripted::Answer) -> (House, Arc<AtomicBool>) {
    let house = House::new(settings, answer).await;
    let text = "CREATE FEED Q AS RETURN ALL FEEDS PUBLISH".to_owned();
    let wish = QueriesCommand::Apply { file: "t".to_owned(), text, past: None, account: None };
    house.act(Command::Query { wish }).await;
    let is_open = Arc::new(AtomicBool::new(true));
    house.engine.serve_hub(topics(Arc::clone(&is_open))).await;
    (house, is_open)
}

/// An entry that the query keeps.
fn see(house: &House, number: u8) {
    let url = feed::FeedUrl::parse("https://example.org/feed").unwrap();
    let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
    let feed = house.store.add_feed(&new, house.clock.now()).unwrap().id;
    let (now, generation) = (house.clock.now(), house.store.poll_input(feed).unwrap().generation);
    let later = now + Duration::from_secs(86_400);
    let mut record = PollRecord::empty(feed, generation, now, Outcome::Seen, later);
    let item = Item { title: Some(number.to_string()), ..Item::default() };
    let (key, published) = (EntryKey::from_bytes([number; 16]), Published { claim: None, at: now });
    record.document_mut().entries.new.push(NewEntry {
        key,
        item,
        published,
        content: 0,
        facts: store::EntryFacts::default(),
    });
    house.store.record_blocking(record).unwrap();
}

/// Whether the subscriber at a place has confirmed.
fn has_confirmed(house: &House, place: &str) -> bool {
    (1..100).filter_map(|id| house.store.hub_subscription(id).unwrap()).any(|row| {
        row.callback == house.url(place) && row.lease_until.is_some() && row.request.is_none()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_host_gets_one_request_at_a_time_and_with_the_gap() {
    let (released, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (released_by, begun) = (Arc::clone(&released), Arc::new(AtOnce::default()));
    let counted = Arc::clone(&most);
    let answer = move |place: &str| {
        if !place.starts_with("a.test") {
            return ok(challenge(place));
        }
        let mut waiting = begun.0.lock().unwrap();
        if !waiting.iter().any(|other| other == place) {
            waiting.push(place.to_owned());
            counted.fetch_max(waiting.len(), Ordering::SeqCst);
        }
        let take = |left: usize| left.checked_sub(1);
        released_by.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).ok()?;
        waiting.retain(|other| other != place);
        Some("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n".to_owned())
    };
    let gaps = Gaps { default: GAP, by_domain: [("a.test".to_owned(), GAP)].into() };
    let (house, _) = hub(Settings { gaps, ..Settings::new() }, Arc::new(answer)).await;
    let n_waiting = |house: &House| {
        let rows = (1..100).filter_map(|id| house.store.hub_subscription(id).unwrap());
        rows.filter(|row| row.callback.contains("a.test") && row.request.is_some()).count()
    };
    let taken = (0..600)
        .filter(|n| wish(&house, &format!("a.test/{n}")) == SubscriberRequestOutcome::Taken)
        .count();
    assert_eq!(taken, 4, "the others are told to come back later");
    for n_asked in 1..=taken {
        assert!(house.until(|house| house.n_at("a.test") == n_asked).await);
        // Another callback is asked meanwhile, so the hub has looked: it asks no second one here.
        let other = format!("b.test/{n_asked}");
        assert_eq!(wish(&house, &other), SubscriberRequestOutcome::Taken);
        assert!(house.until(|house| has_confirmed(house, &other)).await);
        assert_eq!(house.n_at("a.test"), n_asked, "the last request is under way");
        released.fetch_add(1, Ordering::SeqCst);
        let other = format!("c.test/{n_asked}");
        assert_eq!(wish(&house, &other), SubscriberRequestOutcome::Taken);
        assert!(house.until(|house| has_confirmed(house, &other)).await);
        assert_eq!(house.n_at("a.test"), n_asked, "the gap is not over");
        // The gap counts from the end of the request, so that end comes before the clock is set.
        assert!(house.until(|house| n_waiting(house) == taken - n_asked).await);
        house.clock.set(house.clock.now() + GAP);
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
    house.engine.stop().await;
}

/// Pushes to two subscribers while a third callback does not answer its question. Returns whether
/// the question was under way all the time. It ends after 10 s of real time.
async fn pushes_while_a_callback_hangs() -> bool {
    let answer = |place: &str| match place.split('/').next() {
        Some("a.test") => None,
        _ => ok(challenge(place)),
    };
    let (house, _) = hub(Settings::new(), Arc::new(answer)).await;
    for place in ["b.test/one", "c.test/two"] {
        assert_eq!(wish(&house, place), SubscriberRequestOutcome::Taken);
        assert!(house.until(|house| has_confirmed(house, place)).await);
    }
    for n in 0..4 {
        assert_eq!(wish(&house, &format!("a.test/{n}")), SubscriberRequestOutcome::Taken);
    }
    assert!(house.until(|house| house.n_at("a.test") >= 1).await, "it is being asked");
    for number in 1..=3 {
        see(&house, number);
        let all_pushed = |house: &House| {
            ["b.test/one", "c.test/two"]
                .iter()
                .all(|place| house.n_asked(place) == usize::from(number))
        };
        assert!(house.until(all_pushed).await, "push {number} waits for a verification");
    }
    let is_first = house.n_at("a.test") == 1;
    house.engine.stop().await;
    is_first
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_never_answers_delays_no_push_to_others() {
    // A machine that is very busy may take longer than the time limit of the question. Pushes that
    // wait for the question never arrive before its end.
    for _ in 0..5 {
        if pushes_while_a_callback_hangs().await {
            return;
        }
    }
    panic!("the pushes arrived after the end of the question");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_no_longer_published_is_neither_verified_nor_pushed() {
    let (house, is_open) = hub(Settings::new(), Arc::new(|place| ok(challenge(place)))).await;
    assert_eq!(wish(&house, "b.test/one"), SubscriberRequestOutcome::Taken);
    assert!(house.until(|house| has_confirmed(house, "b.test/one")).await);
    is_open.store(false, Ordering::SeqCst);
    see(&house, 1);
    assert_eq!(wish(&house, "c.test/two"), SubscriberRequestOutcome::Taken);
    let is_gone = |house: &House| house.store.hub_subscription(1).unwrap().is_none();
    assert!(house.until(is_gone).await, "the subscription ends");
    let is_refused = |house: &House| {
        house.store.hub_subscription(2).unwrap().is_none_or(|row| row.request.is_none())
    };
    assert!(house.until(is_refused).await);
    assert_eq!((house.n_asked("b.test/one"), house.n_at("c.test")), (0, 0));
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_cannot_stop_polls_by_a_callback_that_answers_503() {
    let answer = |place: &str| match place {
        "a.test/feed" => Some(crate::scripted::document(&["1"])),
        place if place.starts_with("a.test/") => {
            Some("HTTP/1.1 503 Busy\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n".to_owned())
        }
        place => ok(challenge(place)),
    };
    let (house, _) = hub(Settings::new(), Arc::new(answer)).await;
    assert_eq!(wish(&house, "a.test/busy"), SubscriberRequestOutcome::Taken);
    assert!(house.until(|house| house.n_at("a.test") == 1).await);
    let refused =
        |house: &House| house.store.hub_subscription(1).unwrap().unwrap().request.is_none();
    assert!(house.until(refused).await);
    let urls = vec![house.url("a.test/feed")];
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: false, account: None })
        .await;
    assert_eq!(house.n_asked("a.test/feed"), 1, "the feed is polled");
    // The domain itself is left alone by further wishes.
    assert_eq!(wish(&house, "a.test/again"), SubscriberRequestOutcome::Taken);
    let refused =
        |house: &House| house.store.hub_subscription(2).unwrap().unwrap().request.is_none();
    assert!(house.until(refused).await);
    assert_eq!(house.n_at("a.test"), 2);
    house.engine.stop().await;
}
