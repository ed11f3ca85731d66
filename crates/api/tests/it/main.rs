//! The routes as a client sees them, without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod acts;
mod article_modes;
mod articles;
mod auth;
mod chosen;
mod crowd;
mod fixture;
mod html;
mod http;
mod media;
mod own_marks;
mod page;
mod places;
mod published;
mod reader_apis;
mod reading;
mod search;
mod sharing;
mod slider;
mod stories;
mod subscriptions;
mod suggestions;
mod sweep;
mod v1;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

/// A response, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }
}

pub async fn get(router: &Router, path: &str, headers: &[(&str, &str)]) -> Answer {
    asked(router, Request::get(path), headers, Body::empty()).await
}

/// Sends a form, as programs do.
pub async fn post(router: &Router, path: &str, headers: &[(&str, &str)], form: String) -> Answer {
    let kind = "application/x-www-form-urlencoded";
    asked(router, Request::post(path).header("content-type", kind), headers, form.into()).await
}

async fn asked(
    router: &Router,
    mut request: axum::http::request::Builder,
    headers: &[(&str, &str)],
    body: Body,
) -> Answer {
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 1 << 24).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}
