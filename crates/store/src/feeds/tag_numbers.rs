//! Numbers of tags, for reader apps that identify tags by numbers. A renamed tag keeps its number.
//! A tag without feeds is listed only if an app created it.

use crate::db::sql::{Connection, OptionalExtension, params};

use crate::db::columns::count;
use crate::error::DbError;
use crate::{NumberedTag, Store, StoreError};

impl Store {
    /// Returns every tag that a feed has or an app created, in the order of the person at the
    /// machine, then by number. A tag without a number gets one.
    pub fn numbered_tags(&self) -> Result<Vec<NumberedTag>, StoreError> {
        let complete = self.read(|conn| {
            let sql = "select 1 from feed_tags f where not exists \
                       (select 1 from tag_numbers n where n.tag = f.tag) limit 1";
            Ok(!conn.prepare_cached(sql)?.exists([])?)
        })?;
        if !complete {
            self.write_own(number_all)?;
        }
        self.read(|conn| {
            let sql = "select n.id, n.tag, case n.tag when '' then (select count(*) from feeds f \
                         where not exists (select 1 from feed_tags t where t.feed = f.id)) \
                       else (select count(*) from feed_tags t where t.tag = n.tag) end as feeds \
                       from tag_numbers n where n.made = 1 \
                       or exists (select 1 from feed_tags t where t.tag = n.tag) \
                       order by n.id <> 1, n.position is null, n.position, n.id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(NumberedTag { number: row.get(0)?, tag: row.get(1)?, n_feeds: count(row, 2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Creates a tag, also without feeds, and returns its number.
    pub fn make_tag(&self, tag: &str) -> Result<i64, StoreError> {
        let tag = tag.to_owned();
        self.write_own(move |conn| {
            let sql = "insert into tag_numbers (tag, made) values ($1, 1) \
                       on conflict (tag) do update set made = 1 returning id";
            Ok(conn.query_row(sql, [tag], |row| row.get(0))?)
        })
    }

    /// Returns the tag with a number, also if no feed has it.
    pub fn tag_numbered(&self, number: i64) -> Result<Option<String>, StoreError> {
        self.read(|conn| {
            let sql = "select tag from tag_numbers where id = $1";
            Ok(conn.prepare_cached(sql)?.query_row([number], |row| row.get(0)).optional()?)
        })
    }
}

/// Gives a number to every tag that has none.
pub(crate) fn number_all(conn: &Connection) -> Result<(), DbError> {
    let sql = "insert into tag_numbers (tag, made) select distinct tag, 0 \
               from feed_tags where true order by tag on conflict (tag) do nothing";
    conn.execute(sql, [])?;
    Ok(())
}

/// Moves the number of a tag to its new name, unless the new name has a number already.
pub(crate) fn rename(conn: &Connection, tag: &str, to: &str) -> Result<(), DbError> {
    let sql = "update tag_numbers set tag = $1 where tag = $2 \
               and not exists (select 1 from tag_numbers where tag = $1)";
    conn.execute(sql, params![to, tag])?;
    Ok(())
}
