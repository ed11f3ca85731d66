//! The writer thread. It takes the waiting jobs, applies them in one transaction, commits once and
//! then answers every caller. So thousands of polls a second need a few hundred syncs. It does not
//! know what the jobs write; an observer learns which were committed and which undone.

#[cfg(test)]
mod tests;

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

/// After [`LINGER`], a group of polls for a server waits this long, up to so many times. A group
/// takes several round trips and about thirty statements, whatever its size. So few large groups
/// cost far less than many small ones: at 500 polls a second these are groups of twelve.
const SERVER_LINGER: Duration = Duration::from_millis(5);
const SERVER_LINGERS: u32 = 5;

/// From this size on, a group for a server goes as soon as no more polls come.
const FAIR_GROUP: usize = 8;

/// A group of this size goes to a server at once: its fixed cost is small for each poll.
const LARGE_GROUP: usize = 50;

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
        let mut group = gather(first, jobs, context);
        context.counters.waiting.fetch_sub(group.len() as u64, Ordering::Relaxed);
        while !group.is_empty() {
            write_group(&conn, &mut group, context);
        }
    }
    conn.release();
}

/// Collects the jobs that share a transaction with the first one. Only polls wait for a server:
/// many come at once, and nobody waits for the end of one. Other changes may follow each other.
fn gather(
    first: WriteJob,
    jobs: &Receiver<WriteJob>,
    context: &WriterContext,
) -> VecDeque<WriteJob> {
    // A guest changes rows that other processes change too. With one job in a transaction, it locks
    // the rows of one person only, so two guests seldom wait for each other in a circle.
    if context.server.as_ref().is_some_and(|server| server.epoch.is_none()) {
        return VecDeque::from([first]);
    }
    let n_more = if context.server.is_some() { SERVER_LINGERS } else { 0 };
    let is_poll = |job: &WriteJob| matches!(job.work, JobWork::Set(_));
    let (mut is_patient, mut are_polls) = (first.patient, is_poll(&first));
    let mut group = VecDeque::from([first]);
    for n in 0..=n_more {
        if !is_patient || group.len() >= LARGE_GROUP || (n > 0 && !are_polls) {
            break;
        }
        std::thread::sleep(if n == 0 { LINGER } else { SERVER_LINGER });
        let n_before = group.len();
        while group.len() < GROUP_MAX
            && let Ok(job) = jobs.try_recv()
        {
            is_patient &= job.patient;
            are_polls &= is_poll(&job);
            group.push_back(job);
        }
        if group.len() == n_before && n_before >= FAIR_GROUP {
            break;
        }
    }
    while group.len() < GROUP_MAX
        && let Ok(job) = jobs.try_recv()
    {
        group.push_back(job);
    }
    group
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
    let WriterContext { file, observer, counters, identity, server } = context;
    let begun = moment();
    let say = |source| StoreError::database(file, source);
    let ready = identity.check().and_then(|()| match server {
        Some(server) => server.begin(conn).map_err(say),
        None => conn.begin_writing().map_err(say),
    });
    if let Err(error) = ready {
        counters.disconnected.store(conn.is_lost(), Ordering::Relaxed);
        counters.lost(&error);
        for job in group.drain(..) {
            (job.work.apply(Err(error.clone())).answer)(None);
        }
        return;
    }
    let alone = group.len() == 1;
    let (mut applied, mut lost, mut n_set) = (Vec::with_capacity(group.len()), None, 0);
    let mut set_max = GROUP_MAX;
    loop {
        if n_set == 0 {
            n_set = apply_sets(conn, group, &mut set_max, &**observer);
        }
        let Some(job) = group.pop_front() else { break };
        // A job of a set has its result already and needs no savepoint.
        let one = apply(conn, job, alone || n_set > 0, file);
        n_set = n_set.saturating_sub(1);
        observer.applied(one.error.is_some());
        if conn.is_autocommit() {
            lost = one.error.clone();
            applied.push(one);
            break;
        }
        applied.push(one);
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
        lost = Some(say(SqlError::of_kind(ErrorKind::Unreachable, "the connection was lost")));
    }
    let is_gone = conn.is_lost() || matches!(lost, Some(StoreError::SeatLost { .. }));
    counters.disconnected.store(is_gone, Ordering::Relaxed);
    let errors = applied.iter().map(|one| one.error.as_ref());
    counters.ended(lost.as_ref(), errors, begun.elapsed());
    if lost.is_some() {
        observer.undone();
    } else {
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
/// Returns their number; 0 if the first one must be applied by itself. After an error they are
/// undone and half of them are tried. So one bad job costs few tries, and the others stay together.
fn apply_sets(
    conn: &Connection,
    group: &mut VecDeque<WriteJob>,
    set_max: &mut usize,
    observer: &dyn WriteObserver,
) -> usize {
    while *set_max > 0 {
        let set = group.iter_mut().map_while(|job| match &mut job.work {
            JobWork::Set(job) => Some(&mut **job),
            JobWork::Change(_) => None,
        });
        let set: Vec<&mut dyn SetJob> = set.take(*set_max).collect();
        let n_tried = set.len();
        if let Some(n_applied) = apply_set(conn, set, observer) {
            *set_max = (*set_max * 2).min(GROUP_MAX);
            return n_applied;
        }
        *set_max = n_tried / 2;
    }
    *set_max = 1;
    0
}

/// Applies these jobs together, as far as possible, and returns how many; `None` after an error,
/// which changes nothing.
fn apply_set(
    conn: &Connection,
    set: Vec<&mut dyn SetJob>,
    observer: &dyn WriteObserver,
) -> Option<usize> {
    let first = set.first().filter(|_| conn.is_postgres());
    let Some(apply) = first.map(|job| job.set_fn()) else { return Some(0) };
    let applied = conn.control("savepoint job").map_err(DbError::from);
    let applied = applied.and_then(|()| apply(conn, set));
    if !conn.is_autocommit() {
        let undo = if applied.is_ok() { "" } else { "rollback to job; " };
        // PostgreSQL does not answer here. The next statement fails if this one did.
        let _ = conn.control(&format!("{undo}release job"));
    }
    observer.applied(applied.is_err());
    applied.ok()
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
