//! Changes of a feed: address, title, tags and settings in one request.

use axum::Json;
use axum::extract::State;
use dispatch::command::{Command, FeedSettingsChange, Target};
use store::TokenScope;

use super::view::Feed;
use super::{feed_id, row};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::act;
use crate::v1::error::ApiError;
use crate::v1::extract::{IdInPath, JsonBody};
use crate::v1::schema::{Edit, request};

/// A hundred years; longer means never.
const SECONDS_MAX: u64 = 100 * 366 * 86_400;

request! {
    /// Changes of a feed. A missing field keeps its value, and null clears a setting.
    FeedChange {
        /// A new address. Entries, marks and learned state stay. The address of another feed is
        /// refused.
        url: Option<String>,
        /// Its own title; null shows the publisher's.
        title: Edit<String>,
        /// All its tags; they replace the current ones.
        tags: Option<Vec<String>>,
        /// The policy; `tidings lab run` lists the names.
        policy: Edit<String>,
        /// The shortest interval, in seconds.
        alpha_seconds: Edit<u64>,
        /// The longest interval, in seconds.
        beta_seconds: Edit<u64>,
        /// The longest delay that is acceptable, in seconds.
        max_delay_seconds: Edit<u64>,
        /// How much its entries count, from 0 up.
        weight: Option<f64>,
        /// Whether it is paused.
        paused: Option<bool>,
        /// The region whose terminals poll it.
        region: Edit<String>,
    }
}

/// Returns the change of settings for a feed or a tag.
pub fn settings(
    policy: Edit<String>,
    [alpha, beta, max_delay]: [Edit<u64>; 3],
    weight: Option<f64>,
    paused: Option<bool>,
    region: Edit<String>,
) -> Result<Option<FeedSettingsChange>, ApiError> {
    let seconds = [alpha, beta, max_delay].map(Edit::into_change);
    if seconds.iter().any(|s| s.flatten().is_some_and(|s| s > SECONDS_MAX)) {
        return Err(ApiError::Invalid(format!("seconds are at most {SECONDS_MAX}")));
    }
    let [alpha, beta, max_delay] = seconds;
    let policy = policy.into_change();
    let change = FeedSettingsChange {
        policy,
        alpha,
        beta,
        max_delay,
        weight,
        paused,
        region: region.into_change(),
        ..FeedSettingsChange::default()
    };
    Ok((change != FeedSettingsChange::default()).then_some(change))
}

pub async fn change(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(change): JsonBody<FeedChange>,
) -> Result<Json<Feed>, ApiError> {
    let feed = feed_id(id)?;
    let before = row(&context, &person, feed).await?;
    let account = person.subscriber();
    let FeedChange { url, title, tags, policy, weight, paused, region, .. } = change;
    let seconds = [change.alpha_seconds, change.beta_seconds, change.max_delay_seconds];
    let name = feed.to_string();
    let mut commands = Vec::new();
    if let Some(url) = url.filter(|url| *url != before.location.url.masked()) {
        commands.push(Command::Move { feed: name.clone(), url });
    }
    if let Some(change) = settings(policy, seconds, weight, paused, region)? {
        commands.push(Command::Set { target: Target::Feed(name.clone()), change });
    }
    // Address and settings are those of the feed itself, which others may read too.
    if !commands.is_empty() && !person.may(TokenScope::Admin) {
        return Err(ApiError::of_scope(&person, TokenScope::Admin));
    }
    if let Some(tags) = tags {
        let add = tags.iter().filter(|tag| !before.tags.contains(tag)).cloned().collect();
        let remove = before.tags.into_iter().filter(|tag| !tags.contains(tag)).collect();
        commands.push(Command::Tag { feeds: vec![name.clone()], add, remove, account });
    }
    if let Some(title) = title.into_change() {
        commands.push(Command::Title { feed: name, title, account });
    }
    act(&context, Command::Together { commands }).await?;
    Ok(Json(Feed::new(&row(&context, &person, feed).await?)))
}
