//! The feeds that a demonstration serves to itself: each looks as its publication times say at
//! `now`, with validators, and a few misbehave as real ones do.
//!
//! It polls nothing, keeps nothing and reads no clock of its own.

mod mishap;
mod text;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use feed::{Item, Time};
use parse::write;
use tokio::net::TcpListener;

pub use mishap::{Mishap, with_mishaps};

use crate::{etag, http_date, server};

/// What time it is, for the feeds.
pub type Now = Arc<dyn Fn() -> Time + Send + Sync>;

/// One feed that the demonstration serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFeed {
    /// The name by which it is asked for, without port.
    pub host: String,
    /// Begins with `/`; unique within the host.
    pub path: String,
    pub title: String,
    pub format: Format,
    /// Publication times, oldest first.
    pub times: Vec<Time>,
    /// The most entries it shows at once.
    pub window: usize,
    /// Shows only what is younger than this, where given.
    pub holds: Option<Duration>,
    pub with_ids: bool,
    pub dates: Dates,
    pub ttl: Option<Duration>,
    pub supports_304: bool,
    pub mishap: Option<Mishap>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Rss,
    Atom,
    Json,
}

/// What entries say about when they were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    True,
    Absent,
    /// Every entry carries the moment of the request.
    OnTheFly,
}

struct Site {
    /// By host, then path.
    feeds: HashMap<String, HashMap<String, DemoFeed>>,
    now: Now,
}

/// Serves every feed under its host and path, as it looks at `now`.
pub fn router(feeds: Vec<DemoFeed>, now: Now) -> Router {
    let mut by_host: HashMap<String, HashMap<String, DemoFeed>> = HashMap::new();
    for feed in feeds {
        by_host.entry(feed.host.clone()).or_default().insert(feed.path.clone(), feed);
    }
    Router::new().fallback(answer).with_state(Arc::new(Site { feeds: by_host, now }))
}

/// Runs the demonstration's server until `shutdown`; its hosts are names of its own, so that no
/// name is refused.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    server::serve(listener, router, shutdown).await
}

async fn answer(State(site): State<Arc<Site>>, uri: Uri, headers: HeaderMap) -> Response {
    let now = (site.now)().floor_to_second();
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("");
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    let found = site.feeds.get(&name).and_then(|feeds| feeds.get(uri.path()));
    let mut response = match found {
        Some(feed) => feed.answer(host, now, &headers),
        None => (StatusCode::NOT_FOUND, "No such feed in this demonstration.").into_response(),
    };
    // The demonstration's clock runs fast: a true `Date` would look like a broken clock.
    if let Ok(date) = HeaderValue::from_str(&http_date(now)) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

impl DemoFeed {
    /// Where it is found when the demonstration listens on `port`.
    pub fn url(&self, port: u16) -> String {
        format!("http://{}:{port}{}", self.host, self.path)
    }

    fn answer(&self, host: &str, now: Time, asked: &HeaderMap) -> Response {
        if let Some(trouble) = self.mishap.as_ref().and_then(|m| m.answer(host, now)) {
            return trouble;
        }
        let modified = http_date(self.shown(now).last().map_or(Time::from_secs(0), |e| *e.1));
        let (body, content_type) = self.document(host, self.items(host, now));
        let etag = etag::tag(body.as_bytes());
        if self.supports_304 && is_unchanged(asked, &etag, &modified) {
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

    /// The entries in the window at `now`, oldest first, each with its number.
    fn shown(&self, now: Time) -> Vec<(usize, &Time)> {
        let published = self.times.partition_point(|t| *t <= now);
        let first = match self.holds {
            Some(age) => self.times.partition_point(|t| *t < now - age),
            None => 0,
        };
        let empty = self.mishap.as_ref().is_some_and(|m| m.is_empty_at(now));
        let window = if empty { 0 } else { self.window };
        let from = published.saturating_sub(window).max(first);
        self.times.iter().enumerate().take(published).skip(from).collect()
    }

    /// The same, newest first, as a publisher would write it.
    fn items(&self, host: &str, now: Time) -> Vec<Item> {
        let newest_first = self.shown(now).into_iter().rev();
        newest_first.map(|(number, at)| self.item(host, number, *at, now)).collect()
    }

    fn document(&self, host: &str, items: Vec<Item>) -> (String, &'static str) {
        let published = write::Published {
            title: self.title.clone(),
            link: Some(format!("http://{host}/")),
            self_link: Some(format!("http://{host}{}", self.path)),
            language: Some("en".to_owned()),
            ttl: self.ttl,
            items,
            ..write::Published::default()
        };
        match self.format {
            Format::Rss => (write::rss(&published), "application/rss+xml; charset=utf-8"),
            Format::Atom => (write::atom(&published), "application/atom+xml; charset=utf-8"),
            Format::Json => (write::json(&published), "application/feed+json"),
        }
    }

    fn item(&self, host: &str, number: usize, at: Time, now: Time) -> Item {
        let link = format!("http://{host}{}/{number}", self.path.trim_end_matches(".xml"));
        let published = match self.dates {
            Dates::True => Some(at),
            Dates::Absent => None,
            Dates::OnTheFly => Some(now),
        };
        Item {
            id: self.with_ids.then(|| format!("tag:{},2011:{}:{number}", self.host, self.path)),
            title: Some(text::title(&self.title, number)),
            author: Some(text::author(&self.title, number)),
            summary: Some(text::summary(&self.title, number)),
            link: Some(link),
            published,
            // Atom demands it; elsewhere it would be a second claim.
            updated: published.filter(|_| self.format == Format::Atom),
            ..Item::default()
        }
    }
}

/// `If-None-Match` decides where it is sent, else `If-Modified-Since`, compared byte for byte as
/// common servers do.
fn is_unchanged(asked: &HeaderMap, tag: &str, modified: &str) -> bool {
    etag::is_known(asked, tag).unwrap_or_else(|| {
        asked
            .get(header::IF_MODIFIED_SINCE)
            .is_some_and(|since| since.as_bytes() == modified.as_bytes())
    })
}
