//! A process that records polls is killed again and again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use feed::{EntryId, FeedId};
use store::{EntryFilter, NewFeed, OpenMode, Store};

use crate::sample::{T0, at, doubles, items, new_feed, seen};

const FOLDER: &str = "TIDINGS_TEST_KILLED_FOLDER";
const ROUNDS: u32 = 10;
const FEEDS: u32 = 8;

/// The process to be killed. It runs only with the variable set, and prints a line after each
/// commit.
#[test]
fn child_records_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Store::open(store::testing::location(&folder), OpenMode::ReadWrite).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let mut running = tokio::task::JoinSet::new();
        for feed in 1..=FEEDS {
            let store = store.clone();
            running.spawn(async move {
                loop {
                    record_one(&store, FeedId(feed)).await;
                }
            });
        }
        running.join_next().await
    });
}

/// Poll `n` of a feed brings the entries `n` and `n + 1`, the validator `n`, the state `n`.
async fn record_one(store: &Store, feed: FeedId) {
    let n = store.poll_input(feed).unwrap().generation;
    let names = [(n + 1).to_string(), n.to_string()];
    let shown = items(&[&names[0], &names[1]]);
    let mut record = seen(store, feed, &shown, at(i64::from(n)));
    record.decision.learned = Some(n.to_le_bytes().to_vec());
    record.document_mut().validators.etag = Some(n.to_string().into_bytes());
    store.record(record).await.unwrap();
    println!("kept {feed} {n}");
}

#[test]
fn a_killed_recorder_loses_no_answered_poll_and_leaves_no_half_one() {
    let folder = tempfile::tempdir().unwrap();
    {
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        let new: Vec<NewFeed> =
            (0..FEEDS).map(|n| new_feed(&format!("https://example.org/{n}"))).collect();
        store.add_feeds(&new, T0).unwrap();
    }
    let mut last = 0;
    for round in 0..ROUNDS {
        let answered = record_and_kill(folder.path(), 3 + round * 17 % 50);
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        for feed in 1..=FEEDS {
            check_feed(&store, FeedId(feed), &answered);
        }
        assert_eq!(store.check().unwrap(), []);
        let now = store.last_entry_id().unwrap().0;
        assert!(now > last, "round {round} recorded nothing");
        last = now;
    }
}

/// Waits until the child has recorded so many polls, kills it, and returns the feed and number of
/// each.
fn record_and_kill(folder: &std::path::Path, n_polls: u32) -> Vec<(u32, u32)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "db::killed::child_records_until_it_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answered = Vec::new();
    let mut killed = false;
    for line in lines {
        let line = line.unwrap();
        // The kill may cut off the last line. A poll without a complete line was not confirmed.
        let Some((_, said)) = line.split_once("kept ") else { continue };
        let said: Vec<u32> = said.split(' ').filter_map(|n| n.parse().ok()).collect();
        if let [feed, n] = said[..]
            && !killed
        {
            answered.push((feed, n));
        }
        if answered.len() as u32 >= n_polls && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    assert!(killed, "the child ended by itself");
    answered
}

fn check_feed(store: &Store, feed: FeedId, answered: &[(u32, u32)]) {
    let input = store.poll_input(feed).unwrap();
    let of_feed = answered.iter().filter(|(id, _)| *id == feed.0);
    if let Some(last) = of_feed.map(|(_, n)| *n).max() {
        assert!(input.generation > last, "poll {last} of {feed} was answered and lost");
    }
    let rows = store.entries(EntryId(0), &EntryFilter { feed: Some(feed), limit: u32::MAX });
    let names: Vec<String> = rows.unwrap().into_iter().filter_map(|row| row.guid).collect();
    assert!(doubles(&names).is_empty(), "{names:?}");
    let Some(last) = input.generation.checked_sub(1) else {
        assert!(names.is_empty() && input.document.validators.etag.is_none());
        return;
    };
    // Validator, learned state, entries, window and poll are those of one and the same poll.
    assert_eq!(input.document.validators.etag, Some(last.to_string().into_bytes()));
    assert_eq!(input.learned, last.to_le_bytes());
    assert_eq!(names.len() as u32, last + 2);
    assert!(names.contains(&(last + 1).to_string()));
    assert_eq!(input.document.window.entries().len(), 2);
    assert_eq!(store.polls(feed, 1).unwrap()[0].generation, last);
}
