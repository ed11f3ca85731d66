//! The stylesheet, the script and the icon, compiled into the program. Their addresses contain a
//! hash of their content, so that browsers never use an old file with a new page.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::etag;

/// A file that every page loads.
pub struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
    tag: LazyLock<String>,
}

pub static STYLE: Asset = Asset {
    path: "/style.css",
    kind: "text/css; charset=utf-8",
    text: include_str!("../../../templates/style.css"),
    tag: LazyLock::new(|| etag::tag(include_bytes!("../../../templates/style.css"))),
};

pub static SCRIPT: Asset = Asset {
    path: "/script.js",
    kind: "text/javascript; charset=utf-8",
    text: include_str!("../../../templates/script.js"),
    tag: LazyLock::new(|| etag::tag(include_bytes!("../../../templates/script.js"))),
};

pub static ICON: Asset = Asset {
    path: "/icon.svg",
    kind: "image/svg+xml",
    text: include_str!("../../../templates/icon.svg"),
    tag: LazyLock::new(|| etag::tag(include_bytes!("../../../templates/icon.svg"))),
};

impl Asset {
    /// Returns the address with the hash.
    pub fn address(&self) -> String {
        format!("{}?v={}", self.path, self.tag.trim_matches('"'))
    }

    fn respond(&self, request: &HeaderMap) -> Response {
        let shared =
            [(header::ETAG, self.tag.clone()), (header::CACHE_CONTROL, "max-age=86400".to_owned())];
        if etag::is_known(request, &self.tag) == Some(true) {
            return (StatusCode::NOT_MODIFIED, shared).into_response();
        }
        (shared, [(header::CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

pub async fn style(request: HeaderMap) -> Response {
    STYLE.respond(&request)
}

pub async fn script(request: HeaderMap) -> Response {
    SCRIPT.respond(&request)
}

pub async fn icon(request: HeaderMap) -> Response {
    ICON.respond(&request)
}
