//! Access to a data folder: directly if its lock is free, otherwise through the daemon that holds
//! it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dispatch::command::{Command, CommandRefusal, CommandResult, REQUEST_KIND};
use engine::command::Progress;
use engine::{Clock, Engine, Watch};
use fetch::Fetcher;
use store::{ErrorKind, LockError, OpenMode, Store, StoreError};

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
    let opened = Store::open(&config.data, OpenMode::ReadOnly);
    if let Err(StoreError::Missing { .. }) = opened {
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
    match store::lock(&config.data) {
        Ok(_until_opened) => Ok(Store::open(&config.data, OpenMode::ReadWrite)?),
        Err(held) if held.is_held() => daemons_store(config, &held),
        Err(held) => Err(held.into()),
    }
}

/// Opens the store that the holder of the folder's lock writes to.
fn daemons_store(config: &Config, held: &LockError) -> Result<Store, CliError> {
    if held.has_store(&config.data) == Some(false) {
        return Err(lost(&config.data, held));
    }
    match Store::open(&config.data, OpenMode::Shared) {
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
    Own { engine: Box<Engine>, _lock: store::Lock },
    Daemon { data: PathBuf, store: Store },
}

impl CommandRunner {
    pub async fn open(config: &Config) -> Result<CommandRunner, CliError> {
        let lock = match store::lock(&config.data) {
            Ok(lock) => lock,
            Err(held) if held.is_held() => {
                if config.has_network_flags {
                    eprintln!(
                        "tidings: the running daemon does this with its own settings; \
                         --allow-private, --domain-gap and --workers of this call are ignored"
                    );
                }
                let store = once_made(config, &held).await?;
                return Ok(CommandRunner::Daemon { data: config.data.clone(), store });
            }
            Err(held) => return Err(held.into()),
        };
        let store = Store::open(&config.data, OpenMode::ReadWrite)?;
        let engine = Box::new(start(config, store, Watch::OnRequest)?);
        Ok(CommandRunner::Own { engine, _lock: lock })
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
        }
    }

    /// Returns the numbers of all feeds.
    pub fn feed_ids(&self) -> Result<Vec<feed::FeedId>, CliError> {
        let store = match self {
            CommandRunner::Own { engine, .. } => &engine.store,
            CommandRunner::Daemon { store, .. } => store,
        };
        Ok(store.feed_ids(None)?)
    }

    pub async fn close(&self) {
        if let CommandRunner::Own { engine, .. } = self {
            engine.stop().await;
        }
    }
}

/// Starts an engine over an open store.
pub fn start(config: &Config, store: Store, watch: Watch) -> Result<Engine, CliError> {
    let fetcher = Fetcher::new(config.fetch.clone())?;
    Ok(Engine::start(store, fetcher, Clock::System, config.engine.clone(), watch)?)
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
        match Store::open(&config.data, OpenMode::Shared) {
            Err(StoreError::Missing { .. }) => {}
            opened => return Ok(opened?),
        }
        tokio::time::sleep(ANSWER_POLL).await;
        waited += ANSWER_POLL;
    }
    daemons_store(config, held)
}
