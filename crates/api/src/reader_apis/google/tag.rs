//! Labels: list, rename, remove, and counts of unread entries.

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use dispatch::command::Command;
use serde_json::{Value, json};
use store::{FeedFilter, TokenScope};

use super::GoogleRequest;
use super::marks::OK;
use super::stream::{label, label_name, state};
use crate::reader_apis::act;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::view::{self, OF_QUERY};

/// Lists labels. Tags are folders of feeds; queries are labels of entries.
pub async fn list(request: GoogleRequest) -> Result<Response, InText> {
    let tags = request.with_store(|store, _| {
        let mut tags: Vec<Value> = vec![json!({"id": state("starred")})];
        let rows = store.tags()?;
        let own = rows.iter().filter(|row| row.n_feeds > 0 && !row.tag.starts_with(OF_QUERY));
        tags.extend(own.map(|row| json!({"id": label(&row.tag), "type": "folder"})));
        let queries = store.queries()?;
        let named = queries.iter().map(|query| label(&format!("{OF_QUERY}{}", query.name)));
        tags.extend(named.map(|id| json!({"id": id, "type": "tag"})));
        Ok(tags)
    });
    Ok(Json(json!({"tags": tags.await?})).into_response())
}

pub async fn rename(request: GoogleRequest) -> Result<&'static str, InText> {
    let to = request.params.text("dest").and_then(label_name).map(str::to_owned);
    let to = to
        .ok_or_else(|| ReaderApiError::bad_request("name the new label: dest=user/-/label/NAME"))?;
    change(request, Some(to)).await
}

/// Removes a label from all feeds; the feeds stay.
pub async fn disable(request: GoogleRequest) -> Result<&'static str, InText> {
    change(request, None).await
}

async fn change(request: GoogleRequest, to: Option<String>) -> Result<&'static str, InText> {
    request.needs(TokenScope::Admin)?;
    let params = &request.params;
    let tag = params.text("s").and_then(label_name).or(params.text("t")).map(str::to_owned);
    let tag =
        tag.ok_or_else(|| ReaderApiError::bad_request("name a label: s=user/-/label/NAME"))?;
    if tag.starts_with(OF_QUERY) {
        return Err(ReaderApiError::bad_request("a query can be changed only on the page").into());
    }
    act(&request.context, Command::RenameTag { tag, to }).await?;
    Ok(OK)
}

/// Counts unread entries of every feed and label that has some, and in total.
pub async fn unread_count(request: GoogleRequest) -> Result<Response, InText> {
    let body = request.with_store(|store, request| {
        let unread = store.unread_by_feed(request.person.account)?;
        let mut counts = Vec::new();
        let mut labels: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        let (mut all, mut newest) = (0, 0);
        for feed in store.feeds(&FeedFilter::default())? {
            let Some(n) = unread.get(&feed.id).copied() else { continue };
            let seen = feed.history.last_change_at.map_or(0, |at| at.millis() * 1000);
            counts.push(counted(&format!("feed/{}", feed.id), n, seen));
            for tag in view::own_tags(&feed) {
                let sum = labels.entry(tag.to_owned()).or_default();
                *sum = (sum.0 + n, sum.1.max(seen));
            }
            (all, newest) = (all + n, newest.max(seen));
        }
        counts.extend(labels.iter().map(|(tag, (n, seen))| counted(&label(tag), *n, *seen)));
        counts.push(counted(&state("reading-list"), all, newest));
        Ok(json!({"max": all, "unreadcounts": counts}))
    });
    Ok(Json(body.await?).into_response())
}

fn counted(id: &str, count: u64, newest_usec: i64) -> Value {
    json!({"id": id, "count": count, "newestItemTimestampUsec": newest_usec.to_string()})
}
