//! Pages with a heading and one message: a refused command, a missing page, a failed store.
//! They read nothing from the store, so that they can report its failure.

use std::fmt::Display;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use dispatch::command::{Command, CommandRefusal, CommandResult};
use store::StoreError;

use super::frame::{Frame, Visitor};
use crate::ServerContext;
use crate::store_failure;
use crate::words::sentence;

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage {
    frame: Frame,
    heading: &'static str,
    text: String,
    /// A page that was not found lists the other pages.
    lists_pages: bool,
}

/// The page while the database server does not answer.
#[derive(Template)]
#[template(path = "away.html")]
struct AwayPage {
    frame: Frame,
    /// The page loads itself again after so many seconds.
    retry_secs: u16,
}

/// Runs a command. On refusal returns the page with the reason.
pub async fn run_command(
    context: &ServerContext,
    visitor: &Visitor,
    command: Command,
) -> Result<CommandResult, Response> {
    let heading = failure_heading(&command);
    let refused = |refusal| refusal_page(context, visitor.clone(), heading, &refusal);
    (context.act)(command).await.map_err(refused)
}

const fn failure_heading(command: &Command) -> &'static str {
    match command {
        Command::Add { .. } => "Could not add the feed",
        Command::Import { .. } => "Could not import the list",
        Command::Poll { .. } => "Could not poll the feed",
        Command::Set { .. } => "Could not change the settings",
        Command::Remove { .. } => "Could not remove the feed",
        Command::Subscribe { .. } => "Could not subscribe to the feed",
        Command::Move { .. } => "Could not move the feed",
        Command::Title { .. } => "Could not rename the feed",
        Command::Tag { .. } => "Could not change the tags",
        Command::RenameTag { .. } => "Could not rename the tag",
        Command::Bulk { .. } => "Could not change the feeds",
        Command::Budget { .. } => "Could not change the budget",
        Command::Query { .. } => "Could not change the query",
        Command::Article { .. } => "Could not load the article",
        Command::TryArticle { .. } => "Could not try the selector",
        Command::Fetch { .. } => "Could not change how the feed is fetched",
        Command::Share { .. } => "Could not send the entry",
        Command::Drain { .. } => "Could not drain the machine",
        Command::StepDown => "Could not change the controller",
        Command::Together { .. } => "Could not make the changes",
    }
}

fn refusal_page(
    context: &ServerContext,
    visitor: Visitor,
    heading: &'static str,
    refusal: &CommandRefusal,
) -> Response {
    let status = if refusal.input {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    notice(context, visitor, status, heading, sentence(&refusal.message))
}

/// Answers a request for a path without a route.
pub async fn missing(State(context): State<ServerContext>, visitor: Visitor, uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let text =
        format!("The page {path} does not exist. Check the address, or choose a page below.");
    not_found(&context, visitor, text)
}

pub fn no_feed(context: &ServerContext, visitor: Visitor, id: impl Display) -> Response {
    let text =
        format!("The feed {id} does not exist. It may have been removed: look at all feeds.");
    not_found(context, visitor, text)
}

pub fn no_entry(context: &ServerContext, visitor: Visitor, id: impl Display) -> Response {
    let text = format!("The entry {id} does not exist. It may have been deleted: search for it.");
    not_found(context, visitor, text)
}

pub fn not_found(context: &ServerContext, visitor: Visitor, text: String) -> Response {
    notice(context, visitor, StatusCode::NOT_FOUND, "Not found", text)
}

/// Returns the page for a store that failed, and logs the cause.
pub fn store_error(context: &ServerContext, visitor: Visitor, error: &StoreError) -> Response {
    store_failure::log(error, "cannot show a page: the store failed");
    let status = store_failure::status(error);
    if store_failure::is_busy(error) {
        let text = "Another change was in the way. Nothing has changed. Please try again.";
        let mut response = notice(context, visitor, status, "Try again", text.to_owned());
        response.headers_mut().extend(store_failure::retry_after(error));
        return response;
    }
    if !error.is_unavailable() {
        let text = format!("The database did not answer: {error}.");
        return notice(context, visitor, status, "Something went wrong", text);
    }
    let frame = Frame::new(context, visitor, None);
    let page = AwayPage { frame, retry_secs: store_failure::RETRY_SECS };
    let mut response = (status, render(&page)).into_response();
    response.headers_mut().extend(store_failure::retry_after(error));
    response
}

pub fn notice(
    context: &ServerContext,
    visitor: Visitor,
    status: StatusCode,
    heading: &'static str,
    text: String,
) -> Response {
    let frame = Frame::new(context, visitor, None);
    let lists_pages = status == StatusCode::NOT_FOUND;
    (status, render(&NoticePage { frame, heading, text, lists_pages })).into_response()
}

/// Renders a template as the body of an answer.
pub fn render(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        // The compiler checks templates, so only writing into memory can fail.
        Err(error) => {
            tracing::error!(%error, "cannot render a template");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
