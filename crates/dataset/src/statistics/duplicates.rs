//! Feeds that are in a population twice: in two formats, or at two addresses (003, section 3.4.4).
//! Entries are compared by a small sample of their keys, so that long recordings need little
//! memory.

use std::collections::BTreeMap;

use super::PopulationBuilder;
use super::facts::{StatSection, share};
use crate::discovery::own_duplicates;
use crate::resources::ResourceFacts;

/// The keys that are kept of a feed: those with the smallest digests, which are the same in two
/// feeds with the same entries.
const KEYS: usize = 25;

/// Adds a key to the smallest ones of a feed.
pub(super) fn keep_key(keys: &mut Vec<u64>, key: &str) {
    let digest = number(&key[key.len().saturating_sub(16)..]);
    let place = keys.partition_point(|kept| *kept < digest);
    if place < KEYS && keys.get(place) != Some(&digest) {
        keys.insert(place, digest);
        keys.truncate(KEYS);
    }
}

/// Reads the digits of a digest. Other texts become 0, which means unknown.
fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex, 16).unwrap_or(0)
}

pub(super) fn duplicates(all: &PopulationBuilder) -> StatSection {
    let facts: Vec<ResourceFacts> = all
        .feeds
        .iter()
        .zip(&all.tallies)
        .map(|(feed, tally)| ResourceFacts {
            url: feed.url.clone(),
            final_url: feed.url.clone(),
            body: tally.last_document.as_deref().and_then(|d| d.get(..16)).map_or(0, number),
            self_link: None,
            keys: tally.keys.clone(),
        })
        .collect();
    let found = own_duplicates(&facts);
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for pair in &found {
        *kinds.entry(pair.why.clone()).or_default() += 1;
    }
    let mut facts = vec![share("duplicates", found.len() as u64, all.n_all(), None)];
    let published = |why: &str| match why.contains("another format") {
        true => "removed before (25.9 % of the addresses)",
        false => "extremely rare, not looked for",
    };
    for (why, n) in kinds {
        let published = Some(published(&why));
        facts.push(share(why, n, all.n_all(), published));
    }
    StatSection::new("duplicates", "Duplicates", "3.4.4", facts)
        .with_remark("A duplicate is a guess by address, document or entries. Nothing is merged.")
}
