//! The stylesheet, the scripts and the icon, compiled into the program. Their addresses contain a
//! hash of their content, so that browsers never use an old file with a new page.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::etag;

/// A file that pages load.
pub struct Asset {
    path: &'static str,
    kind: &'static str,
    text: LazyLock<String>,
    tag: LazyLock<String>,
}

pub static STYLE: Asset = Asset {
    path: "/style.css",
    kind: "text/css; charset=utf-8",
    text: LazyLock::new(|| served(include_str!("../../../templates/style.css"))),
    tag: LazyLock::new(|| etag::tag(STYLE.text.as_bytes())),
};

pub static SCRIPT: Asset = Asset {
    path: "/script.js",
    kind: "text/javascript; charset=utf-8",
    text: LazyLock::new(|| served(include_str!("../../../templates/script.js"))),
    tag: LazyLock::new(|| etag::tag(SCRIPT.text.as_bytes())),
};

pub static APP: Asset = Asset {
    path: "/app.js",
    kind: "text/javascript; charset=utf-8",
    text: LazyLock::new(|| served(include_str!("../../../templates/app.js"))),
    tag: LazyLock::new(|| etag::tag(APP.text.as_bytes())),
};

/// Only the page that plays a recording loads it.
pub static PLAYER: Asset = Asset {
    path: "/player.js",
    kind: "text/javascript; charset=utf-8",
    text: LazyLock::new(|| served(include_str!("../../../templates/player.js"))),
    tag: LazyLock::new(|| etag::tag(PLAYER.text.as_bytes())),
};

/// Only the page without a network loads it.
pub static OFFLINE_SCRIPT: Asset = Asset {
    path: "/offline.js",
    kind: "text/javascript; charset=utf-8",
    text: LazyLock::new(|| served(include_str!("../../../templates/offline.js"))),
    tag: LazyLock::new(|| etag::tag(OFFLINE_SCRIPT.text.as_bytes())),
};

pub static ICON: Asset = Asset {
    path: "/icon.svg",
    kind: "image/svg+xml",
    text: LazyLock::new(|| served(include_str!("../../../templates/icon.svg"))),
    tag: LazyLock::new(|| etag::tag(ICON.text.as_bytes())),
};

/// Returns a file without its indentation and its lines of comments, so that the first page needs
/// few bytes. No file has texts of several lines.
fn served(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

impl Asset {
    /// Returns the address with the hash.
    pub fn address(&self) -> String {
        format!("{}?v={}", self.path, self.tag.trim_matches('"'))
    }

    fn respond(&'static self, request: &HeaderMap) -> Response {
        let shared =
            [(header::ETAG, self.tag.clone()), (header::CACHE_CONTROL, "max-age=86400".to_owned())];
        if etag::is_known(request, &self.tag) == Some(true) {
            return (StatusCode::NOT_MODIFIED, shared).into_response();
        }
        (shared, [(header::CONTENT_TYPE, self.kind)], self.text.as_str()).into_response()
    }
}

pub async fn style(request: HeaderMap) -> Response {
    STYLE.respond(&request)
}

pub async fn script(request: HeaderMap) -> Response {
    SCRIPT.respond(&request)
}

pub async fn app(request: HeaderMap) -> Response {
    APP.respond(&request)
}

pub async fn player(request: HeaderMap) -> Response {
    PLAYER.respond(&request)
}

pub async fn offline_script(request: HeaderMap) -> Response {
    OFFLINE_SCRIPT.respond(&request)
}

pub async fn icon(request: HeaderMap) -> Response {
    ICON.respond(&request)
}
