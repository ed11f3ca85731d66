//! The export of everything that belongs to an account, and its deletion.

use std::collections::HashMap;
use std::time::Duration;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use feed::{EntryId, FeedId, Time};
use futures_util::stream;
use serde_json::{Value, json};
use store::{AccountId, FeedFilter, ReadEntry, Store, StoreError, TokenScope};

use super::password::prove;
use super::{belongings, login, no_account};
use crate::auth::{ClientAddress, Credentials};
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, OwnForm, Visitor};
use crate::page::notice::{notice, render, store_error};
use crate::sharing::without_secrets;
use crate::words::sentence;
use crate::{ServerContext, session};

/// Entries that are read from the store at once.
const PAGE: usize = 200;
const REFUSED: &str = "Could not delete the account";

#[derive(Template)]
#[template(path = "leave.html")]
struct LeavePage {
    frame: Frame,
    name: String,
    has_password: bool,
}

/// Shows the page that asks for confirmation.
pub async fn confirm_delete(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let Some(name) = login(&visitor) else { return no_account(&context, visitor) };
    let (store, wanted) = (context.store.clone(), name.clone());
    match run_blocking(move || store.account(&wanted)).await {
        Ok(row) => {
            let has_password = row.is_some_and(|row| context.login.has_password(&row));
            let frame = Frame::new(&context, visitor, Some(NavSection::Account));
            render(&LeavePage { frame, name, has_password })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Deletes the account of the visitor. An account without a password confirms with its name.
pub async fn delete(
    State(context): State<ServerContext>,
    client: ClientAddress,
    sent: OwnForm,
) -> Response {
    let OwnForm { visitor, form, .. } = sent;
    let Some(name) = login(&visitor) else { return no_account(&context, visitor) };
    let (store, wanted) = (context.store.clone(), name.clone());
    let row = match run_blocking(move || store.account(&wanted)).await {
        Ok(row) => row,
        Err(error) => return store_error(&context, visitor, &error),
    };
    if row.is_some_and(|row| context.login.has_password(&row)) {
        let sent = Credentials { name: &name, password: form.text("password"), client };
        if let Err(answer) = prove(&context, &visitor, sent, REFUSED).await {
            return answer;
        }
    } else if !form.text("name").trim().eq_ignore_ascii_case(&name) {
        let text = format!("Type the name of your account, {name}, to confirm.");
        return notice(&context, visitor, StatusCode::UNPROCESSABLE_ENTITY, REFUSED, text);
    }
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.remove_account_but_last_admin(account)).await {
        Ok(Ok(())) => {
            let gone = session::cookie(&context, "", Duration::ZERO);
            ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
        }
        Ok(Err(why)) => {
            let text = sentence(&why.to_string());
            notice(&context, visitor, StatusCode::CONFLICT, REFUSED, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the services to which the account sends entries, without keys.
fn services(
    store: &Store,
    account: AccountId,
    with_secrets: bool,
) -> Result<Vec<Value>, StoreError> {
    let targets = store.share_targets(account)?.into_iter();
    let service = |target: store::ShareTarget| {
        let target = if with_secrets { target } else { without_secrets(target) };
        let kind = target.kind.word();
        json!({ "name": target.name, "kind": kind, "template": target.template })
    };
    Ok(targets.map(service).collect())
}

/// Returns the queries of the account, without the keys of their addresses.
fn queries(
    store: &Store,
    account: AccountId,
    with_secrets: bool,
) -> Result<Vec<Value>, StoreError> {
    let rows = store.queries_of(account)?.into_iter();
    let own = rows.filter(|row| row.scope.owner == Some(account));
    let query = |row: store::QueryRow| {
        let shared = row.scope.shared;
        let text = if with_secrets { row.text } else { query::masked(&row.text) };
        json!({ "name": row.name, "text": text, "shared": shared })
    };
    Ok(own.map(query).collect())
}

/// Sends everything that belongs to the account as one JSON document. The starred entries follow
/// page by page, so that a long list needs little memory.
pub async fn export(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), (context.now)());
    let (name, role) = match &visitor.person {
        Some(person) => (person.name.clone(), person.role.word()),
        None => return StatusCode::UNAUTHORIZED.into_response(),
    };
    // A token that only reads gets no secrets.
    let with_secrets = visitor.may(TokenScope::Write);
    let read = run_blocking(move || {
        let feeds = store.feeds_of(account, &FeedFilter::default())?;
        let urls = feeds.iter().map(|feed| (feed.id, feed.location.url.masked())).collect();
        let rules: Vec<String> = store
            .rules(account)?
            .into_iter()
            .map(|row| if with_secrets { row.text } else { query::masked(&row.text) })
            .collect();
        let entry = |(id, link): (EntryId, Option<String>)| json!({"id": id.0, "link": link});
        let labels: Vec<Value> = store
            .labelled(account)?
            .into_iter()
            .map(|(name, entries)| {
                let entries: Vec<Value> = entries.into_iter().map(entry).collect();
                json!({"name": name, "entries": entries})
            })
            .collect();
        let mut head = json!({
            "exported_at": now.to_string(),
            "name": name,
            "role": role,
            "choices": store.choices(account)?,
            "services": services(&store, account, with_secrets)?,
            "rules": rules,
            "queries": queries(&store, account, with_secrets)?,
            "labels": labels,
        });
        for (name, list) in belongings::lists(&store, account, with_secrets, now)? {
            head[name] = list;
        }
        let times = store.star_times(account)?;
        let mut ids: Vec<EntryId> = times.keys().copied().collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let (has_begun, at) = (false, Place::Start);
        Ok::<_, StoreError>((head, StarPages { store, account, urls, times, ids, has_begun, at }))
    });
    let (head, pages) = match read.await {
        Ok(found) => found,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let mut head = head.to_string();
    // The list of stars continues the object.
    head.pop();
    head.push_str(",\"stars\":[");
    let first = stream::once(std::future::ready(Ok(Bytes::from(head))));
    let rest = stream::unfold(pages, |pages| async move {
        run_blocking(move || Ok::<_, StoreError>(pages.next())).await.ok().flatten()
    });
    let kind = (header::CONTENT_TYPE, "application/json; charset=utf-8");
    let file = (header::CONTENT_DISPOSITION, "attachment; filename=\"tidings-account.json\"");
    let body = Body::from_stream(stream::StreamExt::chain(first, rest));
    ([kind, file], body).into_response()
}

enum Place {
    Start,
    After(usize),
    End,
}

/// The starred entries of an account, as pieces of a JSON list.
struct StarPages {
    store: Store,
    account: AccountId,
    urls: HashMap<FeedId, String>,
    times: HashMap<EntryId, Time>,
    /// All starred entries, the newest first.
    ids: Vec<EntryId>,
    /// Whether an entry was written already.
    has_begun: bool,
    at: Place,
}

type Piece = Result<Bytes, StoreError>;

impl StarPages {
    /// Returns the next piece. An error ends the document early, which makes it invalid JSON.
    fn next(mut self) -> Option<(Piece, StarPages)> {
        let from = match self.at {
            Place::Start => None,
            Place::After(place) => Some(place),
            Place::End => return None,
        };
        // Stars of feeds that the account has left belong to it too.
        let page: Vec<EntryId> =
            self.ids.iter().skip(from.unwrap_or(0)).take(PAGE).copied().collect();
        if page.is_empty() {
            self.at = Place::End;
            return Some((Ok(Bytes::from_static(b"]}\n")), self));
        }
        let last = from.unwrap_or(0) + page.len();
        let found = match self.read(&page) {
            Ok(found) => found,
            Err(error) => {
                self.at = Place::End;
                return Some((Err(error), self));
            }
        };
        let mut text = String::new();
        for (n, entry) in found.iter().enumerate() {
            if n > 0 || self.has_begun {
                text.push(',');
            }
            text.push_str(&self.star(entry).to_string());
        }
        self.has_begun |= !found.is_empty();
        self.at = Place::After(last);
        Some((Ok(Bytes::from(text)), self))
    }

    /// Reads entries. One whose texts did not fit into the answer is read again by itself.
    fn read(&self, page: &[EntryId]) -> Result<Vec<ReadEntry>, StoreError> {
        let mut found = self.store.read_entries(self.account, page)?;
        for one in found.iter_mut().filter(|one| one.without_texts) {
            if let Some(whole) = self.store.read_entries(self.account, &[one.entry.id])?.pop() {
                *one = whole;
            }
        }
        Ok(found)
    }

    fn star(&self, found: &ReadEntry) -> Value {
        let entry = &found.entry;
        json!({
            "id": entry.id.0,
            "feed": self.urls.get(&entry.feed),
            "guid": entry.guid,
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "content": entry.content,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
            "starred_at": self.times.get(&entry.id).map(Time::to_string),
            "read": found.read,
        })
    }
}
