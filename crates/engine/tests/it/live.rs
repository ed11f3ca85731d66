//! An engine over a world: its clock stands still while anything is under way and then moves to
//! the next moment at which there is something to do.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use dispatch::LocalForm;
use engine::{Clock, Engine, EngineMachine, Gaps, Settings, Watch};
use feed::{FeedUrl, Time};
use fetch::Fetcher;
use lab::World;
use store::{NewFeed, OpenMode, Store};

use crate::publisher;
use crate::terminals::Remote;

/// Polls every feed of the world from `start` to `end`; the times of all polls, feed by feed.
pub async fn polls(
    world: &Arc<World>,
    settings: Settings,
    start: Time,
    end: Time,
) -> Vec<Vec<Time>> {
    polls_by(world, settings, start, end, None).await
}

/// The same, if `remote` is given by its terminals alone.
pub async fn polls_by(
    world: &Arc<World>,
    settings: Settings,
    start: Time,
    end: Time,
    remote: Option<&Remote>,
) -> Vec<Vec<Time>> {
    let clock = Clock::manual(start);
    let address = publisher::serve(Arc::clone(world), clock.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    // Each feed has a domain of its own, so that no feed waits for another.
    let host = |number: usize| format!("f{number}.test");
    let feeds: Vec<NewFeed> = (0..world.feeds.len())
        .map(|number| {
            let url = format!("http://{}:{}/{number}", host(number), address.port());
            let url = FeedUrl::parse(&url).unwrap();
            NewFeed { url, title: None, site: None, tags: Vec::new() }
        })
        .collect();
    let ids: Vec<_> =
        store.add_feeds(&feeds, start).unwrap().into_iter().map(|added| added.id).collect();

    let mut fetch = fetch::Settings::new("https://example.org/about");
    fetch.allow_private = true;
    for number in 0..world.feeds.len() {
        fetch.resolve.insert(host(number), vec![Ipv4Addr::LOCALHOST.into()]);
    }
    let machine = match remote {
        Some(remote) => remote.machine(&fetch, &settings).await,
        None => EngineMachine::default(),
    };
    let fetcher = Fetcher::new(fetch).unwrap();
    let gaps = Gaps { default: Duration::ZERO, by_domain: HashMap::new() };
    let local_form = LocalForm::Wire;
    let settings = Settings { gaps, follow_hints: false, local_form, ..settings };
    let (kept, watch) = (store.clone(), Watch::All);
    let engine =
        Engine::start_among(kept, fetcher, clock.clone(), settings, watch, machine).unwrap();
    while clock.now() <= end {
        let figures = engine.figures();
        if figures.in_flight == 0 && figures.waiting == 0 && figures.wake_at > clock.now() {
            clock.set(figures.wake_at);
        }
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    assert_eq!(engine.figures().trouble(), None);
    engine.stop().await;
    assert_eq!(engine.figures().trouble(), Some("polling has ended"));
    let times = |id| {
        let mut polls = store.polls(id, 500).unwrap();
        assert!(polls.len() < 500, "only so many polls are kept; make the test shorter");
        assert!(polls.iter().all(|p| p.outcome.is_success()), "{polls:#?}");
        polls.reverse();
        polls.iter().map(|p| p.at).filter(|at| *at <= end).collect()
    };
    ids.into_iter().map(times).collect()
}
