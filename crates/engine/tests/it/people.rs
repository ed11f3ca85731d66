//! Commands of people to a running engine, and the requests that servers see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use dispatch::command::{
    Command, CommandResult, FeedSettingsChange, ImportedFeed, QueriesCommand, Target,
};
use engine::Settings;
use engine::command::carry_out;

use crate::scripted::{CONDITIONAL, House, document};

fn add(url: String, poll: bool) -> Command {
    Command::Add { urls: vec![url], tags: Vec::new(), poll, force: true, account: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planned_poll_that_a_retry_after_refuses_is_planned_again() {
    let waits = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&waits);
    let answer = move |place: &str| match place {
        "a.test/busy" if held.load(Ordering::SeqCst) => None,
        "a.test/busy" => Some(
            "HTTP/1.1 429 Too Many\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n".to_owned(),
        ),
        _ => Some(document(&["1"])),
    };
    let budget = Some("600/1h uniform periodic".parse().unwrap());
    let house = House::new(Settings { budget, ..Settings::new() }, Arc::new(answer)).await;
    house.act(add(house.url("a.test/busy"), false)).await;
    house.act(add(house.url("a.test/feed"), false)).await;
    let id = house.store.find_feed(&house.url("a.test/feed")).unwrap().unwrap();
    house.clock.set(house.clock.now() + std::time::Duration::from_secs(60));
    let in_line = |house: &House| house.engine.figures().waiting == 1;
    assert!(house.until(|house| house.n_asked("a.test/busy") == 1 && in_line(house)).await);
    let mut answers = house.engine.poll(&[id]).unwrap();
    let mut other = house.engine.poll(&[id]).unwrap();
    // The server answers only after the loop knows both callers.
    house.heard().await;
    waits.store(false, Ordering::SeqCst);
    let answer = answers.recv().await.unwrap();
    assert!(answer.detail.contains("asked us to wait"), "{}", answer.detail);
    assert_eq!(other.recv().await.unwrap(), answer);
    assert_eq!(house.n_asked("a.test/feed"), 0);
    house.pass(15).await;
    assert!(house.n_asked("a.test/feed") > 0, "ten minutes later its domain may be asked");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_to_which_a_feed_moves_is_not_asked_whether_it_changed() {
    let (moved, port) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU16::new(0)));
    let (has_moved, at) = (Arc::clone(&moved), Arc::clone(&port));
    let answer = move |place: &str| {
        let known = |id| document(&[id]).replacen("\r\n", "\r\nETag: \"x\"\r\n", 1);
        let (place, conditional) =
            place.strip_suffix(CONDITIONAL).map_or((place, false), |place| (place, true));
        Some(match place {
            "a.test/feed" if has_moved.load(Ordering::SeqCst) => format!(
                "HTTP/1.1 301 Moved\r\nLocation: http://b.test:{}/new\r\nContent-Length: 0\r\n\r\n",
                at.load(Ordering::SeqCst)
            ),
            _ if conditional => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
            place => known(place),
        })
    };
    let house = House::new(Settings::new(), Arc::new(answer)).await;
    let url = house.url("a.test/feed");
    house.act(add(url.clone(), true)).await;
    let own: url::Url = url.parse().unwrap();
    port.store(own.port().unwrap(), Ordering::SeqCst);
    moved.store(true, Ordering::SeqCst);
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        let done = house.act(Command::Poll { feeds: Some(vec![url.clone()]) }).await;
        let CommandResult::Polled { polls } = done else { panic!("{done:?}") };
        outcomes.push((polls[0].outcome.clone(), polls[0].new));
    }
    assert_eq!(outcomes, [("seen".to_owned(), 1), ("unchanged".to_owned(), 0)]);
    assert_eq!(house.n_asked("b.test/new"), 1);
    assert_eq!(house.n_asked(&format!("b.test/new{CONDITIONAL}")), 1, "then it is known there");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn adding_a_known_feed_sends_no_request() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    house.act(add(house.url("a.test/feed"), true)).await;
    house.rest().await;
    assert_eq!(house.n_asked("a.test/feed"), 1);
    house.act(add(house.url("a.test/feed"), true)).await;
    house.act(add(house.url("a.test/feed"), false)).await;
    // Commands are answered in order, so the answer to this one comes after the others.
    house.act(add(house.url("a.test/other"), true)).await;
    house.rest().await;
    assert_eq!(house.n_asked("a.test/other"), 1);
    assert_eq!(house.n_asked("a.test/feed"), 1, "its time has not come");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_no_query_reads_is_polled_again_when_an_import_names_it() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    let url = house.url("a.test/feed");
    let text = format!("CREATE FEED Q AS RETURN \"{url}\"");
    let wish = QueriesCommand::Apply { file: "f".to_owned(), text, past: None, account: None };
    house.act(Command::Query { wish }).await;
    assert!(house.until(|house| house.n_asked("a.test/feed") == 1).await);
    house.rest().await;
    let wish = QueriesCommand::Drop { name: "Q".to_owned(), account: None };
    house.act(Command::Query { wish }).await;
    house.pass(60 * 25).await;
    assert_eq!(house.n_asked("a.test/feed"), 1, "nobody wants it");
    let feed = ImportedFeed { url, title: None, site: None, tags: Vec::new() };
    house.act(Command::Import { feeds: vec![feed], account: None }).await;
    let polled = house.until(|house| house.n_asked("a.test/feed") == 2).await;
    assert!(polled, "somebody wants it again, and it is overdue");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longest_delay_of_zero_is_refused() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    let url = house.url("a.test/feed");
    house.act(add(url.clone(), true)).await;
    let change = FeedSettingsChange { max_delay: Some(Some(0)), ..FeedSettingsChange::default() };
    let set = Command::Set { target: Target::Feed(url), change };
    let refused = carry_out(&house.engine, set, &|_, _| ()).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("--max-delay")));
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_that_are_added_and_polled_get_one_request() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    let places: Vec<String> = (0..40).map(|n| format!("a.test/{n}")).collect();
    let urls = places.iter().map(|place| house.url(place)).collect();
    house
        .act(Command::Add { urls, tags: Vec::new(), poll: true, force: true, account: None })
        .await;
    house.rest().await;
    let n_asked: Vec<usize> = places.iter().map(|place| house.n_asked(place)).collect();
    assert_eq!(n_asked, [1; 40], "a server is asked once for each");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_is_resumed_while_it_is_polled_is_polled_again_by_itself() {
    let waits = Arc::new(AtomicBool::new(false));
    let held = Arc::clone(&waits);
    let answer = move |_: &str| (!held.load(Ordering::SeqCst)).then(|| document(&["1", "2", "3"]));
    let house = House::new(Settings::new(), Arc::new(answer)).await;
    let url = house.url("a.test/feed");
    house.act(add(url.clone(), true)).await;
    let set = |paused| Command::Set {
        target: Target::Feed(url.clone()),
        change: FeedSettingsChange { paused: Some(paused), ..FeedSettingsChange::default() },
    };
    house.act(set(true)).await;
    let id = house.store.find_feed(&url).unwrap().unwrap();
    waits.store(true, Ordering::SeqCst);
    let mut answers = house.engine.poll(&[id]).unwrap();
    assert!(house.until(|house| house.n_asked("a.test/feed") == 2).await);
    house.act(set(false)).await;
    waits.store(false, Ordering::SeqCst);
    assert!(answers.recv().await.unwrap().outcome.is_success());
    house.rest().await;
    house.pass(60 * 25).await;
    assert!(house.n_asked("a.test/feed") > 2, "a day has passed");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_one_of_several_changes_is_refused_none_is_made() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    let url = house.url("a.test/feed");
    house.act(add(url.clone(), false)).await;
    let id = house.store.find_feed(&url).unwrap().unwrap();
    let set = |alpha, beta| Command::Set {
        target: Target::Feed(url.clone()),
        change: FeedSettingsChange {
            alpha: Some(Some(alpha)),
            beta: Some(Some(beta)),
            ..FeedSettingsChange::default()
        },
    };
    let tag = |tag: &str| Command::Tag {
        account: None,
        feeds: vec![url.clone()],
        add: vec![tag.to_owned()],
        remove: Vec::new(),
    };
    let rename = |to: &str| Command::RenameTag {
        tag: "news".to_owned(),
        to: Some(to.to_owned()),
        account: None,
    };
    for commands in [
        vec![set(60, 600), tag("query:Q")],
        vec![tag("news"), set(600, 60)],
        vec![set(60, 600), rename(" ")],
    ] {
        let together = Command::Together { commands };
        let refused = carry_out(&house.engine, together, &|_, _| ()).await.unwrap_err();
        assert!(refused.is_input(), "{refused}");
        let row = house.store.feed(id).unwrap();
        assert_eq!((row.settings.alpha, row.tags.len()), (None, 0), "{refused}");
    }
    house.act(Command::Together { commands: vec![set(60, 600), tag("news"), rename("new")] }).await;
    let row = house.store.feed(id).unwrap();
    assert_eq!((row.settings.alpha.map(|a| a.as_secs()), row.tags), (Some(60), vec!["new".into()]));
    house.engine.stop().await;
}

/// The poll's own row and the feed's state are written together, so they agree on the next poll.
#[tokio::test(flavor = "multi_thread")]
async fn a_poll_that_learns_from_wanted_entries_is_decided_once() {
    let mut next = Vec::new();
    for learn_relevant in [false, true] {
        let policy = "adaptive-ttl:0.1".parse().unwrap();
        let settings = Settings { learn_relevant, policy, ..Settings::new() };
        let house = House::new(settings, Arc::new(|_| Some(document(&["1", "2", "3"])))).await;
        let url = house.url("a.test/feed");
        let text = format!("CREATE FEED Q AS RETURN \"{url}\" WHERE ITEM CONTAINS \"iceland\"");
        let wish = QueriesCommand::Apply { file: "f".to_owned(), text, past: None, account: None };
        house.act(Command::Query { wish }).await;
        assert!(house.until(|house| house.n_asked("a.test/feed") == 1).await);
        house.rest().await;
        let feed = house.store.feed(feed::FeedId(1)).unwrap();
        let poll = house.store.polls(feed.id, 1).unwrap().remove(0);
        assert_eq!(feed.schedule.next_at, poll.next_at, "two decisions were kept of one poll");
        let reason = feed.schedule.why.reason.unwrap_or_default();
        assert_eq!(reason.contains("entries that queries find"), learn_relevant, "{reason}");
        assert_eq!(poll.wanted_at, feed.schedule.wanted_at);
        next.push(feed.schedule.next_at.unwrap());
        house.engine.stop().await;
    }
    assert_ne!(next[0], next[1], "no entry is wanted, and that was learned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_under_way_when_its_feed_is_moved_is_refused_and_the_new_address_polled() {
    let waits = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&waits);
    let answer = move |place: &str| match place {
        "a.test/old" if held.load(Ordering::SeqCst) => None,
        "a.test/old" => Some(document(&["old"])),
        _ => Some(document(&["new"])),
    };
    let house = House::new(Settings::new(), Arc::new(answer)).await;
    house.act(add(house.url("a.test/old"), false)).await;
    assert!(house.until(|house| house.n_asked("a.test/old") == 1).await);
    let to = house.url("b.test/new");
    let done = house.act(Command::Move { feed: "1".to_owned(), url: to.clone() }).await;
    let CommandResult::Moved { feed: 1, url, .. } = done else { panic!("{done:?}") };
    assert_eq!(url, to);
    assert!(house.until(|house| house.n_asked("b.test/new") == 1).await);
    waits.store(false, Ordering::SeqCst);
    house.rest().await;
    let filter = store::EntryFilter { feed: None, limit: 10 };
    let titles = |house: &House| {
        let entries = house.store.entries(feed::EntryId(0), &filter).unwrap();
        entries.into_iter().map(|e| e.guid.unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&house).len(), 1, "{:?}", titles(&house));
    assert_eq!(house.n_asked("a.test/old"), 1, "the old address is not asked again");
    assert_eq!(house.store.feed(feed::FeedId(1)).unwrap().domain, "b.test");
    house.act(add(house.url("a.test/else"), false)).await;
    let taken = Command::Move { feed: "1".to_owned(), url: house.url("a.test/else") };
    let refused = carry_out(&house.engine, taken, &|_, _| ()).await.unwrap_err().to_string();
    assert!(refused.contains("feed 2 has the address"), "{refused}");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_feed_is_polled_once_and_only_counted() {
    let house = House::new(Settings::new(), Arc::new(|_: &str| Some(document(&["1"])))).await;
    let pause = FeedSettingsChange { paused: Some(true), ..FeedSettingsChange::default() };
    for n in 0..700 {
        house.act(add(house.url(&format!("a.test/{n}")), false)).await;
        if n == 0 {
            // A feed that is paused is polled too where somebody asks.
            let target = Target::Feed("1".to_owned());
            house.act(Command::Set { target, change: pause.clone() }).await;
        }
    }
    house.rest().await;
    let done = house.act(Command::Poll { feeds: None }).await;
    let CommandResult::PolledAll { feeds: 700, failed: 0 } = done else { panic!("{done:?}") };
    house.engine.stop().await;
}
