//! Tags: list, rename, set settings, remove from all feeds.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{BulkCommand, Command, Target};
use serde_json::json;
use store::{AccountId, NumberedTag, Settings, TokenScope};

use super::extract::{JsonBody, NameInPath, QueryParams};
use super::feeds::{FeedSettings, settings};
use super::route::Route;
use super::schema::{Edit, answer, request};
use super::{act, blocking};
use crate::ServerContext;
use crate::auth::Person;
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
        /// The region whose terminals poll its feeds.
        region: Edit<String>,
    }
}

request! {
    /// An order of tags.
    TagOrder {
        /// Names of tags, the first one first, at most 2000. Other tags follow.
        tags: Vec<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/tags", "All tags", list)
            .param("all", ALL, json!({"type": "boolean"}))
            .answers::<TagList>(),
        Route::put("/tags", "Set the order of your tags", order)
            .needs(TokenScope::Write)
            .takes::<TagOrder>()
            .answers::<TagList>(),
        Route::patch("/tags/{tag}", "Rename a tag, or change the settings of its feeds", change)
            .needs(TokenScope::Write)
            .takes::<TagChange>()
            .answers::<TagList>(),
        Route::delete("/tags/{tag}", "Remove a tag from all feeds", remove)
            .needs(TokenScope::Write),
    ]
}

const ALL: &str = "The tags of the instance, which choose settings, for administrators.";

async fn list(
    State(context): State<ServerContext>,
    person: Person,
    mut params: QueryParams,
) -> Result<Json<TagList>, ApiError> {
    let all = params.flag("all")?.unwrap_or(false);
    params.end()?;
    if all && !person.may(TokenScope::Admin) {
        return Err(ApiError::of_scope(&person, TokenScope::Admin));
    }
    let account = if all { AccountId::LOCAL } else { person.account };
    tags(context, account).await.map(Json)
}

/// Returns the tags of an account; account 0 stands for the instance.
async fn tags(context: ServerContext, account: AccountId) -> Result<TagList, ApiError> {
    blocking(move || {
        if account != AccountId::LOCAL {
            let rows = context.store.tags_of(account)?.into_iter();
            let rows = rows.filter(|row| row.number != NumberedTag::UNTAGGED);
            let tags = rows.map(|row| Tag {
                settings: (&Settings::default()).into(),
                name: row.tag,
                feeds: row.n_feeds,
            });
            return Ok(TagList { tags: tags.collect() });
        }
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

/// Returns an error if an account has no such tag.
async fn known(context: &ServerContext, account: AccountId, tag: &str) -> Result<(), ApiError> {
    let tags = tags(context.clone(), account).await?.tags;
    match tags.into_iter().any(|known| known.name == tag) {
        true => Ok(()),
        false => Err(ApiError::NotFound("the tag does not exist")),
    }
}

/// Renames a tag of the person. Settings belong to the tag of this name on the instance.
async fn change(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(tag): NameInPath,
    JsonBody(change): JsonBody<TagChange>,
) -> Result<Json<TagList>, ApiError> {
    let seconds = [change.alpha_seconds, change.beta_seconds, change.max_delay_seconds];
    let mut commands = Vec::new();
    let (weight, paused, region) = (change.weight, change.paused, change.region);
    if let Some(change) = settings(change.policy, seconds, weight, paused, region)? {
        if !person.may(TokenScope::Admin) {
            return Err(ApiError::of_scope(&person, TokenScope::Admin));
        }
        known(&context, AccountId::LOCAL, &tag).await?;
        commands.push(Command::Set { target: Target::Tag(tag.clone()), change });
    } else {
        known(&context, person.account, &tag).await?;
    }
    if let Some(name) = change.name {
        let wish = BulkCommand::RenameTag { tag, to: Some(name) };
        commands.push(Command::Bulk { wish, account: person.subscriber(), everyone: false });
    }
    act(&context, Command::Together { commands }).await?;
    tags(context, person.account).await.map(Json)
}

async fn remove(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(tag): NameInPath,
) -> Result<StatusCode, ApiError> {
    known(&context, person.account, &tag).await?;
    let wish = BulkCommand::RenameTag { tag, to: None };
    let command = Command::Bulk { wish, account: person.subscriber(), everyone: false };
    act(&context, command).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sets the order of the person's tags.
async fn order(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<TagOrder>,
) -> Result<Json<TagList>, ApiError> {
    let wish = BulkCommand::OrderTags { tags: sent.tags };
    let command = Command::Bulk { wish, account: person.subscriber(), everyone: false };
    act(&context, command).await?;
    tags(context, person.account).await.map(Json)
}
