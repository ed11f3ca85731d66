//! Entries as one account reads them: lists by scope and search, one entry with its revisions, read
//! and star marks.

mod article;
mod marks;
pub mod view;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::{EntryId, Time};
use serde_json::json;
use store::{
    AccountId, ReadEntry, ReadingFilter, ReadingPosition, Scope, Store, StoreError, TokenScope,
};

use super::blocking;
use super::extract::{IdInPath, QueryParams};
use super::route::Route;
use super::schema::answer;
use crate::ServerContext;
use crate::auth::Person;
use crate::search::{self, SearchError};
use crate::v1::error::ApiError;
use view::{Entry, EntryWithRevisions, FeedNames};

const LIMIT: u32 = 50;
const LIMIT_MAX: u32 = 500;

answer! {
    /// Some entries, newest first unless requested otherwise.
    EntryList {
        /// The entries.
        entries: Vec<Entry>,
        /// The cursor of the next page; null on the last page. A search may have a next page
        /// although it found nothing yet.
        next: Option<String>,
    }

    /// Unread entries of one feed.
    UnreadOfFeed {
        /// The feed's number.
        feed: u32,
        /// The number of its unread entries.
        unread: u64,
    }

    /// The unread entries.
    Unread {
        /// The number over all feeds.
        unread: u64,
        /// The numbers by feed. Feeds without unread entries are left out.
        feeds: Vec<UnreadOfFeed>,
    }
}

pub fn routes() -> Vec<Route> {
    let flag = || json!({"type": "boolean"});
    let text = || json!({"type": "string"});
    let moment = || json!({"type": "string", "format": "date-time"});
    vec![
        Route::get("/reading", "Entries to read", list)
            .paged(LIMIT, LIMIT_MAX)
            .param("feed", "Only entries of this feed: its number or its address.", text())
            .param("tag", "Only entries of feeds with this tag.", text())
            .param("query", "Only entries that this query matched.", text())
            .param(
                "search",
                "Only entries that match a search. Cannot be combined with feed, tag or query.",
                text(),
            )
            .param("language", "Only entries in this language, such as `de`.", text())
            .param("unread", "Only unread entries, or only read ones.", flag())
            .param("starred", "Only starred entries, or only others.", flag())
            .param("hidden", "Only entries that rules have hidden; otherwise only others.", flag())
            .param("since", "Only entries published at or after this time.", moment())
            .param("until", "Only entries published before this time.", moment())
            .param("oldest_first", "Whether the oldest entries come first.", flag())
            .param("content", "Whether to include the whole content.", flag())
            .answers::<EntryList>(),
        Route::get("/reading/unread", "Counts of unread entries", unread).answers::<Unread>(),
        Route::delete("/reading/hidden", "Show all hidden entries again", show_hidden)
            .needs(TokenScope::Write),
        Route::post("/reading/read", "Mark all entries of a scope as read", marks::scope_read)
            .needs(TokenScope::Write)
            .takes::<marks::ScopeRead>(),
        Route::post("/reading/marks", "Mark and star many entries", marks::mark_many)
            .needs(TokenScope::Write)
            .takes::<marks::ManyMarks>(),
        Route::get("/entries/{id}", "One entry, with its older texts", one)
            .answers::<EntryWithRevisions>(),
        Route::get("/entries/{id}/article", "The page behind an entry", article::article)
            .answers::<view::ArticleView>(),
        Route::post("/entries/{id}/article", "Load the page behind an entry", article::load)
            .needs(TokenScope::Write)
            .answers_with::<view::ArticleView>(StatusCode::ACCEPTED),
        Route::get("/entries/{id}/position", "Positions in recordings", article::positions)
            .answers::<view::Positions>(),
        Route::put("/entries/{id}/position", "Keep a position", article::keep_position)
            .needs(TokenScope::Write)
            .takes::<article::NewPosition>(),
        Route::patch("/entries/{id}", "Mark or star an entry", marks::mark_one)
            .needs(TokenScope::Write)
            .takes::<marks::Marks>()
            .answers::<Entry>(),
    ]
}

/// Returns the scope that a client names.
fn scope(
    store: &Store,
    account: AccountId,
    feed: Option<&str>,
    tag: Option<String>,
    query: Option<&str>,
) -> Result<Scope, ApiError> {
    match (feed, tag, query) {
        (None, None, None) => Ok(Scope::All),
        (Some(feed), None, None) => {
            let found = store.find_feed_of(account, feed)?;
            found.map(Scope::Feed).ok_or(ApiError::NotFound("the feed does not exist"))
        }
        (None, Some(tag), None) => Ok(Scope::Tag(tag)),
        (None, None, Some(query)) => {
            let found = store.query_of(account, query)?.map(|row| Scope::Query(row.id));
            found.ok_or(ApiError::NotFound("the query does not exist"))
        }
        _ => Err(ApiError::BadRequest("name a feed, a tag or a query, not several")),
    }
}

/// Returns a place in a list as an opaque cursor.
fn cursor(place: ReadingPosition) -> String {
    format!("r{}.{}", place.published_at.millis(), place.entry)
}

fn place(text: &str) -> Result<ReadingPosition, ApiError> {
    let parts = text.strip_prefix('r').and_then(|rest| rest.split_once('.'));
    let read = parts.and_then(|(at, entry)| {
        let published_at = Time::from_millis(at.parse().ok()?);
        Some(ReadingPosition { published_at, entry: EntryId(entry.parse().ok()?) })
    });
    read.ok_or(ApiError::BadRequest("after is not a cursor"))
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
    mut params: QueryParams,
) -> Result<Json<EntryList>, ApiError> {
    if let Some(text) = params.text("search") {
        return found(&context, &person, &text, params).await.map(Json);
    }
    let limit = params.number("limit", 1..=LIMIT_MAX, LIMIT)?;
    let from = params.text("after").map(|text| place(&text)).transpose()?;
    let (feed, tag, query) = (params.text("feed"), params.text("tag"), params.text("query"));
    let language = params.text("language").map(|tag| tag.to_lowercase());
    let unread = params.flag("unread")?;
    let starred = params.flag("starred")?;
    let hidden = params.flag("hidden")?.unwrap_or(false);
    let since = params.parsed("since", "time such as 2011-07-16T05:00:00Z")?;
    let until = params.parsed("until", "time such as 2011-07-16T05:00:00Z")?;
    let oldest_first = params.flag("oldest_first")?.unwrap_or(false);
    let content = params.flag("content")?.unwrap_or(false);
    params.end()?;
    blocking(move || {
        let store = &context.store;
        let scope = scope(store, person.account, feed.as_deref(), tag, query.as_deref())?;
        let reading = ReadingFilter {
            read: unread.map(|unread| !unread),
            starred,
            hidden,
            language,
            since,
            until,
            oldest_first,
            from,
            ..ReadingFilter::newest(person.account, scope, limit)
        };
        let rows = store.reading(&reading)?;
        let full = store::is_full(rows.iter().map(|row| &row.entry), limit);
        let next = rows.last().filter(|_| full).map(|last| cursor(last.place()));
        Ok(Json(EntryList { entries: shown(store, person.account, &rows, content)?, next }))
    })
    .await
}

/// Ends what rules have hidden. The entries stay read.
async fn show_hidden(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<StatusCode, ApiError> {
    blocking(move || Ok(context.store.show_hidden(person.account)?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn found(
    context: &ServerContext,
    person: &Person,
    text: &str,
    mut params: QueryParams,
) -> Result<EntryList, ApiError> {
    let limit = params.number("limit", 1..=LIMIT_MAX, LIMIT)?;
    let below = match params.text("after") {
        None => None,
        Some(text) => {
            let number = text.strip_prefix('s').and_then(|number| number.parse().ok());
            Some(EntryId(number.ok_or(ApiError::BadRequest("after is not a cursor of a search"))?))
        }
    };
    let content = params.flag("content")?.unwrap_or(false);
    params.end()?;
    let found = search::find(context, person, text, below, limit as usize).await;
    let found = found.map_err(|error| match error {
        SearchError::Query(_) => ApiError::Invalid(error.to_string()),
        SearchError::Store(error) => ApiError::Store(error),
    })?;
    let (store, account) = (context.store.clone(), person.account);
    blocking(move || {
        let next = found.next.map(|entry| format!("s{entry}"));
        Ok(EntryList { entries: shown(&store, account, &found.entries, content)?, next })
    })
    .await
}

fn shown(
    store: &Store,
    account: AccountId,
    rows: &[ReadEntry],
    content: bool,
) -> Result<Vec<Entry>, StoreError> {
    let feeds = FeedNames::of(store, account, rows)?;
    Ok(rows.iter().map(|row| Entry::new(row, &feeds, content)).collect())
}

async fn one(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<EntryWithRevisions>, ApiError> {
    blocking(move || {
        let (store, id) = (&context.store, EntryId(id));
        let rows = store.read_entries(person.account, &[id])?;
        let row = rows.first().ok_or(ApiError::NotFound("the entry does not exist"))?;
        let revisions = store.revisions(id)?.into_iter().map(view::Revision::from);
        Ok(Json(EntryWithRevisions {
            entry: Entry::new(row, &FeedNames::of(store, person.account, &rows)?, true),
            revisions: revisions.collect(),
        }))
    })
    .await
}

async fn unread(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<Unread>, ApiError> {
    blocking(move || {
        let counts = context.store.unread_by_feed(person.account)?;
        let mut feeds: Vec<UnreadOfFeed> = counts
            .into_iter()
            .map(|(feed, unread)| UnreadOfFeed { feed: feed.0, unread })
            .collect();
        feeds.sort_unstable_by_key(|of| of.feed);
        Ok(Json(Unread { unread: feeds.iter().map(|of| of.unread).sum(), feeds }))
    })
    .await
}
