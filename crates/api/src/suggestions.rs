//! Feeds that the instance suggests to a person, each with its reason, and the popular ones. Page
//! and JSON API show the same lists. The figures come from the store; `suggest` ranks them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use feed::{FeedId, FeedUrl, Time};
use store::{
    AccountId, FeedName, FeedNeighbours, FeedPopularity, PopularityOrder, Store, StoreError,
};
use suggest::{AlsoRead, Neighbour, PEOPLE_MIN, also_read, in_turn};

use crate::sanitise;
use crate::words::plural;

/// Suggestions that are shown at once.
const SHOWN_MAX: usize = 20;
/// Suggestions of each kind that are looked at.
const OF_KIND_MAX: usize = 40;
/// Links count for this long.
const LINKS_COUNT: Duration = Duration::from_secs(30 * 86_400);
/// The feeds of a person that must link to a site.
const FEEDS_MIN: u64 = 3;
/// Popular feeds of one list.
const POPULAR_MAX: u32 = 30;

/// Why a feed is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionKind {
    /// People with some of the same feeds read it.
    AlsoRead,
    /// Several feeds of the person link to its site.
    Linked,
    /// It belongs to a site that the person reads.
    SameSite,
}

impl SuggestionKind {
    pub const fn word(self) -> &'static str {
        match self {
            SuggestionKind::AlsoRead => "also_read",
            SuggestionKind::Linked => "linked",
            SuggestionKind::SameSite => "same_site",
        }
    }
}

/// A feed that is suggested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub url: String,
    pub title: String,
    pub kind: SuggestionKind,
    /// A sentence.
    pub reason: String,
}

/// A feed of a list of popular ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PopularFeed {
    pub feed: FeedId,
    pub url: String,
    pub title: String,
    pub figures: FeedPopularity,
    /// Whether the person reads it.
    pub is_own: bool,
}

/// Returns the suggestions for a person, the best of each kind in turn.
pub fn suggestions(
    store: &Store,
    account: AccountId,
    now: Time,
) -> Result<Vec<Suggestion>, StoreError> {
    let own = store.own_addresses(account)?;
    let mut finder = SuggestionFinder {
        store,
        account,
        own_sites: own.iter().filter_map(|url| feed::site_of(url)).collect(),
        own: own.iter().filter_map(|url| address_key(url)).collect(),
        dismissed: store.dismissed_feeds(account)?,
        names: HashMap::new(),
    };
    let kinds = vec![finder.also_read()?, finder.linked(now)?, finder.same_site()?];
    Ok(in_turn(kinds, |one| one.url.clone(), SHOWN_MAX))
}

/// Returns popular feeds, each with at least three people behind it.
pub fn popular(
    store: &Store,
    account: AccountId,
    order: PopularityOrder,
) -> Result<Vec<PopularFeed>, StoreError> {
    let rows = store.popular_feeds(order, u64::from(PEOPLE_MIN), POPULAR_MAX)?;
    let own = store.read_feeds(account)?;
    let names = store.feed_names_of(account, rows.iter().map(|(feed, _)| *feed))?;
    let shown = rows.into_iter().filter_map(|(feed, figures)| {
        let name = names.get(&feed)?;
        let (url, title) = (name.url.as_str().to_owned(), shown_title(name));
        Some(PopularFeed { feed, url, title, figures, is_own: own.contains(feed) })
    });
    Ok(shown.collect())
}

/// Returns the title of a feed, or else its address.
pub fn shown_title(name: &FeedName) -> String {
    let title = name.title.as_deref().map(sanitise::text);
    title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| name.url.masked())
}

/// The search for suggestions of one person.
struct SuggestionFinder<'a> {
    store: &'a Store,
    account: AccountId,
    /// Addresses that the person does not want.
    dismissed: HashSet<String>,
    /// The addresses of the feeds that the person reads, as [`address_key`] writes them, and their
    /// sites. Private feeds are among them.
    own: HashSet<String>,
    own_sites: HashSet<String>,
    names: HashMap<FeedId, FeedName>,
}

impl SuggestionFinder<'_> {
    fn learn_names(&mut self, feeds: impl IntoIterator<Item = FeedId>) -> Result<(), StoreError> {
        let new: Vec<FeedId> =
            feeds.into_iter().filter(|feed| !self.names.contains_key(feed)).collect();
        self.names.extend(self.store.feed_names_of(self.account, new)?);
        Ok(())
    }

    fn title(&self, feed: FeedId) -> String {
        self.names.get(&feed).map_or_else(|| format!("feed {feed}"), shown_title)
    }

    /// Returns a feed of the instance as a suggestion, unless it was dismissed.
    fn of_instance(
        &self,
        feed: FeedId,
        kind: SuggestionKind,
        reason: String,
    ) -> Option<Suggestion> {
        let name = self.names.get(&feed)?;
        let url = name.url.as_str().to_owned();
        let suggestion = Suggestion { title: shown_title(name), url, kind, reason };
        let is_unwanted = self.dismissed.contains(&suggestion.url) || self.reads(&suggestion.url);
        (!is_unwanted).then_some(suggestion)
    }

    /// Returns whether the person reads this feed, perhaps under a slightly different address.
    fn reads(&self, url: &str) -> bool {
        address_key(url).is_some_and(|key| self.own.contains(&key))
    }

    /// Feeds that people with some of the same feeds read.
    fn also_read(&mut self) -> Result<Vec<Suggestion>, StoreError> {
        let known = neighbours(&self.store.neighbours_of(self.account)?);
        let own = self.store.read_feeds(self.account)?.into_list().unwrap_or_default();
        let own: BTreeSet<FeedId> = own.into_iter().collect();
        let found = also_read(&own, &known, |_| true, OF_KIND_MAX + self.dismissed.len());
        let reasons = found.iter().flat_map(|one| one.because.iter().map(|shared| shared.feed));
        self.learn_names(found.iter().map(|one| one.feed).chain(reasons).collect::<Vec<_>>())?;
        let shown = found.iter().filter_map(|one| {
            self.of_instance(one.feed, SuggestionKind::AlsoRead, self.also_read_reason(one))
        });
        Ok(shown.take(OF_KIND_MAX).collect())
    }

    fn also_read_reason(&self, one: &AlsoRead) -> String {
        let people = |n: u32| plural(u64::from(n), "person", "people");
        let mut parts = one.because.iter().map(|shared| {
            format!("{} who read “{}”", people(shared.people), self.title(shared.feed))
        });
        let first = parts.next().unwrap_or_default();
        match parts.next() {
            Some(second) => format!("{first} also read this, and so do {second}."),
            None => format!("{first} also read this."),
        }
    }

    /// Feeds of sites that several feeds of the person linked to.
    fn linked(&mut self, now: Time) -> Result<Vec<Suggestion>, StoreError> {
        let limit = u32::try_from(OF_KIND_MAX + self.dismissed.len()).unwrap_or(u32::MAX);
        let since = now - LINKS_COUNT;
        let mut sites = self.store.linked_sites_of(self.account, FEEDS_MIN, since, limit)?;
        sites.retain(|site| !self.own_sites.contains(&site.site));
        self.learn_names(sites.iter().flat_map(|site| site.feeds.iter().copied()))?;
        let names: Vec<String> = sites.iter().map(|site| site.site.clone()).collect();
        let mut feeds = self.store.site_feeds(&names)?;
        // The first feed that a page names is its main one. The others may be for comments.
        feeds.dedup_by(|later, first| later.site == first.site);
        let mut found = Vec::new();
        for one in feeds {
            let Some(site) = sites.iter().find(|site| site.site == one.site) else { continue };
            let titles: Vec<String> =
                site.feeds.iter().map(|feed| format!("“{}”", self.title(*feed))).collect();
            let reason = format!(
                "{} of your feeds linked to {} in the last 30 days, among them {}.",
                site.n_feeds,
                site.site,
                titles.join(", ")
            );
            found.extend(self.of_site(&one.url, one.title, SuggestionKind::Linked, reason)?);
        }
        Ok(found)
    }

    /// Other feeds of sites that the person reads.
    fn same_site(&mut self) -> Result<Vec<Suggestion>, StoreError> {
        let limit = u32::try_from(OF_KIND_MAX).unwrap_or(u32::MAX);
        let people = u64::from(PEOPLE_MIN);
        let feeds = self.store.feeds_of_own_sites(self.account, people, limit)?;
        let sites: HashMap<String, FeedId> = self.store.sites_of(self.account)?;
        let own = sites.values().copied().chain(feeds.iter().map(|(feed, _)| *feed));
        self.learn_names(own.collect::<Vec<_>>())?;
        let reason = |finder: &Self, site: &str| {
            let own = sites.get(site).map(|feed| finder.title(*feed)).unwrap_or_default();
            format!("It is another feed of {site}, where you read “{own}”.")
        };
        let mut found: Vec<Suggestion> = feeds
            .iter()
            .filter_map(|(feed, site)| {
                self.of_instance(*feed, SuggestionKind::SameSite, reason(self, site))
            })
            .collect();
        let names: Vec<String> =
            sites.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        for one in self.store.site_feeds(&names)? {
            let why = reason(self, &one.site);
            found.extend(self.of_site(&one.url, one.title, SuggestionKind::SameSite, why)?);
        }
        found.truncate(OF_KIND_MAX);
        Ok(found)
    }

    /// Returns a feed that a page names as a suggestion, unless the person has or dismissed it.
    fn of_site(
        &self,
        url: &str,
        title: Option<String>,
        kind: SuggestionKind,
        reason: String,
    ) -> Result<Option<Suggestion>, StoreError> {
        let Ok(parsed) = FeedUrl::parse(url) else { return Ok(None) };
        let is_known = |url: &str| Ok(self.store.find_feed_of(self.account, url)?.is_some());
        let is_unwanted = self.dismissed.contains(url) || self.reads(url);
        if is_unwanted || is_known(url)? || is_known(parsed.twin().as_str())? {
            return Ok(None);
        }
        let title = title.map(|title| sanitise::text(&title));
        let title = title.filter(|title| !title.trim().is_empty());
        let title = title.unwrap_or_else(|| parsed.masked());
        Ok(Some(Suggestion { url: url.to_owned(), title, kind, reason }))
    }
}

/// Returns an address without the parts in which two addresses of one feed often differ: scheme,
/// login, `www.` and a slash at the end.
fn address_key(url: &str) -> Option<String> {
    let parsed = FeedUrl::parse(url).ok()?;
    let url = parsed.url();
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    Some(format!("{host}{}{query}", url.path().trim_end_matches('/')))
}

fn neighbours(stored: &FeedNeighbours) -> BTreeMap<FeedId, Vec<Neighbour>> {
    let list = |rows: &Vec<store::FeedNeighbour>| -> Vec<Neighbour> {
        let row = |one: &store::FeedNeighbour| Neighbour {
            feed: one.other,
            people: u32::try_from(one.people).unwrap_or(u32::MAX),
            similarity: one.similarity,
        };
        rows.iter().map(row).collect()
    };
    stored.iter().map(|(feed, rows)| (*feed, list(rows))).collect()
}
