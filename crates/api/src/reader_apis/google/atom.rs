//! `/reader/atom/STREAM`: a stream as Atom, with read and starred marks as categories. Old clients
//! such as newsboat read entries only this way.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use feed::{Item, Source, public_source};
use parse::write::{self, ItemLabel, PublishedDocument};
use store::{AccountId, FeedRow, ReadEntry, Store};

use super::item::{self, N, StreamItems};
use super::stream::{GoogleStream, continuation, label, reading, state};
use super::{GoogleRequest, item_id};
use crate::feed_rows::FeedRows;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::view::{self, AppArticles};

/// Google's name for the vocabulary of its states and labels.
const SCHEME: &str = "http://www.google.com/reader/";

pub async fn feed(Path(name): Path<String>, request: GoogleRequest) -> Result<Response, InText> {
    let now = (request.context.now)();
    let text = request.with_store(move |store, request| {
        let stream = GoogleStream::find(store, request.person.account, &name)?;
        let found = match reading(store, request, &stream, N)? {
            Some(reading) => StreamItems::read(store, &reading)?,
            None => StreamItems::default(),
        };
        let mut doc = PublishedDocument {
            title: item::title(store, request.person.account, &stream)?,
            id: Some(format!("tag:google.com,2005:reader/{name}")),
            updated: Some(now),
            ..PublishedDocument::default()
        };
        if let Some(place) = found.goes_on {
            doc.pages.push(("next", format!("?c={}", continuation(place))));
        }
        let articles = AppArticles::read(store, request.person.account, &found.entries)?;
        fill(&mut doc, (store, request.person.account), &found.entries, &articles)?;
        Ok(write::atom(&doc))
    });
    let kind = [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")];
    Ok((kind, text.await?).into_response())
}

fn fill(
    doc: &mut PublishedDocument,
    (store, account): (&Store, AccountId),
    entries: &[ReadEntry],
    articles: &AppArticles,
) -> Result<(), ReaderApiError> {
    let feeds = FeedRows::of_entries(store, account, entries.iter().map(|one| one.entry.feed))?;
    for one in entries {
        let Some(feed) = feeds.get(one.entry.feed) else { continue };
        doc.items.push(item(one, feed, articles));
        doc.labels.push(labels(one, feed));
    }
    Ok(())
}

fn item(one: &ReadEntry, feed: &FeedRow, articles: &AppArticles) -> Item {
    let entry = &one.entry;
    let updated = entry.updated_at.unwrap_or(entry.published_at).max(entry.published_at);
    Item {
        id: Some(item_id::long(entry.id)),
        title: Some(view::title(entry)),
        link: view::link(entry).map(str::to_owned),
        published: Some(entry.published_at),
        updated: Some(updated),
        author: view::author(entry),
        summary: None,
        content: Some(view::html(one, feed, articles)),
        categories: Vec::new(),
        enclosures: view::enclosures(entry).cloned().collect(),
        language: entry.language.clone(),
        source: Some(Source {
            title: Some(view::feed_title(feed)),
            updated: feed.history.last_change_at,
            ..public_source(&feed.location.url, feed.facts.site.as_deref(), feed.id)
        }),
        ..Item::default()
    }
}

fn labels(one: &ReadEntry, feed: &FeedRow) -> Vec<ItemLabel> {
    let mark =
        |term: String, label: &str| ItemLabel { scheme: SCHEME, term, label: label.to_owned() };
    let mut labels = vec![mark(state("reading-list"), "reading-list")];
    let read = if one.read { "read" } else { "fresh" };
    labels.push(mark(state(read), read));
    if one.starred {
        labels.push(mark(state("starred"), "starred"));
    }
    labels.extend(view::own_tags(feed).map(|tag| mark(label(tag), tag)));
    labels
}
