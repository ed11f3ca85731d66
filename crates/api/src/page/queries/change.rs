//! The actions on queries: save, delete, and retry failed deliveries.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{Command, CommandResult, QueriesCommand, QueriesResult};
use store::TokenScope;

use super::editor::QueryEditor;
use super::preview::Preview;
use super::source;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor, WriteForm};
use crate::page::notice::{not_found, render, run_command, store_error};

/// The name of the text in messages, in place of a file name.
const FILE: &str = "statement";
/// A new query can include past entries of one month.
const PAST_DAYS_MAX: u64 = 30;

#[derive(Template)]
#[template(path = "drop.html")]
struct DropPage {
    frame: Frame,
    name: String,
}

/// Saves statements, or shows the editor with their faults.
pub async fn save(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let text = form.text("text").replace("\r\n", "\n");
    let (store, checked, account) = (context.store.clone(), text.clone(), visitor.account());
    match run_blocking(move || source::check(&store, account, &checked)).await {
        Ok(Ok(_)) => {}
        Ok(Err(faults)) => {
            let preview = Preview::faulty(&text, &faults);
            let name = form.text("name").to_owned();
            let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
            let page = render(&QueryEditor::new(frame, name, text, preview));
            return (StatusCode::UNPROCESSABLE_ENTITY, page).into_response();
        }
        Err(error) => return store_error(&context, visitor, &error),
    }
    let days = form.text("past").parse::<u64>().ok().map(|days| days.min(PAST_DAYS_MAX));
    let past = days.filter(|days| *days > 0).map(|days| days * 86_400);
    let account = visitor.subscriber();
    let wish = QueriesCommand::Apply { file: FILE.to_owned(), text, past, account };
    match run_command(&context, &visitor, Command::Query { wish }).await {
        Ok(done) => Redirect::to(&saved_href(&done)).into_response(),
        Err(refused) => refused,
    }
}

/// Returns the address of the saved query, or of the list if there is no single one.
fn saved_href(done: &CommandResult) -> String {
    match done {
        CommandResult::Query { granted: QueriesResult::Applied { queries, .. } } => {
            match queries.as_slice() {
                [one] if one.what != "dropped" => format!("/query/{}", one.name),
                _ => NavSection::Queries.path().to_owned(),
            }
        }
        _ => NavSection::Queries.path().to_owned(),
    }
}

/// Shows the page that asks for confirmation.
pub async fn confirm_drop(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    render(&DropPage { frame: Frame::new(&context, visitor, Some(NavSection::Queries)), name })
}

pub async fn drop_query(
    State(context): State<ServerContext>,
    Path(name): Path<String>,
    sent: WriteForm,
) -> Response {
    let account = match changes_as(&context, &sent.visitor, &name).await {
        Ok(account) => account,
        Err(refused) => return refused,
    };
    let wish = QueriesCommand::Drop { name, account };
    run_wish(&context, sent, wish, NavSection::Queries.path()).await
}

/// Retries the failed deliveries of a query.
pub async fn replay(
    State(context): State<ServerContext>,
    Path(name): Path<String>,
    sent: WriteForm,
) -> Response {
    let to = format!("/query/{name}");
    let account = match changes_as(&context, &sent.visitor, &name).await {
        Ok(account) => account,
        Err(refused) => return refused,
    };
    run_wish(&context, sent, QueriesCommand::Replay { name, account }, &to).await
}

/// Shares a query with everybody on the instance, or ends this.
pub async fn share(
    State(context): State<ServerContext>,
    Path(name): Path<String>,
    sent: WriteForm,
) -> Response {
    let to = format!("/query/{name}");
    let shared = sent.form.text("shared") == "yes";
    let account = match changes_as(&context, &sent.visitor, &name).await {
        Ok(account) => account,
        Err(refused) => return refused,
    };
    run_wish(&context, sent, QueriesCommand::Share { name, shared, account }, &to).await
}

/// Returns the account that changes a query. An administrator changes queries of the instance for
/// the instance. A query that the visitor does not see does not exist for them.
async fn changes_as(
    context: &ServerContext,
    visitor: &Visitor,
    name: &str,
) -> Result<Option<i64>, Response> {
    if visitor.subscriber().is_none() {
        return Ok(None);
    }
    let (store, account, wanted) = (context.store.clone(), visitor.account(), name.to_owned());
    match run_blocking(move || store.query_of(account, &wanted)).await {
        Ok(Some(row)) => {
            let of_instance = row.scope.owner.is_none() && visitor.may(TokenScope::Admin);
            Ok(visitor.subscriber().filter(|_| !of_instance))
        }
        Ok(None) => {
            let text = format!("The query {name} does not exist. The page Queries lists all.");
            Err(not_found(context, visitor.clone(), text))
        }
        Err(error) => Err(store_error(context, visitor.clone(), &error)),
    }
}

async fn run_wish(
    context: &ServerContext,
    sent: WriteForm,
    wish: QueriesCommand,
    to: &str,
) -> Response {
    match run_command(context, &sent.visitor, Command::Query { wish }).await {
        Ok(_) => Redirect::to(to).into_response(),
        Err(refused) => refused,
    }
}
