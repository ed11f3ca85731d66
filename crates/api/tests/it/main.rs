//! The routes as a client sees them, without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod acts;
mod apps;
mod attacks;
mod auth;
mod broken;
mod chosen;
mod demo;
mod entries;
mod images;
mod metrics;
mod page;
mod places;
mod published;
mod reading;
mod sanitise;
mod search;
mod server;
mod shelf;
mod slider;
mod strangers;
mod v1;
mod validity;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

/// An answer, read to its end.
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
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 1 << 24).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}
