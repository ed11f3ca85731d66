//! APIs of existing reader apps: Google Reader's, the part of miniflux's that its clients call, and
//! Fever's. Each offers what the page offers, and none reads cookies.
//!
//! # Layout
//! - `google`, `miniflux`, `fever`: one API each, with its routes.
//! - `identify`: finds the account behind a request. `params`: reads the fields of a request.
//! - `view`: texts of entries and feeds for apps. `error`: failures. `opml`: subscription lists.
//!   `add_feed`: adds a feed for an app.

mod add_feed;
mod error;
mod fever;
mod google;
mod icons;
mod identify;
mod miniflux;
mod opml;
mod params;
mod view;

use axum::Router;
use dispatch::command::{Command, CommandResult};

use crate::ServerContext;
use error::ReaderApiError;

/// Returns the routes of all three APIs.
pub fn routes() -> Router<ServerContext> {
    Router::new().merge(google::routes()).merge(miniflux::routes()).merge(fever::routes())
}

/// Runs work on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReaderApiError> + Send + 'static,
) -> Result<T, ReaderApiError> {
    // Joining fails only when the runtime ends, and the store ends with it.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(ReaderApiError::Closed))
}

/// Sends a command to the engine.
async fn act(context: &ServerContext, command: Command) -> Result<CommandResult, ReaderApiError> {
    (context.act)(command).await.map_err(ReaderApiError::Refused)
}
