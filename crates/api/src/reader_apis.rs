//! The APIs that reader apps speak already, so that nobody has to change theirs: Google Reader's,
//! the part of miniflux's that its clients call, and Fever's. Each answers in its own words what
//! the page answers in HTML; none of them knows more than the page does, and none looks at
//! cookies.
//!
//! # Layout
//! - `google`, `miniflux`, `fever`: one each, with its routes.
//! - `who`: who asks, by whatever proof an app sends. `params`: what it says, by whatever form.
//! - `shown`: entries and feeds as apps show them. `trouble`: why something was not done.

mod add_feed;
mod error;
mod fever;
mod google;
mod identify;
mod miniflux;
mod opml;
mod params;
mod view;

use axum::Router;
use dispatch::command::{Command, Done};

use crate::Context;
use error::ReaderApiError;

/// All routes of all three.
pub fn routes() -> Router<Context> {
    Router::new().merge(google::routes()).merge(miniflux::routes()).merge(fever::routes())
}

/// Does what may wait for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReaderApiError> + Send + 'static,
) -> Result<T, ReaderApiError> {
    // Joining fails only where the runtime ends, and the store with it.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(ReaderApiError::Closed))
}

/// Has the engine do something.
async fn act(context: &Context, command: Command) -> Result<Done, ReaderApiError> {
    (context.act)(command).await.map_err(ReaderApiError::Refused)
}
