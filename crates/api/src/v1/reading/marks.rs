//! Read and star marks of entries. Setting the same mark twice changes nothing, so a client may
//! repeat a request.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::{EntryId, Time};
use store::AccountId;

use super::view::{Entry, FeedNames};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::blocking;
use crate::v1::error::ApiError;
use crate::v1::extract::{IdInPath, JsonBody};
use crate::v1::schema::request;

/// Entries that one request marks.
const MANY: usize = 10_000;

request! {
    /// Marks of an entry. A missing field keeps its value.
    Marks {
        /// Read or unread.
        read: Option<bool>,
        /// Starred or not.
        starred: Option<bool>,
    }

    /// Marks of many entries.
    ManyMarks {
        /// Their numbers, at most 10000. Unknown entries are ignored.
        entries: Vec<i64>,
        /// Read or unread.
        read: Option<bool>,
        /// Starred or not.
        starred: Option<bool>,
    }

    /// A scope to mark as read. Without feed, tag and query: all feeds.
    ScopeRead {
        /// A feed's number or address.
        feed: Option<String>,
        /// A tag.
        tag: Option<String>,
        /// A query's name.
        query: Option<String>,
        /// Only entries up to this number, so that newer entries stay unread.
        up_to: Option<i64>,
        /// Only entries published up to this moment.
        published_to: Option<String>,
    }
}

fn apply(
    context: &ServerContext,
    account: AccountId,
    entries: &[EntryId],
    read: Option<bool>,
    starred: Option<bool>,
) -> Result<(), ApiError> {
    match read {
        Some(true) => context.store.open_entries(account, entries, (context.now)())?,
        Some(false) => context.store.mark_read(account, entries, false)?,
        None => {}
    }
    if let Some(starred) = starred {
        context.store.star(account, entries, starred, (context.now)())?;
    }
    Ok(())
}

pub async fn mark_one(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(marks): JsonBody<Marks>,
) -> Result<Json<Entry>, ApiError> {
    blocking(move || {
        let (store, ids) = (&context.store, [EntryId(id)]);
        let missing = || ApiError::NotFound("the entry does not exist");
        if store.read_entries(person.account, &ids)?.is_empty() {
            return Err(missing());
        }
        apply(&context, person.account, &ids, marks.read, marks.starred)?;
        let rows = store.read_entries(person.account, &ids)?;
        let row = rows.first().ok_or_else(missing)?;
        Ok(Json(Entry::new(row, &FeedNames::of(store, person.account, &rows)?, false)))
    })
    .await
}

pub async fn mark_many(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(marks): JsonBody<ManyMarks>,
) -> Result<StatusCode, ApiError> {
    if marks.entries.len() > MANY {
        return Err(ApiError::BadRequest("too many entries: mark at most 10000 at once"));
    }
    blocking(move || {
        let entries: Vec<EntryId> = marks.entries.into_iter().map(EntryId).collect();
        apply(&context, person.account, &entries, marks.read, marks.starred)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

pub async fn scope_read(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(body): JsonBody<ScopeRead>,
) -> Result<StatusCode, ApiError> {
    let published_to: Option<Time> = match body.published_to {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            ApiError::BadRequest("published_to must be a time such as 2011-07-16T05:00:00Z")
        })?),
    };
    blocking(move || {
        let (feed, query) = (body.feed.as_deref(), body.query.as_deref());
        let scope = super::scope(&context.store, person.account, feed, body.tag, query)?;
        let up_to = body.up_to.map(EntryId);
        context.store.mark_scope_read(person.account, &scope, published_to, up_to)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
