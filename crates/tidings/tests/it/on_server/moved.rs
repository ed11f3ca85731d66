//! `tidings migrate` is killed (-9) in the middle, again and again, and completes in the end.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use feed::{EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Time};
use store::{Location, NewEntry, NewFeed, OpenMode, PollRecord, Store};

use super::database;
use crate::program::{Instance, path_text};
use crate::turns::turn;

const T0: Time = Time::from_secs(1_700_000_000);
const N_FEEDS: u32 = 60;
/// Several batches of the migration.
const ENTRIES_OF_A_FEED: u32 = 400;

/// Fills a store through the functions that the daemon uses.
fn fill(place: &Location) {
    let store = Store::open(place, OpenMode::ReadWrite).unwrap();
    for n in 0..N_FEEDS {
        let url = FeedUrl::parse(&format!("https://example.org/{n}")).unwrap();
        let new = NewFeed { url, title: None, site: None, tags: vec!["all".to_owned()] };
        let feed = store.add_feed(&new, T0).unwrap().id;
        store.record_blocking(poll(feed)).unwrap();
    }
}

fn poll(feed: FeedId) -> PollRecord {
    let mut record = PollRecord::empty(feed, 0, T0, Outcome::Seen, T0);
    record.document_mut().entries.new = (0..ENTRIES_OF_A_FEED)
        .map(|n| {
            let mut key = [0; 16];
            key[..4].copy_from_slice(&feed.0.to_le_bytes());
            key[4..8].copy_from_slice(&n.to_le_bytes());
            let item = Item {
                title: Some(format!("Entry {n}")),
                content: Some(format!("<p>{}</p>", "words ".repeat(40))),
                ..Item::default()
            };
            let published = Published { claim: None, at: T0 };
            NewEntry {
                key: EntryKey::from_bytes(key),
                item,
                published,
                content: u64::from(n),
                facts: store::EntryFacts::default(),
            }
        })
        .collect();
    record
}

/// Starts the migration and kills it a while after it has begun to copy the entries. Returns
/// whether it was still running; `None` if an earlier run has copied all entries.
fn kill_in_the_middle(instance: &Instance, from: &str, to: &str, after: Duration) -> Option<bool> {
    let mut command = instance.command(&["migrate", "--from", from, "--to", to]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let begun = lines.any(|line| line.contains("copying entries"));
    if !begun {
        child.wait().unwrap();
        return None;
    }
    std::thread::sleep(after);
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    Some(is_running)
}

#[test]
fn a_migration_that_is_killed_in_the_middle_continues_where_it_was() {
    let _turn = turn();
    let instance = Instance::in_folder();
    let source = instance.home.path().join("source");
    fill(&Location::Folder(source.clone()));
    let from = path_text(&source).to_owned();
    let to = database(&instance)
        .unwrap_or_else(|| path_text(&instance.home.path().join("target")).to_owned());
    let target = Location::parse(&to, &|_| None).unwrap();
    let mut n_killed = 0;
    for step in 0..6 {
        let after = Duration::from_millis(step * 40);
        let Some(is_killed) = kill_in_the_middle(&instance, &from, &to, after) else { break };
        n_killed += u32::from(is_killed);
        if let Ok(store) = Store::open(&target, OpenMode::ReadOnly) {
            // It was faster than the kill.
            drop(store);
            break;
        }
    }
    assert!(n_killed > 0, "no kill came in time");
    let ended = instance.run(&["migrate", "--from", &from, "--to", &to, "--json"]);
    if ended.code == Some(0) {
        assert!(ended.json()["tables_resumed"].as_u64().unwrap() > 0, "{ended:?}");
    } else {
        ended.says(2, &["holds data already"]);
    }
    let store = Store::open(&target, OpenMode::ReadOnly).unwrap();
    let n = i64::from(N_FEEDS * ENTRIES_OF_A_FEED);
    assert_eq!(store::testing::count(&store, "entries"), n);
    assert_eq!(store.last_entry_id().unwrap().0, n);
    assert_eq!(
        store::testing::rows(&target),
        store::testing::rows(&Location::Folder(source)),
        "the source is unchanged and both are the same"
    );
}
