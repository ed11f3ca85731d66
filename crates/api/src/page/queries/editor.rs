//! The query editor: the statement, its preview, and the receivers of an existing query.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use query::Access;
use store::{AccountId, DeliveryRow, QueryRow, Store, StoreError, TokenScope};

use super::preview::{Preview, entry_link};
use super::{DeliveryHealth, FailedDelivery, ReceiverStatus, health};
use crate::ServerContext;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{not_found, render, store_error};
use crate::words::{DisplayTime, LocalNow, plural, sentence};

/// Failed deliveries that the page names. The count includes all.
const FAILED_MAX: usize = 20;

const EXAMPLE: &str = "CREATE FEED Volcano AS\nRETURN ALL FEEDS\n\
                       WHERE ITEM CONTAINS \"volcano\" OR \"eruption\"\n";

#[derive(Template)]
#[template(path = "query.html")]
pub struct QueryEditor {
    frame: Frame,
    /// Empty for a new query.
    name: String,
    text: String,
    preview: Preview,
    may_change: bool,
    details: Option<QueryDetails>,
}

/// The details of an existing query.
struct QueryDetails {
    kept: String,
    link: Option<String>,
    changed: DisplayTime,
    receivers: Vec<ReceiverStatus>,
    has_failed: bool,
    /// It belongs to the visitor, or to the instance that they administrate.
    is_own: bool,
    is_shared: bool,
    can_share: bool,
}

impl QueryEditor {
    pub fn new(frame: Frame, name: String, text: String, preview: Preview) -> QueryEditor {
        let may_change = frame.may_write();
        QueryEditor { frame, name, text, preview, may_change, details: None }
    }
}

/// Shows the editor with an example.
pub async fn new(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
    render(&QueryEditor::new(frame, String::new(), EXAMPLE.to_owned(), Preview::none()))
}

/// Shows the editor with an existing query.
pub async fn edit(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    let (store, now, asked) = (context.store.clone(), visitor.now(&context), name.clone());
    let person = visitor.person.clone();
    let read = move || read_query(&store, &asked, person.as_ref(), now);
    match run_blocking(read).await {
        Ok(Some((text, details))) => {
            let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
            let editor = QueryEditor::new(frame, name, text, Preview::none());
            let may_change = editor.may_change && details.is_own;
            render(&QueryEditor { may_change, details: Some(details), ..editor })
        }
        Ok(None) => {
            let text = format!("The query {name} does not exist. The page Queries lists all.");
            not_found(&context, visitor, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn read_query(
    store: &Store,
    name: &str,
    person: Option<&Person>,
    now: LocalNow,
) -> Result<Option<(String, QueryDetails)>, StoreError> {
    let account = person.map_or(AccountId::LOCAL, |person| person.account);
    let may = |scope| person.is_some_and(|person| person.may(scope));
    let Some(row) = store.query_of(account, name)? else { return Ok(None) };
    // Queries of the instance are shown to administrators only.
    let is_own = account == AccountId::LOCAL
        || row.scope.owner.is_none()
        || row.scope.owner == Some(account);
    let with_secrets = may(TokenScope::Write) && is_own;
    // Administrators may end the sharing of any query.
    let may_end = may(TokenScope::Admin) && row.scope.shared;
    let mut receivers = Vec::new();
    let deliveries = if is_own { store.deliveries(Some(row.id))? } else { Vec::new() };
    for delivery in deliveries {
        receivers.push(receiver(store, &delivery, now)?);
    }
    let details = QueryDetails {
        kept: plural(store.n_query_entries(row.id)?, "entry", "entries"),
        link: link(&row, with_secrets),
        changed: DisplayTime::new(row.changed_at, now),
        has_failed: receivers.iter().any(|receiver| !receiver.failed.is_empty()),
        receivers,
        is_own,
        is_shared: row.scope.shared,
        can_share: account != AccountId::LOCAL && (with_secrets || may_end),
    };
    // Addresses in a statement may contain passwords. Only people who may change it see it.
    let text = if with_secrets { row.text } else { String::new() };
    Ok(Some((text, details)))
}

fn receiver(store: &Store, row: &DeliveryRow, now: LocalNow) -> Result<ReceiverStatus, StoreError> {
    let letters = if row.n_dead > 0 { store.dead_letters(row.id)? } else { Vec::new() };
    let failed = letters.into_iter().take(FAILED_MAX).map(|letter| {
        Ok(FailedDelivery {
            entry: store.entry(letter.entry)?.map(|entry| entry_link(&entry, now.at)),
            at: DisplayTime::new(letter.at, now),
            attempts: letter.attempts,
            error: sentence(&letter.error),
        })
    });
    let DeliveryHealth { text, class } = health(&[row]);
    Ok(ReceiverStatus {
        name: query::masked_receiver(&row.receiver),
        health: DeliveryHealth { text, class },
        delivered: row.delivered_at.map(|at| DisplayTime::new(at, now)),
        next: row
            .next_at
            .filter(|at| row.attempts > 0 && *at > now.at)
            .map(|at| DisplayTime::new(at, now)),
        error: row.error.as_deref().map(sentence).unwrap_or_default(),
        failed: failed.collect::<Result<_, StoreError>>()?,
    })
}

/// Returns the address of the published feed, if there is one.
fn link(row: &QueryRow, with_secrets: bool) -> Option<String> {
    match query::parse_create(&row.text)?.query.access {
        Access::Private => None,
        Access::Public => Some(format!("/feeds/{}.atom", row.name)),
        Access::SecretLink if with_secrets => {
            Some(format!("/feeds/{}.atom?key={}", row.name, row.link_key))
        }
        Access::SecretLink => None,
    }
}
