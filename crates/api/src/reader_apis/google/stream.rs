//! Names of streams, and the entries of a stream that a request asks for.

use std::time::Duration;

use feed::{EntryId, FeedId, Time};
use store::{
    AccountId, FeedFilter, LabelId, QueryId, ReadingFilter, ReadingPosition, Scope, Store,
};

use super::GoogleRequest;
use crate::reader_apis::error::ReaderApiError;
use crate::reader_apis::view::OF_QUERY;

const STATE: &str = "state/com.google/";
/// Polls that run at the same time are not recorded in the order of their times; none lasts longer
/// than this. Apps ignore entries that they get twice, but would never get a missing one.
const OVERLAP: Duration = Duration::from_secs(600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoogleStream {
    All,
    Read,
    Unread,
    Starred,
    /// A stream that exists only elsewhere: shared, liked.
    Nothing,
    Feed(FeedId),
    Tag(String),
    Query {
        id: QueryId,
        name: String,
    },
    /// Entries with a label of the person.
    Label {
        id: LabelId,
        name: String,
    },
}

pub fn state(name: &str) -> String {
    format!("user/-/{STATE}{name}")
}

pub fn label(name: &str) -> String {
    format!("user/-/label/{name}")
}

/// Returns the name of a label in its stream id.
pub fn label_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("user/")?.split_once('/')?.1;
    rest.strip_prefix("label/").filter(|name| !name.is_empty())
}

impl GoogleStream {
    pub fn find(
        store: &Store,
        account: AccountId,
        name: &str,
    ) -> Result<GoogleStream, ReaderApiError> {
        if let Some(feed) = name.strip_prefix("feed/") {
            return Ok(GoogleStream::Feed(find_feed(store, account, feed)?));
        }
        if let Some(label) = label_name(name) {
            let Some(query) = label.strip_prefix(OF_QUERY) else {
                return of_label(store, account, label);
            };
            let row = store.query_of(account, query)?;
            let row = row.ok_or(ReaderApiError::Missing("the query does not exist"))?;
            return Ok(GoogleStream::Query { id: row.id, name: row.name });
        }
        let rest = name.strip_prefix("user/").and_then(|rest| rest.split_once('/'));
        match rest.and_then(|(_, rest)| rest.strip_prefix(STATE)) {
            Some("reading-list") => Ok(GoogleStream::All),
            Some("read") => Ok(GoogleStream::Read),
            Some("kept-unread" | "fresh" | "unread") => Ok(GoogleStream::Unread),
            Some("starred") => Ok(GoogleStream::Starred),
            Some(_) => Ok(GoogleStream::Nothing),
            None => Err(ReaderApiError::bad_request(
                "a stream must be feed/…, user/-/label/… or user/-/state/…",
            )),
        }
    }

    /// Returns the scope of the entries, or `None` for a stream that is always empty.
    pub fn scope(&self) -> Option<Scope> {
        match self {
            GoogleStream::All
            | GoogleStream::Read
            | GoogleStream::Unread
            | GoogleStream::Starred => Some(Scope::All),
            GoogleStream::Feed(feed) => Some(Scope::Feed(*feed)),
            GoogleStream::Tag(tag) => Some(Scope::Tag(tag.clone())),
            GoogleStream::Query { id, .. } => Some(Scope::Query(*id)),
            GoogleStream::Label { id, .. } => Some(Scope::Label(*id)),
            GoogleStream::Nothing => None,
        }
    }

    /// Limits a list to the entries of this stream, or to all others.
    fn narrow(&self, reading: &mut ReadingFilter, inside: bool) -> Result<(), ReaderApiError> {
        match self {
            GoogleStream::Read => reading.read = Some(inside),
            GoogleStream::Unread => reading.read = Some(!inside),
            GoogleStream::Starred => reading.starred = Some(inside),
            GoogleStream::All if inside => {}
            GoogleStream::Nothing if !inside => {}
            _ => {
                return Err(ReaderApiError::bad_request(
                    "it and xt must be read, kept-unread or starred",
                ));
            }
        }
        Ok(())
    }
}

/// Finds the stream of a label: the feeds of a folder, or the entries that the person has labelled.
fn of_label(store: &Store, account: AccountId, name: &str) -> Result<GoogleStream, ReaderApiError> {
    let name = name.to_owned();
    match store.label(account, &name)? {
        Some(id) if is_label(store, account, &name)? => Ok(GoogleStream::Label { id, name }),
        _ => Ok(GoogleStream::Tag(name)),
    }
}

/// Whether a name means a label of entries. If a folder of feeds has it too, the folder counts.
pub fn is_label(store: &Store, account: AccountId, name: &str) -> Result<bool, ReaderApiError> {
    let tags = store.tags_of(account)?;
    let is_folder = tags.iter().any(|row| row.tag == name && row.n_feeds > 0);
    Ok(store.label(account, name)?.is_some() && !is_folder)
}

/// Finds a feed by its number or its address, which may be masked as we show it.
pub fn find_feed(store: &Store, account: AccountId, name: &str) -> Result<FeedId, ReaderApiError> {
    if let Some(feed) = store.find_feed_of(account, name)? {
        return Ok(feed);
    }
    let all = store.feeds_of(account, &FeedFilter::default())?;
    let mut same = all.iter().filter(|feed| feed.location.url.masked() == name);
    match (same.next(), same.next()) {
        (Some(only), None) => Ok(only.id),
        _ => Err(ReaderApiError::Missing("the feed does not exist")),
    }
}

/// Reads the list that a request asks for: `n`, `c`, `r`, `ot`, `nt`, `it` and `xt`. Returns `None`
/// if the list is always empty.
pub fn reading(
    store: &Store,
    request: &GoogleRequest,
    stream: &GoogleStream,
    (n, n_max): (u32, u32),
) -> Result<Option<ReadingFilter>, ReaderApiError> {
    let params = &request.params;
    let Some(scope) = stream.scope() else { return Ok(None) };
    let limit = params.number::<u64>("n")?.unwrap_or(n.into()).clamp(1, n_max.into());
    let mut reading = ReadingFilter::newest(request.person.account, scope, n_max);
    reading.limit = u32::try_from(limit).unwrap_or(n_max);
    reading.oldest_first = params.text("r") == Some("o");
    if matches!(stream, GoogleStream::Read | GoogleStream::Unread | GoogleStream::Starred) {
        stream.narrow(&mut reading, true)?;
    }
    for (names, inside) in [("it", true), ("xt", false)] {
        for name in params.all(names).filter(|name| !name.is_empty()) {
            let other = GoogleStream::find(store, request.person.account, name)?;
            other.narrow(&mut reading, inside)?;
        }
    }
    // Both limit the time when an entry was seen: an old entry may be new here.
    if let Some(secs) = params.number::<i64>("ot")? {
        reading.above = Some(store.last_seen_before(seconds(secs) - OVERLAP)?);
    }
    if let Some(secs) = params.number::<i64>("nt")? {
        reading.below = Some(EntryId(store.last_seen_before(seconds(secs))?.0 + 1));
    }
    if let Some(text) = params.text("c") {
        let place = parse_place(text)
            .ok_or_else(|| ReaderApiError::bad_request("c is not a continuation"))?;
        reading.from = Some(place);
    }
    Ok(Some(reading))
}

fn seconds(secs: i64) -> Time {
    Time::from_secs(secs.clamp(0, Time::MAX.secs()))
}

/// Returns the place where a list continues, as an opaque text.
pub fn continuation(place: ReadingPosition) -> String {
    format!("{}-{}", place.published_at.millis(), place.entry)
}

fn parse_place(text: &str) -> Option<ReadingPosition> {
    let (time, entry) = text.rsplit_once('-')?;
    let entry = entry.parse().ok().filter(|entry| *entry > 0)?;
    Some(ReadingPosition {
        published_at: Time::from_millis(time.parse().ok()?),
        entry: EntryId(entry),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_are_read_as_they_are_written() {
        for (millis, entry) in [(0, 1), (-5, 7), (1_700_000_000_123, 2_147_483_647)] {
            let place =
                ReadingPosition { published_at: Time::from_millis(millis), entry: EntryId(entry) };
            assert_eq!(parse_place(&continuation(place)), Some(place));
        }
        for text in ["", "1", "1-", "-1", "1-0", "a-1", "1-a", "1--1"] {
            assert_eq!(parse_place(text), None, "{text}");
        }
    }

    #[test]
    fn labels_are_named_with_whatever_user() {
        assert_eq!(label_name("user/-/label/a/b"), Some("a/b"));
        assert_eq!(label_name("user/1005/label/x"), Some("x"));
        for text in ["user/-/label/", "user/label/x", "label/x", "x", "user/-/state/x"] {
            assert_eq!(label_name(text), None, "{text}");
        }
    }
}
