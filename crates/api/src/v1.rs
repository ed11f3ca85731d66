//! `/api/v1`: our JSON API, which can do everything that the page can do. One list holds each route
//! with its description and its scope. Requests are read strictly, and errors are sentences. The
//! API decides nothing: commands of the engine change feeds and queries.
//!
//! # Layout
//! - `route`: a route with its description; the OpenAPI 3.1 description of all routes.
//! - `schema`: JSON types, declared once. `extract`: bodies, paths and parameters of requests.
//! - `error`: failures. `layers`: ETags and rate limits around every answer.
//! - `feeds`, `bulk`, `tags`, `reading`, `stream`, `queries`, `rules`, `labels`, `budget`,
//!   `account`, `people`, `opml`, `health`, `machines`, `sharing`, `statistics`: one resource each.

mod account;
mod budget;
mod bulk;
mod error;
mod extract;
mod feed_order;
mod feeds;
mod health;
mod labels;
mod layers;
mod machines;
mod opml;
mod people;
mod queries;
mod reading;
mod route;
mod rules;
mod schema;
mod sharing;
mod statistics;
mod stream;
mod tags;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use dispatch::command::{Command, CommandResult};

use crate::ServerContext;
use route::Route;

pub use error::ApiError;

/// Returns all routes, in the order of the description.
fn routes() -> Vec<Route> {
    let mut routes = feeds::routes();
    routes.extend(bulk::routes());
    routes.extend(tags::routes());
    routes.extend(feed_order::routes());
    routes.extend(reading::routes());
    routes.extend(stream::routes());
    routes.extend(queries::routes());
    routes.extend(rules::routes());
    routes.extend(labels::routes());
    routes.extend(budget::routes());
    routes.extend(opml::routes());
    routes.extend(health::routes());
    routes.extend(machines::routes());
    routes.extend(account::routes());
    routes.extend(people::routes());
    routes.extend(sharing::routes());
    routes.extend(statistics::routes());
    routes
}

/// Returns the router of the API, with its layers.
pub fn router(context: &ServerContext) -> Router<ServerContext> {
    let mut v1 = Router::new();
    for route in routes() {
        v1 = v1.route(route.path, route.guarded());
    }
    let v1 = v1
        .fallback(route::missing)
        .method_not_allowed_fallback(route::other_method)
        .layer(middleware::from_fn(layers::tagged))
        .layer(middleware::from_fn_with_state(context.clone(), layers::limited));
    Router::new().nest("/api/v1", v1).route("/api/openapi.json", get(description))
}

async fn description(State(context): State<ServerContext>) -> Response {
    Json(route::description(context.version)).into_response()
}

/// Returns method, path and scope of every route, for checks of documents and clients.
pub fn listed() -> Vec<(String, &'static str, store::TokenScope)> {
    let routes = routes().into_iter();
    routes.map(|route| (route.method.to_string(), route.path, route.scope)).collect()
}

/// Sends a command to the engine.
async fn act(context: &ServerContext, command: Command) -> Result<CommandResult, ApiError> {
    Ok((context.act)(command).await?)
}

/// The error for an answer of the engine that does not fit the command.
fn unexpected_answer() -> ApiError {
    ApiError::Refused(dispatch::command::CommandRefusal {
        message: "internal error: unexpected answer of the engine; please report it".to_owned(),
        input: false,
    })
}

/// Runs work on a thread that may block.
async fn blocking<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    // Joining fails only when the runtime ends, and the store ends with it.
    let joined = tokio::task::spawn_blocking(question).await;
    joined.unwrap_or(Err(ApiError::Store(store::StoreError::Closed)))
}
