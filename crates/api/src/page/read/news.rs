//! Tells an open list of new entries: how many came since it was shown, and how many are unread
//! in all. Server-Sent Events for the script; a page without scripts shows what is new when it is
//! loaded again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use feed::EntryId;
use futures_util::stream::{self, Stream};
use serde_json::json;
use store::{ReadingFilter, StoreError};
use tokio::sync::OwnedSemaphorePermit;

use super::{Place, asked};
use crate::auth::{self, Person};
use crate::blocking::run_blocking;
use crate::page::params;
use crate::words::count;
use crate::{Context, page::Visitor};

/// How often an open list looks for new entries. People do not need it sooner.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// So many looks go by until it is asked whether the reader is still let in: some ten seconds.
const LOOKS_UNASKED: u32 = 10;
/// A silent stream says something this often, so that no proxy closes it.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// More new entries are not counted: the page says "99+".
const COUNTED_MAX: u32 = 100;

/// A list that is open somewhere.
struct Watching {
    context: Context,
    person: Person,
    headers: HeaderMap,
    place: Place,
    /// The last entry that the list could show.
    since: EntryId,
    looks: u32,
    /// The last entry that there was, and how much was unread, at the last look.
    seen: (EntryId, u64),
    _place_taken: OwnedSemaphorePermit,
}

pub async fn news(
    State(context): State<Context>,
    visitor: Visitor,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(person) = visitor.person else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let Some(since) = params::number(query.as_deref(), "since") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Ok(taken) = Arc::clone(&context.streams).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let watching = Watching {
        context,
        person,
        headers,
        place: Place::read(query.as_deref(), false),
        since: EntryId(since.into()),
        looks: 0,
        // Differs from what there is, so that the first look says how things stand.
        seen: (EntryId(-1), u64::MAX),
        _place_taken: taken,
    };
    let events = Sse::new(events(watching));
    events.keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn events(watching: Watching) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watching, |mut watching| async move {
        loop {
            if watching.looks > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            watching.looks = watching.looks.wrapping_add(1);
            if watching.looks.is_multiple_of(LOOKS_UNASKED) {
                let still =
                    auth::is_still_allowed(&watching.context, &watching.headers, &watching.person)
                        .await;
                if !still.unwrap_or(false) {
                    return None;
                }
            }
            let (event, watched) = run_blocking(move || watching.look()).await.ok()?;
            watching = watched;
            if let Some(event) = event {
                return Some((Ok(event), watching));
            }
        }
    })
}

impl Watching {
    /// What changed since the last look; nothing is counted while nothing was recorded or read.
    fn look(mut self) -> Result<(Option<Event>, Watching), StoreError> {
        let store = &self.context.store;
        let unread = store.read_marks(self.person.account)?.n_unread();
        let seen = (store.last_entry_id()?, unread);
        if seen == self.seen {
            return Ok((None, self));
        }
        let new = match asked(store, self.person.account, &self.place)? {
            // A list of read or starred entries has news too: whatever its scope gets.
            Some(reading) => store.reading_places(&ReadingFilter {
                read: None,
                starred: None,
                above: Some(self.since),
                from: None,
                by_number: true,
                limit: COUNTED_MAX,
                ..reading
            })?,
            None => Vec::new(),
        };
        let words = match new.len() {
            0 => String::new(),
            1 => "1 new entry".to_owned(),
            n if n < COUNTED_MAX as usize => format!("{n} new entries"),
            _ => format!("{}+ new entries", COUNTED_MAX - 1),
        };
        self.seen = seen;
        let data = json!({"new": words, "unread": count(unread)}).to_string();
        Ok((Some(Event::default().data(data)), self))
    }
}
