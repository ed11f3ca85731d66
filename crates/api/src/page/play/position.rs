//! Keeps how far a person has listened, for the script of the page.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use feed::{EntryId, Time};
use store::{AccountId, PlaybackPosition, Store, StoreError};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::WriteForm;
use crate::page::notice::store_error;

/// Answers `POST /play/ENTRY/position`.
pub async fn keep(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    sent: WriteForm,
) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let (Ok(entry), Some(seconds)) = (id.parse(), time(sent.form.text("seconds"))) else {
        let text = "seconds must be a number that is not negative\n";
        return (StatusCode::UNPROCESSABLE_ENTITY, text).into_response();
    };
    let position = PlaybackPosition {
        entry: EntryId(entry),
        url: sent.form.text("enclosure").to_owned(),
        seconds,
        // Streams have an endless duration, which says nothing.
        duration: time(sent.form.text("duration")),
        changed_at: changed_at(sent.form.text("at"), (context.now)()),
    };
    match run_blocking(move || keep_known(&store, account, &position)).await {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        Ok(false) => {
            let text = "The recording does not exist. Open the entry again: it may have changed.\n";
            (StatusCode::NOT_FOUND, text).into_response()
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Returns when somebody heard so far. A position may have waited on its device, but none is from
/// the future.
fn changed_at(at: &str, now: Time) -> Time {
    at.parse().map_or(now, |at| Time::from_millis(at).min(now))
}

fn time(text: &str) -> Option<f64> {
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}

/// Keeps a position in a file of an entry that the person may see. Returns `false` otherwise.
fn keep_known(
    store: &Store,
    account: AccountId,
    position: &PlaybackPosition,
) -> Result<bool, StoreError> {
    let found = store.read_entries(account, &[position.entry])?.pop();
    let is_known = |file: &feed::Enclosure| file.url == position.url;
    if !found.is_some_and(|found| found.entry.enclosures.iter().any(is_known)) {
        return Ok(false);
    }
    store.put_playback_position(account, position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_as_old_as_its_device_says_and_never_from_the_future() {
        let now = Time::from_millis(5000);
        for (at, expect) in [("4000", 4000), ("6000", 5000), ("", 5000), ("soon", 5000)] {
            assert_eq!(changed_at(at, now), Time::from_millis(expect), "{at:?}");
        }
    }
}
