//! Live updates of an open list, as server-sent events for the script. An event has the number of
//! new entries since the list was shown, and the number of all unread entries.

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
use store::{ReadingFilter, Signal, SignalReceiver, StoreError};
use tokio::sync::OwnedSemaphorePermit;

use super::sidebar::n_unread;
use super::{ReadingList, store_reading};
use crate::blocking::run_blocking;
use crate::page::params;
use crate::session::LoginWatch;
use crate::words::count;
use crate::{ServerContext, page::Visitor};

/// The interval between two checks for new entries. On PostgreSQL a check follows every signal that
/// entries were recorded, and the interval only limits the time without one.
const CHECK_EVERY: Duration = Duration::from_secs(1);
const CHECK_AT_LEAST_EVERY: Duration = Duration::from_secs(2);
/// A silent stream sends a comment this often, so that proxies keep it open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Beyond this the page says "99+".
const COUNTED_MAX: u32 = 100;

/// A list that is open in a browser.
struct OpenList {
    context: ServerContext,
    login: LoginWatch,
    entries: ReadingList,
    /// The newest entry when the list was shown.
    since: EntryId,
    news: SignalReceiver,
    is_checked: bool,
    /// The newest entry and the unread count at the last check.
    last: (EntryId, u64),
    _permit: OwnedSemaphorePermit,
}

pub async fn live_updates(
    State(context): State<ServerContext>,
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
    let Ok(permit) = Arc::clone(&context.streams).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let news = context.store.signals(Signal::Entries);
    let list = OpenList {
        context,
        login: LoginWatch::new(person, headers),
        entries: ReadingList::read(query.as_deref(), false),
        since: EntryId(since.into()),
        news,
        is_checked: false,
        // Differs from every real state, so that the first check sends an event.
        last: (EntryId(-1), u64::MAX),
        _permit: permit,
    };
    let events = Sse::new(events(list));
    events.keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn events(list: OpenList) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(list, |mut list| async move {
        loop {
            if std::mem::replace(&mut list.is_checked, true) {
                list.news.wait(CHECK_EVERY, CHECK_AT_LEAST_EVERY).await;
            }
            if !list.login.may_go_on(&list.context).await {
                return None;
            }
            let (found, checked) = run_blocking(move || Ok((list.check(), list))).await.ok()?;
            list = checked;
            match found {
                Ok(Some(event)) => return Some((Ok(event), list)),
                Ok(None) => {}
                // The list stays open and waits with everything else.
                Err(error) if error.is_unavailable() => {}
                Err(_) => return None,
            }
        }
    })
}

impl OpenList {
    /// Returns an event if something changed since the last check. Without a change it counts
    /// nothing.
    fn check(&mut self) -> Result<Option<Event>, StoreError> {
        let (store, account) = (&self.context.store, self.login.person().account);
        let unread = n_unread(store, account)?;
        let state = (store.last_entry_id()?, unread);
        if state == self.last {
            return Ok(None);
        }
        let new = match store_reading(store, account, &self.entries)? {
            // Every new entry of the scope counts, whatever the filter of the list.
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
        self.last = state;
        let data = json!({"new": words, "unread": count(unread)}).to_string();
        Ok(Some(Event::default().data(data)))
    }
}
