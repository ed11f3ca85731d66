//! What a statement would have kept of the last days: run over stored entries, nothing changed.
//! Bounded, so that it can follow the typing.

use std::collections::HashMap;
use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use feed::{EntryId, FeedId, Time};
use query::{Fault, Trial};
use store::{EntryFilter, EntryRow, FeedRow, Store, StoreError};

use super::editor::Editor;
use super::source::{self, Checked, Piece, Told};
use crate::Context;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, Section, Sent};
use crate::page::read::{teaser, title};
use crate::page::{failed, shown};
use crate::search::seen;
use crate::words::{Moment, count, plural};

/// What is looked through at most: the newest. Some ten milliseconds.
const ENTRIES_MAX: i64 = 3000;
const BATCH: u32 = 500;
/// Of each query so many entries are named.
const NAMED_MAX: usize = 8;
pub const DAYS: u64 = 7;

/// The answer alone, for the script.
#[derive(Template)]
#[template(path = "preview.html")]
struct Part {
    preview: Preview,
}

/// What would have been kept, or what is wrong; on a page it stands below the editor.
pub struct Preview {
    pub source: Vec<Piece>,
    pub faults: Vec<Told>,
    pub scope: String,
    pub tried: Vec<Kept>,
}

/// What one query would have kept.
pub struct Kept {
    pub name: String,
    pub words: String,
    pub newest: Vec<Named>,
}

pub struct Named {
    pub id: i64,
    pub title: String,
    pub seen: Moment,
}

impl Preview {
    /// Nothing was asked for yet.
    pub fn none() -> Preview {
        Preview { source: Vec::new(), faults: Vec::new(), scope: String::new(), tried: Vec::new() }
    }

    pub fn faulty(text: &str, faults: &[Fault]) -> Preview {
        let (source, faults) = (source::pieces(text, faults), source::told(faults));
        Preview { source, faults, ..Preview::none() }
    }
}

/// A part for the script, or the editor with the answer below it.
pub async fn preview(State(context): State<Context>, sent: Sent) -> Response {
    let text = sent.form.text("text").replace("\r\n", "\n");
    let (store, now, tried) = (context.store.clone(), (context.now)(), text.clone());
    match run_blocking(move || try_out(&store, &tried, now)).await {
        Ok(preview) if sent.form.has("part") => shown(&Part { preview }),
        Ok(preview) => {
            let name = sent.form.text("name").to_owned();
            let frame = Frame::new(&context, sent.visitor, Some(Section::Queries));
            shown(&Editor::new(frame, name, text, preview))
        }
        Err(error) => failed(&context, sent.visitor, &error),
    }
}

fn try_out(store: &Store, text: &str, now: Time) -> Result<Preview, StoreError> {
    let Checked { creates, existing } = match source::check(store, text)? {
        Ok(checked) => checked,
        Err(faults) => return Ok(Preview::faulty(text, &faults)),
    };
    let mut trial = Trial::new(&existing, &creates);
    let since = now - Duration::from_secs(DAYS * 86_400);
    let bound = EntryId(store.last_entry_id()?.0 - ENTRIES_MAX);
    let mut after = store.position_before(since)?.max(bound);
    let mut feeds: HashMap<FeedId, Option<FeedRow>> = HashMap::new();
    loop {
        let batch = store.entries(after, &EntryFilter { feed: None, limit: BATCH })?;
        let Some(last) = batch.last() else { break };
        after = last.id;
        for entry in batch.iter().filter(|entry| entry.seen_at >= since) {
            let feed = feeds.entry(entry.feed).or_insert_with(|| store.feed(entry.feed).ok());
            if let Some(feed) = feed {
                trial.run(&seen(entry, feed));
            }
        }
    }
    let of = plural(trial.n_entries(), "entry", "entries");
    let mut tried = Vec::new();
    for result in trial.results() {
        let first = result.newest.len().saturating_sub(NAMED_MAX);
        let mut newest = Vec::new();
        for (id, _) in result.newest[first..].iter().rev() {
            newest.extend(store.entry(*id)?.map(|entry| named(&entry, now)));
        }
        let words = format!("finds {} of {of}", count(result.n_kept));
        tried.push(Kept { name: result.name.clone(), words, newest });
    }
    let scope = format!("In the newest entries of the last {DAYS} days:");
    Ok(Preview { scope, tried, ..Preview::none() })
}

pub fn named(entry: &EntryRow, now: Time) -> Named {
    let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
    Named {
        id: entry.id.0,
        title: title(entry, &teaser(body)),
        seen: Moment::new(entry.seen_at, now),
    }
}
