//! The figures of all feeds for the page, and the feeds that are probably subscribed twice.

use api::population::{PopulationResult, PopulationScope, PopulationSection, TwinFeeds};
use dataset::discovery::{ProposedDuplicate, own_duplicates};
use dataset::report;
use dataset::resources::{ResourceFacts, key_digests};
use dataset::statistics::StatSection;
use feed::FeedId;
use store::Store;

use super::{export, stats};
use crate::error::CliError;

/// Pairs on the page of feeds. More would hide the table.
const TWINS_MAX: usize = 100;

/// Calculates the figures for the page.
pub fn figures(store: &Store, scope: PopulationScope) -> Result<PopulationResult, String> {
    let population = match scope {
        PopulationScope::All => stats::of_store(store),
        PopulationScope::Public => stats::of_feeds(store, export::is_exported),
    };
    let population = population.map_err(|error| error.to_string())?;
    let page = report::page(&population, "Population", "", env!("CARGO_PKG_VERSION"));
    let sections = population.sections.iter().map(section).collect();
    Ok(PopulationResult { made_at: String::new(), lead: page.lead, sections })
}

fn section(section: &StatSection) -> PopulationSection {
    PopulationSection {
        name: section.name.to_owned(),
        title: section.title.to_owned(),
        source: section.source.to_owned(),
        remarks: section.remarks.clone(),
        rows: report::rows(section),
        svg: report::figure(section).map(|figure| figure.svg),
    }
}

/// The feeds of an instance that are probably the same, with their addresses.
pub struct OwnDuplicates {
    pub feeds: Vec<(FeedId, String)>,
    pub pairs: Vec<ProposedDuplicate>,
}

/// Compares all feeds. Nothing is merged.
pub fn own(store: &Store) -> Result<OwnDuplicates, CliError> {
    let mut feeds = Vec::new();
    let mut facts = Vec::new();
    store.poll_inputs(|input| {
        // A body without a hash is unknown and equals no other.
        let hash = input.document.body_hash.unwrap_or_default();
        let keys: Vec<_> = input.document.window.entries().iter().map(|entry| entry.key).collect();
        facts.push(ResourceFacts {
            url: input.location.url.as_str().to_owned(),
            final_url: input.location.current().as_str().to_owned(),
            body: hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
            self_link: None,
            keys: key_digests(keys.iter()),
        });
        feeds.push((input.id, input.location.url.masked()));
    })?;
    Ok(OwnDuplicates { pairs: own_duplicates(&facts), feeds })
}

/// Returns the duplicates for the page of feeds.
pub fn twins(store: &Store) -> Result<Vec<TwinFeeds>, CliError> {
    let own = own(store)?;
    let mut found = Vec::new();
    for pair in own.pairs.iter().take(TWINS_MAX) {
        let title = |place: usize| -> Result<String, CliError> {
            let (id, url) = &own.feeds[place];
            let row = store.feed(*id)?;
            // Twins often have the same title; the address tells them apart.
            Ok(row.shown_title().map_or_else(|| url.clone(), |title| format!("{title} ({url})")))
        };
        found.push(TwinFeeds {
            feed: own.feeds[pair.superfluous].0.0,
            title: title(pair.superfluous)?,
            kept: own.feeds[pair.kept].0.0,
            kept_title: title(pair.kept)?,
            why: pair.why.clone(),
        });
    }
    Ok(found)
}
