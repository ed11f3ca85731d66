//! Carries out commands that other processes left in the store. The daemon runs it.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::{Command, CommandRefusal, CommandResult, REQUEST_KIND};
use engine::Engine;
use engine::command::carry_out;
use store::{CommandRequest, RequestId, Signal, StoreError};

/// The interval of looks for requests. A command waits no longer than this for its start. On
/// PostgreSQL a signal says that there is one, and the longer interval is for lost signals.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(2);
/// The interval of attempts to write an answer.
const ANSWER_AGAIN_EVERY: Duration = Duration::from_secs(1);

/// Carries out requests until the task is aborted. Each runs separately: a poll that waits for a
/// domain's gap does not delay another request.
pub async fn serve(engine: Arc<Engine>) {
    let mut last_error = None;
    let mut signals = engine.store.signals(Signal::Requests);
    loop {
        match engine.store.take_requests() {
            Ok(requests) => {
                last_error = None;
                for request in requests {
                    tokio::spawn(answer(Arc::clone(&engine), request));
                }
            }
            Err(error) => log_once(&mut last_error, &error),
        }
        signals.wait(LOOK_EVERY, LOOK_AT_LEAST_EVERY).await;
    }
}

/// Logs an error once, even if it repeats ten times a second.
fn log_once(last: &mut Option<String>, error: &StoreError) {
    let text = error.to_string();
    if last.as_ref() != Some(&text) {
        tracing::error!(%error, "cannot read the requests of other processes");
        *last = Some(text);
    }
}

async fn answer(engine: Arc<Engine>, request: CommandRequest) {
    let done = carried_out(&engine, &request).await;
    let written = match &done {
        Ok(done) => serde_json::to_string(done),
        Err(refusal) => serde_json::to_string(refusal),
    };
    let written = written.map_err(|e| e.to_string()).and_then(|body| {
        let kept = engine.store.answer_request(request.id, done.is_ok(), &body, engine.clock.now());
        kept.map_err(|e| e.to_string())
    });
    let Err(why) = written else { return };
    tracing::error!(error = why, "cannot answer a request of another process");
    let refusal = match done {
        Ok(_) => {
            let message =
                format!("the command was carried out, but its answer could not be stored: {why}");
            CommandRefusal { message, input: false }
        }
        Err(refusal) => refusal,
    };
    answer_later(&engine, request.id, &refusal).await;
}

async fn carried_out(
    engine: &Engine,
    request: &CommandRequest,
) -> Result<CommandResult, CommandRefusal> {
    let refused = |message| CommandRefusal { message, input: false };
    if request.kind != REQUEST_KIND {
        let text = "the daemon is of another version than this command; use the program that it \
                    was started from, or restart it with this one";
        return Err(refused(text.to_owned()));
    }
    let command = serde_json::from_str::<Command>(&request.body).map_err(|e| {
        refused(format!("the daemon does not understand the request ({e}); restart it"))
    })?;
    let done = carry_out(engine, command, &|_, _| ()).await;
    done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() })
}

/// Writes the answer as soon as the store can be written, because the caller waits for it.
async fn answer_later(engine: &Engine, id: RequestId, refusal: &CommandRefusal) {
    // A text and a flag always serialise.
    let body = serde_json::to_string(refusal).unwrap_or_default();
    loop {
        tokio::time::sleep(ANSWER_AGAIN_EVERY).await;
        match engine.store.answer_request(id, false, &body, engine.clock.now()) {
            Ok(()) | Err(StoreError::Closed) => return,
            Err(error) => tracing::debug!(%error, "the request cannot be answered yet"),
        }
    }
}
