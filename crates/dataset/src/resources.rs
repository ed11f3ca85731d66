//! Resource duplicates: different addresses of one feed. The dissertation (003, section 3.4.4)
//! names them and does not look for them, because it would have to compare contents.
//!
//! Two feeds are the same resource if they redirect to one address, or if their first documents
//! are equal. They are also the same if both name one address as their own, or if their entries
//! are the same. Addresses
//! that differ only in http/https or in `www.` are a kind of their own. The result is a report:
//! nothing is merged. The time grows with the number of feeds and entries, not with the pairs.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Feeds with fewer entries are not compared by entries: a few equal entries prove little.
const ENTRIES_MIN: usize = 5;
/// The smallest share of common entries, in tenths.
const SHARE_TENTHS: usize = 9;
/// The entries that are kept of one feed. Longer feeds are compared by these, the ones with the
/// smallest digests, which are the same in both.
pub const KEYS_MAX: usize = 100;

/// The facts of a feed by which it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ResourceFacts {
    pub url: String,
    /// The address after all redirects.
    pub final_url: String,
    /// A digest of the document's bytes; 0: unknown.
    pub body: u64,
    /// The address that the document names as its own.
    pub self_link: Option<String>,
    /// Digests of the entries' keys, sorted, at most [`KEYS_MAX`].
    pub keys: Vec<u64>,
}

/// The reason why two addresses are one feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameResource {
    /// Equal but for http/https or `www.`.
    SchemeOrWww,
    Redirect,
    Body,
    SelfLink,
    /// At least nine tenths of five or more entries: probably the same.
    Entries,
}

impl fmt::Display for SameResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SameResource::SchemeOrWww => "differs only in http/https or www",
            SameResource::Redirect => "redirects to the same address",
            SameResource::Body => "has the same document",
            SameResource::SelfLink => "names the same address as its own",
            SameResource::Entries => "has the same entries, so it is probably the same feed",
        })
    }
}

/// Returns the digests of keys as [`ResourceFacts`] keep them.
pub fn key_digests<'a>(keys: impl Iterator<Item = &'a feed::EntryKey>) -> Vec<u64> {
    let digest = |key: &feed::EntryKey| {
        let (_rule, digest) = key.bytes().split_at(8);
        digest.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let mut digests: Vec<u64> = keys.map(digest).collect();
    digests.sort_unstable();
    digests.dedup();
    digests.truncate(KEYS_MAX);
    digests
}

/// Returns for each feed the earlier feed that it duplicates, with the reason.
pub fn resource_duplicates(feeds: &[&ResourceFacts]) -> Vec<Option<(usize, SameResource)>> {
    let mut found: Vec<Option<(usize, SameResource)>> = vec![None; feeds.len()];
    let plain = |feed: &ResourceFacts| Some(without_scheme_and_www(&feed.url));
    first_with(feeds, &mut found, SameResource::SchemeOrWww, plain);
    first_with(feeds, &mut found, SameResource::Redirect, |feed| Some(feed.final_url.clone()));
    // Empty feeds of one program have equal documents and are different feeds.
    first_with(feeds, &mut found, SameResource::Body, |feed| {
        (!feed.keys.is_empty() && feed.body != 0).then_some(feed.body)
    });
    by_self_link(feeds, &mut found);
    by_entries(feeds, &mut found);
    found
}

/// Marks every feed whose value an earlier feed has too.
fn first_with<K: std::hash::Hash + Eq>(
    feeds: &[&ResourceFacts],
    found: &mut [Option<(usize, SameResource)>],
    why: SameResource,
    value: impl Fn(&ResourceFacts) -> Option<K>,
) {
    let mut first: HashMap<K, usize> = HashMap::new();
    for (i, feed) in
        feeds.iter().enumerate().filter(|(i, _)| found[*i].is_none()).collect::<Vec<_>>()
    {
        let Some(value) = value(feed) else { continue };
        let kept = *first.entry(value).or_insert(i);
        if kept != i {
            found[i] = Some((kept, why));
        }
    }
}

/// Marks feeds that name the same address as their own. Some sites name one address in all their
/// feeds, so the feeds must share an entry too.
fn by_self_link(feeds: &[&ResourceFacts], found: &mut [Option<(usize, SameResource)>]) {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, feed) in feeds.iter().enumerate() {
        let own = feed.self_link.as_deref().unwrap_or(&feed.url);
        let before = named.entry(own).or_default();
        if found[i].is_some() {
            continue;
        }
        let shares = |j: &&usize| n_common(&feeds[**j].keys, &feed.keys) > 0;
        match before.iter().find(shares) {
            Some(kept) => found[i] = Some((*kept, SameResource::SelfLink)),
            // A site with many feeds under one name would make this quadratic.
            None if before.len() < 8 => before.push(i),
            None => {}
        }
    }
}

/// Marks feeds with the same entries. Two sets with nine tenths in common share one of their
/// smallest elements, so each feed is listed under a few of them only.
fn by_entries(feeds: &[&ResourceFacts], found: &mut [Option<(usize, SameResource)>]) {
    let mut listed: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, feed) in feeds.iter().enumerate() {
        let n = feed.keys.len();
        if n < ENTRIES_MIN || found[i].is_some() {
            continue;
        }
        let n_prefix = n - (n * SHARE_TENTHS).div_ceil(10) + 1;
        let prefix = &feed.keys[..n_prefix];
        let others = prefix.iter().filter_map(|key| listed.get(key)).flatten();
        if let Some(kept) = others.copied().find(|j| are_alike(&feeds[*j].keys, &feed.keys)) {
            found[i] = Some((kept, SameResource::Entries));
            continue;
        }
        for key in prefix {
            let feeds = listed.entry(*key).or_default();
            // An entry that hundreds of feeds copy says nothing about them.
            if feeds.len() < 64 {
                feeds.push(i);
            }
        }
    }
}

/// Returns whether the Jaccard index of two sorted sets is nine tenths or more.
fn are_alike(a: &[u64], b: &[u64]) -> bool {
    let common = n_common(a, b);
    common * 10 >= (a.len() + b.len() - common) * SHARE_TENTHS
}

fn n_common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    common
}

/// Returns an address without its scheme and a leading `www.`.
fn without_scheme_and_www(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duplicates(feeds: &[ResourceFacts]) -> Vec<Option<(usize, SameResource)>> {
        resource_duplicates(&feeds.iter().collect::<Vec<_>>())
    }

    fn facts(url: &str, body: u64, keys: std::ops::Range<u64>) -> ResourceFacts {
        ResourceFacts {
            url: url.to_owned(),
            final_url: url.to_owned(),
            body,
            self_link: None,
            keys: keys.map(|k| k * 7919).collect(),
        }
    }

    #[test]
    fn each_kind_of_duplicate_is_found_and_named() {
        let first = facts("https://a.example/feed", 1, 0..10);
        let www = facts("http://www.a.example/feed", 2, 100..110);
        let mut moved = facts("https://b.example/", 3, 200..210);
        moved.final_url.clone_from(&first.final_url);
        let equal = facts("https://c.example/", 1, 0..10);
        let mut own = facts("https://d.example/", 4, 5..30);
        own.self_link = Some(first.url.clone());
        let copied = facts("https://e.example/", 5, 0..10);
        let found = duplicates(&[first, www, moved, equal, own, copied]);
        let expect = [
            None,
            Some((0, SameResource::SchemeOrWww)),
            Some((0, SameResource::Redirect)),
            Some((0, SameResource::Body)),
            Some((0, SameResource::SelfLink)),
            Some((0, SameResource::Entries)),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn feeds_that_share_little_are_different() {
        let a = facts("https://a.example/", 1, 0..20);
        let nearly = facts("https://b.example/", 2, 3..23);
        let few = facts("https://c.example/", 3, 0..4);
        let (mut empty, mut empty_too) = (facts("https://d.example/", 9, 0..0), a.clone());
        empty_too.url = "https://e.example/".to_owned();
        empty_too.final_url.clone_from(&empty_too.url);
        empty_too.keys.clear();
        (empty.body, empty_too.body) = (9, 9);
        assert_eq!(duplicates(&[a, nearly, few, empty, empty_too]), [None; 5]);
    }

    /// 10,000 different feeds of 1,000 sites. Feeds of one site share some entries, and one entry
    /// in ten is copied by a feed of another site.
    #[test]
    fn ten_thousand_different_feeds_have_no_duplicate() {
        let mut chance = lab::Chance::new(4, 0);
        let mut feeds: Vec<ResourceFacts> = Vec::new();
        for n in 0..10_000_u64 {
            let site = n / 10;
            let mut keys: Vec<u64> = (0..20)
                .map(|k| match chance.unit() {
                    share if share < 0.3 => site * 1_000_003 + k,
                    share if share < 0.4 => (chance.unit() * 20_000.0) as u64,
                    _ => n * 1_000_000_007 + k,
                })
                .map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect();
            keys.sort_unstable();
            keys.dedup();
            let url = format!("https://site{site}.example/part{n}/feed");
            let (final_url, body) = (url.clone(), n + 1);
            feeds.push(ResourceFacts { url, final_url, body, self_link: None, keys });
        }
        assert_eq!(duplicates(&feeds).iter().flatten().count(), 0);
        let urls: Vec<&str> = feeds.iter().map(|feed| feed.url.as_str()).collect();
        assert_eq!(parse::discover::format_twins(&urls).iter().flatten().count(), 0);
    }

    /// Nine tenths of 20 entries: 19 common of 21 in all is enough, 18 of 22 is not.
    #[test]
    fn the_limit_is_nine_tenths() {
        let a = facts("https://a.example/", 1, 0..20);
        let alike = facts("https://b.example/", 2, 1..21);
        let unlike = facts("https://c.example/", 3, 2..22);
        assert_eq!(duplicates(&[a.clone(), alike])[1], Some((0, SameResource::Entries)));
        assert_eq!(duplicates(&[a, unlike])[1], None);
    }

    #[test]
    fn no_two_of_ten_thousand_different_feeds_are_the_same() {
        let feeds: Vec<ResourceFacts> = (0..10_000)
            .map(|i| facts(&format!("https://{i}.example/"), i, i * 40..i * 40 + 5 + i % 30))
            .collect();
        assert_eq!(duplicates(&feeds).iter().flatten().count(), 0);
    }
}
