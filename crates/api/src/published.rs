//! `/feeds/NAME.atom|.rss|.json`: the entries of a query, as a feed that others subscribe to.
//! Entries keep the ids of their publishers, so that a feed which comes back to us adds nothing
//! new.

mod entry;
mod page;

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parse::write::{self, CloudService, PublishedDocument, WrittenDocument};
use query::Access;
use store::{QueryId, QueryRow, StoreError};
use url::{Url, form_urlencoded};

use crate::ServerContext;
use crate::auth::{Person, agree};
use crate::blocking::run_blocking;
use crate::feed_cache::delta::Delta;
use crate::feed_cache::{ContentDigest, FeedCache, RenderedFeed};
use crate::http::{self, etag, guard};
use crate::store_failure;

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

    fn write(self, doc: &PublishedDocument) -> WrittenDocument {
        match self {
            PublishedFormat::Atom => write::written_atom(doc),
            PublishedFormat::Rss => write::written_rss(doc),
            PublishedFormat::Json => write::written_json(doc),
        }
    }
}

/// A request for a published feed.
struct PublishedRequest {
    name: String,
    format: (PublishedFormat, &'static str, &'static str),
    key: Option<String>,
    before: Option<i64>,
    /// Scheme, host and port of the request.
    base: Url,
}

/// Answers with the feed of a query, if it exists and the client may see it.
pub async fn feed(
    State(context): State<ServerContext>,
    person: Option<Person>,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(request) = PublishedRequest::read(&context, &file, query.as_deref(), host) else {
        return missing();
    };
    let content_type = request.format.2;
    let open = match &person {
        None => Ok(false),
        Some(person) => {
            let (store, account) = (context.store.clone(), person.account);
            let name = request.name.clone();
            run_blocking(move || Ok(store.query_of(account, &name)?.is_some())).await
        }
    };
    let found = match open {
        Ok(open) => found(&context, Arc::new(request), open).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(Some(rendered)) => answer(&headers, &rendered, content_type, &context.published),
        Ok(None) => missing(),
        Err(error) => store_failure::plain(&error, "cannot publish a feed"),
    }
}

/// Returns the cached document. A changed document is rendered once for all clients.
async fn found(
    context: &ServerContext,
    request: Arc<PublishedRequest>,
    open: bool,
) -> Result<Option<Arc<RenderedFeed>>, StoreError> {
    let (here, what) = (context.clone(), Arc::clone(&request));
    match run_blocking(move || look(&here, &what, open)).await? {
        CacheLookup::Nothing => return Ok(None),
        CacheLookup::Ready(rendered) => return Ok(Some(rendered)),
        CacheLookup::Stale(..) => {}
    }
    let _turn = context.published.turn(&request.address(request.before)).await;
    let here = context.clone();
    run_blocking(move || document(&here, &request, open)).await
}

/// The same answer for a missing feed and for one that the client may not see.
fn missing() -> Response {
    (StatusCode::NOT_FOUND, "The feed does not exist, or you may not see it.\n").into_response()
}

/// Answers with the document, with only its new entries (226, RFC 3229), or with 304.
fn answer(
    request: &HeaderMap,
    rendered: &RenderedFeed,
    content_type: &str,
    cache: &FeedCache,
) -> Response {
    let RenderedFeed { written, tag, changed_at, .. } = rendered;
    let changed = http::date(*changed_at);
    let since = request.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let not_since = || {
        let since = since.and_then(parse::date::parse);
        since.is_some_and(|since| changed_at.floor_to_second() <= since)
    };
    // The tag is the stronger validator and decides.
    let known = etag::is_known(request, tag).unwrap_or_else(not_since);
    let headers = [
        (header::ETAG, tag.clone()),
        (header::LAST_MODIFIED, changed),
        (header::VARY, "A-IM".to_owned()),
    ];
    let cached = [(header::CACHE_CONTROL, "no-cache")];
    if known {
        return (StatusCode::NOT_MODIFIED, headers, cached).into_response();
    }
    let content_type = [(header::CONTENT_TYPE, content_type.to_owned())];
    if let Some(Delta { body, base }) = cache.deltas.delta(request, rendered) {
        // Caches that do not know the status must not store the answer (RFC 3229, section 10.8).
        let partial = [("im", "feed"), ("cache-control", "no-store, im")];
        let base = [("delta-base", base)];
        return (StatusCode::IM_USED, headers, partial, base, content_type, body).into_response();
    }
    (headers, cached, content_type, written.text.clone()).into_response()
}

impl PublishedRequest {
    fn read(
        context: &ServerContext,
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

    /// Reads a topic address, if it is an address that we publish under.
    fn topic(context: &ServerContext, topic: &str) -> Option<PublishedRequest> {
        let url = Url::parse(topic).ok()?;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let known = match &context.public_url {
            Some(public) => public.origin() == url.origin(),
            None => guard::is_local(host),
        };
        let file = url.path_segments()?.next_back()?;
        let request =
            PublishedRequest::read(context, file, url.query(), Some(host)).filter(|_| known)?;
        // Only the first page is pushed, and only under the address that it names itself.
        (request.address(None) == url.as_str()).then_some(request)
    }

    /// Whether everybody who knows this address may see the query.
    fn is_open(&self, row: &QueryRow, access: Access) -> bool {
        match access {
            Access::Public => true,
            Access::SecretLink => self.key.as_deref().is_some_and(|k| agree(k, &row.link_key)),
            Access::Private => false,
        }
    }

    /// Returns the address of the hub for this feed.
    fn hub(&self) -> String {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["websub", "hub"]);
        }
        url.into()
    }

    /// Returns where to ask for notices by rssCloud.
    fn cloud(&self) -> CloudService {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["rsscloud", "pleaseNotify"]);
        }
        CloudService {
            domain: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            path: url.path().to_owned(),
            protocol: if url.scheme() == "https" { "https-post" } else { "http-post" },
        }
    }

    /// Returns the address of a page of this feed.
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

/// Returns the query that is published at an address, publicly or by this secret link. A request
/// from this machine has no further rights here, because any website can name an address of this
/// machine.
pub fn topic(context: &ServerContext, topic: &str) -> Result<Option<QueryId>, StoreError> {
    let Some(request) = PublishedRequest::topic(context, topic) else { return Ok(None) };
    let Some(row) = context.store.query(&request.name)? else { return Ok(None) };
    let is_open = page::read(&row.text).is_some_and(|query| request.is_open(&row, query.access));
    Ok(is_open.then_some(row.id))
}

/// Whether a feed is published at an address.
pub fn is_published(context: &ServerContext, address: &str) -> Result<bool, StoreError> {
    Ok(topic(context, address)?.is_some())
}

/// Returns the feed that is published at an address, as the hub pushes it. `None` if [`topic`]
/// finds no query.
pub fn at(context: &ServerContext, topic: &str) -> Result<Option<TopicDocument>, StoreError> {
    let Some(request) = PublishedRequest::topic(context, topic) else { return Ok(None) };
    let found = document(context, &request, false)?;
    Ok(found.map(|rendered| TopicDocument {
        body: rendered.written.text.clone(),
        content_type: request.format.2,
        hub: request.hub(),
    }))
}

/// A published feed for the hub.
pub struct TopicDocument {
    pub body: String,
    pub content_type: &'static str,
    pub hub: String,
}

/// The result of a look into the cache.
enum CacheLookup {
    /// The client may not see anything at this address.
    Nothing,
    Ready(Arc<RenderedFeed>),
    /// The content changed since the last rendering.
    Stale(Box<PublishedPage>, ContentDigest),
}

fn look(
    context: &ServerContext,
    request: &PublishedRequest,
    open: bool,
) -> Result<CacheLookup, StoreError> {
    let store = &context.store;
    let Some(page) = PublishedPage::find(store, request, open, (context.now)())? else {
        return Ok(CacheLookup::Nothing);
    };
    let mark = page.mark(store)?;
    let kept = context.published.get(&request.address(request.before), &mark);
    Ok(kept.map_or_else(|| CacheLookup::Stale(Box::new(page), mark), CacheLookup::Ready))
}

/// Returns the document, rendered only if it changed. `None` if the client may see nothing.
fn document(
    context: &ServerContext,
    request: &PublishedRequest,
    open: bool,
) -> Result<Option<Arc<RenderedFeed>>, StoreError> {
    let (page, mark) = match look(context, request, open)? {
        CacheLookup::Nothing => return Ok(None),
        CacheLookup::Ready(rendered) => return Ok(Some(rendered)),
        CacheLookup::Stale(page, mark) => (page, mark),
    };
    let PageEntries { mut items, older, changed_at } = page.entries(&context.store)?;
    if request.format.0 == PublishedFormat::Json {
        items.iter_mut().for_each(entry::for_json);
    }
    let mut pages = Vec::new();
    if let Some(older) = older {
        pages.push(("next", request.address(Some(older))));
    }
    if request.before.is_some() {
        pages.push(("first", request.address(None)));
    }
    let doc = PublishedDocument {
        title: page.title,
        link: Some(request.base.to_string()),
        id: Some(request.address(None)),
        self_link: Some(request.address(request.before)),
        // The hub accepts only open feeds.
        hubs: if page.is_open { vec![request.hub()] } else { Vec::new() },
        cloud: page.is_open.then(|| request.cloud()),
        updated: Some(changed_at),
        items,
        pages,
        ..PublishedDocument::default()
    };
    let rendered = RenderedFeed::new(request.format.0.write(&doc), changed_at);
    Ok(Some(context.published.put(&request.address(request.before), mark, rendered)))
}
