//! Signals between processes on one database, and reads while the server is away.

use std::time::Duration;

use store::testing::{self, Relay};
use store::{Location, OpenMode, Signal, SignalReceiver, Store};

use crate::sample::{add, at, poll};

/// Far longer than a signal needs.
const LONG: Duration = Duration::from_secs(60);

/// Acts until a signal follows. A listener that is not connected yet hears nothing, so it acts more
/// than once.
async fn comes(receiver: &mut SignalReceiver, mut act: impl FnMut(i64)) {
    for n in 0..20 {
        act(n);
        if tokio::time::timeout(LONG / 6, receiver.wait(LONG, LONG)).await.is_ok() {
            return;
        }
    }
    panic!("no signal");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_group_a_request_and_an_answer_wake_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(url) = testing::url(folder.path()) else { return };
    let location = Location::parse(&url, &|_| None).unwrap();
    let recorder = Store::open(&location, OpenMode::ReadWrite).unwrap();
    let guest = Store::open(&location, OpenMode::Shared).unwrap();
    let mut entries = guest.signals(Signal::Entries);
    let mut requests = recorder.signals(Signal::Requests);
    let mut answers = guest.signals(Signal::Answers);
    // The listeners need a moment to connect. Each wakes its receivers then.
    for receiver in [&mut entries, &mut requests, &mut answers] {
        receiver.wait(Duration::from_secs(3), LONG).await;
    }
    for receiver in [&mut entries, &mut requests, &mut answers] {
        receiver.wait(Duration::from_millis(1), Duration::from_millis(100)).await;
    }
    let feed = add(&recorder, "https://example.org/");
    comes(&mut entries, |n| drop(poll(&recorder, feed, &[&n.to_string()], at(10 + n)))).await;
    let leave = || guest.leave_request("x", "{}", at(90)).unwrap();
    comes(&mut requests, |_| _ = leave()).await;
    let answer = |_| recorder.answer_request(leave(), true, "{}", at(91)).unwrap();
    comes(&mut answers, answer).await;
}

#[test]
fn all_reads_fail_at_once_while_the_server_is_away_and_work_again_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let Some(url) = testing::url(folder.path()) else { return };
    let relay = Relay::start(&url);
    let location = Location::parse(relay.url(), &|_| None).unwrap();
    drop(Store::open(&location, OpenMode::ReadWrite).unwrap());
    let store = Store::open(&location, OpenMode::Shared).unwrap();
    relay.cut();
    // More readers than connections. None of them waits for a connection that never comes.
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let error = store.has_accounts().unwrap_err();
                    assert!(error.is_unavailable(), "{error}");
                }
            });
        }
    });
    let error = store.leave_request("x", "{}", at(1)).unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    relay.mend();
    // A short while after the last attempt, the next caller tries the server again.
    let works = || store.has_accounts().is_ok() && store.leave_request("x", "{}", at(2)).is_ok();
    let in_time = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        works()
    });
    assert!(in_time && !store.has_accounts().unwrap());
}
