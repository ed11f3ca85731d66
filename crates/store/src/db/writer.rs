//! The writer thread. It takes the waiting jobs, applies them in one transaction, commits once and
//! then answers every caller. So thousands of polls a second need a few hundred syncs. It does not
//! know what the jobs write; an observer learns which were committed and which undone.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::db::file_identity::FileIdentity;
use crate::db::metrics::StoreCounters;
use crate::db::server_session::{BEAT_EVERY, ServerSession};
use crate::db::sql::{Connection, SqlError};
use crate::error::DbError;
use crate::{ErrorKind, StoreError};

/// Jobs that share a commit at most. A group lost to a full disk stays small, and a job waits at
/// most some tens of milliseconds for its turn.
const GROUP_MAX: usize = 512;

/// How long the first patient job of a group waits for more jobs. A poll takes longer than that on
/// the network, and each saved sync costs more.
const LINGER: Duration = Duration::from_millis(1);

/// A change. It is called once, with the connection or with the reason why it could not start.
pub(crate) type JobFn = dyn FnOnce(Result<&Connection, StoreError>) -> AppliedJob + Send;

/// A job that PostgreSQL can apply together with its neighbours: a few statements write the rows of
/// all of them.
pub(crate) trait SetJob: Any + Send {
    /// Answers with the result that the set gave it, or does the work by itself.
    fn apply(self: Box<Self>, conn: Result<&Connection, StoreError>) -> AppliedJob;

    /// The function that applies jobs of this type together.
    fn set_fn(&self) -> SetFn;
}

/// Applies as many of these jobs as possible, from the first on, and returns how many. An error
/// means that none was applied; the caller undoes the statements.
pub(crate) type SetFn = fn(&Connection, Vec<&mut dyn SetJob>) -> Result<usize, DbError>;

/// The work of a job.
pub(crate) enum JobWork {
    Change(Box<JobFn>),
    Set(Box<dyn SetJob>),
}

impl JobWork {
    fn apply(self, conn: Result<&Connection, StoreError>) -> AppliedJob {
        match self {
            JobWork::Change(apply) => apply(conn),
            JobWork::Set(job) => job.apply(conn),
        }
    }
}

pub(crate) struct WriteJob {
    pub work: JobWork,
    /// Whether it may wait [`LINGER`] so that other jobs share its commit.
    pub patient: bool,
}

/// A job that was applied and waits for the commit.
pub(crate) struct AppliedJob {
    pub error: Option<StoreError>,
    /// Answers the caller, with the error that lost the whole group, if there was one.
    pub answer: Box<dyn FnOnce(Option<StoreError>) + Send>,
}

impl AppliedJob {
    /// `reply` gets the result after the commit.
    pub fn new<T: Send + 'static>(
        result: Result<T, StoreError>,
        reply: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> AppliedJob {
        let error = result.as_ref().err().cloned();
        let answer = Box::new(move |lost: Option<StoreError>| {
            reply(match (result, lost) {
                (Ok(_), Some(lost)) => Err(lost),
                (result, _) => result,
            });
        });
        AppliedJob { error, answer }
    }
}

/// Memory that must agree with the stored rows. The writer reports every job and transaction.
pub(crate) trait WriteObserver: Send + Sync {
    fn applied(&self, failed: bool);
    fn committed(&self);
    fn undone(&self);
}

/// Everything that the writer needs in addition to its connection.
pub(crate) struct WriterContext {
    pub file: Arc<str>,
    pub observer: Arc<dyn WriteObserver>,
    pub counters: Arc<StoreCounters>,
    pub identity: Arc<FileIdentity>,
    /// `None` for SQLite.
    pub server: Option<ServerSession>,
}

/// Runs until every sender is dropped and all jobs are written.
pub(crate) fn run(mut conn: Connection, jobs: &Receiver<WriteJob>, context: &WriterContext) {
    while let Some(first) = next_job(&conn, jobs, context) {
        if let Some(server) = &context.server {
            server.reconnect(&mut conn);
        }
        let conn = &conn;
        if first.patient {
            std::thread::sleep(LINGER);
        }
        let mut group = VecDeque::from([first]);
        while group.len() < GROUP_MAX
            && let Ok(job) = jobs.try_recv()
        {
            group.push_back(job);
        }
        context.counters.waiting.fetch_sub(group.len() as u64, Ordering::Relaxed);
        while !group.is_empty() {
            write_group(conn, &mut group, context);
        }
    }
}

/// Waits for a job. Shows signs of life meanwhile, if this process records on a server.
fn next_job(
    conn: &Connection,
    jobs: &Receiver<WriteJob>,
    context: &WriterContext,
) -> Option<WriteJob> {
    let records = context.server.as_ref().is_some_and(|server| server.epoch.is_some());
    if !records {
        return jobs.recv().ok();
    }
    loop {
        match jobs.recv_timeout(BEAT_EVERY) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => write_group(conn, &mut VecDeque::new(), context),
        }
    }
}

/// Applies jobs of the group in one transaction. Ends early if an error made SQLite roll back by
/// itself. The remaining jobs were not started and go into the next transaction.
fn write_group(conn: &Connection, group: &mut VecDeque<WriteJob>, context: &WriterContext) {
    let WriterContext { file, observer, counters, identity, server: _ } = context;
    let begun = moment();
    let say = |source| StoreError::database(file, source);
    let ready = identity.check().and_then(|()| conn.begin_writing().map_err(say));
    if let Err(error) = ready {
        counters.disconnected.store(conn.is_lost(), Ordering::Relaxed);
        counters.lost(&error);
        for job in group.drain(..) {
            (job.work.apply(Err(error.clone())).answer)(None);
        }
        return;
    }
    let alone = group.len() == 1;
    let mut applied = Vec::with_capacity(group.len());
    let mut lost = None;
    let mut n_set = 0;
    loop {
        if n_set == 0 {
            n_set = apply_set(conn, group, &**observer);
        }
        let Some(job) = group.pop_front() else { break };
        // A job of a set has its result already and needs no savepoint.
        let one = apply(conn, job, alone || n_set > 0, file);
        n_set = n_set.saturating_sub(1);
        observer.applied(one.error.is_some());
        let rolled_back = conn.is_autocommit();
        if rolled_back {
            lost = one.error.clone();
        }
        applied.push(one);
        if rolled_back {
            break;
        }
    }
    let ended_by_itself = conn.is_autocommit();
    if !ended_by_itself {
        let failed_alone = alone && applied.iter().any(|one| one.error.is_some());
        let ended = if failed_alone {
            conn.control("rollback").map_err(say)
        } else {
            commit(conn, context)
        };
        if let Err(error) = ended {
            lost = Some(error);
            if !conn.is_autocommit() {
                // After a failed commit only a rollback is possible. If that fails too, the next
                // `begin` reports it.
                let _ = conn.control("rollback");
            }
        }
    }
    // A connection that was lost before the commit has undone the group, also where no job noticed.
    if ended_by_itself && lost.is_none() {
        let text = "the connection to the database was lost";
        lost = Some(say(SqlError::of_kind(ErrorKind::Unreachable, text)));
    }
    let is_gone = conn.is_lost() || matches!(lost, Some(StoreError::SeatLost { .. }));
    counters.disconnected.store(is_gone, Ordering::Relaxed);
    if let Some(error) = &lost {
        counters.lost(error);
        observer.undone();
    } else {
        counters.committed(begun.elapsed());
        observer.committed();
    }
    for one in applied {
        (one.answer)(lost.clone());
    }
}

/// Commits. Fails also if the file lost its name between the first check and the commit, because
/// the changes are then lost.
fn commit(conn: &Connection, context: &WriterContext) -> Result<(), StoreError> {
    context.identity.check()?;
    let say = |source| StoreError::database(&context.file, source);
    let Some(server) = &context.server else {
        conn.control("commit").map_err(say)?;
        return context.identity.check();
    };
    server.commit(conn, &context.file)
}

#[expect(clippy::disallowed_methods, reason = "measures the disk; nothing is decided by it")]
fn moment() -> Instant {
    Instant::now()
}

/// Applies the first jobs of the group together, if the database is PostgreSQL and they can be.
/// Returns their number. After an error they are undone, and each is applied by itself.
fn apply_set(
    conn: &Connection,
    group: &mut VecDeque<WriteJob>,
    observer: &dyn WriteObserver,
) -> usize {
    if !conn.is_postgres() {
        return 0;
    }
    let first = group.iter_mut().map_while(|job| match &mut job.work {
        JobWork::Set(job) => Some(&mut **job),
        JobWork::Change(_) => None,
    });
    let jobs: Vec<&mut dyn SetJob> = first.collect();
    let Some(apply) = jobs.first().map(|job| job.set_fn()) else { return 0 };
    let applied = conn.control("savepoint job").map_err(DbError::from);
    let applied = applied.and_then(|()| apply(conn, jobs));
    if !conn.is_autocommit() {
        let undo = if applied.is_ok() { "" } else { "rollback to job; " };
        // PostgreSQL does not answer here. The next statement fails if this one did.
        let _ = conn.control(&format!("{undo}release job"));
    }
    observer.applied(applied.is_err());
    applied.unwrap_or(0)
}

/// Applies one job inside a savepoint, so that a failing job does not undo the others.
fn apply(conn: &Connection, job: WriteJob, alone: bool, file: &Arc<str>) -> AppliedJob {
    if alone {
        return job.work.apply(Ok(conn));
    }
    if let Err(error) = conn.control("savepoint job") {
        return job.work.apply(Err(StoreError::database(file, error)));
    }
    let mut applied = job.work.apply(Ok(conn));
    if conn.is_autocommit() {
        return applied;
    }
    let undone = if applied.error.is_some() { conn.control("rollback to job") } else { Ok(()) };
    if let Err(error) = undone.and_then(|()| conn.control("release job")) {
        // The savepoint cannot be released, so the group must not be committed with half a job in
        // it.
        let _ = conn.control("rollback");
        applied.error = Some(StoreError::database(file, error));
    }
    applied
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use feed::{EntryKey, FeedId};
    use feed::{FeedUrl, Item, Outcome, Published, Time};

    use crate::{ErrorKind, NewEntry, NewFeed, OpenMode, PollRecord, Store};

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
        // The writer waits so that all jobs become one group.
        let (go, wait) = channel::<()>();
        let held = store.clone();
        let holder = std::thread::spawn(move || {
            held.write(move |_| {
                let _ = wait.recv();
                Ok(())
            })
        });
        std::thread::sleep(Duration::from_millis(50));
        for record in records {
            let (tell, feed) = (tell.clone(), record.feed);
            let slot = store.matcher();
            let keep = move |conn: &crate::db::sql::Connection| {
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
}
