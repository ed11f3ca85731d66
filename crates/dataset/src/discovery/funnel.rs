//! Removes duplicates from the feeds of a journal, and draws the sample. It asks nobody. Addresses
//! that were dropped pass through: only feeds are kept in memory.

use parse::discover::{format_twins, n_prefixes};
use serde::{Deserialize, Serialize};

use super::{AskedFeed, DiscoveryCounts, DropReason, JournalLine};
use crate::resources::{ResourceFacts, resource_duplicates};
use crate::sample;

/// An address that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DroppedAddress {
    pub address: String,
    pub reason: DropReason,
    /// The cause in words, or the address that is kept instead.
    pub detail: String,
}

/// A feed that is left at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FinalFeed {
    pub url: String,
    pub title: Option<String>,
    pub format: String,
    /// The page that named it.
    pub found_on: String,
}

/// The lines of a journal, added one by one.
#[derive(Default)]
pub struct Funnel {
    counts: DiscoveryCounts,
    feeds: Vec<FoundFeed>,
    dropped: Vec<DroppedAddress>,
}

struct FoundFeed {
    feed: AskedFeed,
    found_on: String,
}

/// The result of all steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunnelResult {
    pub counts: DiscoveryCounts,
    pub feeds: Vec<FinalFeed>,
    /// The feeds that were dropped as duplicates.
    pub dropped: Vec<DroppedAddress>,
    /// The digest of the population that the sample was drawn from.
    pub population: String,
}

impl Funnel {
    /// Adds a line of the journal. Returns the addresses that it dropped.
    pub fn add(&mut self, line: JournalLine) -> Vec<DroppedAddress> {
        self.counts.read += 1;
        self.counts.links += line.links;
        self.counts.pages_with_links += u64::from(line.links > 0);
        for dropped in &line.dropped {
            self.count(dropped.reason);
            // A page without links may be dropped too; that removes no link.
            let is_link = line.links > 0;
            let is_repeated = dropped.reason.removes_without_asking();
            self.counts.links_not_asked += u64::from(is_link && is_repeated);
        }
        for feed in line.feeds {
            self.feeds.push(FoundFeed { feed, found_on: line.address.clone() });
        }
        line.dropped
    }

    fn count(&mut self, reason: DropReason) {
        let counts = &mut self.counts;
        *match reason {
            DropReason::NotAnAddress => &mut counts.not_an_address,
            DropReason::Unreachable => &mut counts.unreachable,
            DropReason::NotAFeed => &mut counts.not_a_feed,
            DropReason::ExactDuplicate => &mut counts.exact_duplicates,
            DropReason::SessionId => &mut counts.session_urls,
            DropReason::FormatDuplicate => &mut counts.format_duplicates,
            DropReason::ContentDuplicate => &mut counts.content_duplicates,
        } += 1;
    }

    /// Removes format duplicates and content duplicates, and draws a sample of `size` feeds; all
    /// feeds if it is `None`.
    pub fn run(mut self, size: Option<usize>, seed: &str) -> FunnelResult {
        // Workers finish lines in any order. The order of the list decides which twin stays.
        self.feeds.sort_by(|a, b| a.feed.facts.url.cmp(&b.feed.facts.url));
        self.feeds.dedup_by(|a, b| a.feed.facts.url == b.feed.facts.url);
        self.counts.answered = self.feeds.len() as u64;
        let urls: Vec<&str> =
            self.feeds.iter().map(|found| found.feed.facts.url.as_str()).collect();
        self.counts.printed_prefixes = n_prefixes(&urls) as u64;
        let twins = format_twins(&urls);
        let kept_for = |i: usize| urls[i].to_owned();
        let drops: Vec<Option<String>> =
            twins.iter().map(|twin| twin.map(|twin| kept_for(twin.kept()))).collect();
        self.remove(&drops, DropReason::FormatDuplicate);
        let facts: Vec<&ResourceFacts> = self.feeds.iter().map(|found| &found.feed.facts).collect();
        let same = resource_duplicates(&facts);
        let words = |(kept, why): (usize, _)| format!("{why}: {}", facts[kept].url);
        let drops: Vec<Option<String>> = same.into_iter().map(|same| same.map(words)).collect();
        self.remove(&drops, DropReason::ContentDuplicate);
        self.sampled(size, seed)
    }

    /// Removes the feeds that have a detail here.
    fn remove(&mut self, drops: &[Option<String>], reason: DropReason) {
        let feeds = std::mem::take(&mut self.feeds);
        for (found, drop) in feeds.into_iter().zip(drops) {
            match drop {
                None => self.feeds.push(found),
                Some(detail) => {
                    let (address, detail) = (found.feed.facts.url, detail.clone());
                    self.count(reason);
                    self.dropped.push(DroppedAddress { address, reason, detail });
                }
            }
        }
    }

    fn sampled(mut self, size: Option<usize>, seed: &str) -> FunnelResult {
        let urls: Vec<&str> =
            self.feeds.iter().map(|found| found.feed.facts.url.as_str()).collect();
        let population = sample::population_digest(&urls);
        let chosen = sample::sample(&urls, size.unwrap_or(urls.len()), seed);
        self.counts.sampled = chosen.len() as u64;
        let feeds = chosen.into_iter().map(|i| {
            let FoundFeed { feed, found_on } = &self.feeds[i];
            FinalFeed {
                url: feed.facts.url.clone(),
                title: feed.title.clone(),
                format: feed.format.clone(),
                found_on: found_on.clone(),
            }
        });
        let feeds = feeds.collect();
        FunnelResult { counts: self.counts, feeds, dropped: self.dropped, population }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(url: &str, keys: std::ops::Range<u64>) -> AskedFeed {
        let facts = ResourceFacts {
            url: url.to_owned(),
            final_url: url.to_owned(),
            body: keys.start + 1,
            self_link: None,
            keys: keys.collect(),
        };
        AskedFeed { title: None, format: "rss-2.0".to_owned(), facts }
    }

    #[test]
    fn every_step_is_counted_and_every_drop_has_a_reason() {
        let mut funnel = Funnel::default();
        let dropped = |address: &str, reason| DroppedAddress {
            address: address.to_owned(),
            reason,
            detail: String::new(),
        };
        let first = funnel.add(JournalLine {
            line: 1,
            address: "http://a.example/".to_owned(),
            links: 4,
            feeds: vec![
                feed("http://a.example/rss.xml", 0..10),
                feed("http://a.example/atom.xml", 0..10),
            ],
            dropped: vec![
                dropped("http://a.example/x?PHPSESSID=1", DropReason::SessionId),
                dropped("http://a.example/rss.xml", DropReason::ExactDuplicate),
            ],
        });
        funnel.add(JournalLine {
            line: 2,
            address: "http://b.example/".to_owned(),
            links: 1,
            feeds: vec![feed("http://b.example/copy", 0..10), feed("http://b.example/own", 50..60)],
            dropped: Vec::new(),
        });
        funnel.add(JournalLine {
            line: 3,
            address: "http://c.example/".to_owned(),
            links: 0,
            feeds: Vec::new(),
            dropped: vec![dropped("http://c.example/", DropReason::Unreachable)],
        });
        let repeated = dropped("http://b.example/", DropReason::ExactDuplicate);
        funnel.add(JournalLine { line: 4, dropped: vec![repeated], ..JournalLine::default() });
        assert_eq!(first.len(), 2, "drops are handed on");
        let result = funnel.run(Some(1), "7");
        let c = &result.counts;
        assert_eq!((c.read, c.links, c.pages_with_links, c.answered), (4, 5, 2, 4));
        assert_eq!((c.exact_duplicates, c.session_urls, c.unreachable), (2, 1, 1));
        assert_eq!(c.table()[2].ours, 3, "a page that is listed twice is not a link");
        assert_eq!((c.format_duplicates, c.content_duplicates, c.sampled), (1, 1, 1));
        assert_eq!(result.feeds.len(), 1);
        let details: Vec<&str> = result.dropped.iter().map(|d| d.detail.as_str()).collect();
        assert_eq!(details[0], "http://a.example/atom.xml");
        assert!(details[1].ends_with("http://a.example/atom.xml"), "{details:?}");
    }
}
