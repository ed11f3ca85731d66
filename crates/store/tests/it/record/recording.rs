//! Recordings: what was recorded comes back as it came, and nothing of it is folded away.

use std::time::Duration;

use feed::{FeedId, Outcome, RawAnswer, Time};
use store::{NewRecording, RecordedAnswer, Store};

use crate::sample::{T0, add, at, fresh, items, seen, unchanged};

fn settings(feed_bytes_max: Option<u64>) -> NewRecording {
    NewRecording {
        started_at: T0,
        ends_at: T0 + Duration::from_secs(28 * 86_400),
        policy: "recording".to_owned(),
        user_agent: "Tidings/test".to_owned(),
        feed_bytes_max,
        bytes_max: None,
    }
}

/// A feed whose entries move through a window of 20. Texts are noise, so that they compress badly.
fn document(n: usize) -> Vec<u8> {
    let entry = |i: usize| {
        let noise = (0..60).map(|k| format!("{:x}", (i * 7919 + k * 104_729) % 65_521));
        format!(
            "<item><guid>{i}</guid><description>{}</description></item>",
            noise.collect::<String>()
        )
    };
    (n..n + 20).rev().map(entry).collect::<String>().into_bytes()
}

fn raw(etag: usize, body: Option<Vec<u8>>) -> Option<Box<RecordedAnswer>> {
    let status = if body.is_some() { "200 OK" } else { "304 Not Modified" };
    let answer = RawAnswer {
        request: format!(
            "GET /feed HTTP/1.1\r\nhost: example.org\r\nif-none-match: \"{etag}\"\r\n"
        )
        .into_bytes(),
        head: format!(
            "HTTP/1.1 {status}\r\netag: \"{etag}\"\r\ndate: Tue, 14 Nov 2023 22:13:20 GMT\r\n\
             server: Apache/2.4.41 (Ubuntu)\r\nvary: Accept-Encoding\r\n"
        )
        .into_bytes(),
        remote: Some([192, 0, 2, 7].into()),
        body,
    };
    Some(Box::new(RecordedAnswer { url: "https://example.org/feed".to_owned(), hops: 1, answer }))
}

/// Polls once; a document if `n` is given, else 304.
fn poll(store: &Store, feed: FeedId, n: Option<usize>, time: Time) {
    let mut record = match n {
        Some(n) => {
            let ids: Vec<String> = (n..n + 20).rev().map(|i| i.to_string()).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            seen(store, feed, &items(&ids), time)
        }
        None => unchanged(store, feed, time),
    };
    record.exchange.status = Some(if n.is_some() { 200 } else { 304 });
    record.raw = raw(n.unwrap_or(0), n.map(document));
    store.record_blocking(record).unwrap();
}

#[test]
fn every_version_and_every_message_comes_back_as_it_came() {
    let f = fresh();
    f.store.begin_recording(settings(None)).unwrap();
    let feed = add(&f.store, "https://example.org/feed");
    for n in 0..45 {
        poll(&f.store, feed, Some(n), at(2 * n as i64 * 60));
        poll(&f.store, feed, None, at((2 * n as i64 + 1) * 60));
    }
    let mut versions = Vec::new();
    f.store.document_versions(feed, |version| versions.push(version)).unwrap();
    assert_eq!(versions.len(), 45);
    for (n, version) in versions.iter().enumerate() {
        assert_eq!(version.body, document(n), "version {n}");
        assert_eq!(version.version, n as i64 + 1);
        let alone = f.store.document_version(feed, Some(version.version)).unwrap();
        assert_eq!(alone.as_ref(), Some(&version.body));
    }
    assert_eq!(f.store.document_version(feed, None).unwrap(), Some(document(44)));
    let polls = f.store.recorded_polls(feed).unwrap();
    assert_eq!(polls.len(), 90);
    for (i, poll) in polls.iter().enumerate() {
        let messages = poll.messages.as_ref().unwrap();
        let expect = raw(if i % 2 == 0 { i / 2 } else { 0 }, (i % 2 == 0).then(Vec::new)).unwrap();
        assert_eq!(messages.request, expect.answer.request, "poll {i}");
        assert_eq!(messages.head, expect.answer.head, "poll {i}");
        assert_eq!(messages.version, Some(i as i64 / 2 + 1), "poll {i}");
        assert_eq!((messages.hops, messages.remote.as_deref()), (1, Some("192.0.2.7")));
        assert_eq!(messages.sha256.is_some(), i % 2 == 0);
    }
    let recording = f.store.recording().unwrap().unwrap();
    assert_eq!(recording.n_polls, 90);
    let whole: usize = (0..45).map(|n| document(n).len()).sum();
    let stored = usize::try_from(recording.stored_bytes).unwrap();
    assert!(stored * 6 < whole, "{stored} of {whole} bytes");
    let entries = f.store.recorded_entries(feed).unwrap();
    assert_eq!((entries.len(), entries[0].guid.as_deref()), (64, Some("0")));
}

#[test]
fn polls_of_a_recording_stay_single_also_after_it_ended() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    let plain = |n: i64| {
        let record = unchanged(&f.store, feed, at(n * 60));
        f.store.record_blocking(record).unwrap();
    };
    (0..100).for_each(plain);
    // The first poll is made in the second of the start, and poll times are whole seconds.
    let started_at = at(100 * 60) + Duration::from_millis(900);
    let begin = NewRecording { started_at, ..settings(None) };
    f.store.begin_recording(begin).unwrap();
    for n in 100..700 {
        let mut record = unchanged(&f.store, feed, at(n * 60));
        record.raw = raw(0, None);
        f.store.record_blocking(record).unwrap();
    }
    f.store.end_recording(at(699 * 60)).unwrap();
    assert_eq!(f.store.recording().unwrap(), None);
    (700..1400).for_each(plain);
    let polls = f.store.recorded_polls(feed).unwrap();
    let recorded = polls.iter().filter(|poll| poll.messages.is_some()).count();
    assert_eq!(recorded, 600);
    assert!(polls.len() < 1200, "polls outside the recording are folded: {}", polls.len());
    let total: u64 = f.store.poll_days(feed).unwrap().iter().map(|day| day.polls).sum();
    assert_eq!(total, 1400, "no poll is counted twice");
}

#[test]
fn a_recording_continues_and_limits_hold() {
    let f = fresh();
    let first = f.store.begin_recording(settings(Some(1000))).unwrap();
    let feed = add(&f.store, "https://example.org/feed");
    for n in 0..10 {
        poll(&f.store, feed, Some(n * 100), at(n as i64 * 60));
    }
    let mut n_versions = 0;
    f.store.document_versions(feed, |_| n_versions += 1).unwrap();
    assert_eq!(n_versions, 1, "the limit of a feed stops its documents");
    let polls = f.store.recorded_polls(feed).unwrap();
    assert_eq!(polls.len(), 10, "and not its polls");
    assert!(polls.iter().all(|poll| poll.messages.as_ref().unwrap().sha256.is_some()));
    assert_eq!(polls[9].messages.as_ref().unwrap().version, None);
    let later = NewRecording { ends_at: at(99), ..settings(None) };
    let again = f.store.begin_recording(later).unwrap();
    assert_eq!((again.id, again.settings), (first.id, first.settings));
    assert_eq!(f.store.recordings().unwrap().len(), 1);
}

#[test]
fn a_failed_poll_leaves_its_messages_and_shows_no_document() {
    let f = fresh();
    f.store.begin_recording(settings(None)).unwrap();
    let feed = add(&f.store, "https://example.org/feed");
    poll(&f.store, feed, Some(0), at(0));
    let mut record = unchanged(&f.store, feed, at(60));
    record.outcome = Outcome::Failed;
    let answer = RawAnswer { request: b"GET / HTTP/1.1\r\n".to_vec(), ..RawAnswer::default() };
    record.raw = Some(Box::new(RecordedAnswer { answer, ..RecordedAnswer::default() }));
    f.store.record_blocking(record).unwrap();
    let polls = f.store.recorded_polls(feed).unwrap();
    let messages = polls[1].messages.as_ref().unwrap();
    assert_eq!((messages.version, messages.head.len()), (None, 0));
    assert_eq!(messages.request, b"GET / HTTP/1.1\r\n");
}
