//! Tags with the number of their feeds and unread entries, for a sidebar.

use std::collections::HashMap;

use feed::FeedId;

use crate::{Store, StoreError};

/// A tag that at least one feed has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFeeds {
    pub tag: String,
    pub n_feeds: u64,
    /// Unread entries of its feeds.
    pub unread: u64,
}

/// In the order of an index that contains both columns.
const TAGGED: &str = "select tag, feed from feed_tags order by tag, feed";

impl Store {
    /// Returns all tags that feeds have, in the order of the person at the machine and then by
    /// name, with the unread entries of their feeds.
    pub fn tag_feeds(&self, unread: &HashMap<FeedId, u64>) -> Result<Vec<TagFeeds>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(TAGGED)?;
            let mut rows = statement.query([])?;
            let mut tags: Vec<TagFeeds> = Vec::new();
            while let Some(row) = &rows.next()? {
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
            let sql = "select tag, position from tag_numbers where position is not null";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let places: HashMap<String, i64> = rows.collect::<Result<_, _>>()?;
            tags.sort_by_key(|tag| places.get(&tag.tag).copied().unwrap_or(i64::MAX));
            Ok(tags)
        })
    }
}
