//! The settings for the requests of a feed. Secret values go in and never come out.

use axum::Json;
use axum::extract::State;
use feed::{FeedId, FetchSetting, origin_text};
use store::{Store, TokenScope};

use super::feed_id;
use crate::ServerContext;
use crate::auth::Person;
use crate::feed_rows::seen_by;
use crate::fetch_change::{FetchEdit, FetchEditError, feed_after, seen_settings, shown};
use crate::v1::error::ApiError;
use crate::v1::extract::{IdInPath, JsonBody};
use crate::v1::schema::{Edit, answer, request};
use crate::v1::{act, blocking};

answer! {
    /// A setting for the requests of a feed.
    FetchValue {
        /// `header NAME`, `cookie`, `user-agent`, `login`, `proxy` or `insecure-tls`.
        name: String,
        /// The value without its secrets, or `set`.
        value: String,
        /// The origin that receives it. If the feed has moved elsewhere, it is not sent.
        origin: String,
    }

    /// The settings for the requests of a feed.
    FetchValues {
        /// The number of the feed. Secrets may have given the person a feed of their own.
        feed: u32,
        /// The origin of the feed's current address.
        origin: String,
        /// The settings, by name.
        settings: Vec<FetchValue>,
    }
}

request! {
    /// Changes of the settings for requests. A missing field keeps its value, and null removes it.
    FetchValuesChange {
        /// Extra headers to set, each as `NAME: VALUE`.
        headers: Option<Vec<String>>,
        /// The names of extra headers to remove.
        remove_headers: Option<Vec<String>>,
        /// The cookies, as `NAME=VALUE; NAME=VALUE`.
        cookie: Edit<String>,
        /// The User-Agent.
        user_agent: Edit<String>,
        /// User and password, as `USER:PASSWORD`.
        login: Edit<String>,
        /// A proxy (http, https, socks5 or socks5h).
        proxy: Edit<String>,
        /// Whether to accept any certificate. Then anybody on the way can read and change
        /// everything.
        insecure_tls: Option<bool>,
    }
}

pub async fn show(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<FetchValues>, ApiError> {
    let feed = feed_id(id)?;
    blocking(move || values(&context.store, &person, feed)).await.map(Json)
}

fn values(store: &Store, person: &Person, feed: FeedId) -> Result<FetchValues, ApiError> {
    let row = seen_by(store, person, feed)?;
    let origin = origin_text(row.location.current().url());
    let rows = seen_settings(store, person, &row)?;
    let settings = rows.into_iter().map(|row| FetchValue {
        name: row.setting.name(),
        value: shown(&row),
        origin: row.origin,
    });
    Ok(FetchValues { feed: feed.0, origin, settings: settings.collect() })
}

fn edit(change: FetchValuesChange) -> Result<FetchEdit, ApiError> {
    let invalid = |error: feed::FetchSettingError| ApiError::Invalid(error.to_string());
    let mut edit = FetchEdit::default();
    for text in change.headers.unwrap_or_default() {
        let pair = text.split_once(':');
        let (name, value) = pair.ok_or(ApiError::BadRequest("headers are `NAME: VALUE`"))?;
        edit.set.push((FetchSetting::header(name).map_err(invalid)?, value.to_owned()));
    }
    for name in change.remove_headers.unwrap_or_default() {
        edit.remove.push(FetchSetting::header(&name).map_err(invalid)?);
    }
    for (setting, value) in [
        (FetchSetting::Cookie, change.cookie),
        (FetchSetting::UserAgent, change.user_agent),
        (FetchSetting::Login, change.login),
        (FetchSetting::Proxy, change.proxy),
    ] {
        match value {
            Edit::Keep => {}
            Edit::Clear => edit.remove.push(setting),
            Edit::To(value) => edit.set.push((setting, value)),
        }
    }
    match change.insecure_tls {
        None => {}
        Some(true) => edit.set.push((FetchSetting::InsecureTls, String::new())),
        Some(false) => edit.remove.push(FetchSetting::InsecureTls),
    }
    Ok(edit)
}

pub async fn change(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(change): JsonBody<FetchValuesChange>,
) -> Result<Json<FetchValues>, ApiError> {
    let feed = feed_id(id)?;
    let edit = edit(change)?;
    if edit.needs_admin() && !person.may(TokenScope::Admin) {
        let text = "only administrators may set a proxy or ignore certificates";
        return Err(ApiError::Forbidden(text));
    }
    let (store, key_file, who) = (context.store.clone(), context.key_file.clone(), person.clone());
    let command = blocking(move || {
        let row = seen_by(&store, &who, feed)?;
        let subscribed = store.is_subscribed(who.account, feed)?;
        let account = edit.account(&who, row.private_to).filter(|_| subscribed);
        edit.command(&store, &key_file, feed, account).map_err(|error| match error {
            FetchEditError::Store(error) => ApiError::from(error),
            other => ApiError::Invalid(other.to_string()),
        })
    });
    act(&context, command.await?).await?;
    blocking(move || {
        let feed = feed_after(&context.store, &person, feed)?;
        values(&context.store, &person, feed)
    })
    .await
    .map(Json)
}
