//! The preview of a statement: the entries of the last days that it would have found. It runs over
//! stored entries, changes nothing, and is bounded, so that it can run while a person types.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use feed::{EntryId, Time};
use query::{Fault, Trial};
use store::{AccountId, EntryRow, Store, StoreError};

use super::editor::QueryEditor;
use super::source::{self, FaultMessage, PreviewStatements, SourcePiece};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::feed_rows::FeedRows;
use crate::page::frame::{Frame, NavSection, WriteForm};
use crate::page::notice::{render, store_error};
use crate::page::read::{teaser, title};
use crate::search::ArticleTexts;
use crate::words::{DisplayTime, count, plural};

/// The preview reads only the newest entries. These take about 10 ms.
const ENTRIES_MAX: i64 = 3000;
const BATCH: u32 = 500;
/// Entries that the preview names for each query.
const NAMED_MAX: usize = 8;
pub const DAYS: u64 = 7;

/// The preview without a page, for the script.
#[derive(Template)]
#[template(path = "preview.html")]
struct PreviewPart {
    preview: Preview,
}

/// The result of a preview, or the errors in the statement. The page shows it below the editor.
pub struct Preview {
    pub source: Vec<SourcePiece>,
    pub faults: Vec<FaultMessage>,
    pub scope: String,
    pub queries: Vec<QueryPreview>,
}

/// The entries that one query would have found.
pub struct QueryPreview {
    pub name: String,
    pub words: String,
    pub newest: Vec<EntryLink>,
}

/// A link to an entry.
pub struct EntryLink {
    pub id: i64,
    pub title: String,
    pub seen: DisplayTime,
}

impl Preview {
    /// Returns an empty preview.
    pub fn none() -> Preview {
        Preview {
            source: Vec::new(),
            faults: Vec::new(),
            scope: String::new(),
            queries: Vec::new(),
        }
    }

    pub fn faulty(text: &str, faults: &[Fault]) -> Preview {
        let (source, faults) = source::marked_faults(text, faults);
        Preview { source, faults, ..Preview::none() }
    }
}

/// Answers with the preview for the script, or with the editor and the preview.
pub async fn preview(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let text = sent.form.text("text").replace("\r\n", "\n");
    let (store, now, tried) = (context.store.clone(), (context.now)(), text.clone());
    let account = sent.visitor.account();
    match run_blocking(move || try_out(&store, account, &tried, now)).await {
        Ok(preview) if sent.form.has("part") => render(&PreviewPart { preview }),
        Ok(preview) => {
            let name = sent.form.text("name").to_owned();
            let frame = Frame::new(&context, sent.visitor, Some(NavSection::Queries));
            render(&QueryEditor::new(frame, name, text, preview))
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

fn try_out(
    store: &Store,
    account: AccountId,
    text: &str,
    now: Time,
) -> Result<Preview, StoreError> {
    let PreviewStatements { creates, existing } = match source::check(store, account, text)? {
        Ok(checked) => checked,
        Err(faults) => return Ok(Preview::faulty(text, &faults)),
    };
    let mut trial = Trial::new(&existing, &creates);
    let since = now - Duration::from_secs(DAYS * 86_400);
    let bound = EntryId(store.last_entry_id()?.0 - ENTRIES_MAX);
    let mut after = store.position_before(since)?.max(bound);
    let mut feeds = FeedRows::new(account);
    loop {
        let page = store.stream_of(account, after, BATCH)?;
        let batch = page.entries;
        if batch.is_empty() {
            break;
        }
        after = page.next;
        feeds.load(store, batch.iter().map(|entry| entry.feed))?;
        let texts = ArticleTexts::read(store, batch.iter().map(|entry| entry.id))?;
        for entry in batch.iter().filter(|entry| entry.seen_at >= since) {
            if let Some(feed) = feeds.get(entry.feed) {
                trial.run(&texts.entry(entry, feed));
            }
        }
    }
    let of = plural(trial.n_entries(), "entry", "entries");
    let mut queries = Vec::new();
    for result in trial.results() {
        let first = result.newest.len().saturating_sub(NAMED_MAX);
        let mut newest = Vec::new();
        for (id, _) in result.newest[first..].iter().rev() {
            newest.extend(store.entry(*id)?.map(|entry| entry_link(&entry, now)));
        }
        let words = format!("finds {} of {of}", count(result.n_kept));
        queries.push(QueryPreview { name: result.name.clone(), words, newest });
    }
    let scope = format!("In the newest entries of the last {DAYS} days:");
    Ok(Preview { scope, queries, ..Preview::none() })
}

pub fn entry_link(entry: &EntryRow, now: Time) -> EntryLink {
    let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
    EntryLink {
        id: entry.id.0,
        title: title(entry, &teaser(body)),
        seen: DisplayTime::new(entry.seen_at, now),
    }
}
