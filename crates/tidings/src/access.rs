//! Acting on a data folder: by ourselves where it is free, through the daemon where it holds it.

use std::time::Duration;

use dispatch::command::{Command, Done, REQUEST_KIND, Refusal};
use engine::command::Progress;
use engine::{Clock, Engine, Watch};
use fetch::Fetcher;
use store::{ErrorKind, Mode, Store};

use crate::config::Config;
use crate::failure::{Failure, failed, input_error};

/// How often we look whether the daemon has answered.
const ANSWER_POLL: Duration = Duration::from_millis(50);
/// How often we look whether the daemon is still there, and can answer.
const DAEMON_CHECK: Duration = Duration::from_secs(2);

/// Opens the store for reading. Reading needs no lock: the daemon may go on writing.
pub fn read(config: &Config) -> Result<Store, Failure> {
    Ok(Store::open(&config.data, Mode::ReadOnly)?)
}

/// Carries a command out, here or in the daemon that holds the folder.
pub async fn carry_out(
    config: &Config,
    command: Command,
    progress: Progress<'_>,
) -> Result<Done, Failure> {
    let lock = match store::lock(&config.data) {
        Ok(lock) => lock,
        Err(held) if held.is_held() => return through_daemon(config, &command).await,
        Err(held) => return Err(held.into()),
    };
    let store = Store::open(&config.data, Mode::ReadWrite)?;
    let engine = start(config, store, Watch::Asked)?;
    let done = engine::command::carry_out(&engine, command, progress).await;
    engine.stop().await;
    drop(lock);
    done.map_err(|e| if e.is_input() { input_error(e.to_string()) } else { e.into() })
}

/// Starts an engine over an open store.
pub fn start(config: &Config, store: Store, watch: Watch) -> Result<Engine, Failure> {
    let fetcher = Fetcher::new(config.fetch.clone())?;
    Ok(Engine::start(store, fetcher, Clock::System, config.engine.clone(), watch)?)
}

async fn through_daemon(config: &Config, command: &Command) -> Result<Done, Failure> {
    if config.has_network_flags {
        eprintln!(
            "tidings: the daemon that runs does this under its own settings; --allow-private, \
             --domain-gap and --workers of this call do not reach it"
        );
    }
    let store = Store::open(&config.data, Mode::ReadWrite)?;
    let body = serde_json::to_string(command)?;
    let id = store.leave(REQUEST_KIND, &body, Clock::System.now())?;
    let mut waited = Duration::ZERO;
    loop {
        if let Some(answer) = store.answer_to(id)? {
            if answer.ok {
                return Ok(serde_json::from_str(&answer.body)?);
            }
            let wrong: Refusal = serde_json::from_str(&answer.body)?;
            let fail = if wrong.input { input_error } else { failed };
            return Err(fail(wrong.message));
        }
        tokio::time::sleep(ANSWER_POLL).await;
        waited += ANSWER_POLL;
        if waited >= DAEMON_CHECK {
            waited = Duration::ZERO;
            if let Ok(_free) = store::lock(&config.data) {
                return Err(failed(
                    "the daemon ended before it answered; start it again and repeat the command"
                        .to_owned(),
                ));
            }
            // What we cannot write the daemon cannot either, and an answer is written.
            if let Err(error) = store.try_writing(Clock::System.now())
                && error.kind() != ErrorKind::Busy
            {
                return Err(failed(format!(
                    "the daemon has the command but cannot answer: {error}; look whether it was \
                     carried out before you repeat it"
                )));
            }
        }
    }
}
