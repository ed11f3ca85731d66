//! Feeds: list, show, add, change, poll, remove.

mod behaviour;
mod change;
mod requests;
mod view;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{AddedFeed, Command, CommandResult, PollSummary};
use feed::FeedId;
use serde_json::json;
use store::{AccountId, FeedFilter, FeedRow, FeedState, TokenScope};

use super::extract::{IdInPath, JsonBody, QueryParams};
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking, unexpected_answer};
use crate::ServerContext;
use crate::auth::Person;
use crate::feed_rows::seen_by;
use crate::v1::error::ApiError;
use behaviour::FeedBehaviour;
pub use change::settings;
pub use view::FeedSettings;
use view::{Feed, Poll, PollAnswer};

const LIMIT: u32 = 100;
const LIMIT_MAX: u32 = 500;
const ALL: &str = "Every feed of the instance, for administrators. Otherwise your own feeds.";
const REMOVE_ALL: &str = "Remove the feed with its entries for everybody, for administrators.";
/// Feeds that one request with a state reads. The answer then says where to continue.
const LOOKED_AT_MAX: u32 = 5000;
/// The polls of a feed that are stored one by one.
const POLLS_MAX: u32 = 500;

answer! {
    /// Some feeds, by number.
    FeedList {
        /// The feeds.
        feeds: Vec<Feed>,
        /// The cursor of the next page; null on the last page.
        next: Option<String>,
    }

    /// The result of adding a feed.
    FeedAdded {
        /// The feed; null if the address is a page that names several.
        feed: Option<Feed>,
        /// Whether the feed existed before.
        existed: bool,
        /// A feed that differs only by its scheme or by a redirect: its number and address.
        twin: Option<String>,
        /// The result of the first poll, if there was one.
        poll: Option<PollAnswer>,
        /// The feeds that the page names. Add one of them.
        candidates: Vec<String>,
    }

    /// The last polls of a feed.
    PollList {
        /// The polls, newest first.
        polls: Vec<Poll>,
    }
}

request! {
    /// A feed to add.
    NewFeed {
        /// Its address, or the address of a page that names it.
        url: String,
        /// Its tags.
        tags: Option<Vec<String>>,
        /// Whether to poll it at once, which tells pages from feeds. The default is true.
        poll: Option<bool>,
        /// Whether to add it even if that poll finds no feed.
        force: Option<bool>,
    }
}

pub fn routes() -> Vec<Route> {
    let states = json!({
        "type": "string",
        "enum": ["active", "backing-off", "damaged", "gone", "paused", "never"]
    });
    let polls = json!({"type": "integer", "minimum": 1, "maximum": POLLS_MAX, "default": 50});
    vec![
        Route::get("/feeds", "The feeds, by number", list)
            .paged(LIMIT, LIMIT_MAX)
            .param("tag", "Only feeds with this tag.", json!({"type": "string"}))
            .param("state", "Only feeds in this state.", states)
            .param("all", ALL, json!({"type": "boolean"}))
            .answers::<FeedList>(),
        Route::post("/feeds", "Subscribe to a feed", add)
            .needs(TokenScope::Write)
            .takes::<NewFeed>()
            .answers_with::<FeedAdded>(StatusCode::OK),
        Route::get("/feeds/{id}", "One feed, with the reasons for its next poll", one)
            .answers::<Feed>(),
        Route::patch(
            "/feeds/{id}",
            "Change a feed's address, title, tags and settings",
            change::change,
        )
        .needs(TokenScope::Write)
        .takes::<change::FeedChange>()
        .answers::<Feed>(),
        Route::get(
            "/feeds/{id}/requests",
            "How a feed is fetched, without secrets",
            requests::show,
        )
        .needs(TokenScope::Write)
        .answers::<requests::FetchValues>(),
        Route::patch("/feeds/{id}/requests", "Change how a feed is fetched", requests::change)
            .needs(TokenScope::Write)
            .takes::<requests::FetchValuesChange>()
            .answers::<requests::FetchValues>(),
        Route::delete("/feeds/{id}", "End a subscription, or remove a feed", remove)
            .needs(TokenScope::Write)
            .param("all", REMOVE_ALL, json!({"type": "boolean"})),
        Route::post("/feeds/{id}/poll", "Poll a feed now", poll)
            .needs(TokenScope::Write)
            .answers::<PollAnswer>(),
        Route::get("/feeds/{id}/polls", "The last polls of a feed", polls_of)
            .param("limit", "The highest number of polls.", polls)
            .answers::<PollList>(),
        Route::get("/feeds/{id}/behaviour", "How a feed posts, in the terms of research", posts)
            .answers::<FeedBehaviour>(),
    ]
}

/// Returns the feed id for a number in the path. Larger numbers than any feed's are not found.
fn feed_id(number: i64) -> Result<FeedId, ApiError> {
    let missing = ApiError::NotFound("the feed does not exist");
    u32::try_from(number).map(FeedId).map_err(|_| missing)
}

const UNKNOWN: ApiError =
    ApiError::BadRequest("state must be active, backing-off, damaged, gone, paused or never");

/// Takes the parameter `all`. Returns the account whose feeds are meant: 0 for all.
fn whose(person: &Person, params: &mut QueryParams) -> Result<AccountId, ApiError> {
    match params.flag("all")?.unwrap_or(false) {
        false => Ok(person.account),
        true if person.may(TokenScope::Admin) => Ok(AccountId::LOCAL),
        true => Err(ApiError::of_scope(person, TokenScope::Admin)),
    }
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
    mut params: QueryParams,
) -> Result<Json<FeedList>, ApiError> {
    let account = whose(&person, &mut params)?;
    let limit = params.number("limit", 1..=LIMIT_MAX, LIMIT)?;
    let after = match params.text("after") {
        None => None,
        Some(text) => {
            let number = text.strip_prefix('f').and_then(|n| n.parse().ok());
            Some(FeedId(number.ok_or(ApiError::BadRequest("after is not a cursor"))?))
        }
    };
    let tag = params.text("tag");
    let state = params.text("state").map(|word| FeedState::from_filter_word(&word).ok_or(UNKNOWN));
    let state = state.transpose()?;
    params.end()?;
    blocking(move || {
        let (mut after, mut n_looked_at, mut feeds) = (after, 0, Vec::new());
        let mut more = true;
        while more && feeds.len() < limit as usize && n_looked_at < LOOKED_AT_MAX {
            // One row more than the limit shows whether there are more.
            let chunk = if state.is_none() { limit + 1 } else { LIMIT_MAX };
            let filter = FeedFilter { tag: tag.clone(), state: None, after, limit: Some(chunk) };
            let rows = context.store.feeds_of(account, &filter)?;
            more = rows.len() == chunk as usize;
            n_looked_at += chunk;
            for mut row in rows {
                row.hide_private(person.account);
                if feeds.len() == limit as usize {
                    more = true;
                    break;
                }
                after = Some(row.id);
                if row.state().is_listed_by(state) {
                    feeds.push(Feed::new(&row));
                }
            }
        }
        let next = after.filter(|_| more).map(|feed| format!("f{feed}"));
        Ok(Json(FeedList { feeds, next }))
    })
    .await
}

async fn one(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<Feed>, ApiError> {
    let feed = feed_id(id)?;
    Ok(Json(Feed::new(&row(&context, &person, feed).await?)))
}

/// Returns a feed as a person sees it. An administrator sees every feed.
async fn row(context: &ServerContext, person: &Person, feed: FeedId) -> Result<FeedRow, ApiError> {
    let (store, person) = (context.store.clone(), person.clone());
    blocking(move || Ok(seen_by(&store, &person, feed)?)).await
}

async fn add(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(new): JsonBody<NewFeed>,
) -> Result<Json<FeedAdded>, ApiError> {
    let urls = vec![new.url];
    let (tags, poll) = (new.tags.unwrap_or_default(), new.poll.unwrap_or(true));
    let force = new.force.unwrap_or(false);
    let account = person.subscriber();
    let done = act(&context, Command::Add { urls, tags, poll, force, account }).await?;
    let CommandResult::Added { mut feeds, mut not_added } = done else {
        return Err(unexpected_answer());
    };
    if let Some(not_added) = not_added.pop() {
        if not_added.poll.candidates.is_empty() {
            return Err(ApiError::Invalid(format!(
                "{}; `force` adds it anyway",
                not_added.words()
            )));
        }
        // The address is a page. The client must choose one of its feeds.
        let (candidates, poll) = (not_added.poll.candidates.clone(), Some(not_added.poll.into()));
        return Ok(Json(FeedAdded { feed: None, existed: false, twin: None, poll, candidates }));
    }
    let added = feeds.pop().ok_or_else(unexpected_answer)?;
    let AddedFeed { id, existed, twin, poll, .. } = added;
    let candidates = poll.as_ref().map(|poll| poll.candidates.clone()).unwrap_or_default();
    let feed = match row(&context, &person, FeedId(id)).await {
        Ok(row) => Some(Feed::new(&row)),
        Err(ApiError::NotFound(_)) => None,
        Err(other) => return Err(other),
    };
    Ok(Json(FeedAdded { feed, existed, twin, poll: poll.map(PollAnswer::from), candidates }))
}

async fn remove(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    mut params: QueryParams,
) -> Result<StatusCode, ApiError> {
    let feed = feed_id(id)?;
    let account = whose(&person, &mut params)?;
    params.end()?;
    let store = context.store.clone();
    blocking(move || Ok(store.feed_of(account, feed)?)).await?;
    let account = (account != AccountId::LOCAL).then_some(account.0);
    act(&context, Command::Remove { feed: feed.to_string(), account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn poll(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<PollAnswer>, ApiError> {
    let feed = feed_id(id)?;
    row(&context, &person, feed).await?;
    let done = act(&context, Command::Poll { feeds: Some(vec![feed.to_string()]) }).await?;
    let CommandResult::Polled { mut polls } = done else { return Err(unexpected_answer()) };
    polls.pop().map(|polled: PollSummary| Json(polled.into())).ok_or_else(unexpected_answer)
}

async fn polls_of(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    mut params: QueryParams,
) -> Result<Json<PollList>, ApiError> {
    let limit = params.number("limit", 1..=POLLS_MAX, 50)?;
    params.end()?;
    let feed = feed_id(id)?;
    let store = context.store;
    let rows = blocking(move || {
        seen_by(&store, &person, feed)?;
        Ok(store.polls(feed, limit)?)
    });
    Ok(Json(PollList { polls: rows.await?.iter().map(Poll::new).collect() }))
}

async fn posts(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<FeedBehaviour>, ApiError> {
    let feed = feed_id(id)?;
    blocking(move || {
        let row = seen_by(&context.store, &person, feed)?;
        let found = crate::behaviour::behaviour(&context.store, &row)?;
        let found = found.ok_or(ApiError::NotFound("the feed was not polled yet"))?;
        Ok(Json(FeedBehaviour::new(&found)))
    })
    .await
}
