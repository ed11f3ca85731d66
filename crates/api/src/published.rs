//! `/feeds/NAME.atom|.rss|.json`: what a query keeps, as a feed that others subscribe to. PageEntries
//! keep the ids of their publishers, so that a feed that comes back to us ends there instead of
//! growing.

mod cache;
mod entry;
mod page;

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parse::write::{self, PublishedDocument};
use query::Access;
use store::{QueryId, QueryRow, StoreError};
use url::{Url, form_urlencoded};

use crate::Context;
use crate::auth::{Person, agree};
use crate::blocking::run_blocking;
use crate::http::{self, etag, guard};

pub use cache::FeedCache;
use cache::{ContentDigest, RenderedFeed};
use page::{PageEntries, PublishedPage};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PublishedFormat {
    Atom,
    Rss,
    Json,
}

impl PublishedFormat {
    const ALL: [(PublishedFormat, &str, &str); 3] = [
        (PublishedFormat::Atom, "atom", "application/atom+xml; charset=utf-8"),
        (PublishedFormat::Rss, "rss", "application/rss+xml; charset=utf-8"),
        (PublishedFormat::Json, "json", "application/feed+json"),
    ];

    fn write(self, doc: &PublishedDocument) -> String {
        match self {
            PublishedFormat::Atom => write::atom(doc),
            PublishedFormat::Rss => write::rss(doc),
            PublishedFormat::Json => write::json(doc),
        }
    }
}

/// What is asked for.
struct PublishedRequest {
    name: String,
    format: (PublishedFormat, &'static str, &'static str),
    key: Option<String>,
    before: Option<i64>,
    /// Scheme, host and port under which we were asked.
    base: Url,
}

/// A feed of a query, if there is such a query and it is for whoever asks.
pub async fn feed(
    State(context): State<Context>,
    person: Option<Person>,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(asked) = PublishedRequest::read(&context, &file, query.as_deref(), host) else {
        return missing();
    };
    let content_type = asked.format.2;
    match found(&context, Arc::new(asked), person.is_some()).await {
        Ok(Some(rendered)) => answer(&headers, &rendered, content_type),
        Ok(None) => missing(),
        Err(error) => {
            tracing::warn!(%error, "a feed could not be published");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The document as it is kept; rendered again where it changed, once for all who ask.
async fn found(
    context: &Context,
    asked: Arc<PublishedRequest>,
    open: bool,
) -> Result<Option<Arc<RenderedFeed>>, StoreError> {
    let (here, what) = (context.clone(), Arc::clone(&asked));
    match run_blocking(move || look(&here, &what, open)).await? {
        CacheLookup::Nothing => return Ok(None),
        CacheLookup::Ready(rendered) => return Ok(Some(rendered)),
        CacheLookup::Stale(..) => {}
    }
    let _turn = context.published.turn(&asked.address(asked.before)).await;
    let here = context.clone();
    run_blocking(move || document(&here, &asked, open)).await
}

/// The same answer for what does not exist and for what is not theirs.
fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such feed.\n").into_response()
}

fn answer(asked: &HeaderMap, rendered: &RenderedFeed, content_type: &str) -> Response {
    let RenderedFeed { body, tag, changed_at } = rendered;
    let changed = http::date(*changed_at);
    let since = asked.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let not_since = || {
        let since = since.and_then(parse::date::parse);
        since.is_some_and(|since| changed_at.floor_to_second() <= since)
    };
    // The tag is the stronger of the two and goes before.
    let known = etag::is_known(asked, tag).unwrap_or_else(not_since);
    let headers = [
        (header::ETAG, tag.clone()),
        (header::LAST_MODIFIED, changed),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    if known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, content_type.to_owned())], body.clone()).into_response()
}

impl PublishedRequest {
    fn read(
        context: &Context,
        file: &str,
        query: Option<&str>,
        host: Option<&str>,
    ) -> Option<PublishedRequest> {
        let (name, end) = file.rsplit_once('.')?;
        let format = PublishedFormat::ALL.into_iter().find(|(_, word, _)| *word == end)?;
        let (mut key, mut before) = (None, None);
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            match name.as_ref() {
                "key" => key = Some(value.into_owned()),
                "before" => before = Some(value.parse().ok()?),
                _ => {}
            }
        }
        let base = match &context.public_url {
            Some(url) => url.clone(),
            None => Url::parse(&format!("http://{}/", host.unwrap_or("localhost"))).ok()?,
        };
        Some(PublishedRequest { name: name.to_owned(), format, key, before, base })
    }

    /// What an address asks for, if it is one under which we publish.
    fn topic(context: &Context, topic: &str) -> Option<PublishedRequest> {
        let url = Url::parse(topic).ok()?;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let known = match &context.public_url {
            Some(public) => public.origin() == url.origin(),
            None => guard::is_local(host),
        };
        let file = url.path_segments()?.next_back()?;
        let asked =
            PublishedRequest::read(context, file, url.query(), Some(host)).filter(|_| known)?;
        // Only the first page is pushed, and only under the address that it gives itself.
        (asked.address(None) == url.as_str()).then_some(asked)
    }

    /// Whether the query is published to everybody who knows this address.
    fn is_open(&self, row: &QueryRow, access: Access) -> bool {
        match access {
            Access::Public => true,
            Access::SecretLink => self.key.as_deref().is_some_and(|k| agree(k, &row.link_key)),
            Access::Private => false,
        }
    }

    /// Where subscribers of this feed go.
    fn hub(&self) -> String {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["websub", "hub"]);
        }
        url.into()
    }

    /// The address of a page of this feed.
    fn address(&self, before: Option<i64>) -> String {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("feeds").push(&format!("{}.{}", self.name, self.format.1));
        }
        if self.key.is_some() || before.is_some() {
            let mut pairs = url.query_pairs_mut();
            if let Some(key) = &self.key {
                pairs.append_pair("key", key);
            }
            if let Some(before) = before {
                pairs.append_pair("before", &before.to_string());
            }
        }
        url.into()
    }
}

/// The query that is published at an address: for everybody, or by this secret link. Being asked
/// on this machine opens nothing here, since any website can name an address of this machine.
pub fn topic(context: &Context, topic: &str) -> Result<Option<QueryId>, StoreError> {
    let Some(asked) = PublishedRequest::topic(context, topic) else { return Ok(None) };
    let Some(row) = context.store.query(&asked.name)? else { return Ok(None) };
    let is_open = page::read(&row.text).is_some_and(|query| asked.is_open(&row, query.access));
    Ok(is_open.then_some(row.id))
}

/// Whether a feed is published at an address.
pub fn is_published(context: &Context, address: &str) -> Result<bool, StoreError> {
    Ok(topic(context, address)?.is_some())
}

/// The feed that is published at an address, as the hub pushes it. `None` where [`topic`] finds
/// no query.
pub fn at(context: &Context, topic: &str) -> Result<Option<Topic>, StoreError> {
    let Some(asked) = PublishedRequest::topic(context, topic) else { return Ok(None) };
    let found = document(context, &asked, false)?;
    Ok(found.map(|rendered| Topic {
        body: rendered.body.clone(),
        content_type: asked.format.2,
        hub: asked.hub(),
    }))
}

/// A published feed as a hub sees it.
pub struct Topic {
    pub body: String,
    pub content_type: &'static str,
    pub hub: String,
}

/// A document as it was asked for.
enum CacheLookup {
    /// There is nothing that the client may see.
    Nothing,
    Ready(Arc<RenderedFeed>),
    /// It changed since it was rendered last.
    Stale(Box<PublishedPage>, ContentDigest),
}

fn look(
    context: &Context,
    asked: &PublishedRequest,
    open: bool,
) -> Result<CacheLookup, StoreError> {
    let store = &context.store;
    let Some(page) = PublishedPage::find(store, asked, open, (context.now)())? else {
        return Ok(CacheLookup::Nothing);
    };
    let mark = page.mark(store)?;
    let kept = context.published.get(&asked.address(asked.before), &mark);
    Ok(kept.map_or_else(|| CacheLookup::Stale(Box::new(page), mark), CacheLookup::Ready))
}

/// The document, rendered only if it changed; `None` where the client may see nothing.
fn document(
    context: &Context,
    asked: &PublishedRequest,
    open: bool,
) -> Result<Option<Arc<RenderedFeed>>, StoreError> {
    let (page, mark) = match look(context, asked, open)? {
        CacheLookup::Nothing => return Ok(None),
        CacheLookup::Ready(rendered) => return Ok(Some(rendered)),
        CacheLookup::Stale(page, mark) => (page, mark),
    };
    let PageEntries { mut items, older, changed_at } = page.entries(&context.store)?;
    if asked.format.0 == PublishedFormat::Json {
        items.iter_mut().for_each(entry::for_json);
    }
    let mut pages = Vec::new();
    if let Some(older) = older {
        pages.push(("next", asked.address(Some(older))));
    }
    if asked.before.is_some() {
        pages.push(("first", asked.address(None)));
    }
    let doc = PublishedDocument {
        title: page.title,
        link: Some(asked.base.to_string()),
        id: Some(asked.address(None)),
        self_link: Some(asked.address(asked.before)),
        // The hub takes no other feeds.
        hubs: if page.is_open { vec![asked.hub()] } else { Vec::new() },
        updated: Some(changed_at),
        items,
        pages,
        ..PublishedDocument::default()
    };
    let body = asked.format.0.write(&doc);
    let rendered = RenderedFeed { tag: etag::tag(body.as_bytes()), body, changed_at };
    Ok(Some(context.published.put(&asked.address(asked.before), mark, rendered)))
}
