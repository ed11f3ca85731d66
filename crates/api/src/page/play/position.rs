//! Keeps how far a person has listened, for the script of the page.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use feed::EntryId;
use store::PlaybackPosition;

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
    let (entry, seconds) = (id.parse(), sent.form.text("seconds").parse());
    let (Ok(entry), Ok(seconds)) = (entry, seconds) else {
        return (StatusCode::UNPROCESSABLE_ENTITY, "seconds must be a number\n").into_response();
    };
    let position = PlaybackPosition {
        entry: EntryId(entry),
        url: sent.form.text("enclosure").to_owned(),
        seconds,
        duration: sent.form.text("duration").parse().ok().filter(|d: &f64| d.is_finite()),
        changed_at: (context.now)(),
    };
    match run_blocking(move || store.put_playback_position(account, &position)).await {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        Ok(false) => {
            let text = "The recording does not exist. Open the entry again: it may have changed.\n";
            (StatusCode::NOT_FOUND, text).into_response()
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}
