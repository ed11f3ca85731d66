//! Entries of streams: contents, ids and counts.

use std::collections::HashMap;

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use feed::EntryId;
use serde_json::{Value, json};
use store::{AccountId, QueryId, ReadEntry, ReadingFilter, ReadingPosition, Store};

use super::stream::{GoogleStream, continuation, label, reading, state};
use super::{GoogleRequest, item_id};
use crate::feed_rows::FeedRows;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::view::{self, AppArticles, OF_QUERY};

/// The default and the highest number of entries with their texts, which are read and sanitised.
pub const N: (u32, u32) = (20, 1000);
/// The same limits for ids. They cost little, and some apps request all unread ones at once.
const N_IDS: (u32, u32) = (20, 10_000);
/// The page size of the store.
const PAGE: u32 = 1000;

/// Answers `stream/contents` without a name: all entries, or the stream in `s`.
pub async fn all_contents(request: GoogleRequest) -> Result<Response, InText> {
    let name = request.params.text("s").map_or_else(|| state("reading-list"), str::to_owned);
    Ok(of_stream(request, name).await?)
}

pub async fn contents(
    Path(name): Path<String>,
    request: GoogleRequest,
) -> Result<Response, InText> {
    Ok(of_stream(request, name).await?)
}

async fn of_stream(request: GoogleRequest, name: String) -> Result<Response, ReaderApiError> {
    let now = (request.context.now)();
    request
        .with_store(move |store, request| {
            let stream = GoogleStream::find(store, request.person.account, &name)?;
            let found = match reading(store, request, &stream, N)? {
                Some(reading) => StreamItems::read(store, &reading)?,
                None => StreamItems::default(),
            };
            let mut body = json!({
                "direction": "ltr",
                "id": name,
                "title": title(store, request.person.account, &stream)?,
                "updated": now.secs(),
                "items": items(store, request, &found.entries)?,
            });
            if let Some(place) = found.goes_on {
                body["continuation"] = continuation(place).into();
            }
            Ok(Json(body).into_response())
        })
        .await
}

/// Some entries, and the place where the list continues.
#[derive(Default)]
pub struct StreamItems {
    pub entries: Vec<ReadEntry>,
    pub goes_on: Option<ReadingPosition>,
}

impl StreamItems {
    pub fn read(store: &Store, reading: &ReadingFilter) -> Result<StreamItems, ReaderApiError> {
        let entries = store.reading(reading)?;
        let full = store::is_full(entries.iter().map(|one| &one.entry), reading.limit);
        let goes_on = entries.last().filter(|_| full).map(ReadEntry::place);
        Ok(StreamItems { entries, goes_on })
    }
}

/// Returns the title of a stream.
pub fn title(
    store: &Store,
    account: AccountId,
    stream: &GoogleStream,
) -> Result<String, ReaderApiError> {
    Ok(match stream {
        GoogleStream::All => "All entries".to_owned(),
        GoogleStream::Read => "Read".to_owned(),
        GoogleStream::Unread => "Unread".to_owned(),
        GoogleStream::Starred => "Starred".to_owned(),
        GoogleStream::Nothing => String::new(),
        GoogleStream::Feed(feed) => view::feed_title(&store.feed_of(account, *feed)?),
        GoogleStream::Tag(tag) => tag.clone(),
        GoogleStream::Label { name, .. } => name.clone(),
        GoogleStream::Query { name, .. } => format!("{OF_QUERY}{name}"),
    })
}

/// Answers `stream/items/contents`: entries by their ids, in the requested order.
pub async fn by_ids(request: GoogleRequest) -> Result<Response, InText> {
    let now = (request.context.now)();
    let body = request.with_store(move |store, request| {
        let ids: Vec<EntryId> = numbers(request)?;
        if ids.len() > N.1 as usize {
            return Err(ReaderApiError::bad_request("at most 1000 entries at once"));
        }
        let found = store.read_entries(request.person.account, &ids)?;
        Ok(json!({
            "direction": "ltr",
            "id": state("reading-list"),
            "title": "Entries",
            "updated": now.secs(),
            "items": items(store, request, &found)?,
        }))
    });
    Ok(Json(body.await?).into_response())
}

/// Returns the entries that a request names with `i`.
pub fn numbers(request: &GoogleRequest) -> Result<Vec<EntryId>, ReaderApiError> {
    let read = |text| {
        item_id::parse(text)
            .ok_or_else(|| ReaderApiError::bad_request("i is not the id of an entry"))
    };
    let ids: Vec<EntryId> = request.params.all("i").map(read).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Err(ReaderApiError::bad_request("name entries: i=ID"));
    }
    Ok(ids)
}

/// Answers `stream/items/ids`.
pub async fn ids(request: GoogleRequest) -> Result<Response, InText> {
    let body = request.with_store(|store, request| {
        let stream = named(store, request)?;
        let Some(mut reading) = reading(store, request, &stream, N_IDS)? else {
            return Ok(json!({"itemRefs": []}));
        };
        let wanted = reading.limit as usize;
        let mut places: Vec<ReadingPosition> = Vec::new();
        loop {
            let left = u32::try_from(wanted - places.len()).unwrap_or(PAGE);
            reading.limit = left.min(PAGE);
            let found = store.reading_places(&reading)?;
            let last = found.last().filter(|_| found.len() == reading.limit as usize).copied();
            places.extend(found);
            reading.from = last;
            if last.is_none() || places.len() >= wanted {
                break;
            }
        }
        let refs: Vec<Value> =
            places.iter().map(|place| json!({"id": place.entry.to_string()})).collect();
        let mut body = json!({"itemRefs": refs});
        if let Some(place) = reading.from {
            body["continuation"] = continuation(place).into();
        }
        Ok(body)
    });
    Ok(Json(body.await?).into_response())
}

/// Answers `stream/items/count`: a number, and with `a=true` the day of the newest entry.
pub async fn count(request: GoogleRequest) -> Result<String, InText> {
    let text = request.with_store(|store, request| {
        let stream = named(store, request)?;
        let Some(reading) = reading(store, request, &stream, N)? else { return Ok("0".to_owned()) };
        let mut text = store.reading_count(&reading)?.to_string();
        let newest =
            store.reading_places(&ReadingFilter { limit: 1, oldest_first: false, ..reading })?;
        if let (Some("true"), Some(place)) = (request.params.text("a"), newest.first()) {
            text.push('#');
            text.push_str(&crate::words::strftime(
                place.published_at,
                "%B %d, %Y",
                crate::zone::Zone::UTC,
            ));
        }
        Ok(text)
    });
    Ok(text.await?)
}

fn named(store: &Store, request: &GoogleRequest) -> Result<GoogleStream, ReaderApiError> {
    match request.params.text("s") {
        Some(name) => GoogleStream::find(store, request.person.account, name),
        None => Ok(GoogleStream::All),
    }
}

fn items(
    store: &Store,
    request: &GoogleRequest,
    entries: &[ReadEntry],
) -> Result<Vec<Value>, ReaderApiError> {
    let articles = AppArticles::read(store, request.person.account, entries)?;
    let ids: Vec<EntryId> = entries.iter().map(|one| one.entry.id).collect();
    let keeping = store.matching_queries(&ids)?;
    let names: HashMap<QueryId, String> = match keeping.is_empty() {
        true => HashMap::new(),
        false => store
            .queries_of(request.person.account)?
            .into_iter()
            .map(|query| (query.id, query.name))
            .collect(),
    };
    let labels = store.labels_of(request.person.account, &ids)?;
    let met = entries.iter().map(|one| one.entry.feed);
    let feeds = FeedRows::of_entries(store, request.person.account, met)?;
    let mut items = Vec::with_capacity(entries.len());
    for one in entries {
        let Some(feed) = feeds.get(one.entry.feed) else { continue };
        let mut item = item(one, feed, &articles);
        let queries = keeping.get(&one.entry.id).into_iter().flatten();
        let queries = queries.filter_map(|id| names.get(id));
        if let Some(categories) = item["categories"].as_array_mut() {
            let own = labels.get(&one.entry.id).into_iter().flatten();
            // A folder may have the same name.
            for name in own.map(|name| Value::from(label(name))) {
                if !categories.contains(&name) {
                    categories.push(name);
                }
            }
            categories.extend(queries.map(|name| label(&format!("{OF_QUERY}{name}")).into()));
        }
        items.push(item);
    }
    Ok(items)
}

fn item(one: &ReadEntry, feed: &store::FeedRow, articles: &AppArticles) -> Value {
    let entry = &one.entry;
    let mut categories = vec![state("reading-list")];
    categories.push(state(if one.read { "read" } else { "fresh" }));
    if one.starred {
        categories.push(state("starred"));
    }
    categories.extend(view::own_tags(feed).map(label));
    let updated = entry.updated_at.unwrap_or(entry.published_at).max(entry.published_at);
    let mut item = json!({
        "id": item_id::long(entry.id),
        "crawlTimeMsec": entry.seen_at.millis().to_string(),
        "timestampUsec": (entry.seen_at.millis() * 1000).to_string(),
        "published": entry.published_at.secs(),
        "updated": updated.secs(),
        "title": view::title(entry),
        "summary": {"content": view::html(one, feed, articles), "direction": "ltr"},
        "categories": categories,
        "origin": {
            "streamId": format!("feed/{}", feed.id),
            "title": view::feed_title(feed),
            "htmlUrl": view::site(feed).unwrap_or(""),
        },
        "canonical": [],
        "alternate": [],
    });
    if let Some(link) = view::link(entry) {
        item["canonical"] = json!([{"href": link}]);
        item["alternate"] = json!([{"href": link, "type": "text/html"}]);
    }
    if let Some(author) = view::author(entry) {
        item["author"] = author.into();
    }
    let files: Vec<Value> = view::enclosures(entry)
        .map(|file| json!({"href": file.url, "type": file.mime_type, "length": file.length}))
        .collect();
    if !files.is_empty() {
        item["enclosure"] = files.into();
    }
    item
}
