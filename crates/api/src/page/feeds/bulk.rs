//! Changes of many feeds: the chosen ones of a list, or all that match its search. The last changes
//! can be undone.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{BulkChange, BulkCommand, Command, FeedChoice};
use store::{BulkRow, FeedState, TokenScope};

use super::add::tags;
use super::params::FeedListParams;
use crate::ServerContext;
use crate::form::SignedForm;
use crate::http::paths::local_target;
use crate::page::frame::{Visitor, WriteForm, forbidden};
use crate::page::notice::{notice, run_command};
use crate::words::{DisplayTime, LocalNow, sentence};

/// A change that can be undone, as a page shows it.
pub struct UndoOffer {
    pub number: i64,
    pub words: String,
    pub at: DisplayTime,
}

impl UndoOffer {
    pub fn new(row: &BulkRow, now: LocalNow) -> UndoOffer {
        let at = DisplayTime::new(row.at, now);
        UndoOffer { number: row.number, words: sentence(&row.what), at }
    }
}

/// Changes the chosen feeds and redirects to the list.
pub async fn change(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    // The list is in the form as the query string of its address.
    let list = FeedListParams::read(Some(form.text("list")));
    let change = match bulk_change(&form) {
        Ok(change) => change,
        Err(text) => return refused(&context, visitor, text),
    };
    if (change.is_for_all() || list.everyone) && !visitor.may(TokenScope::Admin) {
        return forbidden(&context, visitor, TokenScope::Admin);
    }
    let account = visitor.subscriber();
    if list.everyone && account.is_some() && matches!(change, BulkChange::Unsubscribe) {
        let text = "You can unsubscribe from your own feeds only: choose “My feeds” first.";
        return refused(&context, visitor, text);
    }
    let choice = match form.has("every") {
        true => FeedChoice::Matching {
            text: list.text.clone(),
            tag: list.tag.clone(),
            state: list.state.map(|state| FeedState::filter_word(state).to_owned()),
        },
        false => FeedChoice::Feeds(form.all("feed").filter_map(|id| id.parse().ok()).collect()),
    };
    if matches!(&choice, FeedChoice::Feeds(feeds) if feeds.is_empty()) {
        return refused(&context, visitor, "Choose at least one feed.");
    }
    let wish = BulkCommand::Change { choice, change };
    let command = Command::Bulk { wish, account, everyone: list.everyone };
    match run_command(&context, &visitor, command).await {
        Ok(_) => Redirect::to(&list.first().href()).into_response(),
        Err(refused) => refused,
    }
}

/// Reads the change of the form, or says what is missing.
fn bulk_change(form: &SignedForm) -> Result<BulkChange, &'static str> {
    let value = form.text("value").trim();
    let named = match tags(value) {
        tags if tags.is_empty() => Err("Write the tags into the field next to the choice."),
        tags => Ok(tags),
    };
    Ok(match form.text("act") {
        "tag" => BulkChange::Tag { add: named?, remove: Vec::new() },
        "untag" => BulkChange::Tag { add: Vec::new(), remove: named? },
        "unsubscribe" => BulkChange::Unsubscribe,
        "pause" => BulkChange::Pause,
        "resume" => BulkChange::Resume,
        "policy" => {
            let policy = Some(value).filter(|value| !matches!(*value, "" | "default"));
            BulkChange::Policy { policy: policy.map(str::to_owned) }
        }
        _ => return Err("Choose what to do with the feeds."),
    })
}

fn refused(context: &ServerContext, visitor: Visitor, text: &str) -> Response {
    let (status, heading) = (StatusCode::UNPROCESSABLE_ENTITY, "Could not change the feeds");
    notice(context, visitor, status, heading, text.to_owned())
}

/// Undoes the last change of the visitor.
pub async fn undo(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let number = sent.form.text("number").parse().ok();
    let wish = BulkCommand::Undo { number };
    // Changes of the instance are undone by administrators only.
    let (account, everyone) = (sent.visitor.subscriber(), sent.visitor.may(TokenScope::Admin));
    let command = Command::Bulk { wish, account, everyone };
    match run_command(&context, &sent.visitor, command).await {
        Ok(_) => Redirect::to(&local_target(sent.form.text("back"))).into_response(),
        Err(refused) => refused,
    }
}
