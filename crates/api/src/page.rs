//! The pages that people read: rendered here from the store, whole, useful without scripts. Every
//! value is escaped by the templates; a publisher's HTML passes the sanitiser first.
//!
//! # Layout
//! - `frame`: what surrounds every page, and who looks at it. `light`: in which light. `choices`:
//!   time zone, order and size of the text.
//! - `read`: entries, marks and stars. `feeds`: the list, adding, importing. `feed`: one of them.
//! - `queries`, `budget`, `lab`, `health`, `account`: the rest of the navigation.

pub mod frame;

mod account;
mod bars;
mod budget;
mod choices;
mod feed;
mod feeds;
mod health;
mod lab;
mod light;
mod params;
mod queries;
mod read;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use dispatch::command::{Command, CommandRefusal, CommandResult};
use store::StoreError;

pub use frame::{Frame, Visitor};

use crate::{Context, assets};

/// The routes of all pages.
pub fn routes(context: &Context) -> Router<Context> {
    Router::new()
        .route("/", get(read::list))
        .route("/fold", get(read::fold))
        .route("/entry/{id}", get(read::entry))
        .route("/marks", post(read::mark))
        .route("/marks/all", post(read::mark_all))
        .route("/marks/undo", post(read::undo))
        .route("/news", get(read::news))
        .route("/feeds", get(feeds::list).post(feeds::add))
        .route("/import", post(feeds::import))
        .route("/export.opml", get(feeds::export))
        .route("/feed/{id}", get(feed::feed))
        .route("/feed/{id}/remove", get(feed::ask_remove).post(feed::remove))
        .route("/feed/{id}/{act}", post(feed::change))
        .route("/queries", get(queries::list).post(queries::save))
        .route("/queries/new", get(queries::new))
        .route("/queries/preview", post(queries::preview))
        .route("/query/{name}", get(queries::edit))
        .route("/query/{name}/drop", get(queries::ask_drop).post(queries::drop_query))
        .route("/query/{name}/replay", post(queries::replay))
        .route("/budget", get(budget::budget).post(budget::set))
        .route("/what-if", post(budget::replay))
        .route("/lab", get(lab::list))
        .route("/lab/{name}", get(lab::report))
        .route("/lab/{name}/{file}", get(lab::figure))
        .route("/health", get(health::health))
        .route("/account", get(account::account))
        .route("/account/password", post(account::change_password))
        .route("/account/tokens", post(account::make_token))
        .route("/account/tokens/revoke", post(account::revoke_token))
        .route("/light", post(light::choose))
        .route("/choices", post(choices::choose))
        .route("/style.css", get(assets::style))
        .route("/script.js", get(assets::script))
        .route("/icon.svg", get(assets::icon))
        .fallback(missing)
        .layer(from_fn_with_state(context.clone(), choices::look_up))
}

/// What is wrong with a feed, and what that means.
pub struct Trouble {
    pub what: String,
    pub advice: &'static str,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice {
    frame: Frame,
    heading: &'static str,
    text: String,
    /// What there is instead is named where something was not found.
    shows_places: bool,
}

/// Has a command carried out; where it is refused, the page that says why.
async fn act(
    context: &Context,
    visitor: &Visitor,
    command: Command,
) -> Result<CommandResult, Response> {
    let what = could_not(&command);
    let refused = |refusal| refused(context, visitor.clone(), what, &refusal);
    (context.act)(command).await.map_err(refused)
}

/// What did not happen, as the heading of the page that says why.
const fn could_not(command: &Command) -> &'static str {
    match command {
        Command::Add { .. } => "Could not add the feed",
        Command::Import { .. } => "Could not import the list",
        Command::Poll { .. } => "Could not poll the feed",
        Command::Set { .. } => "Could not change the settings",
        Command::Remove { .. } => "Could not remove the feed",
        Command::Move { .. } => "Could not move the feed",
        Command::Title { .. } => "Could not rename the feed",
        Command::Tag { .. } => "Could not change the tags",
        Command::RenameTag { .. } => "Could not rename the tag",
        Command::Budget { .. } => "Could not change the budget",
        Command::Query { .. } => "Could not change the query",
        Command::Together { .. } => "Could not make the changes",
    }
}

fn refused(
    context: &Context,
    visitor: Visitor,
    heading: &'static str,
    refusal: &CommandRefusal,
) -> Response {
    let status = if refusal.input {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let text = feeds::sentence(&refusal.message);
    notice(context, visitor, status, heading, text)
}

/// Whatever is asked for and does not exist.
async fn missing(State(context): State<Context>, visitor: Visitor, uri: Uri) -> Response {
    let asked: String = uri.path().chars().take(200).collect();
    no_such(&context, visitor, format!("There is no page at {asked}."))
}

fn no_such(context: &Context, visitor: Visitor, text: String) -> Response {
    notice(context, visitor, StatusCode::NOT_FOUND, "Not found", text)
}

/// A page that could not be shown, with the way to the others: that asks the store nothing.
pub fn failed(context: &Context, visitor: Visitor, error: &StoreError) -> Response {
    let cause: &(dyn std::error::Error + 'static) = error;
    tracing::warn!(error = cause, "a page could not be shown");
    let text = format!("The database did not answer: {error}.");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    notice(context, visitor, status, "Something went wrong", text)
}

fn notice(
    context: &Context,
    visitor: Visitor,
    status: StatusCode,
    heading: &'static str,
    text: String,
) -> Response {
    let frame = Frame::new(context, visitor, None);
    let shows_places = status == StatusCode::NOT_FOUND;
    (status, shown(&Notice { frame, heading, text, shows_places })).into_response()
}

pub fn shown(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        // Templates are checked when compiled; what is left is a full memory.
        Err(error) => {
            tracing::error!(%error, "a template could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
