//! Labels: list, rename, remove, and counts of unread entries.

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use dispatch::command::Command;
use serde_json::{Value, json};
use store::{AccountId, FeedFilter, TokenScope};

use super::GoogleRequest;
use super::marks::OK;
use super::stream::{is_label, label, label_name, state};
use crate::own_order::tag_sort_id;
use crate::reader_apis::act;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::view::{self, OF_QUERY};

/// Lists labels. Tags are folders of feeds; queries and the person's labels are labels of entries.
pub async fn list(request: GoogleRequest) -> Result<Response, InText> {
    let tags = request.with_store(|store, request| {
        let account = request.person.account;
        let mut tags: Vec<Value> = vec![json!({"id": state("starred")})];
        let mut rows = store.tags_of(account)?;
        if account == AccountId::LOCAL {
            rows.sort_by(|one, other| one.tag.cmp(&other.tag));
        }
        let own = rows
            .iter()
            .filter(|row| row.n_feeds > 0 && !row.tag.is_empty() && !row.tag.starts_with(OF_QUERY));
        tags.extend(own.map(|row| {
            json!({"id": label(&row.tag), "type": "folder", "sortid": tag_sort_id(row.number)})
        }));
        for row in store.labels(account)? {
            let id = json!(label(&row.name));
            if !tags.iter().any(|tag| tag["id"] == id) {
                tags.push(json!({"id": id, "type": "tag"}));
            }
        }
        let queries = store.queries_of(account)?;
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

/// Removes a label from all entries or feeds; these stay.
pub async fn disable(request: GoogleRequest) -> Result<&'static str, InText> {
    change(request, None).await
}

async fn change(request: GoogleRequest, to: Option<String>) -> Result<&'static str, InText> {
    request.needs(TokenScope::Write)?;
    let params = &request.params;
    let tag = params.text("s").and_then(label_name).or(params.text("t")).map(str::to_owned);
    let tag =
        tag.ok_or_else(|| ReaderApiError::bad_request("name a label: s=user/-/label/NAME"))?;
    if tag.starts_with(OF_QUERY) {
        return Err(ReaderApiError::bad_request("a query can be changed only on the page").into());
    }
    let (context, account) = (request.context.clone(), request.person.subscriber());
    let (name, new_name) = (tag.clone(), to.clone());
    let is_label = request.with_store(move |store, request| {
        let account = request.person.account;
        if !is_label(store, account, &name)? {
            return Ok(false);
        }
        match new_name.as_deref().map(query::label_name) {
            Some(Some(to)) => store.rename_label(account, &name, &to)?,
            Some(None) => return Err(ReaderApiError::bad_request("the new label is too long")),
            None => store.delete_label(account, &name)?,
        };
        Ok(true)
    });
    if is_label.await? {
        return Ok(OK);
    }
    act(&context, Command::RenameTag { tag, to, account }).await?;
    Ok(OK)
}

/// Counts unread entries of every feed and label that has some, and in total.
pub async fn unread_count(request: GoogleRequest) -> Result<Response, InText> {
    let body = request.with_store(|store, request| {
        let unread = store.unread_by_feed(request.person.account)?;
        let mut counts = Vec::new();
        let mut labels: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        let (mut all, mut newest) = (0, 0);
        for feed in store.feeds_of(request.person.account, &FeedFilter::default())? {
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
