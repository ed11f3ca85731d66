//! Tags with the number of their feeds and of what is unread in them, for a sidebar.

use std::collections::HashMap;

use feed::FeedId;

use crate::{Store, StoreError};

/// A tag that some feed has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFeeds {
    pub tag: String,
    pub n_feeds: u64,
    /// Unread entries of its feeds.
    pub unread: u64,
}

/// By name; in the order of an index that holds all that is asked for.
const TAGGED: &str = "select tag, feed from feed_tags order by tag, feed";

impl Store {
    /// All tags that feeds have, by name, with the sums of what is unread in their feeds.
    pub fn tag_feeds(&self, unread: &HashMap<FeedId, u64>) -> Result<Vec<TagFeeds>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(TAGGED)?;
            let mut rows = statement.query([])?;
            let mut tags: Vec<TagFeeds> = Vec::new();
            while let Some(row) = rows.next()? {
                let tag = row.get_ref(0)?.as_str()?;
                let unread = unread.get(&FeedId(row.get(1)?)).copied().unwrap_or(0);
                match tags.last_mut().filter(|last| last.tag == tag) {
                    Some(last) => {
                        last.n_feeds += 1;
                        last.unread += unread;
                    }
                    None => tags.push(TagFeeds { tag: tag.to_owned(), n_feeds: 1, unread }),
                }
            }
            Ok(tags)
        })
    }
}
