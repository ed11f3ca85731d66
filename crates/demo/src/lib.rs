//! A web server of made-up feeds for `tidings run --demo`. Each feed shows the entries that its
//! publication times give for `now`, sends validators, and some misbehave as real feeds do.
//!
//! Takes the feeds and a clock, and returns the routes. The crate polls nothing, stores nothing,
//! opens no socket and reads no clock of its own.

mod hash;
mod mishap;
mod spread;
mod text;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use feed::{Item, Time};
use parse::write;

pub use mishap::Mishap;
pub use spread::with_mishaps;

/// Returns the current time of the demonstration.
pub type DemoClock = Arc<dyn Fn() -> Time + Send + Sync>;

/// One made-up feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFeed {
    /// The host name in its address, without port.
    pub host: String,
    /// Begins with `/`; unique within the host.
    pub path: String,
    pub title: String,
    pub format: DemoFormat,
    /// Publication times, oldest first.
    pub times: Vec<Time>,
    /// The highest number of entries in one document.
    pub window: usize,
    /// If given, the feed shows only entries younger than this.
    pub age_max: Option<Duration>,
    pub with_ids: bool,
    pub dates: DemoDates,
    pub ttl: Option<Duration>,
    pub supports_304: bool,
    pub mishap: Option<Mishap>,
}

/// The format of a made-up feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoFormat {
    Rss,
    Atom,
    Json,
}

/// The publication dates that the entries of a made-up feed carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoDates {
    True,
    Absent,
    /// Every entry carries the moment of the request.
    OnTheFly,
}

/// All feeds of the server, by host and then by path.
struct DemoSites {
    feeds: HashMap<String, HashMap<String, DemoFeed>>,
    now: DemoClock,
}

/// Returns the routes: every feed under its host and path, as it looks at `now`.
pub fn router(feeds: Vec<DemoFeed>, now: DemoClock) -> Router {
    let mut by_host: HashMap<String, HashMap<String, DemoFeed>> = HashMap::new();
    for feed in feeds {
        by_host.entry(feed.host.clone()).or_default().insert(feed.path.clone(), feed);
    }
    Router::new().fallback(answer).with_state(Arc::new(DemoSites { feeds: by_host, now }))
}

async fn answer(State(sites): State<Arc<DemoSites>>, uri: Uri, headers: HeaderMap) -> Response {
    let now = (sites.now)().floor_to_second();
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("");
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    let found = sites.feeds.get(&name).and_then(|feeds| feeds.get(uri.path()));
    let mut response = match found {
        Some(feed) => feed.answer(host, now, &headers),
        None => (StatusCode::NOT_FOUND, "No such feed in this demonstration.").into_response(),
    };
    // The demonstration's clock runs fast. The machine's time would look like a wrong clock.
    if let Ok(date) = HeaderValue::from_str(&http_date(now)) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

impl DemoFeed {
    /// Returns the address of the feed if the server listens on `port`.
    pub fn url(&self, port: u16) -> String {
        format!("http://{}:{port}{}", self.host, self.path)
    }

    fn answer(&self, host: &str, now: Time, request: &HeaderMap) -> Response {
        if let Some(failure) = self.mishap.as_ref().and_then(|m| m.answer(host, now)) {
            return failure;
        }
        let modified = http_date(self.shown(now).last().map_or(Time::from_secs(0), |e| *e.1));
        let (body, content_type) = self.document(host, self.items(host, now));
        let etag = format!("\"{:016x}\"", hash::hash(&[body.as_bytes()]));
        if self.supports_304 && is_unchanged(request, &etag, &modified) {
            let validators = [(header::ETAG, etag), (header::LAST_MODIFIED, modified)];
            return (StatusCode::NOT_MODIFIED, validators).into_response();
        }
        let mut response = ([(header::CONTENT_TYPE, content_type)], body).into_response();
        if self.supports_304 {
            let both = [(header::ETAG, etag), (header::LAST_MODIFIED, modified)];
            for (name, value) in both {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    response.headers_mut().insert(name, value);
                }
            }
        }
        response
    }

    /// Returns the entries in the window at `now` with their numbers, oldest first.
    fn shown(&self, now: Time) -> Vec<(usize, &Time)> {
        let published = self.times.partition_point(|t| *t <= now);
        let first = match self.age_max {
            Some(age) => self.times.partition_point(|t| *t < now - age),
            None => 0,
        };
        let empty = self.mishap.as_ref().is_some_and(|m| m.is_empty_at(now));
        let window = if empty { 0 } else { self.window };
        let from = published.saturating_sub(window).max(first);
        self.times.iter().enumerate().take(published).skip(from).collect()
    }

    /// Returns the items of the window at `now`, newest first as publishers write them.
    fn items(&self, host: &str, now: Time) -> Vec<Item> {
        let newest_first = self.shown(now).into_iter().rev();
        newest_first.map(|(number, at)| self.item(host, number, *at, now)).collect()
    }

    fn document(&self, host: &str, items: Vec<Item>) -> (String, &'static str) {
        let published = write::PublishedDocument {
            title: self.title.clone(),
            link: Some(format!("http://{host}/")),
            self_link: Some(format!("http://{host}{}", self.path)),
            language: Some("en".to_owned()),
            ttl: self.ttl,
            items,
            ..write::PublishedDocument::default()
        };
        match self.format {
            DemoFormat::Rss => (write::rss(&published), "application/rss+xml; charset=utf-8"),
            DemoFormat::Atom => (write::atom(&published), "application/atom+xml; charset=utf-8"),
            DemoFormat::Json => (write::json(&published), "application/feed+json"),
        }
    }

    fn item(&self, host: &str, number: usize, at: Time, now: Time) -> Item {
        let link = format!("http://{host}{}/{number}", self.path.trim_end_matches(".xml"));
        let published = match self.dates {
            DemoDates::True => Some(at),
            DemoDates::Absent => None,
            DemoDates::OnTheFly => Some(now),
        };
        Item {
            id: self.with_ids.then(|| format!("tag:{},2011:{}:{number}", self.host, self.path)),
            title: Some(text::title(&self.title, number)),
            author: Some(text::author(&self.title, number)),
            summary: Some(text::summary(&self.title, number)),
            link: Some(link),
            published,
            // Atom requires this element. In other formats it would be a second claim.
            updated: published.filter(|_| self.format == DemoFormat::Atom),
            ..Item::default()
        }
    }
}

/// Whether the client has the current document. `If-None-Match` wins over `If-Modified-Since`.
/// Both are compared byte for byte, as common servers do.
fn is_unchanged(request: &HeaderMap, etag: &str, modified: &str) -> bool {
    let is = |name, value: &str| request.get(name).map(|sent| sent.as_bytes() == value.as_bytes());
    let by_tag = is(header::IF_NONE_MATCH, etag);
    by_tag.or_else(|| is(header::IF_MODIFIED_SINCE, modified)).unwrap_or(false)
}

/// Formats a time for an HTTP header: `Thu, 01 Jan 2004 19:48:21 GMT`.
fn http_date(time: Time) -> String {
    let timestamp = jiff::Timestamp::from_second(time.secs()).unwrap_or_default();
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&timestamp)
        .unwrap_or_default()
}
