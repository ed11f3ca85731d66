//! Groups of changes on a full disk, and sets with a bad job.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use feed::{EntryKey, FeedId};
use feed::{FeedUrl, Item, Outcome, Published, Time};

use super::{AppliedJob, JobWork, SetFn, SetJob, WriteJob};
use crate::db::sql::{Connection, SqlError};
use crate::error::DbError;
use crate::{ErrorKind, NewEntry, NewFeed, OpenMode, PollRecord, Store, StoreError, testing};

const T0: Time = Time::from_secs(1_700_000_000);

fn open() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::open(folder.path(), OpenMode::ReadWrite).unwrap(), folder)
}

fn add(store: &Store, n: u32) -> FeedId {
    let url = FeedUrl::parse(&format!("https://example.org/{n}")).unwrap();
    store.add_feed(&NewFeed { url, title: None, site: None, tags: Vec::new() }, T0).unwrap().id
}

/// A poll with one entry of so many bytes, and a validator for it.
fn poll(store: &Store, feed: FeedId, bytes: usize) -> PollRecord {
    let n = store.poll_input(feed).unwrap().generation;
    let mut record = PollRecord::empty(feed, n, T0, Outcome::Seen, T0);
    let item = Item { content: Some("x".repeat(bytes)), ..Item::default() };
    let mut key = [0; 16];
    key[..4].copy_from_slice(&n.to_le_bytes());
    record.document_mut().entries.new.push(NewEntry {
        key: EntryKey::from_bytes(key),
        item,
        published: Published { claim: None, at: T0 },
        content: 0,
        facts: crate::EntryFacts::default(),
    });
    record.document_mut().validators.etag = Some(n.to_le_bytes().to_vec());
    record
}

/// Simulates a full disk: the file may grow by so many pages only.
fn leave_room(store: &Store, pages: i64) {
    store
        .write(move |conn| {
            let conn = conn.sqlite()?;
            let used: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
            conn.pragma_update(None, "max_page_count", used + pages)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn on_a_full_disk_nothing_is_half_written_and_later_it_goes_on() {
    let (store, _folder) = open();
    let feed = add(&store, 1);
    store.record_blocking(poll(&store, feed, 100)).unwrap();
    leave_room(&store, 4);
    let before = store.poll_input(feed).unwrap();
    let error = store.record_blocking(poll(&store, feed, 100_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    assert!(error.to_string().contains("tidings.db"), "{error}");
    assert_eq!(store.poll_input(feed).unwrap(), before, "no validator ahead of its entries");
    assert_eq!(store.feed(feed).unwrap().entries, 1);
    store.record_blocking(poll(&store, feed, 10)).unwrap();
    leave_room(&store, 1000);
    store.record_blocking(poll(&store, feed, 100_000)).unwrap();
    assert_eq!(store.feed(feed).unwrap().entries, 3);
}

/// Makes the writer wait until it may go on, so that all jobs that follow become one group. Returns
/// when it waits.
fn held(store: &Store) -> (Sender<()>, JoinHandle<Result<(), StoreError>>) {
    let ((begun, has_begun), (go, may_go)) = (channel(), channel::<()>());
    let store = store.clone();
    let holder = std::thread::spawn(move || {
        store.write(move |_| {
            let _ = begun.send(());
            let _ = may_go.recv();
            Ok(())
        })
    });
    has_begun.recv().unwrap();
    (go, holder)
}

#[test]
fn a_group_lost_to_a_full_disk_is_lost_for_all_of_it_and_the_rest_goes_on() {
    let (store, _folder) = open();
    let feeds: Vec<FeedId> = (0..20).map(|n| add(&store, n)).collect();
    let records: Vec<PollRecord> = feeds
        .iter()
        .map(|feed| poll(&store, *feed, if feed.0 == 10 { 200_000 } else { 50 }))
        .collect();
    leave_room(&store, 20);
    let (tell, told) = channel();
    let (go, holder) = held(&store);
    for record in records {
        let (tell, feed) = (tell.clone(), record.feed);
        let slot = store.matcher();
        let keep = move |conn: &Connection| {
            crate::record::apply::record_poll(conn, record, &slot, |_, _| Ok(()))
        };
        store
            .send(false, keep, move |result| {
                let _ = tell.send((feed, result.map(|_| ()).map_err(|e| e.kind())));
            })
            .unwrap();
    }
    go.send(()).unwrap();
    holder.join().unwrap().unwrap();
    let answers: Vec<_> = told.iter().take(20).collect();
    assert!(answers.contains(&(FeedId(10), Err(ErrorKind::DiskFull))));
    for (feed, answer) in answers {
        // Every answer agrees with the stored rows.
        assert_eq!(store.feed(feed).unwrap().entries, u64::from(answer.is_ok()), "{feed}");
    }
    assert!(store.feed(FeedId(20)).unwrap().entries == 1, "what came after it was kept");
    assert_eq!(store.counts(T0).unwrap().polls, store.counts(T0).unwrap().entries);
}

/// A job that stores its number, or that fails in a set and alone.
struct TestJob {
    number: i64,
    is_bad: bool,
    done: Sender<(i64, bool)>,
    in_set: bool,
}

/// Sets that were tried.
static SETS: AtomicUsize = AtomicUsize::new(0);

impl TestJob {
    fn keep(&self, conn: &Connection) -> Result<(), DbError> {
        if self.is_bad {
            return Err(SqlError::of_kind(ErrorKind::Other, "a bad job").into());
        }
        let sql = "insert into settings (key, value) values ($1, 'x')";
        conn.execute(sql, [format!("job {}", self.number)])?;
        Ok(())
    }
}

impl SetJob for TestJob {
    fn apply(self: Box<Self>, conn: Result<&Connection, StoreError>) -> AppliedJob {
        let file = std::sync::Arc::from("the test");
        let alone = |conn| self.keep(conn).map_err(|fault| fault.at(&file));
        let kept = conn.and_then(|conn| if self.in_set { Ok(()) } else { alone(conn) });
        let (done, number) = (self.done.clone(), self.number);
        AppliedJob::new(kept, move |kept| done.send((number, kept.is_ok())).unwrap())
    }

    fn set_fn(&self) -> SetFn {
        |conn, jobs| {
            SETS.fetch_add(1, Ordering::Relaxed);
            let cast = |job| (job as &mut dyn std::any::Any).downcast_mut::<TestJob>().unwrap();
            let mut jobs: Vec<&mut TestJob> = jobs.into_iter().map(cast).collect();
            jobs.iter().try_for_each(|job| job.keep(conn))?;
            jobs.iter_mut().for_each(|job| job.in_set = true);
            Ok(jobs.len())
        }
    }
}

#[test]
fn a_bad_job_costs_few_tries_and_loses_no_other() {
    if !testing::is_postgres() {
        eprintln!("skipped: this test needs PostgreSQL; see `xtask postgres`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let (go, holder) = held(&store);
    let (done, ended) = channel();
    let is_bad = |number: i64| matches!(number, 7 | 150);
    for number in 0..200 {
        let job = TestJob { number, is_bad: is_bad(number), done: done.clone(), in_set: false };
        store.queue(WriteJob { work: JobWork::Set(Box::new(job)), patient: false }).unwrap();
    }
    go.send(()).unwrap();
    holder.join().unwrap().unwrap();
    for (number, is_kept) in ended.iter().take(200) {
        assert_eq!(is_kept, !is_bad(number), "{number}");
        assert_eq!(store.setting(&format!("job {number}")).unwrap().is_some(), is_kept);
    }
    let tried = SETS.load(Ordering::Relaxed);
    assert!(tried < 60, "{tried} sets for 200 jobs with two bad ones");
}
