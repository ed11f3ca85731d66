//! The API of the other reader: its subscriptions, and its entries page by page. The forms of
//! answers follow the documentation of miniflux and of FreshRSS.

use dispatch::command::ImportedFeed;
use feed::Time;
use serde::Deserialize;
use url::Url;

use super::client::ReaderClient;
use crate::args::move_in::{MoveInArgs, OtherReader};
use crate::config::Config;
use crate::error::{CliError, input_error};

/// Entries of one request.
const PAGE: u32 = 200;

/// One of the two lists that are read, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkList {
    Starred,
    Read,
}

/// An entry with its marks, as the other reader has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedEntry {
    /// The address of its feed.
    pub feed: String,
    pub link: Option<String>,
    pub title: Option<String>,
    pub is_read: bool,
    pub starred_at: Option<Time>,
}

/// Some entries, and where to continue.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MarkPage {
    pub entries: Vec<MarkedEntry>,
    pub next: Option<String>,
}

/// The other reader.
pub struct OtherServer {
    client: ReaderClient,
    is_miniflux: bool,
    /// Addresses of feeds by the ids of the Google Reader API.
    feeds: std::collections::HashMap<String, String>,
}

impl OtherServer {
    /// Logs in.
    pub async fn open(
        args: &MoveInArgs,
        secret: &str,
        config: &Config,
    ) -> Result<OtherServer, CliError> {
        let wrong = |why: String| input_error(format!("{}: {why}", args.url));
        let url = Url::parse(&args.url).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http and https are supported".to_owned()));
        }
        let is_freshrss = args.reader == OtherReader::Freshrss;
        let base = match is_freshrss && !url.path().contains("greader.php") {
            true => below(url, "api/greader.php/"),
            false => url,
        };
        let mut client = ReaderClient::new(config, base)?;
        let is_miniflux = args.reader == OtherReader::Miniflux;
        match (&args.user, is_miniflux) {
            (None, true) => {
                client.own.headers.push(("x-auth-token".to_owned(), secret.to_owned()));
            }
            (Some(user), true) => client.own.login = Some(format!("{user}:{secret}")),
            (None, false) => {
                return Err(input_error("--user is needed for the Google Reader API".to_owned()));
            }
            (Some(user), false) => {
                let fields = [("Email", user.as_str()), ("Passwd", secret)];
                let answer = client.form("accounts/ClientLogin", &fields).await?;
                let token = answer.lines().find_map(|line| line.strip_prefix("Auth="));
                let token = token.ok_or_else(|| wrong("the login gave no token".to_owned()))?;
                let value = format!("GoogleLogin auth={}", token.trim());
                client.own.headers.push(("authorization".to_owned(), value));
            }
        }
        Ok(OtherServer { client, is_miniflux, feeds: Default::default() })
    }

    /// Returns all subscriptions.
    pub async fn subscriptions(&mut self) -> Result<Vec<ImportedFeed>, CliError> {
        if self.is_miniflux {
            let feeds: Vec<MinifluxFeed> = self.client.get("v1/feeds", &[]).await?;
            return Ok(feeds.into_iter().map(MinifluxFeed::imported).collect());
        }
        let path = "reader/api/0/subscription/list";
        let list: GoogleList = self.client.get(path, &[("output", "json")]).await?;
        let mut feeds = Vec::with_capacity(list.subscriptions.len());
        for one in list.subscriptions {
            let feed = one.imported();
            self.feeds.insert(one.id, feed.url.clone());
            feeds.push(feed);
        }
        Ok(feeds)
    }

    /// Returns a page of a list, newest entries first.
    pub async fn page(&self, list: MarkList, after: Option<&str>) -> Result<MarkPage, CliError> {
        match self.is_miniflux {
            true => self.miniflux_page(list, after).await,
            false => self.google_page(list, after).await,
        }
    }

    async fn miniflux_page(
        &self,
        list: MarkList,
        after: Option<&str>,
    ) -> Result<MarkPage, CliError> {
        let limit = PAGE.to_string();
        let kind = match list {
            MarkList::Starred => ("starred", "true"),
            MarkList::Read => ("status", "read"),
        };
        let mut query =
            vec![("order", "id"), ("direction", "desc"), ("limit", limit.as_str()), kind];
        query.extend(after.map(|id| ("before_entry_id", id)));
        let found: MinifluxEntries = self.client.get("v1/entries", &query).await?;
        Ok(found.page())
    }

    async fn google_page(&self, list: MarkList, after: Option<&str>) -> Result<MarkPage, CliError> {
        let limit = PAGE.to_string();
        let path = match list {
            MarkList::Starred => "reader/api/0/stream/contents/user/-/state/com.google/starred",
            // Not every server has a stream of read entries; this one says what is read.
            MarkList::Read => "reader/api/0/stream/contents/user/-/state/com.google/reading-list",
        };
        let mut query = vec![("output", "json"), ("n", limit.as_str())];
        query.extend(after.map(|continuation| ("c", continuation)));
        let found: GoogleStreamPage = self.client.get(path, &query).await?;
        Ok(found.page(&self.feeds))
    }
}

fn below(mut url: Url, path: &str) -> Url {
    let before = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{before}/{path}"));
    url
}

#[derive(Deserialize)]
struct MinifluxFeed {
    feed_url: String,
    #[serde(default)]
    site_url: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    category: Option<MinifluxCategory>,
}

#[derive(Deserialize)]
struct MinifluxCategory {
    title: String,
}

impl MinifluxFeed {
    fn imported(self) -> ImportedFeed {
        // Every miniflux has a category All for feeds without one.
        let tag = self.category.map(|category| category.title).filter(|title| title != "All");
        let tags = tag.into_iter().collect();
        ImportedFeed { url: self.feed_url, title: self.title, site: self.site_url, tags }
    }
}

#[derive(Deserialize)]
struct MinifluxEntries {
    entries: Vec<MinifluxEntry>,
}

#[derive(Deserialize)]
struct MinifluxEntry {
    id: i64,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    status: String,
    #[serde(default)]
    starred: bool,
    /// When the marks changed last.
    #[serde(default)]
    changed_at: Option<String>,
    feed: MinifluxEntryFeed,
}

#[derive(Deserialize)]
struct MinifluxEntryFeed {
    feed_url: String,
}

impl MinifluxEntries {
    fn page(self) -> MarkPage {
        let is_full = self.entries.len() >= PAGE as usize;
        let next = self.entries.last().filter(|_| is_full).map(|entry| entry.id.to_string());
        let entries = self.entries.into_iter().map(|entry| {
            let at = entry.changed_at.as_deref().and_then(|text| text.parse().ok());
            MarkedEntry {
                feed: entry.feed.feed_url,
                link: entry.url.filter(|url| !url.is_empty()),
                title: entry.title,
                is_read: entry.status == "read",
                starred_at: entry.starred.then(|| at.unwrap_or(Time::from_secs(0))),
            }
        });
        MarkPage { entries: entries.collect(), next }
    }
}

#[derive(Deserialize)]
struct GoogleList {
    subscriptions: Vec<GoogleSubscription>,
}

#[derive(Deserialize)]
struct GoogleSubscription {
    id: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default, rename = "htmlUrl")]
    html_url: Option<String>,
    #[serde(default)]
    categories: Vec<GoogleCategory>,
}

#[derive(Deserialize)]
struct GoogleCategory {
    #[serde(default)]
    label: Option<String>,
}

impl GoogleSubscription {
    fn imported(&self) -> ImportedFeed {
        let of_id = || self.id.strip_prefix("feed/").unwrap_or(&self.id).to_owned();
        let tags = self.categories.iter().filter_map(|category| category.label.clone()).collect();
        ImportedFeed {
            url: self.url.clone().filter(|url| !url.is_empty()).unwrap_or_else(of_id),
            title: self.title.clone(),
            site: self.html_url.clone().filter(|url| !url.is_empty()),
            tags,
        }
    }
}

#[derive(Deserialize)]
struct GoogleStreamPage {
    #[serde(default)]
    items: Vec<GoogleItem>,
    #[serde(default)]
    continuation: Option<String>,
}

#[derive(Deserialize)]
struct GoogleItem {
    #[serde(default)]
    title: Option<String>,
    /// Some servers send a number, others a text.
    #[serde(default)]
    published: Option<serde_json::Value>,
    #[serde(default)]
    canonical: Vec<GoogleLink>,
    #[serde(default)]
    alternate: Vec<GoogleLink>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    origin: GoogleOrigin,
}

#[derive(Deserialize)]
struct GoogleLink {
    href: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoogleOrigin {
    #[serde(rename = "streamId")]
    stream_id: String,
}

impl GoogleStreamPage {
    fn page(self, feeds: &std::collections::HashMap<String, String>) -> MarkPage {
        let next = self.continuation.filter(|text| !text.is_empty() && !self.items.is_empty());
        let entries = self.items.into_iter().map(|item| {
            let has = |state: &str| {
                let end = format!("/state/com.google/{state}");
                item.categories.iter().any(|category| category.ends_with(&end))
            };
            let seconds = item.published.as_ref().and_then(|value| match value {
                serde_json::Value::String(text) => text.parse().ok(),
                other => other.as_i64(),
            });
            let id = &item.origin.stream_id;
            let of_id = || id.strip_prefix("feed/").unwrap_or(id).to_owned();
            let link = item.canonical.first().or(item.alternate.first());
            MarkedEntry {
                feed: feeds.get(id).cloned().unwrap_or_else(of_id),
                link: link.map(|link| link.href.clone()),
                is_read: has("read"),
                starred_at: has("starred").then(|| Time::from_secs(seconds.unwrap_or(0))),
                title: item.title.clone(),
            }
        });
        MarkPage { entries: entries.collect(), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str) -> String {
        let path = format!("{}/tests/data/move_in/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn the_answers_of_miniflux_are_read() {
        let feeds: Vec<MinifluxFeed> =
            serde_json::from_str(&recorded("miniflux_feeds.json")).unwrap();
        let feeds: Vec<ImportedFeed> = feeds.into_iter().map(MinifluxFeed::imported).collect();
        assert_eq!(feeds[0].url, "https://blog.example.org/feed.xml");
        assert_eq!(feeds[0].tags, ["Engineering"]);
        assert!(feeds[1].tags.is_empty(), "All is not a folder");
        let entries: MinifluxEntries =
            serde_json::from_str(&recorded("miniflux_entries.json")).unwrap();
        let page = entries.page();
        assert_eq!(page.next, None);
        assert_eq!(page.entries.len(), 2);
        assert!(page.entries[0].is_read && page.entries[0].starred_at.is_some());
        assert_eq!(page.entries[0].link.as_deref(), Some("https://blog.example.org/first"));
        assert_eq!(page.entries[1].starred_at, None);
    }

    #[test]
    fn the_answers_of_freshrss_are_read() {
        let list: GoogleList =
            serde_json::from_str(&recorded("freshrss_subscriptions.json")).unwrap();
        let feeds = list.subscriptions.iter().map(|one| (one.id.clone(), one.imported().url));
        let feeds: std::collections::HashMap<String, String> = feeds.collect();
        assert_eq!(feeds["feed/52"], "https://blog.example.org/feed.xml");
        assert_eq!(list.subscriptions[0].imported().tags, ["Engineering"]);
        let stream: GoogleStreamPage =
            serde_json::from_str(&recorded("freshrss_stream.json")).unwrap();
        let page = stream.page(&feeds);
        assert_eq!(page.next.as_deref(), Some("1700000000000000"));
        assert_eq!(page.entries[0].feed, "https://blog.example.org/feed.xml");
        assert!(page.entries[0].is_read);
        assert_eq!(page.entries[0].starred_at, Some(Time::from_secs(1_699_999_000)));
        assert!(!page.entries[1].is_read);
        assert_eq!(page.entries[1].link.as_deref(), Some("https://blog.example.org/second"));
    }

    #[test]
    fn the_address_of_freshrss_leads_to_its_api() {
        let at = |text: &str| below(Url::parse(text).unwrap(), "api/greader.php/").to_string();
        assert_eq!(at("https://rss.example"), "https://rss.example/api/greader.php/");
        assert_eq!(at("https://e.org/rss/"), "https://e.org/rss/api/greader.php/");
    }
}
