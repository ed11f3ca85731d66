//! The page of one entry, or only its article for the script. Opening an entry marks it read.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use feed::{ArticleMode, EntryId, Time};
use store::{
    AccountId, ArticleState, ReadEntry, ReadingFilter, ReadingPosition, Store, StoreError,
    TokenScope,
};

use super::article::{Article, ArticleParts};
use super::share::SharePart;
use super::whole_text::{StoredPage, TextChoice, article_mode};
use super::{ListScope, ReadingList, store_reading};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{no_entry, render, store_error};
use crate::page::params;
use crate::page::rules::{MuteButton, mute_buttons};

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    frame: Frame,
    article: Article,
    share: SharePart,
    form_key: String,
    back: String,
    /// The addresses of the previous and the next entry of the list.
    previous: Option<String>,
    next: Option<String>,
    /// The texts of these two links.
    names: (&'static str, &'static str),
    /// Names and addresses of its labels.
    labels: Vec<(String, String)>,
    mute: Vec<MuteButton>,
}

/// The article without a page, for the script.
#[derive(Template)]
#[template(path = "article.html")]
struct ArticlePart {
    article: Article,
    share: SharePart,
    mute: Vec<MuteButton>,
    /// Whether the article has the heading of the page.
    whole: bool,
    form_key: String,
}

/// An entry and its neighbours in the list.
struct OpenedEntry {
    article: Article,
    share: SharePart,
    labels: Vec<String>,
    mute: Vec<MuteButton>,
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
        return no_entry(&context, visitor, id);
    };
    let list = ReadingList::read(query.as_deref(), visitor.choices.oldest_first);
    let is_part = params::number(query.as_deref(), "part").is_some();
    let choice = params::text(query.as_deref(), "text");
    let choice = choice.as_deref().and_then(TextChoice::from_word);
    let marks = visitor.on_purpose && visitor.may(TokenScope::Write);
    let (store, account, asked) = (context.store.clone(), visitor.account(), list.clone());
    let (now, images) = (visitor.now(&context), context.images.clone());
    let usual_mode = context.article_mode;
    // The addresses of services may hold secrets, which a token that only reads does not get.
    let may_share = visitor.may(TokenScope::Write);
    let answer = run_blocking(move || {
        let entry = EntryId(number);
        let Some(mut found) = store.read_entries(account, &[entry])?.pop() else {
            return Ok(None);
        };
        if marks {
            opened(&store, account, &mut found, usual_mode, now.at);
        }
        let parts = article_parts(&store, account, found)?;
        let here = parts.found.place();
        let (previous, next) = if is_part {
            (None, None)
        } else {
            let neighbour = |backwards| neighbour(&store, account, &asked, here, backwards);
            (neighbour(true)?, neighbour(false)?)
        };
        let article = Article::new(&parts, choice, images.as_deref(), now);
        let targets = if may_share { store.share_targets(account)? } else { Vec::new() };
        let share = SharePart::new(article.link.as_deref(), &article.title, targets);
        let labels = store.labels_of(account, &[entry])?.remove(&entry).unwrap_or_default();
        let mute = if marks { mute_buttons(&parts.found.entry) } else { Vec::new() };
        Ok(Some(OpenedEntry { article, share, labels, mute, previous, next }))
    });
    match answer.await {
        Ok(Some(OpenedEntry { article, share, mute, .. })) if is_part => {
            let form_key = Frame::new(&context, visitor, None).form_key().to_owned();
            render(&ArticlePart { article, share, mute, whole: false, form_key })
        }
        Ok(Some(OpenedEntry { article, share, labels, mute, previous, next })) => {
            let href = |there: ReadingPosition| list.entry_href(there.entry);
            let frame = Frame::new(&context, visitor, Some(NavSection::Read));
            render(&EntryPage {
                form_key: frame.form_key().to_owned(),
                frame,
                article,
                share,
                labels: labels.into_iter().map(label_link).collect(),
                mute,
                back: list.href(),
                previous: previous.map(href),
                next: next.map(href),
                names: if list.oldest_first { ("Older", "Newer") } else { ("Newer", "Older") },
            })
        }
        Ok(None) => no_entry(&context, visitor, number),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns a label with the address of its list.
fn label_link(name: String) -> (String, String) {
    let href = ReadingList::of(ListScope::Label(name.clone())).href();
    (name, href)
}

/// Marks an opened entry read, and asks for its page if the feed's setting says so. With a full
/// disk people can still read.
fn opened(
    store: &Store,
    account: AccountId,
    found: &mut ReadEntry,
    usual_mode: ArticleMode,
    now: Time,
) {
    let entry = &found.entry;
    // An entry that "mark all read" has marked may still be opened for the first time.
    if !found.read || store.has_opened(account, entry.id).is_ok_and(|opened| !opened) {
        match store.open_entries(account, &[entry.id], now) {
            Ok(()) => found.read = true,
            Err(error) => tracing::warn!(%error, "cannot mark an entry read"),
        }
    }
    let wants = || -> Result<bool, StoreError> {
        let is_new = store.article_state(entry.id)? == ArticleState::NotAsked;
        Ok(is_new
            && entry.link.is_some()
            && article_mode(store, entry.feed)?.unwrap_or(usual_mode) != ArticleMode::Never
            && store.request_article_for(account, entry.id, now)?)
    };
    if let Err(error) = wants() {
        tracing::warn!(%error, "cannot ask for the page behind an entry");
    }
}

fn article_parts(
    store: &Store,
    account: AccountId,
    found: ReadEntry,
) -> Result<ArticleParts, StoreError> {
    let (id, feed) = (found.entry.id, found.entry.feed);
    let is_nameless = found.entry.categories.is_empty() && found.entry.facts.category.is_none();
    let rows = if is_nameless { store.feed_rows_of(account, &[feed])? } else { Vec::new() };
    Ok(ArticleParts {
        folder: rows.into_iter().find_map(|row| row.tags.into_iter().next()),
        name: store.feed_names_of(account, [feed])?.remove(&feed),
        icon: store.feed_icon(feed)?,
        page: StoredPage::read(store, id)?,
        positions: store.playback_positions(account, id)?,
        found,
    })
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
