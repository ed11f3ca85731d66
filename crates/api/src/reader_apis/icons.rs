//! Icons for apps. An app knows an icon by a number: that of the first feed that shows it.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use feed::FeedId;
use store::{IconRow, Store, StoreError};

/// The icons of some feeds.
#[derive(Default)]
pub struct FeedIcons {
    of_feeds: HashMap<FeedId, (u32, String)>,
    hashes: BTreeMap<u32, String>,
}

impl FeedIcons {
    pub fn read(
        store: &Store,
        feeds: impl IntoIterator<Item = FeedId>,
    ) -> Result<FeedIcons, StoreError> {
        let mut ids: Vec<FeedId> = feeds.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let found = store.feed_icons(&ids)?;
        let mut numbers: HashMap<&String, u32> = HashMap::new();
        let mut icons = FeedIcons::default();
        for id in &ids {
            let Some(hash) = found.get(id) else { continue };
            let number = *numbers.entry(hash).or_insert(id.0);
            icons.hashes.entry(number).or_insert_with(|| hash.clone());
            icons.of_feeds.insert(*id, (number, hash.clone()));
        }
        Ok(icons)
    }

    /// Returns number and digest of a feed's icon.
    pub fn of(&self, feed: FeedId) -> Option<(u32, &str)> {
        self.of_feeds.get(&feed).map(|(number, hash)| (*number, hash.as_str()))
    }

    /// Returns each icon once.
    pub fn all(&self) -> impl Iterator<Item = (u32, &str)> {
        self.hashes.iter().map(|(number, hash)| (*number, hash.as_str()))
    }
}

/// Writes an icon as a data address without its scheme.
pub fn data_url(icon: &IconRow) -> String {
    format!("{};base64,{}", icon.mime_type, STANDARD.encode(&icon.bytes))
}
