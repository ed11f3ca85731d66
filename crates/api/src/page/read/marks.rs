//! What people do with entries: mark them read or unread, star them, and be done with all that
//! was shown. Whatever came after a list was shown stays unread.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use feed::{EntryId, Time};
use store::{Store, StoreError};

use super::{Place, asked};
use crate::Context;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::page::failed;
use crate::page::frame::Sent;

/// More than any list shows.
const ENTRIES_MAX: usize = 1000;

/// Says in an address that a list was just marked as read.
pub const MARKED: &str = "marked";

/// What one button of a list or an entry says.
#[derive(Clone, Copy)]
enum Wish {
    Read(bool),
    Star(bool),
    /// Everything down to this one was read.
    Above,
}

const WISHES: [(&str, Wish); 5] = [
    ("read", Wish::Read(true)),
    ("unread", Wish::Read(false)),
    ("star", Wish::Star(true)),
    ("unstar", Wish::Star(false)),
    ("above", Wish::Above),
];

/// Marks single entries, and leads back to the list; the script is there already.
pub async fn mark(State(context): State<Context>, sent: Sent) -> Response {
    let (store, now) = (context.store.clone(), (context.now)());
    let account = sent.visitor.account();
    let chosen = WISHES.iter().find_map(|(name, wish)| {
        let entry = sent.form.text(name).parse().ok()?;
        Some((*wish, EntryId(entry)))
    });
    let listed = sent.form.all("entry").filter_map(|id| id.parse().ok()).map(EntryId);
    let listed: Vec<EntryId> = listed.take(ENTRIES_MAX).collect();
    let answer = run_blocking(move || match chosen {
        Some((Wish::Read(read), entry)) => store.mark_read(account, &[entry], read),
        Some((Wish::Star(on), entry)) => store.star(account, &[entry], on, now),
        Some((Wish::Above, entry)) => {
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
        Err(error) => failed(&context, sent.visitor, &error),
    }
}

/// Marks a whole list as read, as far as it was shown.
pub async fn mark_all(State(context): State<Context>, sent: Sent) -> Response {
    let place = Place::read(Some(sent.form.text("list")), false);
    let up_to = sent.form.text("shown_to").parse().ok().map(EntryId);
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let (asked_for, now) = (place.clone(), (context.now)());
    let answer = run_blocking(move || all(&store, account, &asked_for, up_to, now)).await;
    match answer {
        Ok(0) => Redirect::to(&place.href()).into_response(),
        Ok(_) => Redirect::to(&marked_href(&place)).into_response(),
        Err(error) => failed(&context, sent.visitor, &error),
    }
}

/// The list right after the act: it offers the undo.
fn marked_href(place: &Place) -> String {
    match place.query() {
        query if query.is_empty() => format!("/?{MARKED}=1"),
        query => format!("/?{query}&{MARKED}=1"),
    }
}

/// Makes unread again what the last "mark all read" marked.
pub async fn undo(State(context): State<Context>, sent: Sent) -> Response {
    let place = Place::read(Some(sent.form.text("list")), false);
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    match run_blocking(move || store.undo_mark_list(account, now)).await {
        // Where it is too late, the list shows what is unread.
        Ok(_) => Redirect::to(&place.href()).into_response(),
        Err(error) => failed(&context, sent.visitor, &error),
    }
}

fn all(
    store: &Store,
    account: store::AccountId,
    place: &Place,
    up_to: Option<EntryId>,
    now: Time,
) -> Result<u64, StoreError> {
    // Without a bound, what came meanwhile would be swept away unseen.
    let Some(up_to) = up_to else { return Ok(0) };
    match asked(store, account, place)? {
        Some(reading) => store.mark_list_read(account, &reading.scope, up_to, now),
        None => Ok(0),
    }
}
