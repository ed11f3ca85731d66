//! Access to a data folder: directly if its lock is free, otherwise through the daemon that holds
//! it.

mod whose;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dispatch::command::{Command, CommandRefusal, CommandResult, REQUEST_KIND};
use engine::command::Progress;
use engine::{Clock, Engine, Watch};
use fetch::Fetcher;
use store::{ErrorKind, Location, LockError, OpenMode, Signal, Store, StoreError};

use crate::config::Config;
use crate::error::{CliError, failed, input_error};

/// The interval of checks whether the daemon has answered.
const ANSWER_POLL: Duration = Duration::from_millis(50);
/// The interval of checks whether the daemon is still running and can answer.
const DAEMON_CHECK: Duration = Duration::from_secs(2);

/// The time in which a starting daemon creates its store after it took the lock.
const STARTS_WITHIN: Duration = Duration::from_secs(5);

/// Opens the store for reading. Reading needs no lock: the daemon may continue to write.
pub fn read(config: &Config) -> Result<Store, CliError> {
    let opened = Store::open(&config.store, OpenMode::ReadOnly);
    if let Err(StoreError::Missing { .. }) = opened
        && on_file(config)
    {
        refuse_lost(config)?;
    }
    Ok(opened?)
}

/// Returns an error if a daemon uses another file than the one in the folder.
pub fn refuse_lost(config: &Config) -> Result<(), CliError> {
    if !config.data.exists() {
        return Ok(());
    }
    match store::lock(&config.data) {
        Err(held) if held.has_store(&config.data) == Some(false) => Err(lost(&config.data, &held)),
        _ => Ok(()),
    }
}

/// Opens the store to change rows that the daemon does not need to know about. Creates the store if
/// there is none, but never while a daemon has another one open.
pub fn write(config: &Config) -> Result<Store, CliError> {
    if !on_file(config) {
        return guests_store(config);
    }
    match store::lock(&config.data) {
        Ok(_until_opened) => Ok(Store::open(&config.store, OpenMode::ReadWrite)?),
        Err(held) if held.is_held() => daemons_store(config, &held),
        Err(held) => Err(held.into()),
    }
}

/// Returns whether the store is a file of the data folder.
fn on_file(config: &Config) -> bool {
    matches!(config.store, Location::Folder(_))
}

/// Opens the store in a database that several processes share. Creates the tables if there are
/// none.
fn guests_store(config: &Config) -> Result<Store, CliError> {
    match Store::open(&config.store, OpenMode::Shared) {
        Err(StoreError::Missing { .. }) => {
            drop(Store::open(&config.store, OpenMode::ReadWrite)?);
            Ok(Store::open(&config.store, OpenMode::Shared)?)
        }
        opened => Ok(opened?),
    }
}

/// Opens the store that the holder of the folder's lock writes to.
fn daemons_store(config: &Config, held: &LockError) -> Result<Store, CliError> {
    if held.has_store(&config.data) == Some(false) {
        return Err(lost(&config.data, held));
    }
    match Store::open(&config.store, OpenMode::Shared) {
        Err(StoreError::Missing { .. }) => Err(lost(&config.data, held)),
        opened => Ok(opened?),
    }
}

/// Returns the error for a lock holder whose file is no longer in the folder.
fn lost(data: &Path, held: &LockError) -> CliError {
    let file = data.join("tidings.db");
    let what = if file.exists() { "was replaced" } else { "is missing" };
    let who = held.pid().map_or("a process".to_owned(), |pid| format!("process {pid}"));
    failed(format!(
        "{} {what}, and {who} still uses the old file; end that process, put the right file there \
         or restore a backup, and start it again",
        file.display()
    ))
}

/// Carries out a command, here or in the daemon that holds the folder.
pub async fn carry_out(
    config: &Config,
    command: Command,
    progress: Progress<'_>,
) -> Result<CommandResult, CliError> {
    let runner = CommandRunner::open(config).await?;
    let done = runner.carry_out(command, progress).await;
    runner.close().await;
    done
}

/// The process that carries out commands: this one, or the daemon that holds the folder.
pub enum CommandRunner {
    Own {
        engine: Box<Engine>,
        _lock: Option<store::Lock>,
    },
    Daemon {
        data: PathBuf,
        store: Store,
    },
    /// The process that holds the seat of a shared database.
    Recorder {
        store: Store,
    },
}

impl CommandRunner {
    pub async fn open(config: &Config) -> Result<CommandRunner, CliError> {
        if !on_file(config) {
            return CommandRunner::open_shared(config);
        }
        let lock = match store::lock(&config.data) {
            Ok(lock) => Some(lock),
            Err(held) if held.is_held() => {
                warn_about_flags(config);
                let store = once_made(config, &held).await?;
                return Ok(CommandRunner::Daemon { data: config.data.clone(), store });
            }
            Err(held) => return Err(held.into()),
        };
        let store = Store::open(&config.store, OpenMode::ReadWrite)?;
        let engine = Box::new(start(config, store, Watch::OnRequest)?);
        Ok(CommandRunner::Own { engine, _lock: lock })
    }

    /// Takes the seat of a shared database, or uses the process that has it.
    fn open_shared(config: &Config) -> Result<CommandRunner, CliError> {
        match Store::open(&config.store, OpenMode::ReadWrite) {
            Ok(store) => {
                let engine = Box::new(start(config, store, Watch::OnRequest)?);
                Ok(CommandRunner::Own { engine, _lock: None })
            }
            Err(StoreError::SeatTaken { .. }) => {
                warn_about_flags(config);
                Ok(CommandRunner::Recorder { store: guests_store(config)? })
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn carry_out(
        &self,
        command: Command,
        progress: Progress<'_>,
    ) -> Result<CommandResult, CliError> {
        match self {
            CommandRunner::Own { engine, .. } => {
                let done = engine::command::carry_out(engine, command, progress).await;
                done.map_err(|e| if e.is_input() { input_error(e.to_string()) } else { e.into() })
            }
            CommandRunner::Daemon { data, store } => through_daemon(data, store, &command).await,
            CommandRunner::Recorder { store } => {
                let done = through_recorder(store, &command).await;
                done.map_err(|refusal| {
                    let fail = if refusal.input { input_error } else { failed };
                    fail(refusal.message)
                })
            }
        }
    }

    /// Returns the store. It may be a guest's: only rows of one person may be written.
    pub fn store(&self) -> &Store {
        match self {
            CommandRunner::Own { engine, .. } => &engine.store,
            CommandRunner::Daemon { store, .. } | CommandRunner::Recorder { store } => store,
        }
    }

    /// Returns the numbers of all feeds.
    pub fn feed_ids(&self) -> Result<Vec<feed::FeedId>, CliError> {
        Ok(self.store().feed_ids(None)?)
    }

    pub async fn close(&self) {
        if let CommandRunner::Own { engine, .. } = self {
            engine.stop().await;
        }
    }
}

/// Says that the daemon does not know the flags of this call.
fn warn_about_flags(config: &Config) {
    if config.has_network_flags {
        eprintln!(
            "tidings: the running daemon does this with its own settings; --allow-private, \
             --domain-gap and --workers of this call are ignored"
        );
    }
}

/// Starts an engine over an open store.
pub fn start(config: &Config, store: Store, watch: Watch) -> Result<Engine, CliError> {
    let fetcher = Fetcher::new(config.fetch.clone())?;
    Ok(Engine::start(store, fetcher, Clock::System, config.engine.clone(), watch)?)
}

/// A process that shows no sign of life for so long does not carry out commands.
const RECORDER_SILENCE_MAX: Duration = Duration::from_secs(20);

/// Leaves a command for the process that records on a shared database, and waits for its answer.
pub async fn through_recorder(
    store: &Store,
    command: &Command,
) -> Result<CommandResult, CommandRefusal> {
    let refused = |message: String| CommandRefusal { message, input: false };
    let fault = |error: StoreError| CommandRefusal { message: error.to_string(), input: false };
    let body = serde_json::to_string(command).map_err(|e| refused(e.to_string()))?;
    let mut signals = store.signals(Signal::Answers);
    let id = store.leave_request(REQUEST_KIND, &body, Clock::System.now()).map_err(fault)?;
    let mut checks = tokio::time::interval(DAEMON_CHECK);
    checks.tick().await;
    loop {
        if let Some(answer) = store.request_answer(id).map_err(fault)? {
            let unreadable = |e: serde_json::Error| refused(e.to_string());
            return match answer.ok {
                true => serde_json::from_str(&answer.body).map_err(unreadable),
                false => Err(serde_json::from_str(&answer.body).map_err(unreadable)?),
            };
        }
        let is_due = tokio::select! {
            () = signals.wait(ANSWER_POLL, DAEMON_CHECK) => false,
            _ = checks.tick() => true,
        };
        if is_due {
            let silent_for = store.seat().map_err(fault)?.map(|seat| seat.silent_for);
            if silent_for.is_none_or(|silence| silence > RECORDER_SILENCE_MAX) {
                return Err(refused(
                    "no process records at the moment; start `tidings run` and repeat the command"
                        .to_owned(),
                ));
            }
        }
    }
}

async fn through_daemon(
    data: &Path,
    store: &Store,
    command: &Command,
) -> Result<CommandResult, CliError> {
    let body = serde_json::to_string(command)?;
    let id = store.leave_request(REQUEST_KIND, &body, Clock::System.now())?;
    let mut waited = Duration::ZERO;
    loop {
        if let Some(answer) = store.request_answer(id)? {
            if answer.ok {
                return Ok(serde_json::from_str(&answer.body)?);
            }
            let wrong: CommandRefusal = serde_json::from_str(&answer.body)?;
            let fail = if wrong.input { input_error } else { failed };
            return Err(fail(wrong.message));
        }
        tokio::time::sleep(ANSWER_POLL).await;
        waited += ANSWER_POLL;
        if waited >= DAEMON_CHECK {
            waited = Duration::ZERO;
            match store::lock(data) {
                Ok(_free) => {
                    return Err(failed(
                        "the daemon stopped before it answered; start it again and repeat the \
                         command"
                            .to_owned(),
                    ));
                }
                Err(held) if held.has_store(data) == Some(false) => {
                    return Err(lost(data, &held));
                }
                Err(_) => {}
            }
            // The daemon writes its answer to this store. If we cannot write, it cannot either.
            if let Err(error) = store.try_writing(Clock::System.now())
                && error.kind() != ErrorKind::Busy
            {
                return Err(failed(format!(
                    "the daemon took the command but cannot answer: {error}; check whether it was \
                     done before you repeat it"
                )));
            }
        }
    }
}

/// Opens the daemon's store. Waits for a daemon that has just started and has not created its store
/// yet.
async fn once_made(config: &Config, held: &LockError) -> Result<Store, CliError> {
    let mut waited = Duration::ZERO;
    while held.has_store(&config.data).is_none() && waited < STARTS_WITHIN {
        match Store::open(&config.store, OpenMode::Shared) {
            Err(StoreError::Missing { .. }) => {}
            opened => return Ok(opened?),
        }
        tokio::time::sleep(ANSWER_POLL).await;
        waited += ANSWER_POLL;
    }
    daemons_store(config, held)
}
