//! Labels of entries: gives an entry a label, takes it away, renames or deletes a label.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use feed::EntryId;

use super::frame::WriteForm;
use super::notice::{notice, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;

/// Adds or removes a label of one entry: `add` and `remove` name the label.
pub async fn label(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let entry = sent.form.text("entry").parse().ok().map(EntryId);
    let is_added = !sent.form.has("remove");
    let name = sent.form.text(if is_added { "add" } else { "remove" });
    let (Some(entry), Some(name)) = (entry, query::label_name(name)) else {
        let text = "A label has 1 to 100 letters.".to_owned();
        let (status, heading) = (StatusCode::UNPROCESSABLE_ENTITY, "Could not label the entry");
        return notice(&context, sent.visitor, status, heading, text);
    };
    let done =
        run_blocking(move || store.label_entries(account, &name, &[entry], is_added, now)).await;
    match done {
        Ok(true) => Redirect::to(&local_target(sent.form.text("back"))).into_response(),
        Ok(false) => {
            let text = "You have too many labels. Delete one first.".to_owned();
            let (status, heading) = (StatusCode::CONFLICT, "Could not label the entry");
            notice(&context, sent.visitor, status, heading, text)
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Deletes a label. The entries stay.
pub async fn delete(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let name = sent.form.text("label").to_owned();
    match run_blocking(move || store.delete_label(account, &name)).await {
        Ok(_) => Redirect::to("/").into_response(),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}
