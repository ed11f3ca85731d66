//! The regions in which feeds are polled. A feed has its own, or that of its first tag with one.

use std::collections::HashMap;

use feed::FeedId;

use crate::db::sql::params;
use crate::{Store, StoreError};

impl Store {
    /// Sets the region of a feed; `None` removes it.
    pub fn set_feed_region(&self, feed: FeedId, region: Option<&str>) -> Result<(), StoreError> {
        let region = region.map(str::to_owned);
        self.write(move |conn| {
            let sql = "update feeds set region = $1 where id = $2";
            match conn.execute(sql, params![region, feed.0])? {
                0 => Err(StoreError::NoFeed(feed).into()),
                _ => Ok(()),
            }
        })
    }

    /// Sets the region of all feeds with a tag; `None` removes it.
    pub fn set_tag_region(&self, tag: &str, region: Option<&str>) -> Result<(), StoreError> {
        let (tag, region) = (tag.to_owned(), region.map(str::to_owned));
        self.write(move |conn| {
            let sql = "insert into tag_settings (tag, region) values ($1, $2) \
                       on conflict (tag) do update set region = excluded.region";
            conn.execute(sql, params![tag, region])?;
            let sql = "delete from tag_settings where tag = $1 and region is null \
                       and policy is null and alpha_ms is null and beta_ms is null \
                       and weight is null and max_delay_ms is null and paused is null";
            conn.execute(sql, [&tag])?;
            Ok(())
        })
    }

    /// Returns the regions of all feeds that ask for one.
    pub fn regions(&self) -> Result<HashMap<FeedId, String>, StoreError> {
        self.read(|conn| {
            let sql = "select t.feed, s.region, 1, t.tag from tag_settings s \
                       join feed_tags t on t.tag = s.tag where s.region is not null \
                       union all select id, region, 2, '' from feeds where region is not null \
                       order by 3, 4 desc";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((FeedId(row.get(0)?), row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
