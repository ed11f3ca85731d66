//! The one stylesheet, compiled in, with a validator. Its address names its content, so that a
//! new version is never shown with an old sheet.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

const SHEET: &str = include_str!("../templates/style.css");

static TAG: LazyLock<String> =
    LazyLock::new(|| format!("{:016x}", crate::demo::content_tag(SHEET.as_bytes())));

/// Where the page finds it.
pub fn address() -> String {
    format!("/style.css?v={}", &*TAG)
}

pub async fn stylesheet(headers: HeaderMap) -> Response {
    let etag = format!("\"{}\"", &*TAG);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|v| v.to_str().ok());
    let shared =
        [(header::ETAG, etag.clone()), (header::CACHE_CONTROL, "max-age=86400".to_owned())];
    if known.is_some_and(|tags| tags.split(',').any(|t| t.trim().trim_start_matches("W/") == etag))
    {
        return (StatusCode::NOT_MODIFIED, shared).into_response();
    }
    (shared, [(header::CONTENT_TYPE, "text/css; charset=utf-8")], SHEET).into_response()
}
