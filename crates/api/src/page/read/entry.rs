//! The page of one entry, or only its article for the script. Opening an entry marks it read.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use feed::EntryId;
use store::{AccountId, ReadingFilter, ReadingPosition, Store, StoreError, TokenScope};

use super::article::Article;
use super::{ReadingList, store_reading};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{not_found, render, store_error};
use crate::page::params;

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    frame: Frame,
    article: Article,
    back: String,
    /// The addresses of the previous and the next entry of the list.
    previous: Option<String>,
    next: Option<String>,
    /// The texts of these two links.
    names: (&'static str, &'static str),
}

/// The article without a page, for the script.
#[derive(Template)]
#[template(path = "article.html")]
struct ArticlePart {
    article: Article,
    /// Whether the article has the heading of the page.
    whole: bool,
}

/// An entry and its neighbours in the list.
struct OpenedEntry {
    article: Article,
    previous: Option<ReadingPosition>,
    next: Option<ReadingPosition>,
}

pub async fn entry(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok(number) = id.parse::<i64>() else {
        return not_found(&context, visitor, "There is no such entry.".to_owned());
    };
    let list = ReadingList::read(query.as_deref(), visitor.choices.oldest_first);
    let is_part = params::number(query.as_deref(), "part").is_some();
    let marks = visitor.on_purpose && visitor.may(TokenScope::Write);
    let (store, account, asked) = (context.store.clone(), visitor.account(), list.clone());
    let (now, images) = (visitor.now(&context), context.images.clone());
    let answer = run_blocking(move || {
        let entry = EntryId(number);
        let Some(mut found) = store.read_entries(account, &[entry])?.pop() else {
            return Ok(None);
        };
        if marks && !found.read {
            // With a full disk people can still read.
            match store.mark_read(account, &[entry], true) {
                Ok(()) => found.read = true,
                Err(error) => tracing::warn!(%error, "cannot mark an entry read"),
            }
        }
        let names = store.feed_names([found.entry.feed])?;
        let here = found.place();
        let (previous, next) = if is_part {
            (None, None)
        } else {
            let neighbour = |backwards| neighbour(&store, account, &asked, here, backwards);
            (neighbour(true)?, neighbour(false)?)
        };
        let article = Article::new(&found, names.get(&found.entry.feed), images.as_deref(), now);
        Ok(Some(OpenedEntry { article, previous, next }))
    });
    match answer.await {
        Ok(Some(OpenedEntry { article, .. })) if is_part => {
            render(&ArticlePart { article, whole: false })
        }
        Ok(Some(OpenedEntry { article, previous, next })) => {
            let href = |there: ReadingPosition| list.entry_href(there.entry);
            render(&EntryPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Read)),
                article,
                back: list.href(),
                previous: previous.map(href),
                next: next.map(href),
                names: if list.oldest_first { ("Older", "Newer") } else { ("Newer", "Older") },
            })
        }
        Ok(None) => {
            let text = format!("There is no entry {number}. It may have been deleted.");
            not_found(&context, visitor, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the next entry of the list, or the previous one if `backwards`.
fn neighbour(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
    here: ReadingPosition,
    backwards: bool,
) -> Result<Option<ReadingPosition>, StoreError> {
    let Some(reading) = store_reading(store, account, list)? else { return Ok(None) };
    let oldest_first = reading.oldest_first != backwards;
    let reading = ReadingFilter { from: Some(here), oldest_first, limit: 1, ..reading };
    Ok(store.reading_places(&reading)?.pop())
}
