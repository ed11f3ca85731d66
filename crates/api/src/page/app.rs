//! The page as an app on a phone: the manifest, its icons and the service worker. For reading
//! without a network: a page, the entries that a device keeps, and the marks that it sends later.
//!
//! The files here are the same for everybody. Entries and marks belong to the account that asks.

use std::sync::LazyLock;

use askama::Template;
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use feed::{EntryId, Time};
use serde_json::{Value, json};
use store::{AccountId, ReadEntry, ReadingFilter, ReadingPosition, Scope, Store, StoreError};

use super::frame::assets::{APP, ICON, OFFLINE_SCRIPT, SCRIPT, STYLE};
use super::frame::{Visitor, WriteForm};
use super::notice::store_error;
use super::read::{StoredPage, TextChoice, feed_title, shown_text, teaser, title, web_link};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::http::etag;
use crate::page::params;
use crate::words::DisplayTime;

/// Entries that a device keeps.
const KEPT_MAX: u32 = 500;
/// Entries of one answer.
const PART: u32 = 50;
/// Marks that one request sends.
const MARKS_MAX: usize = 500;

const ICONS: [(&str, &[u8]); 4] = [
    ("192.png", include_bytes!("../../templates/icons/192.png")),
    ("512.png", include_bytes!("../../templates/icons/512.png")),
    ("maskable-192.png", include_bytes!("../../templates/icons/maskable-192.png")),
    ("maskable-512.png", include_bytes!("../../templates/icons/maskable-512.png")),
];

#[derive(Template)]
#[template(path = "offline.html")]
struct OfflinePage {
    style: String,
    app: String,
    script: String,
    icon: String,
}

static OFFLINE: LazyLock<String> = LazyLock::new(|| {
    let page = OfflinePage {
        style: STYLE.address(),
        app: APP.address(),
        script: OFFLINE_SCRIPT.address(),
        icon: ICON.address(),
    };
    // The compiler checks templates, so only writing into memory can fail.
    page.render().unwrap_or_default()
});

static WORKER: LazyLock<String> = LazyLock::new(|| {
    let files = [
        "/offline".to_owned(),
        STYLE.address(),
        SCRIPT.address(),
        APP.address(),
        OFFLINE_SCRIPT.address(),
        ICON.address(),
        "/icons/app/192.png".to_owned(),
    ];
    let version = etag::tag(format!("{}{}", files.join(" "), *OFFLINE).as_bytes());
    let files = files.map(|file| format!("{file:?}")).join(", ");
    include_str!("../../templates/service-worker.js")
        .replace("/* files */", &files)
        .replace("/* version */", version.trim_matches('"'))
});

pub async fn manifest() -> Response {
    let icon = |size: &str, purpose: &str| {
        let prefix = if purpose == "maskable" { "maskable-" } else { "" };
        json!({
            "src": format!("/icons/app/{prefix}{size}.png"), "sizes": format!("{size}x{size}"),
            "type": "image/png", "purpose": purpose,
        })
    };
    let manifest = json!({
        "name": "Tidings",
        "short_name": "Tidings",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#1f5f8b",
        "theme_color": "#1f5f8b",
        "icons": [
            icon("192", "any"), icon("512", "any"),
            icon("192", "maskable"), icon("512", "maskable"),
        ],
    });
    let kind = (header::CONTENT_TYPE, "application/manifest+json");
    ([kind, (header::CACHE_CONTROL, "max-age=86400")], manifest.to_string()).into_response()
}

pub async fn icon(Path(file): Path<String>) -> Response {
    match ICONS.iter().find(|(name, _)| *name == file) {
        Some((_, bytes)) => {
            let kind = (header::CONTENT_TYPE, "image/png");
            ([kind, (header::CACHE_CONTROL, "max-age=86400")], *bytes).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Browsers ask for the worker now and then; it names the files of this version.
pub async fn worker(request: HeaderMap) -> Response {
    let tag = etag::tag(WORKER.as_bytes());
    let shared = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, "no-cache".to_owned())];
    if etag::is_known(&request, &tag) == Some(true) {
        return (StatusCode::NOT_MODIFIED, shared).into_response();
    }
    let kind = (header::CONTENT_TYPE, "text/javascript; charset=utf-8");
    (shared, [kind], WORKER.as_str()).into_response()
}

pub async fn offline() -> Response {
    Html(OFFLINE.as_str()).into_response()
}

/// Answers with a part of the newest unread entries, and where the next part begins.
pub async fn entries(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let (store, account) = (context.store.clone(), visitor.account());
    let now = visitor.now(&context);
    let from = params::text(query.as_deref(), "from").and_then(|text| OfflinePlace::parse(&text));
    let read = run_blocking(move || part(&store, account, from.unwrap_or_default(), now.at)).await;
    match read {
        Ok(part) => Json(part).into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// A place in the list: how many entries came before, and the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OfflinePlace {
    n: u32,
    last: Option<ReadingPosition>,
}

impl OfflinePlace {
    fn parse(text: &str) -> Option<OfflinePlace> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next()?.parse::<i64>().ok();
        let (n, at, entry) = (next()?, next()?, next()?);
        let last = ReadingPosition { published_at: Time::from_millis(at), entry: EntryId(entry) };
        Some(OfflinePlace { n: u32::try_from(n).ok()?, last: Some(last) })
    }

    fn written(self) -> String {
        self.last.map_or_else(String::new, |last| {
            format!("{}.{}.{}", self.n, last.published_at.millis(), last.entry.0)
        })
    }
}

fn part(
    store: &Store,
    account: AccountId,
    at: OfflinePlace,
    now: Time,
) -> Result<Value, StoreError> {
    let limit = KEPT_MAX.saturating_sub(at.n).min(PART);
    let mut reading = ReadingFilter::newest(account, Scope::All, limit.max(1));
    (reading.read, reading.from) = (Some(false), at.last);
    let found = if limit == 0 { Vec::new() } else { store.reading(&reading)? };
    let names = store.feed_names_of(account, found.iter().map(|one| one.entry.feed))?;
    let is_full = store::is_full(found.iter().map(|one| &one.entry), limit);
    let n = at.n + u32::try_from(found.len()).unwrap_or(PART);
    let last = found.last().filter(|_| is_full && n < KEPT_MAX).map(ReadEntry::place);
    let mut entries = Vec::with_capacity(found.len());
    for one in &found {
        let (entry, name) = (&one.entry, names.get(&one.entry.feed));
        let page = StoredPage::read(store, entry.id)?;
        let shown = match page.text() {
            Some(_) => TextChoice::Article,
            None => TextChoice::Feed,
        };
        // Pictures need the network.
        let text = shown_text(entry, name, &page, shown, None);
        let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
        entries.push(json!({
            "id": entry.id.0,
            "title": title(entry, &teaser(body)),
            "feed": feed_title(name),
            "published": DisplayTime::new(entry.published_at, now).short,
            "at": entry.published_at.millis(),
            "link": entry.link.as_deref().and_then(web_link),
            "html": text.html,
        }));
    }
    let next = OfflinePlace { n, last }.written();
    Ok(json!({"account": account.0.to_string(), "entries": entries, "next": next}))
}

/// Takes marks that were made without a network, in their order. The device names the account that
/// made them: they are never those of another one.
pub async fn marks(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let account = sent.visitor.account();
    let maker = sent.form.text("account").to_owned();
    let marks: Vec<(String, EntryId)> = sent.form.all("mark").filter_map(mark).collect();
    if marks.len() > MARKS_MAX {
        return (StatusCode::PAYLOAD_TOO_LARGE, "Send fewer marks at once.\n").into_response();
    }
    let (store, now) = (context.store.clone(), (context.now)());
    let done = run_blocking(move || {
        if !is_maker(&store, account, &maker)? {
            return Ok(false);
        }
        for (name, entry) in &marks {
            match name.as_str() {
                "open" => store.open_entries(account, &[*entry], now)?,
                "read" | "unread" => store.mark_read(account, &[*entry], name == "read")?,
                "star" | "unstar" => store.star(account, &[*entry], name == "star", now)?,
                _ => {}
            }
        }
        Ok::<_, StoreError>(true)
    });
    match done.await {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        Ok(false) => {
            (StatusCode::CONFLICT, "These marks belong to another account.\n").into_response()
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Returns whether an account made marks, or took them over: the first account owns everything
/// that was there before it.
fn is_maker(store: &Store, account: AccountId, maker: &str) -> Result<bool, StoreError> {
    if maker != AccountId::LOCAL.0.to_string() || account == AccountId::LOCAL {
        return Ok(maker == account.0.to_string());
    }
    Ok(store.accounts()?.iter().map(|row| row.id).min() == Some(account))
}

fn mark(text: &str) -> Option<(String, EntryId)> {
    let (name, entry) = text.split_once(' ')?;
    Some((name.to_owned(), EntryId(entry.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_names_the_files_of_this_version() {
        assert!(WORKER.contains(&format!("{:?}", STYLE.address())));
        assert!(!WORKER.contains("/* files */") && !WORKER.contains("/* version */"));
        assert!(OFFLINE.contains(&APP.address()));
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        let last = ReadingPosition { published_at: Time::from_millis(-5), entry: EntryId(7) };
        let place = OfflinePlace { n: 50, last: Some(last) };
        assert_eq!(OfflinePlace::parse(&place.written()), Some(place));
        for odd in ["", "1", "1.2", "x.1.1", "-1.1.1"] {
            assert_eq!(OfflinePlace::parse(odd), None, "{odd}");
        }
    }
}
