//! The recorded documents of a feed: the newest ones, and those that could not be read. Each can be
//! downloaded as it came.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use feed::FeedId;
use store::{AccountId, DocumentVersionRow, Store, StoreError, TokenScope};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::Visitor;
use crate::page::notice::{not_found, store_error};
use crate::words::{DisplayTime, LocalNow, bytes, sentence};

/// Documents in the list, of each kind.
const SHOWN: u32 = 10;

/// A document in the list.
pub struct FeedDocument {
    pub version: i64,
    pub at: Option<DisplayTime>,
    pub size: String,
    pub is_broken: bool,
    pub words: String,
}

/// Reads the newest documents and the newest broken ones, newest first.
pub fn read(store: &Store, feed: FeedId) -> Result<Vec<DocumentVersionRow>, StoreError> {
    let mut rows = store.document_list(feed, false, SHOWN)?;
    rows.extend(store.document_list(feed, true, SHOWN)?);
    rows.sort_by_key(|row| std::cmp::Reverse(row.version));
    rows.dedup_by_key(|row| row.version);
    Ok(rows)
}

impl FeedDocument {
    pub fn new(row: &DocumentVersionRow, now: LocalNow) -> FeedDocument {
        FeedDocument {
            version: row.version,
            at: row.at.map(|at| DisplayTime::new(at, now)),
            size: bytes(row.bytes),
            is_broken: row.is_broken(),
            words: row.error.as_deref().map(sentence).unwrap_or_default(),
        }
    }
}

/// Hands out a document as it came. A browser saves it and never shows it.
pub async fn download(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path((id, version)): Path<(String, String)>,
) -> Response {
    let (Ok(feed), Ok(version)) = (id.parse::<u32>(), version.parse::<i64>()) else {
        return no_document(&context, visitor);
    };
    let (store, account) = (context.store.clone(), visitor.account());
    let sees_all = visitor.may(TokenScope::Admin);
    let found = run_blocking(move || {
        let feed = FeedId(feed);
        let sees_all =
            sees_all && store.owner_of_feed(feed)?.is_none_or(|owner| owner == AccountId::LOCAL);
        match sees_all || store.is_subscribed(account, feed)? {
            true => store.document_version(feed, Some(version)),
            false => Ok(None),
        }
    });
    match found.await {
        Ok(Some(body)) => {
            let name = format!("attachment; filename=\"feed-{feed}-{version}.xml\"");
            let headers = [
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                (header::CONTENT_DISPOSITION, name),
                (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
            ];
            (headers, body).into_response()
        }
        Ok(None) => no_document(&context, visitor),
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn no_document(context: &ServerContext, visitor: Visitor) -> Response {
    let text = "The document does not exist. The page of the feed lists all documents.";
    not_found(context, visitor, text.to_owned())
}
