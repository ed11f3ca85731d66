//! Stored totals equal a count over all feeds, after any sequence of changes.

use std::time::Duration;

use feed::{FeedId, Outcome, Time};
use store::{FeedFacts, FeedState, Gone, PollRecord, Replan, Retention, SettingsChange, Store};

use crate::sample::{Fresh, at, fresh, items, new_feed, seen, url};

/// Numbers that look random and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn is(&mut self) -> bool {
        self.below(2) == 1
    }
}

const TAGS: [&str; 3] = ["news", "quiet", "local"];

fn existing(store: &Store, chance: &mut Chance) -> Option<FeedId> {
    let ids = store.feed_ids(None).unwrap();
    (!ids.is_empty()).then(|| ids[usize::try_from(chance.below(ids.len() as u64)).unwrap()])
}

/// A poll with a random outcome.
fn poll(store: &Store, feed: FeedId, chance: &mut Chance, now: Time) {
    let next = now + Duration::from_secs(60 * (1 + chance.below(500)));
    let generation = store.poll_input(feed).unwrap().generation;
    let mut record = match chance.below(5) {
        0 => PollRecord::empty(feed, generation, now, Outcome::Failed, next),
        1 => PollRecord::empty(feed, generation, now, Outcome::Gone, next),
        2 => PollRecord::empty(feed, generation, now, Outcome::Unchanged, next),
        _ => {
            let name = chance.below(1000).to_string();
            let ids: Vec<String> = (0..chance.below(4)).map(|n| format!("{name}-{n}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            seen(store, feed, &items(&ids), now)
        }
    };
    record.decision.next.at = next;
    match record.outcome {
        Outcome::Failed => record.decision.failures = 1 + u32::try_from(chance.below(3)).unwrap(),
        Outcome::Gone => record.location.gone = Some(Gone { at: now, reason: "410".to_owned() }),
        _ => {
            let title = chance.is().then(|| format!(" Title {}", chance.below(50)));
            if record.outcome == Outcome::Seen {
                record.document_mut().facts = FeedFacts { title, ..FeedFacts::default() };
            }
        }
    }
    if chance.below(8) == 0 {
        let there = format!("https://moved{}.example/f", chance.below(3));
        record.location.effective_url = Some(url(&there));
    }
    store.record_blocking(record).unwrap();
}

fn settings(chance: &mut Chance) -> SettingsChange {
    let paused = match chance.below(3) {
        0 => None,
        n => Some(n == 1),
    };
    SettingsChange { paused: Some(paused), ..SettingsChange::default() }
}

fn change(f: &Fresh, chance: &mut Chance, now: Time) {
    let store = &f.store;
    let tag = TAGS[usize::try_from(chance.below(3)).unwrap()];
    if chance.below(4) == 0 {
        let mut new =
            new_feed(&format!("https://s{}.example/{}", chance.below(4), chance.below(60)));
        new.tags.extend(chance.is().then(|| tag.to_owned()));
        new.title = chance.is().then(|| "Given".to_owned());
        store.add_feed(&new, now).unwrap();
        return;
    }
    let Some(feed) = existing(store, chance) else { return };
    let tags = [tag.to_owned()];
    match chance.below(13) {
        0 => store.remove_feed(feed).unwrap(),
        1 => store.set_feed(feed, &settings(chance)).unwrap(),
        2 => store.set_tag(tag, &settings(chance)).unwrap(),
        3 => store.tag_feed(feed, &tags, &[]).unwrap(),
        4 => store.tag_feed(feed, &[], &tags).unwrap(),
        5 => store.rename_tag(tag, chance.is().then_some("quiet")).unwrap(),
        6 => store.title_feed(feed, chance.is().then_some("Ours")).unwrap(),
        7 => {
            let next_at = now + Duration::from_secs(chance.below(9000));
            let (reason, cause) = ("a rule".to_owned(), "rule".to_owned());
            let generation = store.poll_input(feed).unwrap().generation;
            let replan =
                Replan { generation, wanted_at: next_at, next_at, reason, cause, held: None };
            store.replan(vec![(feed, replan)]).unwrap();
        }
        8 => {
            let retention = Retention { entries_max: Some(20), ..Retention::off() };
            store.retain(&retention, now).unwrap();
        }
        9 => {
            let by = chance.is().then(|| Duration::from_secs(chance.below(50)));
            store.set_back(by, now).unwrap();
        }
        10 => {
            let there = format!("https://new.example/{}", chance.below(9));
            store.move_feed(feed, &url(&there), now).unwrap();
        }
        _ => poll(store, feed, chance, now),
    }
}

#[test]
fn kept_counts_are_what_a_walk_counts_after_any_changes() {
    for seed in 0..6 {
        let f = fresh();
        let mut chance = Chance(seed);
        for step in 0..150 {
            change(&f, &mut chance, at(step * 100));
        }
        let found: Vec<String> = f.store.check().unwrap().into_iter().map(|f| f.what).collect();
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        let counts = f.store.counts(at(20_000)).unwrap();
        let rows = f.store.feeds(&store::FeedFilter::default()).unwrap();
        assert_eq!(counts.feeds, rows.len() as u64, "seed {seed}");
        for state in FeedState::ALL {
            let n = rows.iter().filter(|row| row.state().is_listed_by(Some(state))).count();
            assert_eq!(counts.states.of(Some(state)), n as u64, "seed {seed}, {state:?}");
        }
        let due = f.store.due_feeds(at(20_000)).unwrap();
        assert_eq!(counts.due, due.len() as u64, "seed {seed}");
    }
}
