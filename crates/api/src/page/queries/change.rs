//! What people do with queries: save, drop, try dead letters again.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{Command, CommandResult, QueriesCommand, QueriesResult};

use super::editor::Editor;
use super::preview::Preview;
use super::source;
use crate::Context;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, Ordered, Section, Visitor};
use crate::page::{act, failed, shown};

/// How faults name the text: it is no file.
const FILE: &str = "statement";
/// A month of the past is asked at most.
const PAST_DAYS_MAX: u64 = 30;

#[derive(Template)]
#[template(path = "drop.html")]
struct DropQuery {
    frame: Frame,
    name: String,
}

/// Saves statements, or shows what is wrong with them.
pub async fn save(State(context): State<Context>, ordered: Ordered) -> Response {
    let Ordered(visitor, form) = ordered;
    let text = form.text("text").replace("\r\n", "\n");
    let (store, checked) = (context.store.clone(), text.clone());
    match run_blocking(move || source::check(&store, &checked)).await {
        Ok(Ok(_)) => {}
        Ok(Err(faults)) => {
            let preview = Preview::faulty(&text, &faults);
            let name = form.text("name").to_owned();
            let frame = Frame::new(&context, visitor, Some(Section::Queries));
            let page = shown(&Editor::new(frame, name, text, preview));
            return (StatusCode::UNPROCESSABLE_ENTITY, page).into_response();
        }
        Err(error) => return failed(&context, visitor, &error),
    }
    let days = form.text("past").parse::<u64>().ok().map(|days| days.min(PAST_DAYS_MAX));
    let past = days.filter(|days| *days > 0).map(|days| days * 86_400);
    let wish = QueriesCommand::Apply { file: FILE.to_owned(), text, past };
    match act(&context, &visitor, Command::Query { wish }).await {
        Ok(done) => Redirect::to(&saved(&done)).into_response(),
        Err(refused) => refused,
    }
}

/// The query's page where there is one, else the list.
fn saved(done: &CommandResult) -> String {
    match done {
        CommandResult::Query { granted: QueriesResult::Applied { queries, .. } } => {
            match queries.as_slice() {
                [one] if one.what != "dropped" => format!("/query/{}", one.name),
                _ => Section::Queries.path().to_owned(),
            }
        }
        _ => Section::Queries.path().to_owned(),
    }
}

/// Asks once more before a query is dropped.
pub async fn ask_drop(
    State(context): State<Context>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    shown(&DropQuery { frame: Frame::new(&context, visitor, Some(Section::Queries)), name })
}

pub async fn drop_query(
    State(context): State<Context>,
    Path(name): Path<String>,
    ordered: Ordered,
) -> Response {
    wished(&context, ordered, QueriesCommand::Drop { name }, Section::Queries.path()).await
}

/// Tries the dead letters of a query again.
pub async fn replay(
    State(context): State<Context>,
    Path(name): Path<String>,
    ordered: Ordered,
) -> Response {
    let to = format!("/query/{name}");
    wished(&context, ordered, QueriesCommand::Replay { name }, &to).await
}

async fn wished(context: &Context, ordered: Ordered, wish: QueriesCommand, to: &str) -> Response {
    match act(context, &ordered.0, Command::Query { wish }).await {
        Ok(_) => Redirect::to(to).into_response(),
        Err(refused) => refused,
    }
}
