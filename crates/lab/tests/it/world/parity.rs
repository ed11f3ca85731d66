//! Simulated and live polls give the same observations. One side uses a sorted array; the other
//! uses items that are identified and compared with the stored window.

use std::collections::HashMap;

use feed::{DocumentDates, Item, Outcome, Time, Window, WindowComparison, identify};
use lab::{Chance, PolledFeed, TraceRow, World, WorldBuilder, WorldFeed};
use polling::{Bounds, Policy};

const START: i64 = 1_500_000_000;

/// A feed with everything that feeds do: bursts, varying windows (even empty ones), entries that
/// appear late, undated or dated ahead.
fn world(seed: u64) -> World {
    let mut chance = Chance::new(seed, 0);
    let mut builder = WorldBuilder::default();
    let feed = builder.feed("feed");
    let (varies, lies) = (seed.is_multiple_of(2), seed.is_multiple_of(3));
    let mut at = START;
    let mut window = 6;
    for _ in 0..300 {
        let gap = if chance.percent(30.0) { 60.0 } else { 4000.0 };
        at += chance.exponential(gap) as i64;
        let visible = Time::from_secs(at);
        let claim = match chance.below(10) {
            0 if lies => None,
            1 if lies => Some(Time::from_secs(at + 9000)),
            2 | 3 if lies => Some(Time::from_secs(at - chance.below(20_000) as i64)),
            _ => Some(visible),
        };
        if varies && chance.percent(15.0) {
            window = [0, 1, 4, 9, 20][chance.below(5)];
        }
        builder.entry(feed, TraceRow { visible, claim, window: Some(window), bytes: None });
    }
    builder.finish(6)
}

/// A reader that works like the engine.
#[derive(Default)]
struct Live {
    window: Window,
    known: HashMap<feed::EntryKey, (u64, Time)>,
    previous: Option<Time>,
    /// The window of the last document, to detect an unchanged one.
    shown: Option<std::ops::Range<usize>>,
}

impl Live {
    /// Converts the window to a document, newest first, and reads it as a live poll does.
    fn poll(&mut self, feed: &WorldFeed, shown: std::ops::Range<usize>, at: Time) -> String {
        let described = |o: &feed::Observation<'_>| format!("{o:?}");
        if self.shown.as_ref() == Some(&shown) {
            self.previous = Some(at);
            let times = self.window.times();
            return described(&Window::without_document(&times, at, Outcome::Unchanged));
        }
        let item = |entry: usize| Item {
            id: Some(format!("entry {entry}")),
            published: feed.claim(entry),
            ..Item::default()
        };
        let items: Vec<Item> = shown.clone().rev().map(item).collect();
        let dates = DocumentDates::default();
        let items = identify(items, &self.window);
        let observed = WindowComparison::new(&items, &self.window);
        let observed = observed.observe(&self.known, dates, at, self.previous, false);
        let seen = described(&observed.observation(at));
        for (_, _, entry) in &observed.sightings {
            self.known.insert(entry.key, (entry.content, entry.published_at));
        }
        (self.window, self.previous, self.shown) = (observed.window, Some(at), Some(shown));
        seen
    }
}

#[test]
fn simulated_and_live_polls_yield_the_same_observation_for_every_policy() {
    let mut n_polls = 0;
    for seed in 0..12 {
        let world = world(seed);
        let feed = &world.feeds[0];
        for text in Policy::examples() {
            let policy: Policy = text.parse().unwrap();
            let (mut polled, mut live) = (PolledFeed::new(&world, feed), Live::default());
            let mut learned = policy.start();
            let mut at = feed.visible()[0];
            for _ in 0..200 {
                polled.poll(at);
                let simulated = polled.observation().unwrap();
                let lived = live.poll(feed, polled.shown(), at);
                assert_eq!(format!("{simulated:?}"), lived, "{text}, seed {seed}");
                policy.learn(&mut learned, &simulated);
                at = policy.wish(&learned, &simulated, &Bounds::EVALUATION).at;
                n_polls += 1;
            }
        }
    }
    assert_eq!(n_polls, 12 * 200 * Policy::examples().count());
}
