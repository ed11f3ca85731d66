//! `/feeds/NAME.atom|.rss|.json`: what a query keeps, as a feed that others subscribe to. Entries
//! keep the ids of their publishers, so that a feed that comes back to us ends there instead of
//! growing.

use std::collections::{HashMap, HashSet};

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::{FeedId, Item, Time};
use parse::write::{self, Origin, Published};
use query::{Access, Query, Reach, Statement};
use store::{FeedRow, QueryEntry, QueryId, QueryRow, Store, StoreError};
use url::{Url, form_urlencoded};

use crate::auth::{Person, agree};
use crate::page::ask;
use crate::{Context, etag, guard, http_date, sanitise};

/// Entries on one page of a feed.
const PAGE: u32 = 50;
/// The most that a window shows on one page: readers take documents of a few megabytes.
const WINDOW_MAX: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Atom,
    Rss,
    Json,
}

impl Format {
    const ALL: [(Format, &str, &str); 3] = [
        (Format::Atom, "atom", "application/atom+xml; charset=utf-8"),
        (Format::Rss, "rss", "application/rss+xml; charset=utf-8"),
        (Format::Json, "json", "application/feed+json"),
    ];

    fn write(self, doc: &Published) -> String {
        match self {
            Format::Atom => write::atom(doc),
            Format::Rss => write::rss(doc),
            Format::Json => write::json(doc),
        }
    }
}

/// What is asked for.
struct Asked {
    name: String,
    format: (Format, &'static str, &'static str),
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
    let Some(asked) = Asked::read(&context, &file, query.as_deref(), host) else {
        return missing();
    };
    let content_type = asked.format.2;
    let (store, now) = (context.store.clone(), (context.now)());
    match ask(move || document(&store, &asked, person.is_some(), now)).await {
        Ok(Some((body, changed_at))) => answer(&headers, body, content_type, changed_at),
        Ok(None) => missing(),
        Err(error) => {
            tracing::warn!(%error, "a feed could not be published");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The same answer for what does not exist and for what is not theirs.
fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such feed.\n").into_response()
}

fn answer(asked: &HeaderMap, body: String, content_type: &str, changed_at: Time) -> Response {
    let tag = etag::tag(body.as_bytes());
    let changed = http_date(changed_at);
    let since = asked.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let not_since = || {
        let since = since.and_then(parse::date::parse);
        since.is_some_and(|since| changed_at.floor_to_second() <= since)
    };
    // The tag is the stronger of the two and goes before.
    let known = etag::is_known(asked, &tag).unwrap_or_else(not_since);
    let headers = [
        (header::ETAG, tag),
        (header::LAST_MODIFIED, changed),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    if known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, content_type.to_owned())], body).into_response()
}

impl Asked {
    fn read(
        context: &Context,
        file: &str,
        query: Option<&str>,
        host: Option<&str>,
    ) -> Option<Asked> {
        let (name, end) = file.rsplit_once('.')?;
        let format = Format::ALL.into_iter().find(|(_, word, _)| *word == end)?;
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
        Some(Asked { name: name.to_owned(), format, key, before, base })
    }

    /// What an address asks for, if it is one under which we publish.
    fn topic(context: &Context, topic: &str) -> Option<Asked> {
        let url = Url::parse(topic).ok()?;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let known = match &context.public_url {
            Some(public) => public.origin() == url.origin(),
            None => guard::is_local(host),
        };
        let file = url.path_segments()?.next_back()?;
        let asked = Asked::read(context, file, url.query(), Some(host)).filter(|_| known)?;
        // Only the first page is pushed, and only under the address that it gives itself.
        (asked.address(None) == url.as_str()).then_some(asked)
    }

    /// Whether the query is published to whoever knows this address.
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
    let Some(asked) = Asked::topic(context, topic) else { return Ok(None) };
    let Some(row) = context.store.query(&asked.name)? else { return Ok(None) };
    let is_open = read(&row.text).is_some_and(|query| asked.is_open(&row, query.access));
    Ok(is_open.then_some(row.id))
}

/// Whether a feed is published at an address.
pub fn is_published(context: &Context, address: &str) -> Result<bool, StoreError> {
    Ok(topic(context, address)?.is_some())
}

/// The feed that is published at an address, as the hub pushes it. `None` where [`topic`] finds
/// no query.
pub fn at(context: &Context, topic: &str) -> Result<Option<Topic>, StoreError> {
    let Some(asked) = Asked::topic(context, topic) else { return Ok(None) };
    let found = document(&context.store, &asked, false, (context.now)())?;
    Ok(found.map(|(body, _)| Topic { body, content_type: asked.format.2, hub: asked.hub() }))
}

/// A published feed as a hub sees it.
pub struct Topic {
    pub body: String,
    pub content_type: &'static str,
    pub hub: String,
}

/// The document and when it last changed; `None` where there is nothing for whoever asks.
fn document(
    store: &Store,
    asked: &Asked,
    open: bool,
    now: Time,
) -> Result<Option<(String, Time)>, StoreError> {
    let Some(row) = store.query(&asked.name)? else { return Ok(None) };
    let Some(query) = read(&row.text) else { return Ok(None) };
    let is_open = asked.is_open(&row, query.access);
    if !is_open && !open {
        return Ok(None);
    }
    let (found, older) = window(store, &row, query.window, asked.before, now)?;
    let mut feeds: HashMap<FeedId, Option<FeedRow>> = HashMap::new();
    let (mut items, mut origins, mut ids) = (Vec::new(), Vec::new(), HashSet::new());
    let mut changed_at = row.changed_at;
    for one in &found {
        let feed = feeds.entry(one.entry.feed).or_insert_with(|| store.feed(one.entry.feed).ok());
        let Some(feed) = feed else { continue };
        let item = item(one, feed);
        changed_at = changed_at.max(one.entry.edited_at.unwrap_or(one.entry.seen_at));
        // One id twice would be the same entry twice.
        if ids.insert(item.id.clone()) {
            origins.push(origin(feed));
            items.push(item);
        }
    }
    let mut pages = Vec::new();
    if let Some(older) = older {
        pages.push(("next", asked.address(Some(older))));
    }
    if asked.before.is_some() {
        pages.push(("first", asked.address(None)));
    }
    let title = query.title.unwrap_or_else(|| row.name.clone());
    let doc = Published {
        title,
        link: Some(asked.base.to_string()),
        id: Some(asked.address(None)),
        self_link: Some(asked.address(asked.before)),
        // The hub takes no other feeds.
        hubs: if is_open { vec![asked.hub()] } else { Vec::new() },
        updated: Some(changed_at),
        items,
        origins,
        pages,
        ..Published::default()
    };
    Ok(Some((asked.format.0.write(&doc), changed_at)))
}

/// The newest entries before a position that the window shows, newest first; and the position
/// before which there are more.
fn window(
    store: &Store,
    row: &QueryRow,
    window: Option<Reach>,
    before: Option<i64>,
    now: Time,
) -> Result<(Vec<QueryEntry>, Option<i64>), StoreError> {
    let (limit, since, lowest) = match window {
        None => (PAGE, None, 0),
        Some(Reach::Time(time)) => (WINDOW_MAX, Some(now - time), 0),
        Some(Reach::Items(n)) => (WINDOW_MAX.min(n), None, store.position_before_last(row.id, n)?),
    };
    let mut found = store.recent_query_entries(row.id, before, since, limit + 1)?;
    // The read ended early for its bytes, and not at the end of the window.
    let ended_early = store::is_full(found.iter().map(|one| &one.entry), u32::MAX)
        && found.iter().all(|one| one.position > lowest);
    found.retain(|one| one.position > lowest);
    let more = ended_early || found.len() > limit as usize;
    found.truncate(limit as usize);
    let older = found.last().filter(|_| more).map(|one| one.position);
    Ok((found, older))
}

fn read(text: &str) -> Option<Query> {
    match query::parse(text).ok()?.pop()? {
        Statement::Create(create) => Some(create.query),
        Statement::Drop(_) => None,
    }
}

fn item(one: &QueryEntry, feed: &FeedRow) -> Item {
    let entry = &one.entry;
    let id = entry.guid.as_deref().or(entry.link.as_deref());
    // Readers load what we publish under our name: nothing that acts, and no link that leads
    // nowhere.
    let base = entry.link.as_deref().and_then(|link| Url::parse(link).ok());
    let link = entry.link.as_deref().filter(|link| leads_somewhere(link));
    let clean = |dirty: &str| sanitise::html(dirty, base.as_ref().or(Some(feed.url.url())), link);
    Item {
        id: Some(identity(id, one, feed)),
        title: entry.title.clone(),
        link: link.map(str::to_owned),
        published: Some(entry.published_at),
        updated: Some(entry.updated_at.unwrap_or(entry.published_at).max(entry.published_at)),
        author: entry.author.clone(),
        summary: entry.summary.as_deref().map(clean),
        content: entry.content.as_deref().map(clean),
        categories: entry.categories.clone(),
        enclosures: entry.enclosures.iter().filter(|e| leads_somewhere(&e.url)).cloned().collect(),
    }
}

/// Whether an address names something elsewhere. By list, as the sanitiser has it for what stands
/// in texts: one that runs something is not passed on.
fn leads_somewhere(link: &str) -> bool {
    const SCHEMES: [&str; 5] = ["http", "https", "ftp", "magnet", "mailto"];
    Url::parse(link).is_ok_and(|url| SCHEMES.contains(&url.scheme()))
}

/// The publisher's id where it is an address of some kind; else one made of it (RFC 4151), the same
/// for ever.
fn identity(id: Option<&str>, one: &QueryEntry, feed: &FeedRow) -> String {
    if let Some(id) = id.filter(|id| Url::parse(id).is_ok() && !id.contains(char::is_whitespace)) {
        return id.to_owned();
    }
    let host = feed.url.url().host_str().unwrap_or("localhost");
    let own = id.map_or_else(|| one.entry.id.to_string(), str::to_owned);
    let specific: String = form_urlencoded::byte_serialize(own.as_bytes()).collect();
    format!("tag:{host},2005:{specific}")
}

fn origin(feed: &FeedRow) -> Origin {
    let url = feed.url.masked();
    let title = feed.shown_title().map_or_else(|| url.clone(), str::to_owned);
    Origin { title, url, updated: feed.last_change_at }
}
