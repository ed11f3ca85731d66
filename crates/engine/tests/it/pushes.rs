//! Pushes of hubs, together with the polls of the same engine.

use std::sync::Arc;

use dispatch::command::{Command, CommandResult};
use engine::{PushSettings, Settings};
use feed::{EntryId, FeedId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::HubVerification;

use crate::scripted::House;

const RSS: &str = "<rss version='2.0' xmlns:a='http://www.w3.org/2005/Atom'><channel>";

/// An answer with a document that names a hub.
fn named(hub: &str, id: &str) -> String {
    let body = format!(
        "{RSS}<a:link rel='hub' href='{hub}'/><language>de</language>\
         <category>Sport</category><item><guid>{id}</guid></item></channel></rss>"
    );
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Hubs can reach us.
fn reachable() -> Settings {
    let public_url = Some(url::Url::parse("http://us.test/").unwrap());
    let settings = Settings::new();
    Settings { push: PushSettings { public_url, ..settings.push.clone() }, ..settings }
}

fn add(url: String) -> Command {
    Command::Add { urls: vec![url], tags: Vec::new(), poll: true, force: true, account: None }
}

/// The body of a push, and its signature.
fn signed(secret: &str, id: &str) -> (Option<String>, Vec<u8>) {
    let body = format!("{RSS}<item><guid>{id}</guid></item></channel></rss>").into_bytes();
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&body);
    let hex: String = mac.finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect();
    (Some(format!("sha256={hex}")), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_cannot_be_recorded_delays_no_other_feed() {
    let answer = |place: &str| Some(named("http://hub.test/", place));
    let house = House::new(Settings::new(), Arc::new(answer)).await;
    let store = &house.store;
    for (place, token) in [("a.test/one", "1"), ("a.test/two", "2")] {
        house.act(add(house.url(place))).await;
        let candidate = store.push_candidates(1).unwrap().pop().unwrap();
        let (feed, topic, now) = (candidate.feed, candidate.topic.clone(), house.clock.now());
        store.begin_push(candidate, token.to_owned(), "secret".to_owned(), now).await.unwrap();
        let id = store.push(feed).unwrap().unwrap().id;
        store.note_hub_asked(id, now, 1, now, None).await.unwrap();
        let asks = HubVerification::Subscribe { lease: std::time::Duration::from_secs(86_400) };
        assert!(store.confirm_push(token, &topic, &asks, now).unwrap());
    }
    let location = store.location().clone();
    store::testing::refuse(&location, "insert", "entries", "new.feed = 1");
    for (token, id) in [("1", "first"), ("1", "second"), ("2", "third")] {
        let (signature, body) = signed("secret", id);
        store.receive_push(token, None, signature, body, house.clock.now()).unwrap();
    }
    let pushed = |feed| move |house: &House| house.store.push(feed).unwrap().unwrap().n_pushes;
    let [first, second] = [FeedId(1), FeedId(2)].map(pushed);
    assert!(house.until(|house| second(house) == 1).await, "it waits for another feed's push");
    assert_eq!(first(&house), 0);
    store::testing::allow(&location, "entries");
    assert!(house.until(|house| first(house) == 2).await, "what could not be kept comes again");
    let filter = store::EntryFilter { feed: None, limit: 10 };
    let entries = store.entries(EntryId(0), &filter).unwrap();
    assert_eq!(entries.len(), 5);
    for entry in entries {
        let (language, category) = (entry.facts.language.unwrap(), entry.facts.category.unwrap());
        assert_eq!((language.tag.as_str(), category.name.as_str()), ("de", "Sport"), "as polled");
    }
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_after_of_a_hub_binds_its_domain_after_a_restart() {
    let answer = |place: &str| match place {
        "a.test/hub" => Some(
            "HTTP/1.1 429 Slow\r\nRetry-After: 3600\r\nConnection: close\r\n\
             Content-Length: 0\r\n\r\n"
                .to_owned(),
        ),
        place => Some(named("/hub", place)),
    };
    let mut house = House::new(reachable(), Arc::new(answer)).await;
    house.act(add(house.url("a.test/feed"))).await;
    // An engine looks for hubs at its start.
    house.restart().await;
    assert!(house.until(|house| house.n_asked("a.test/hub") == 1).await);
    let is_kept = |house: &House| {
        let domains = house.store.domain_states().unwrap();
        domains.iter().any(|state| state.not_before.is_some_and(|at| at > house.clock.now()))
    };
    assert!(house.until(is_kept).await);
    house.restart().await;
    let n_before = house.n_asked("a.test/feed");
    let feeds = Some(vec![house.url("a.test/feed")]);
    let done = house.act(Command::Poll { feeds }).await;
    let CommandResult::Polled { polls } = done else { panic!("{done:?}") };
    assert!(polls[0].detail.contains("asked us to wait"), "{}", polls[0].detail);
    assert_eq!(house.n_asked("a.test/feed"), n_before);
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_accepts_a_request_gets_the_next_one() {
    let answer = |place: &str| match place {
        "a.test/hub" => Some(
            "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(),
        ),
        place => Some(named("/hub", place)),
    };
    let mut house = House::new(reachable(), Arc::new(answer)).await;
    for place in ["a.test/one", "a.test/two", "a.test/three"] {
        house.act(add(house.url(place))).await;
    }
    house.restart().await;
    assert!(house.until(|house| house.n_asked("a.test/hub") == 3).await);
    house.engine.stop().await;
}
