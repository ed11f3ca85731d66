//! The account, the version, and OPML export and import.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::Command;
use serde_json::json;
use store::{Scope, TokenScope};

use super::{MinifluxRequest, number};
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::{act, blocking, opml};

pub async fn me(request: MinifluxRequest) -> Response {
    let id = request.user();
    let is_admin = request.person.may(TokenScope::Admin);
    Json(json!({
        "id": id,
        "username": request.person.name.unwrap_or_else(|| "local".to_owned()),
        "is_admin": is_admin,
        "theme": "system_serif",
        "language": "en_US",
        "timezone": "UTC",
        "entry_sorting_direction": "desc",
        "entries_per_page": 100,
        "keyboard_shortcuts": true,
        "show_reading_time": true,
        "entry_swipe": true,
        "last_login_at": null,
    }))
    .into_response()
}

pub async fn version(request: MinifluxRequest) -> Response {
    let version = request.context.version;
    Json(json!({
        "version": version,
        "commit": "",
        "build_date": "",
        "go_version": "",
        "compiler": "",
        "arch": std::env::consts::ARCH,
        "os": std::env::consts::OS,
    }))
    .into_response()
}

/// Answers that there are no integrations to save entries to.
pub async fn integrations(_: MinifluxRequest) -> Response {
    Json(json!({"has_integrations": false})).into_response()
}

pub async fn mark_all(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    if number::<i64>(&id, "the user does not exist")? != request.user() {
        return Err(ReaderApiError::Missing("the user does not exist").into());
    }
    let account = request.person.account;
    request
        .with_store(move |store, _| Ok(store.mark_scope_read(account, &Scope::All, None, None)?))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn export(request: MinifluxRequest) -> Result<Response, InJson> {
    let text =
        request.with_store(|store, request| opml::export(store, request.person.account)).await?;
    Ok(([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response())
}

pub async fn import(request: MinifluxRequest) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let account = request.person.subscriber();
    let MinifluxRequest { context, body, .. } = request;
    let feeds = blocking(move || opml::read(&body)).await?;
    act(&context, Command::Import { feeds, account }).await?;
    let said = Json(json!({"message": "Feeds imported successfully"}));
    Ok((StatusCode::CREATED, said).into_response())
}
