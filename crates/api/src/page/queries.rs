//! The pages of standing queries: the list, an editor that marks errors, a preview of the last
//! days, and the state of the deliveries.

mod change;
mod editor;
mod preview;
mod source;

pub use change::{confirm_drop, drop_query, replay, save, share};
pub use editor::{edit, new};
pub use preview::{EntryLink, entry_link, preview};
pub use source::{FaultMessage, SourcePiece, marked_faults};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use query::Access;
use store::{AccountId, DeliveryRow, QueryRow};

use super::frame::{Frame, NavSection, Visitor};
use super::notice::{render, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::words::{DisplayTime, LocalNow, count, plural};

#[derive(Template)]
#[template(path = "queries.html")]
struct QueriesPage {
    frame: Frame,
    lines: Vec<QueryLine>,
}

/// A query in the list.
struct QueryLine {
    name: String,
    access: &'static str,
    kept: String,
    changed: DisplayTime,
    health: DeliveryHealth,
    /// The people who also see it, in words; empty if there are none.
    sharing: &'static str,
}

/// The state of deliveries, in words.
struct DeliveryHealth {
    text: String,
    class: &'static str,
}

/// One receiver of a query.
struct ReceiverStatus {
    name: String,
    health: DeliveryHealth,
    delivered: Option<DisplayTime>,
    next: Option<DisplayTime>,
    error: String,
    failed: Vec<FailedDelivery>,
}

/// An entry whose delivery was given up.
struct FailedDelivery {
    /// `None`: the entry is no longer stored.
    entry: Option<EntryLink>,
    at: DisplayTime,
    attempts: u32,
    error: String,
}

pub async fn list(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let account = visitor.account();
    let found = run_blocking(move || {
        let rows = store.queries_of(account)?.into_iter();
        let rows = rows.map(|row| store.n_query_entries(row.id).map(|n_kept| (row, n_kept)));
        Ok((rows.collect::<Result<Vec<_>, _>>()?, store.deliveries(None)?))
    });
    match found.await {
        Ok((rows, deliveries)) => {
            let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
            let line = |(row, n_kept)| query_line(row, n_kept, &deliveries, account, now);
            let lines = rows.into_iter().map(line).collect();
            render(&QueriesPage { frame, lines })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn query_line(
    row: QueryRow,
    n_kept: u64,
    deliveries: &[DeliveryRow],
    account: AccountId,
    now: LocalNow,
) -> QueryLine {
    let is_own = account == AccountId::LOCAL || row.scope.owner == Some(account);
    let own = deliveries.iter().filter(|d| is_own && d.query == row.id);
    let own: Vec<&DeliveryRow> = own.collect();
    QueryLine {
        access: access_words(&row.text),
        kept: count(n_kept),
        changed: DisplayTime::new(row.changed_at, now),
        health: health(&own),
        sharing: match (is_own, row.scope.shared) {
            (true, true) => "shared with everybody here",
            (true, false) => "",
            (false, true) => "shared by somebody else",
            (false, false) => "of this instance",
        },
        name: row.name,
    }
}

/// Returns who may see the entries of a query, in words.
fn access_words(text: &str) -> &'static str {
    match query::parse_create(text).map(|create| create.query.access) {
        Some(Access::Public) => "public feed",
        Some(Access::SecretLink) => "feed with a secret link",
        Some(Access::Private) => "private",
        None => "unreadable",
    }
}

fn health(deliveries: &[&DeliveryRow]) -> DeliveryHealth {
    let sum = |of: fn(&DeliveryRow) -> u64| deliveries.iter().map(|d| of(d)).sum::<u64>();
    let (dead, waiting) = (sum(|d| d.n_dead), sum(|d| d.n_waiting));
    let failing = deliveries.iter().filter(|d| d.attempts > 0).count() as u64;
    let (text, class) = if deliveries.is_empty() {
        ("none".to_owned(), "fresh")
    } else if dead > 0 {
        (plural(dead, "delivery given up", "deliveries given up"), "failed")
    } else if failing > 0 {
        (format!("{}, will retry", plural(failing, "receiver fails", "receivers fail")), "backing")
    } else if waiting > 0 {
        (format!("{} waiting", count(waiting)), "active")
    } else if deliveries.iter().all(|d| d.delivered_at.is_none()) {
        ("nothing to deliver yet".to_owned(), "fresh")
    } else {
        ("all delivered".to_owned(), "active")
    };
    DeliveryHealth { text, class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_written_in_words() {
        let of = |end: &str| access_words(&format!("CREATE FEED A AS RETURN ALL FEEDS{end}"));
        assert_eq!(of(""), "private");
        assert_eq!(of(" PUBLISH"), "public feed");
        assert_eq!(of(" PUBLISH BY SECRET LINK"), "feed with a secret link");
        assert_eq!(access_words("nonsense"), "unreadable");
    }
}
