//! Tags: list, rename, set settings, remove from all feeds.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{Command, Target};

use super::extract::{JsonBody, NameInPath};
use super::feeds::{FeedSettings, settings};
use super::route::Route;
use super::schema::{Edit, answer, request};
use super::{act, blocking};
use crate::ServerContext;
use crate::v1::error::ApiError;

answer! {
    /// A tag, and the settings of its feeds.
    Tag {
        /// Its name.
        name: String,
        /// The number of feeds with this tag.
        feeds: u64,
        /// The settings for all of them.
        settings: FeedSettings,
    }

    /// All tags, by name.
    TagList {
        /// The tags.
        tags: Vec<Tag>,
    }
}

request! {
    /// Changes of a tag. A missing field keeps its value, and null clears a setting.
    TagChange {
        /// A new name. If another tag has this name, the two become one.
        name: Option<String>,
        /// The policy of its feeds.
        policy: Edit<String>,
        /// The shortest interval, in seconds.
        alpha_seconds: Edit<u64>,
        /// The longest interval, in seconds.
        beta_seconds: Edit<u64>,
        /// The longest delay that is acceptable, in seconds.
        max_delay_seconds: Edit<u64>,
        /// How much entries of its feeds count, from 0 up.
        weight: Option<f64>,
        /// Whether its feeds are paused.
        paused: Option<bool>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/tags", "All tags", list).answers::<TagList>(),
        Route::patch("/tags/{tag}", "Rename a tag, or change the settings of its feeds", change)
            .takes::<TagChange>()
            .answers::<TagList>(),
        Route::delete("/tags/{tag}", "Remove a tag from all feeds", remove),
    ]
}

async fn list(State(context): State<ServerContext>) -> Result<Json<TagList>, ApiError> {
    tags(context).await.map(Json)
}

async fn tags(context: ServerContext) -> Result<TagList, ApiError> {
    blocking(move || {
        let rows = context.store.tags()?.into_iter();
        let tags = rows.map(|row| Tag {
            settings: (&row.settings).into(),
            name: row.tag,
            feeds: row.n_feeds,
        });
        Ok(TagList { tags: tags.collect() })
    })
    .await
}

/// Returns an error if no feed or setting has the tag.
async fn known(context: &ServerContext, tag: &str) -> Result<(), ApiError> {
    let known = tags(context.clone()).await?.tags.into_iter().any(|known| known.name == tag);
    if known { Ok(()) } else { Err(ApiError::NotFound("there is no such tag")) }
}

async fn change(
    State(context): State<ServerContext>,
    NameInPath(tag): NameInPath,
    JsonBody(change): JsonBody<TagChange>,
) -> Result<Json<TagList>, ApiError> {
    known(&context, &tag).await?;
    let seconds = [change.alpha_seconds, change.beta_seconds, change.max_delay_seconds];
    let mut commands = Vec::new();
    if let Some(change) = settings(change.policy, seconds, change.weight, change.paused)? {
        commands.push(Command::Set { target: Target::Tag(tag.clone()), change });
    }
    if let Some(name) = change.name {
        commands.push(Command::RenameTag { tag, to: Some(name) });
    }
    act(&context, Command::Together { commands }).await?;
    tags(context).await.map(Json)
}

async fn remove(
    State(context): State<ServerContext>,
    NameInPath(tag): NameInPath,
) -> Result<StatusCode, ApiError> {
    known(&context, &tag).await?;
    act(&context, Command::RenameTag { tag, to: None }).await?;
    Ok(StatusCode::NO_CONTENT)
}
