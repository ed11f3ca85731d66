//! `/api/v1`: our JSON API, everything that the page can do. Each route stands with its
//! description and its scope in one list; what a client sends is read strictly, what is wrong is
//! told in words. It decides nothing: feeds and queries are changed by commands of the engine.
//!
//! # Layout
//! - `route`: a route and what is said of it; the description (OpenAPI 3.1) of all.
//! - `wire`: forms of JSON, declared once. `sent`: what clients send.
//! - `error`: how a failure is answered. `entry_json`: entries of the stream.
//! - `around`: tags and limits around every answer. `rate`: how often one may ask.
//! - `feeds`, `tags`, `reading`, `stream`, `queries`, `budget`, `account`, `lists`, `health`:
//!   one noun each.

mod account;
mod around;
mod budget;
mod entry_json;
mod error;
mod feeds;
mod health;
mod lists;
mod queries;
pub mod rate;
mod reading;
mod route;
mod sent;
mod stream;
mod tags;
mod wire;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use dispatch::command::{Command, Done};

use crate::Context;
use route::Route;

pub use error::ApiError;
pub use stream::room;

/// All routes, in the order in which they are described.
fn routes() -> Vec<Route> {
    let mut routes = feeds::routes();
    routes.extend(tags::routes());
    routes.extend(reading::routes());
    routes.extend(stream::routes());
    routes.extend(queries::routes());
    routes.extend(budget::routes());
    routes.extend(lists::routes());
    routes.extend(health::routes());
    routes.extend(account::routes());
    routes
}

/// The routes, with what surrounds them.
pub fn router(context: &Context) -> Router<Context> {
    let mut v1 = Router::new();
    for route in routes() {
        v1 = v1.route(route.path, route.guarded());
    }
    let v1 = v1
        .fallback(route::missing)
        .method_not_allowed_fallback(route::other_method)
        .layer(middleware::from_fn(around::tagged))
        .layer(middleware::from_fn_with_state(context.clone(), around::limited));
    Router::new().nest("/api/v1", v1).route("/api/openapi.json", get(description))
}

async fn description(State(context): State<Context>) -> Response {
    Json(route::description(context.version)).into_response()
}

/// Method, path and scope of every route, for those who hold them against something.
pub fn listed() -> Vec<(String, &'static str, store::TokenScope)> {
    let routes = routes().into_iter();
    routes.map(|route| (route.method.to_string(), route.path, route.scope)).collect()
}

/// Has a command carried out.
async fn act(context: &Context, command: Command) -> Result<Done, ApiError> {
    Ok((context.act)(command).await?)
}

/// The command's answer is not the one that it should have.
fn odd() -> ApiError {
    ApiError::Refused(dispatch::command::Refusal {
        message: "the engine answered something else".to_owned(),
        input: false,
    })
}

/// Asks the store on a thread that may wait.
async fn blocking<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    // Joining fails only where the runtime ends, and the store with it.
    let joined = tokio::task::spawn_blocking(question).await;
    joined.unwrap_or(Err(ApiError::Store(store::StoreError::Closed)))
}
