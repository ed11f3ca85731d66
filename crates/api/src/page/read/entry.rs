//! One entry on a page of its own, or as a part for a page that is open already. Who opens it has
//! read it.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use feed::EntryId;
use store::{AccountId, ReadingFilter, ReadingPosition, Store, StoreError, TokenScope};

use super::article::Article;
use super::{Place, asked};
use crate::Context;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, Section, Visitor};
use crate::page::{failed, no_such, params, shown};

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    frame: Frame,
    article: Article,
    back: String,
    /// The entry before it in the list, and the one behind it.
    before: Option<String>,
    behind: Option<String>,
    /// How those two are called.
    names: (&'static str, &'static str),
}

/// The article alone, for the script.
#[derive(Template)]
#[template(path = "article.html")]
struct ArticlePart {
    article: Article,
    /// On a page of its own it has the page's heading.
    whole: bool,
}

struct Found {
    article: Article,
    before: Option<ReadingPosition>,
    behind: Option<ReadingPosition>,
}

pub async fn entry(
    State(context): State<Context>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok(number) = id.parse::<i64>() else {
        return no_such(&context, visitor, "There is no such entry.".to_owned());
    };
    let place = Place::read(query.as_deref(), visitor.choices.oldest_first);
    let is_part = params::number(query.as_deref(), "part").is_some();
    let marks = visitor.on_purpose && visitor.may(TokenScope::Write);
    let (store, account, asked) = (context.store.clone(), visitor.account(), place.clone());
    let (now, images) = (visitor.now(&context), context.images.clone());
    let answer = run_blocking(move || {
        let entry = EntryId(number);
        let Some(mut found) = store.read_entries(account, &[entry])?.pop() else {
            return Ok(None);
        };
        if marks && !found.read {
            // On a full disk one can still read.
            match store.mark_read(account, &[entry], true) {
                Ok(()) => found.read = true,
                Err(error) => tracing::warn!(%error, "an entry could not be marked read"),
            }
        }
        let names = store.feed_names([found.entry.feed])?;
        let here = found.place();
        let (before, behind) = if is_part {
            (None, None)
        } else {
            let beside = |turned| beside(&store, account, &asked, here, turned);
            (beside(true)?, beside(false)?)
        };
        let article = Article::new(&found, names.get(&found.entry.feed), images.as_deref(), now);
        Ok(Some(Found { article, before, behind }))
    });
    match answer.await {
        Ok(Some(Found { article, .. })) if is_part => shown(&ArticlePart { article, whole: false }),
        Ok(Some(Found { article, before, behind })) => {
            let href = |there: ReadingPosition| place.entry_href(there.entry);
            shown(&EntryPage {
                frame: Frame::new(&context, visitor, Some(Section::Read)),
                article,
                back: place.href(),
                before: before.map(href),
                behind: behind.map(href),
                names: if place.oldest_first { ("Older", "Newer") } else { ("Newer", "Older") },
            })
        }
        Ok(None) => {
            let text = format!("There is no entry {number}. It may have been deleted.");
            no_such(&context, visitor, text)
        }
        Err(error) => failed(&context, visitor, &error),
    }
}

/// The entry behind this one in its list; turned around, the one before it.
fn beside(
    store: &Store,
    account: AccountId,
    place: &Place,
    here: ReadingPosition,
    turned: bool,
) -> Result<Option<ReadingPosition>, StoreError> {
    let Some(reading) = asked(store, account, place)? else { return Ok(None) };
    let oldest_first = reading.oldest_first != turned;
    let reading = ReadingFilter { from: Some(here), oldest_first, limit: 1, ..reading };
    Ok(store.reading_places(&reading)?.pop())
}
