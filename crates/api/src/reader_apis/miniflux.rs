//! The part of miniflux's `/v1` that its clients call. A feed's category is the first of its tags
//! in alphabetical order; feeds without a tag are in category 1, `All`. Categories have the numbers
//! that the store gives to tags. Users and integrations are not supported.

mod category;
mod enclosure;
mod entry;
mod feeds;
mod filter;
mod user;

use std::collections::HashMap;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::routing::{get, post, put};
use feed::FeedId;
use serde::de::DeserializeOwned;
use store::{AccountId, FeedFilter, FeedRow, NumberedTag, Store, TokenScope};

use super::error::{InJson, ReaderApiError};
use super::params::{self, AppParams, ParamLimits};
use super::{blocking, identify, opml, view};
use crate::ServerContext;
use crate::auth::Person;

pub fn routes() -> Router<ServerContext> {
    let v1 = Router::new()
        .route("/me", get(user::me))
        .route("/version", get(user::version))
        .route("/integrations/status", get(user::integrations))
        .route("/users/{id}/mark-all-as-read", put(user::mark_all))
        .route("/export", get(user::export))
        .route("/import", post(user::import))
        .route("/categories", get(category::list).post(category::create))
        .route("/categories/{id}", put(category::update).delete(category::delete))
        .route("/categories/{id}/feeds", get(category::feeds))
        .route("/categories/{id}/entries", get(entry::of_category))
        .route("/categories/{id}/entries/{entry}", get(entry::one_of_category))
        .route("/categories/{id}/mark-all-as-read", put(category::mark_all))
        .route("/categories/{id}/refresh", put(category::refresh))
        .route("/discover", post(feeds::discover))
        .route("/feeds", get(feeds::list).post(feeds::create))
        .route("/feeds/counters", get(feeds::counters))
        .route("/feeds/refresh", put(feeds::refresh_all))
        .route("/feeds/{id}", get(feeds::one).put(feeds::update).delete(feeds::delete))
        .route("/feeds/{id}/refresh", put(feeds::refresh))
        .route("/feeds/{id}/icon", get(feeds::icon))
        .route("/feeds/{id}/entries", get(entry::of_feed))
        .route("/feeds/{id}/entries/{entry}", get(entry::one_of_feed))
        .route("/feeds/{id}/mark-all-as-read", put(feeds::mark_all))
        .route("/entries", get(entry::list).put(entry::update))
        .route("/entries/ids", get(entry::ids))
        .route("/entries/{id}", get(entry::one))
        .route("/entries/{id}/fetch-content", get(enclosure::fetch_content))
        .route("/enclosures/{id}", get(enclosure::one).put(enclosure::update))
        .route("/icons/{id}", get(feeds::icon_by_number))
        .route("/entries/{id}/bookmark", put(entry::toggle_star))
        .route("/entries/{id}/star", put(entry::toggle_star))
        .fallback(missing);
    Router::new().nest("/v1", v1)
}

/// Answers an unknown path with JSON, which clients can read.
async fn missing() -> InJson {
    ReaderApiError::Missing(
        "this part of miniflux's API is not supported; \
         see docs/reference/reader-apis.md",
    )
    .into()
}

/// A request of a known account, with its body.
struct MinifluxRequest {
    context: ServerContext,
    person: Person,
    params: AppParams,
    body: Bytes,
}

impl FromRequest<ServerContext> for MinifluxRequest {
    type Rejection = InJson;

    async fn from_request(
        request: Request,
        context: &ServerContext,
    ) -> Result<MinifluxRequest, InJson> {
        let person = match identify::admitted(&request) {
            Some(person) => person,
            None => {
                identify::by_headers(context, request.headers(), identify::client(&request)).await?
            }
        };
        let params = AppParams::of_address(request.uri().query(), ParamLimits::KNOWN)?;
        let is_list = request.uri().path().ends_with("/import");
        let bytes_max = if is_list { opml::BYTES_MAX } else { params::BYTES_MAX };
        let body = params::whole(request, bytes_max).await?;
        Ok(MinifluxRequest { context: context.clone(), person, params, body })
    }
}

impl MinifluxRequest {
    fn needs(&self, scope: TokenScope) -> Result<(), ReaderApiError> {
        identify::needs(&self.person, scope)
    }

    /// Parses the body as JSON. Not every client sends the media type.
    fn json<T: DeserializeOwned>(&self) -> Result<T, ReaderApiError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| ReaderApiError::bad_request(format!("the body is invalid: {error}")))
    }

    async fn with_store<T: Send + 'static>(
        self,
        work: impl FnOnce(&Store, &MinifluxRequest) -> Result<T, ReaderApiError> + Send + 'static,
    ) -> Result<T, ReaderApiError> {
        blocking(move || work(&self.context.store, &self)).await
    }

    /// Returns the user number for clients, which is never 0.
    fn user(&self) -> i64 {
        self.person.account.0.max(1)
    }
}

/// The categories, and the feeds in them.
struct Categories {
    account: AccountId,
    tags: Vec<NumberedTag>,
    numbers: HashMap<String, i64>,
}

impl Categories {
    fn read(store: &Store, account: AccountId) -> Result<Categories, ReaderApiError> {
        let mut tags = store.tags_of(account)?;
        tags.retain(|tag| !tag.tag.starts_with(view::OF_QUERY));
        let numbers = tags.iter().map(|tag| (tag.tag.clone(), tag.number)).collect();
        Ok(Categories { account, tags, numbers })
    }

    /// Returns number and name of a feed's category.
    fn of<'a>(&self, feed: &'a FeedRow) -> (i64, &'a str) {
        let tag = view::own_tags(feed).next().unwrap_or("");
        (self.numbers.get(tag).copied().unwrap_or(NumberedTag::UNTAGGED), named(tag))
    }

    fn find(&self, number: i64) -> Result<&NumberedTag, ReaderApiError> {
        let found = self.tags.iter().find(|tag| tag.number == number);
        found.ok_or(ReaderApiError::Missing("the category does not exist"))
    }

    /// Returns the feeds of a category.
    fn feeds(&self, store: &Store, number: i64) -> Result<Vec<FeedRow>, ReaderApiError> {
        let tag = &self.find(number)?.tag;
        let tag = (!tag.is_empty()).then(|| tag.clone());
        let mut feeds =
            store.feeds_of(self.account, &FeedFilter { tag, ..FeedFilter::default() })?;
        feeds.retain(|feed| self.of(feed).0 == number);
        Ok(feeds)
    }

    fn feed_ids(&self, store: &Store, number: i64) -> Result<Vec<FeedId>, ReaderApiError> {
        Ok(self.feeds(store, number)?.iter().map(|feed| feed.id).collect())
    }
}

/// Returns the category name of a tag.
fn named(tag: &str) -> &str {
    if tag.is_empty() { "All" } else { tag }
}

/// Parses a number in the path.
fn number<T: std::str::FromStr>(text: &str, missing: &'static str) -> Result<T, ReaderApiError> {
    text.parse().map_err(|_| ReaderApiError::Missing(missing))
}

fn feed_id(text: &str) -> Result<FeedId, ReaderApiError> {
    number(text, "the feed does not exist").map(FeedId)
}
