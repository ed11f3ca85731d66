//! The store: one writer thread, a pool of readers, and the functions `read` and `write` through
//! which all SQL runs. It contains no SQL of its own; the other modules add the public functions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use crate::db::sql::Connection;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::db::FILE_NAME;
use crate::db::entry_feeds::EntryFeeds;
use crate::db::file_identity::FileIdentity;
use crate::db::metrics::StoreCounters;
use crate::db::migrations;
use crate::db::off_thread::wait_off_thread;
use crate::db::open_file;
use crate::db::postgres::signals::{self, Heard};
use crate::db::postgres::{PgAddress, PgConnection, connect, seat};
use crate::db::readers::{ReaderPool, ReaderSource};
use crate::db::server_session::ServerSession;
use crate::db::writer;
use crate::db::writer::{AppliedJob, JobWork, SetJob, WriteJob, WriteObserver, WriterContext};
use crate::error::{DbError, shown};
use crate::matching::MatcherSlot;
use crate::{Location, OpenMode, Signal, SignalReceiver, StoreError, StoreMetrics};

/// Polls that wait for their commit at the same time. Each keeps its entries in memory until then.
/// Beyond this limit the caller waits, which also slows down fetching.
const RECORDS_WAITING_MAX: usize = 1024;

/// Takes the result of a job after the commit.
pub(crate) type ReplyFn<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// A handle to the store. All clones share one store. Dropping the last one writes the pending
/// changes and closes the files.
#[derive(Clone)]
pub struct Store(Arc<StoreInner>);

struct StoreInner {
    location: Location,
    path: PathBuf,
    file: Arc<str>,
    readers: ReaderPool,
    writer: Option<WriterThread>,
    records_waiting: Semaphore,
    matcher: Arc<MatcherSlot>,
    counters: Arc<StoreCounters>,
    entry_feeds: EntryFeeds,
    /// The files that must not be moved or replaced.
    identity: Arc<FileIdentity>,
    /// Another process records, or may.
    is_guest: bool,
    epoch: i64,
    /// The session of the process that records has ended. A guest opens a new one.
    is_session_ended: Option<Arc<AtomicBool>>,
    /// The signals of other processes, if somebody has asked for them.
    heard: OnceLock<watch::Receiver<Heard>>,
}

struct WriterThread {
    jobs: Mutex<Option<Sender<WriteJob>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the store of a data folder or of a database.
    pub fn open(location: impl Into<Location>, mode: OpenMode) -> Result<Store, StoreError> {
        let location = location.into();
        match &location {
            Location::Folder(folder) => Store::open_folder(folder, &location, mode),
            Location::Postgres(address) => Store::open_postgres(address, &location, mode),
        }
    }

    fn open_folder(
        folder: &Path,
        location: &Location,
        mode: OpenMode,
    ) -> Result<Store, StoreError> {
        let path = folder.join(FILE_NAME);
        let file = location.shown();
        if mode != OpenMode::ReadWrite && !path.exists() {
            return Err(StoreError::Missing { file });
        }
        let conn =
            (mode != OpenMode::ReadOnly).then(|| open_file::writer(folder, &path, &file, mode));
        let conn = conn.transpose()?;
        let identity = Arc::new(match &conn {
            Some(_) => FileIdentity::of(&path),
            None => FileIdentity::of_database(&path),
        });
        let first = open_file::reader(&path, &file)?;
        let source = ReaderSource::File(path.clone());
        let readers = ReaderPool::new(source, first, Some(Arc::clone(&identity)), 0);
        Store::assemble(location, path, conn.map(|conn| (conn, None)), readers, identity)
    }

    fn open_postgres(
        address: &PgAddress,
        location: &Location,
        mode: OpenMode,
    ) -> Result<Store, StoreError> {
        let file = location.shown();
        let seated = (mode != OpenMode::ReadOnly).then(|| seat::open(address, &file, mode));
        let seated = seated.transpose()?;
        let say = |e| StoreError::database(&file, e);
        let first = connect::reading(address).map_err(say)?;
        migrations::require_current(&first, &file).map_err(|fault| fault.at(&file))?;
        let source = ReaderSource::Postgres(address.clone());
        let readers = ReaderPool::new(source, first, None, address.readers_max());
        let identity = Arc::new(FileIdentity::none());
        let server =
            seated.as_ref().map(|seated| ServerSession::new(address.clone(), seated.epoch));
        let conn = seated.map(|seated| seated.conn);
        Store::assemble(
            location,
            PathBuf::new(),
            conn.map(|conn| (conn, server)),
            readers,
            identity,
        )
    }

    fn assemble(
        location: &Location,
        path: PathBuf,
        conn: Option<(Connection, Option<ServerSession>)>,
        readers: ReaderPool,
        identity: Arc<FileIdentity>,
    ) -> Result<Store, StoreError> {
        let file = location.shown();
        let session = conn.as_ref().and_then(|(_, server)| server.as_ref());
        let is_guest = session.is_some_and(|server| server.epoch.is_none());
        let epoch = session.and_then(|server| server.epoch).unwrap_or(0);
        let postgres = conn.as_ref().and_then(|(conn, _)| conn.postgres());
        let is_session_ended = postgres.filter(|_| !is_guest).map(PgConnection::ended_flag);
        let matcher = Arc::new(MatcherSlot::default());
        let counters = Arc::new(StoreCounters::new());
        let writer = conn.map(|(conn, server)| {
            let (file, counters) = (file.clone(), Arc::clone(&counters));
            let observer: Arc<dyn WriteObserver> = matcher.clone();
            let identity = Arc::clone(&identity);
            let context = WriterContext { file, observer, counters, identity, server };
            start_writer(conn, &path, context)
        });
        let writer = writer.transpose()?;
        let records_waiting = Semaphore::new(RECORDS_WAITING_MAX);
        let store = Store(Arc::new(StoreInner {
            location: location.clone(),
            path,
            file,
            readers,
            writer,
            records_waiting,
            matcher,
            counters,
            entry_feeds: EntryFeeds::default(),
            identity,
            is_guest,
            epoch,
            is_session_ended,
            heard: OnceLock::new(),
        }));
        if store.0.writer.is_some() {
            store.complete_subscriptions()?;
        }
        Ok(store)
    }

    /// The epoch of this process, if it records on a server; 0 otherwise.
    pub fn epoch(&self) -> i64 {
        self.0.epoch
    }

    /// Returns a receiver of signals that other processes send. The first call opens a connection.
    pub fn signals(&self, signal: Signal) -> SignalReceiver {
        let heard = match &self.0.location {
            Location::Folder(_) => None,
            Location::Postgres(address) => {
                Some(self.0.heard.get_or_init(|| signals::listen(address)).clone())
            }
        };
        SignalReceiver::new(heard, signal)
    }

    /// The place of the store.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// The database file; empty for PostgreSQL.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub(crate) fn matcher(&self) -> Arc<MatcherSlot> {
        Arc::clone(&self.0.matcher)
    }

    pub(crate) fn entry_feeds(&self) -> &EntryFeeds {
        &self.0.entry_feeds
    }

    pub(crate) fn counters(&self) -> &StoreCounters {
        &self.0.counters
    }

    /// Returns the counters since the store was opened.
    pub fn metrics(&self) -> StoreMetrics {
        self.0.counters.read()
    }

    /// Returns why changes cannot be written: the files are missing or replaced, or the last group
    /// of changes failed. `None` if everything works.
    pub fn trouble(&self) -> Option<Arc<str>> {
        let lost = self.0.identity.check().err();
        lost.map(|error| Arc::from(error.to_string())).or_else(|| self.0.counters.trouble())
    }

    /// Returns whether the store can write no more: its file was removed or replaced, or the
    /// process has lost the seat.
    pub fn is_lost(&self) -> bool {
        let has_ended = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        self.0.identity.check().is_err()
            || self.0.counters.disconnected.load(Ordering::Relaxed)
            || self.0.is_session_ended.as_ref().is_some_and(has_ended)
    }

    pub(crate) fn file(&self) -> &Arc<str> {
        &self.0.file
    }

    /// Runs a function in one read transaction.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, StoreError> {
        let found = self.0.readers.with(|conn| {
            let transaction = ReadTransaction::begin(conn)?;
            query(transaction.0)
        });
        found.map_err(DbError::from).flatten().map_err(|error| error.at(&self.0.file))
    }

    /// Runs a change in one transaction, which it may share with other changes. Returns after the
    /// commit.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.refuse_guest()?;
        self.submit(change)
    }

    /// On a server, only the process that records may make most changes.
    fn refuse_guest(&self) -> Result<(), StoreError> {
        match self.0.is_guest {
            true => Err(StoreError::Guest { file: Arc::clone(&self.0.file) }),
            false => Ok(()),
        }
    }

    fn submit<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, replies) = sync_channel(1);
        self.send(false, change, move |result| {
            // The receiver is gone only if the caller's thread has ended.
            let _ = reply.send(result);
        })?;
        wait_off_thread(|| replies.recv()).map_err(|_| StoreError::Closed)?
    }

    /// Runs a change that every process on the database may make: it touches rows of one person,
    /// requests, or what other servers send. Such a change locks the rows that it reads.
    pub(crate) fn write_own<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.submit(change)
    }

    /// Runs a change without blocking a thread. Waits if too many changes wait already.
    pub(crate) async fn write_async<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.refuse_guest()?;
        let _place = self.0.records_waiting.acquire().await.map_err(|_| StoreError::Closed)?;
        let (reply, replies) = oneshot::channel();
        self.send(true, change, move |result| {
            // The caller may have been cancelled. The change is written anyway.
            let _ = reply.send(result);
        })?;
        replies.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) fn send<T: Send + 'static>(
        &self,
        patient: bool,
        change: impl FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
        reply: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> Result<(), StoreError> {
        let file = Arc::clone(&self.0.file);
        let apply = Box::new(move |conn: Result<&Connection, StoreError>| {
            let result = conn.and_then(|conn| change(conn).map_err(|fault| fault.at(&file)));
            AppliedJob::new(result, reply)
        });
        self.queue(WriteJob { work: JobWork::Change(apply), patient })
    }

    /// Sends a job that may be applied together with others of its type. `make` gets the function
    /// that takes the result. Waits like [`Store::write_async`].
    pub(crate) async fn apply_in_set<T: Send + 'static, J: SetJob>(
        &self,
        make: impl FnOnce(ReplyFn<T>) -> J,
    ) -> Result<T, StoreError> {
        self.refuse_guest()?;
        let _place = self.0.records_waiting.acquire().await.map_err(|_| StoreError::Closed)?;
        let (reply, replies) = oneshot::channel();
        let job = make(Box::new(move |result| {
            // The caller may have been cancelled. The change is written anyway.
            let _ = reply.send(result);
        }));
        self.queue(WriteJob { work: JobWork::Set(Box::new(job)), patient: true })?;
        replies.await.map_err(|_| StoreError::Closed)?
    }

    /// Does the same and blocks. The job does not wait for others.
    pub(crate) fn apply_in_set_blocking<T: Send + 'static, J: SetJob>(
        &self,
        make: impl FnOnce(ReplyFn<T>) -> J,
    ) -> Result<T, StoreError> {
        self.refuse_guest()?;
        let (reply, replies) = sync_channel(1);
        let job = make(Box::new(move |result| {
            let _ = reply.send(result);
        }));
        self.queue(WriteJob { work: JobWork::Set(Box::new(job)), patient: false })?;
        wait_off_thread(|| replies.recv()).map_err(|_| StoreError::Closed)?
    }

    /// Sends a job to the writer.
    pub(crate) fn queue(&self, job: WriteJob) -> Result<(), StoreError> {
        let writer = self.0.writer.as_ref().ok_or_else(|| StoreError::read_only(&self.0.file))?;
        let jobs = writer.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = jobs.as_ref().ok_or(StoreError::Closed)?;
        self.0.counters.waiting.fetch_add(1, Ordering::Relaxed);
        sender.send(job).map_err(|_| StoreError::Closed)
    }
}

/// A read transaction: all its statements see the same commit.
struct ReadTransaction<'a>(&'a Connection);

impl ReadTransaction<'_> {
    fn begin(conn: &Connection) -> crate::db::sql::Result<ReadTransaction<'_>> {
        conn.begin_reading()?;
        Ok(ReadTransaction(conn))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        self.0.end_reading();
    }
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        let Some(writer) = &self.writer else { return };
        self.readers.close();
        // Without senders the writer ends after the jobs already sent.
        drop(writer.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = writer.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Fails only if the writer panicked. Its callers have already received an error.
            let _ = thread.join();
        }
    }
}

fn start_writer(
    conn: Connection,
    folder: &Path,
    context: WriterContext,
) -> Result<WriterThread, StoreError> {
    let (jobs, waiting) = channel();
    let folder_name = shown(folder);
    let thread = std::thread::Builder::new()
        .name("store".to_owned())
        .spawn(move || writer::run(conn, &waiting, &context))
        .map_err(|e| StoreError::Folder { folder: folder_name, detail: e.to_string().into() })?;
    Ok(WriterThread { jobs: Mutex::new(Some(jobs)), thread: Mutex::new(Some(thread)) })
}
