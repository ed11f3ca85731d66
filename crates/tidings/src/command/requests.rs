//! Commands that other processes left in the store, carried out by the daemon.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::{Command, Refusal};
use engine::Engine;
use engine::command::carry_out;
use store::{Request, RequestId, StoreError};

/// How often the daemon looks for requests: a command waits no longer than this for its start.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Carries out requests until the task is ended. Each runs by itself: a poll that waits for a
/// domain's gap holds no other request up.
pub async fn serve(engine: Arc<Engine>) {
    let mut last_error = None;
    let mut last = RequestId(0);
    loop {
        match engine.store.pending() {
            Ok(requests) => {
                last_error = None;
                // One that is being carried out has no answer yet, and stays in the list.
                let newer = requests.into_iter().filter(|r| r.id > last).collect::<Vec<_>>();
                for request in newer {
                    last = request.id;
                    tokio::spawn(answer(Arc::clone(&engine), request));
                }
            }
            Err(error) => log_once(&mut last_error, &error),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The same trouble ten times a second is one line in the log.
fn log_once(last: &mut Option<String>, error: &StoreError) {
    let text = error.to_string();
    if last.as_ref() != Some(&text) {
        tracing::error!(%error, "cannot read the requests of other processes");
        *last = Some(text);
    }
}

async fn answer(engine: Arc<Engine>, request: Request) {
    let done = match serde_json::from_str::<Command>(&request.body) {
        Ok(command) => carry_out(&engine, command, &|_, _| ())
            .await
            .map_err(|e| Refusal { message: e.to_string(), input: e.is_input() }),
        Err(e) => Err(Refusal {
            message: format!("the daemon does not understand the request ({e}); restart it"),
            input: false,
        }),
    };
    let (ok, body) = match &done {
        Ok(done) => (true, serde_json::to_string(done)),
        Err(refusal) => (false, serde_json::to_string(refusal)),
    };
    let body = body.unwrap_or_else(|e| format!("{{\"message\":\"{e}\",\"input\":false}}"));
    if let Err(error) = engine.store.answer(request.id, ok, &body, engine.clock.now()) {
        tracing::error!(%error, "cannot answer a request of another process");
    }
}
