//! `/api/v1/entries`: the stream of all entries, or of one query. Clients read it in pages with
//! cursors, or as events that continue where the last connection ended. Consumers can also rate
//! entries.

mod entry;
mod position;
mod relevance;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde_json::json;
use store::{Signal, SignalReceiver, StoreError, TokenScope};
use tokio::sync::OwnedSemaphorePermit;

use super::blocking;
use super::extract::QueryParams;
use super::route::Route;
use super::schema::answer;
use crate::ServerContext;
use crate::auth::Person;
use crate::session::LoginWatch;
use crate::v1::error::ApiError;
use entry::{FeedAddresses, StreamEntry};
use position::{StreamBatch, StreamPosition};

/// The default and the highest number of entries on a page.
const LIMIT: u32 = 100;
const LIMIT_MAX: u32 = 1000;
/// The highest number of entries that an open stream reads at once. It holds them until its client
/// has read them.
const EVENTS_MAX: u32 = 20;
/// A stream that held more bytes than this reads a single entry next. Usual entries have a few
/// kilobytes, so twenty of them stay below it. Two hundred slow clients of long entries hold one
/// entry each.
const HELD_BYTES_MAX: usize = 128 << 10;
/// The interval at which an open stream looks for new entries. On PostgreSQL it looks when a
/// signal comes, and at longer intervals in any case.
const LOOK_EVERY: Duration = Duration::from_millis(300);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(2);
/// The interval of keep-alive messages, so that no proxy closes a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub fn routes() -> Vec<Route> {
    let text = || json!({"type": "string"});
    let limit = json!({"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT});
    let after = "Continue after this cursor. `now` starts with the next new entry.";
    let query = "Only entries that this query matched, in its own order.";
    let feed = "Only entries of this feed: its number or its address.";
    vec![
        Route::get("/entries", "The stream of entries, oldest first", list)
            .param("after", after, text())
            .param(
                "limit",
                "The highest number of entries; a page of long entries ends earlier.",
                limit,
            )
            .param("query", query, text())
            .param("feed", feed, text())
            .answers::<StreamPage>(),
        Route::get("/entries/stream", "The stream of entries as Server-Sent Events", stream)
            .param("after", after, text())
            .param("query", query, text())
            .param("feed", feed, text())
            .header("Last-Event-ID", "The cursor of the last event that arrived.")
            .answers_text("text/event-stream"),
        Route::post("/entries/{id}/relevance", "Rate an entry", relevance::relevance)
            .needs(TokenScope::Write)
            .takes::<relevance::Word>(),
    ]
}

answer! {
    /// Some entries of the stream, the oldest first.
    StreamPage {
        /// The entries.
        entries: Vec<StreamEntry>,
        /// The cursor of the next page.
        next: String,
        /// Whether entries after the cursor are no longer stored.
        gap: bool,
    }
}

/// The parameters of a page or a stream.
#[derive(Clone, Debug)]
struct StreamParams {
    after: Option<String>,
    query: Option<String>,
    feed: Option<String>,
}

impl StreamParams {
    /// Reads the parameters that pages and streams share, and refuses others.
    fn read(mut params: QueryParams) -> Result<StreamParams, ApiError> {
        let (after, query, feed) =
            (params.text("after"), params.text("query"), params.text("feed"));
        params.end()?;
        if query.is_some() && feed.is_some() {
            return Err(ApiError::BadRequest("name a feed or a query, not both"));
        }
        Ok(StreamParams { after, query, feed })
    }
}

/// Answers with a page of entries, oldest first.
pub async fn list(
    State(context): State<ServerContext>,
    person: Person,
    mut params: QueryParams,
) -> Result<Json<StreamPage>, ApiError> {
    let limit = params.number("limit", 1..=LIMIT_MAX, LIMIT)?;
    let wanted = StreamParams::read(params)?;
    blocking(move || {
        let mut place = StreamPosition::find(&context.store, person.account, &wanted)?;
        let page = place.read(&context.store, limit, &mut FeedAddresses::default())?;
        let next = place.cursor().to_string();
        Ok(Json(StreamPage { entries: page.entries, next, gap: page.gap }))
    })
    .await
}

/// An open stream of events.
struct OpenStream {
    context: ServerContext,
    login: LoginWatch,
    news: SignalReceiver,
    place: StreamPosition,
    feeds: FeedAddresses,
    waiting: VecDeque<Event>,
    /// Entries to read at the next look.
    at_once: u32,
    _place_taken: OwnedSemaphorePermit,
}

/// Answers with Server-Sent Events from a cursor on, which may also come as `Last-Event-ID`.
/// Without a cursor they start with the oldest entry, with `after=now` at the present.
pub async fn stream(
    State(context): State<ServerContext>,
    person: Person,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let mut wanted = StreamParams::read(params)?;
    if let Some(last) = headers.get("last-event-id").and_then(|value| value.to_str().ok()) {
        wanted.after = Some(last.to_owned());
    }
    let taken =
        Arc::clone(&context.streams).try_acquire_owned().map_err(|_| ApiError::TooManyStreams)?;
    let (store, account) = (context.store.clone(), person.account);
    let place = blocking(move || StreamPosition::find(&store, account, &wanted)).await?;
    // A client that is cut off before the first entry must know its position.
    let start = Event::default().event("start").id(place.cursor().to_string()).data("{}");
    let waiting = VecDeque::from([start]);
    let feeds = FeedAddresses::default();
    let news = context.store.signals(Signal::Entries);
    let following = OpenStream {
        context,
        login: LoginWatch::new(person, headers),
        news,
        place,
        feeds,
        waiting,
        at_once: 1,
        _place_taken: taken,
    };
    let events = Sse::new(events(following)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(([(header::CACHE_CONTROL, "no-cache")], events).into_response())
}

fn events(following: OpenStream) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(following, |mut following| async move {
        loop {
            if let Some(event) = following.waiting.pop_front() {
                return Some((Ok(event), following));
            }
            if !following.login.may_go_on(&following.context).await {
                return None;
            }
            following = tokio::task::spawn_blocking(move || following.look()).await.ok()??;
            if following.waiting.is_empty() {
                following.news.wait(LOOK_EVERY, LOOK_AT_LEAST_EVERY).await;
            }
        }
    })
}

impl OpenStream {
    /// Reads the next entries. Returns `None` if the feed, the query or the store is gone for this
    /// account, which ends the stream. While the database does not answer, the stream waits.
    fn look(mut self) -> Option<OpenStream> {
        let before = self.place;
        let page = match self.read() {
            Ok(page) => page?,
            Err(error) if error.is_unavailable() => {
                self.place = before;
                return Some(self);
            }
            Err(_) => return None,
        };
        if page.gap {
            self.waiting.push_back(Event::default().event("gap").data("{}"));
        }
        let mut n_bytes = 0;
        for entry in page.entries {
            // Texts and numbers always serialise.
            let data = serde_json::to_string(&entry).unwrap_or_default();
            n_bytes += data.len();
            self.waiting.push_back(Event::default().event("entry").id(entry.cursor).data(data));
        }
        self.at_once = at_once(self.at_once, n_bytes);
        Some(self)
    }

    /// Reads the next entries; `None` if the account may not read the feed or the query any more.
    fn read(&mut self) -> Result<Option<StreamBatch>, StoreError> {
        let store = &self.context.store;
        if !self.place.spot.is_readable(store)? {
            return Ok(None);
        }
        self.place.read(store, self.at_once, &mut self.feeds).map(Some)
    }
}

/// Returns how many entries a stream reads next, from the number and bytes of the last ones.
fn at_once(last: u32, n_bytes: usize) -> u32 {
    if n_bytes > HELD_BYTES_MAX { 1 } else { (last * 2).min(EVENTS_MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_of_long_entries_holds_one_at_a_time() {
        let short: Vec<u32> =
            std::iter::successors(Some(1), |n| Some(at_once(*n, 1000))).take(6).collect();
        assert_eq!(short, [1, 2, 4, 8, 16, 20]);
        assert_eq!(at_once(20, HELD_BYTES_MAX + 1), 1);
        assert_eq!(at_once(1, HELD_BYTES_MAX + 1), 1);
    }
}
