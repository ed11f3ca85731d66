//! The one stylesheet, compiled in, with a validator. Its address names its content, so that a
//! new version is never shown with an old sheet.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::etag;

const SHEET: &str = include_str!("../templates/style.css");

static TAG: LazyLock<String> = LazyLock::new(|| etag::tag(SHEET.as_bytes()));

/// Where the page finds it.
pub fn address() -> String {
    format!("/style.css?v={}", TAG.trim_matches('"'))
}

pub async fn stylesheet(asked: HeaderMap) -> Response {
    let shared = [(header::ETAG, TAG.clone()), (header::CACHE_CONTROL, "max-age=86400".to_owned())];
    if etag::is_known(&asked, &TAG) == Some(true) {
        return (StatusCode::NOT_MODIFIED, shared).into_response();
    }
    (shared, [(header::CONTENT_TYPE, "text/css; charset=utf-8")], SHEET).into_response()
}
