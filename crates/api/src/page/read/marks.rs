//! Marks on entries: read, unread, star, and "mark all read" with its undo. Entries that arrive
//! after a list was shown stay unread.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use feed::{EntryId, Time};
use store::{Store, StoreError};

use super::{ReadingList, store_reading};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::page::frame::WriteForm;
use crate::page::notice::store_error;

/// More entries than any list shows.
const ENTRIES_MAX: usize = 1000;

/// The parameter of a list that was just marked read.
pub const MARKED: &str = "marked";

/// The action of a button on an entry.
#[derive(Clone, Copy)]
enum MarkAction {
    Read(bool),
    Star(bool),
    /// Marks every entry down to this one read.
    Above,
}

const MARK_ACTIONS: [(&str, MarkAction); 5] = [
    ("read", MarkAction::Read(true)),
    ("unread", MarkAction::Read(false)),
    ("star", MarkAction::Star(true)),
    ("unstar", MarkAction::Star(false)),
    ("above", MarkAction::Above),
];

/// Marks entries and redirects to the list. The script gets an empty answer.
pub async fn mark(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, now) = (context.store.clone(), (context.now)());
    let account = sent.visitor.account();
    let chosen = MARK_ACTIONS.iter().find_map(|(name, action)| {
        let entry = sent.form.text(name).parse().ok()?;
        Some((*action, EntryId(entry)))
    });
    let listed = sent.form.all("entry").filter_map(|id| id.parse().ok()).map(EntryId);
    let listed: Vec<EntryId> = listed.take(ENTRIES_MAX).collect();
    let answer = run_blocking(move || match chosen {
        Some((MarkAction::Read(read), entry)) => store.mark_read(account, &[entry], read),
        Some((MarkAction::Star(on), entry)) => store.star(account, &[entry], on, now),
        Some((MarkAction::Above, entry)) => {
            let last = listed.iter().position(|id| *id == entry);
            let above = last.map_or(&[][..], |last| &listed[..=last]);
            store.mark_read(account, above, true)
        }
        None => Ok(()),
    });
    match answer.await {
        Ok(()) if sent.form.has("part") => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => {
            let back = local_target(sent.form.text("back"));
            let to = match chosen {
                Some((_, entry)) if !back.contains('#') => format!("{back}#e{entry}"),
                _ => back,
            };
            Redirect::to(&to).into_response()
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Marks a list read, up to the newest entry that was there when it was shown.
pub async fn mark_all(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let list = ReadingList::read(Some(sent.form.text("list")), false);
    let up_to = sent.form.text("shown_to").parse().ok().map(EntryId);
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let (marked, now) = (list.clone(), (context.now)());
    let answer = run_blocking(move || mark_list(&store, account, &marked, up_to, now)).await;
    match answer {
        Ok(0) => Redirect::to(&list.href()).into_response(),
        Ok(_) => Redirect::to(&marked_href(&list)).into_response(),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Returns the address of the list with the offer to undo.
fn marked_href(list: &ReadingList) -> String {
    match list.query() {
        query if query.is_empty() => format!("/?{MARKED}=1"),
        query => format!("/?{query}&{MARKED}=1"),
    }
}

/// Undoes the last "mark all read".
pub async fn undo(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let list = ReadingList::read(Some(sent.form.text("list")), false);
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    match run_blocking(move || store.undo_mark_list(account, now)).await {
        // If it is too late, the list shows that the entries stayed read.
        Ok(_) => Redirect::to(&list.href()).into_response(),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

fn mark_list(
    store: &Store,
    account: store::AccountId,
    list: &ReadingList,
    up_to: Option<EntryId>,
    now: Time,
) -> Result<u64, StoreError> {
    // Without a bound, entries that just arrived would be marked unseen.
    let Some(up_to) = up_to else { return Ok(0) };
    match store_reading(store, account, list)? {
        Some(reading) => store.mark_list_read(account, &reading.scope, up_to, now),
        None => Ok(0),
    }
}
