//! Marks that people bring from another reader. Each waits until its entry is recorded here; then
//! it becomes a read mark or a star. An entry is recognised by its id, else by its link, else by a
//! title that only one entry of the feed has.

use std::collections::HashMap;
use std::time::Duration;

use feed::{EntryId, FeedId, Time};

use crate::db::columns::count;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::reading::marks;
use crate::subscriptions::scope;
use crate::{AccountId, Store, StoreError};

/// A mark whose entry does not appear in this time is dropped.
const WAITS_MAX: Duration = Duration::from_secs(90 * 86_400);
/// Marks and entries of a feed that are compared at once.
const COMPARED_MAX: i64 = 20_000;
/// The longest text that is kept of a link, an id or a title.
const TEXT_BYTES_MAX: usize = 2000;

/// A mark from another reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingMark {
    pub feed: FeedId,
    pub link: Option<String>,
    pub guid: Option<String>,
    pub title: Option<String>,
    pub is_read: bool,
    pub starred_at: Option<Time>,
}

/// The number of marks that found their entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppliedMarks {
    pub n_read: u64,
    pub n_starred: u64,
}

/// A feed whose marks wait, and its newest entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingMarks {
    pub account: AccountId,
    pub feed: FeedId,
    pub last_entry: Option<EntryId>,
}

impl Store {
    /// Returns how far a person has come with moving here from a source.
    pub fn move_in_state(
        &self,
        account: AccountId,
        source: &str,
    ) -> Result<Option<String>, StoreError> {
        self.read(|conn| {
            let sql = "select state from move_ins where account = $1 and source = $2";
            let mut statement = conn.prepare_cached(sql)?;
            Ok(statement.query_row(params![account.0, source], |row| row.get(0)).optional()?)
        })
    }

    /// Stores marks and how far the person has come, together.
    pub fn add_pending_marks(
        &self,
        account: AccountId,
        (source, state): (&str, &str),
        new: Vec<PendingMark>,
        now: Time,
    ) -> Result<(), StoreError> {
        let (source, state) = (source.to_owned(), state.to_owned());
        self.write_own(move |conn| {
            let sql = "insert into pending_marks \
                       (account, feed, link, guid, title, is_read, starred_at, added_at) \
                       select $1, id, $2, $3, $4, $5, $6, $7 from feeds where id = $8";
            let mut statement = conn.prepare_cached(sql)?;
            for mark in new {
                statement.execute(params![
                    account.0,
                    mark.link.map(short),
                    mark.guid.map(short),
                    mark.title.map(short),
                    i64::from(mark.is_read),
                    mark.starred_at.map(Time::millis),
                    now.millis(),
                    mark.feed.0,
                ])?;
            }
            let sql = "insert into move_ins (account, source, state, changed_at) \
                       values ($1, $2, $3, $4) on conflict (account, source) do update set \
                       state = excluded.state, changed_at = excluded.changed_at";
            conn.execute(sql, params![account.0, source, state, now.millis()])?;
            Ok(())
        })
    }

    /// Returns the feeds whose marks wait.
    pub fn waiting_marks(&self) -> Result<Vec<WaitingMarks>, StoreError> {
        self.read(|conn| {
            let sql = "select p.account, p.feed, \
                       (select max(e.id) from entries e where e.feed = p.feed) \
                       from (select distinct account, feed from pending_marks) p \
                       order by p.account, p.feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                let last: Option<i64> = row.get(2)?;
                Ok(WaitingMarks {
                    account: AccountId(row.get(0)?),
                    feed: FeedId(row.get(1)?),
                    last_entry: last.map(EntryId),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Applies the marks of a feed whose entries are recorded. Drops marks that waited too long.
    pub fn apply_pending_marks(
        &self,
        account: AccountId,
        feed: FeedId,
        now: Time,
    ) -> Result<AppliedMarks, StoreError> {
        self.write_own(move |conn| {
            if !scope::is_subscribed(conn, account, feed)? {
                // The person reads the feed no more. A star would show them its entries.
                let sql = "delete from pending_marks where account = $1 and feed = $2";
                conn.execute(sql, params![account.0, feed.0])?;
                return Ok(AppliedMarks::default());
            }
            let waiting = waiting(conn, account, feed)?;
            let known = KnownEntries::read(conn, feed)?;
            let (mut applied, mut read) = (AppliedMarks::default(), Vec::new());
            for (id, mark) in &waiting {
                let Some(entry) = known.find(mark) else { continue };
                if mark.is_read {
                    read.push(entry);
                    applied.n_read += 1;
                }
                if let Some(at) = mark.starred_at {
                    applied.n_starred += marks::star_one(conn, account, entry, at)? as u64;
                }
                conn.execute("delete from pending_marks where id = $1", [*id])?;
            }
            marks::mark(conn, account, &read, true)?;
            let sql = "delete from pending_marks where account = $1 and feed = $2 \
                       and added_at < $3";
            conn.execute(sql, params![account.0, feed.0, (now - WAITS_MAX).millis()])?;
            Ok(applied)
        })
    }

    /// Returns the number of marks of a person that wait, and some of the waiting stars.
    pub fn unmatched_marks(
        &self,
        account: AccountId,
        limit: u32,
    ) -> Result<(u64, Vec<PendingMark>), StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from pending_marks where account = $1";
            let n = conn.query_row(sql, [account.0], |row| count(row, 0))?;
            let sql = "select feed, link, guid, title, is_read, starred_at from pending_marks \
                       where account = $1 and starred_at is not null order by id limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![account.0, limit], |row| mark_row(row, 0))?;
            Ok((n, rows.collect::<Result<_, _>>()?))
        })
    }
}

fn short(mut text: String) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    text.truncate(end);
    text
}

fn mark_row(row: &crate::db::sql::Row<'_>, at: usize) -> crate::db::sql::Result<PendingMark> {
    let starred_at: Option<i64> = row.get(at + 5)?;
    Ok(PendingMark {
        feed: FeedId(row.get(at)?),
        link: row.get(at + 1)?,
        guid: row.get(at + 2)?,
        title: row.get(at + 3)?,
        is_read: row.get::<_, i64>(at + 4)? != 0,
        starred_at: starred_at.map(Time::from_millis),
    })
}

fn waiting(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
) -> Result<Vec<(i64, PendingMark)>, DbError> {
    let sql = "select id, feed, link, guid, title, is_read, starred_at from pending_marks \
               where account = $1 and feed = $2 order by id limit $3";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![account.0, feed.0, COMPARED_MAX], |row| {
        Ok((row.get(0)?, mark_row(row, 1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The entries of a feed by what another reader may know of them.
#[derive(Default)]
struct KnownEntries {
    by_guid: HashMap<String, EntryId>,
    by_link: HashMap<String, EntryId>,
    /// `None`: several entries have the title.
    by_title: HashMap<String, Option<EntryId>>,
}

impl KnownEntries {
    fn read(conn: &Connection, feed: FeedId) -> Result<KnownEntries, DbError> {
        let sql = "select id, guid, link, title from entries where feed = $1 \
                   order by id desc limit $2";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![feed.0, COMPARED_MAX])?;
        let mut known = KnownEntries::default();
        while let Some(row) = &rows.next()? {
            let id = EntryId(row.get(0)?);
            known.add(id, row.get(1)?, row.get(2)?, row.get(3)?);
        }
        Ok(known)
    }

    fn add(
        &mut self,
        id: EntryId,
        guid: Option<String>,
        link: Option<String>,
        title: Option<String>,
    ) {
        if let Some(guid) = guid {
            self.by_guid.entry(guid).or_insert(id);
        }
        if let Some(link) = link {
            self.by_link.entry(plain_link(&link)).or_insert(id);
        }
        if let Some(title) = title.map(|title| plain_title(&title)).filter(|t| !t.is_empty()) {
            self.by_title.entry(title).and_modify(|found| *found = None).or_insert(Some(id));
        }
    }

    fn find(&self, mark: &PendingMark) -> Option<EntryId> {
        let by_guid = mark.guid.as_ref().and_then(|guid| self.by_guid.get(guid));
        let by_link = || {
            let link = mark.link.as_ref()?;
            self.by_link.get(&plain_link(link)).or_else(|| self.by_guid.get(link))
        };
        if let Some(found) = by_guid.or_else(by_link) {
            return Some(*found);
        }
        // A link that no entry has belongs to another entry, whatever its title.
        let has_link = mark.link.as_ref().is_some_and(|_| !self.by_link.is_empty());
        let title = mark.title.as_ref().filter(|_| !has_link).map(|title| plain_title(title));
        title.and_then(|title| self.by_title.get(&title).copied().flatten())
    }
}

/// Removes what readers change in links: the scheme, a fragment, a slash at the end.
fn plain_link(link: &str) -> String {
    let link = link.trim().split('#').next().unwrap_or_default();
    let link = link.split_once("://").map_or(link, |(_, rest)| rest);
    link.trim_end_matches('/').to_owned()
}

fn plain_title(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn an_entry_is_found_by_its_id_its_link_or_a_title_of_its_own() {
        let mut known = KnownEntries::default();
        known.add(EntryId(1), text("tag:1"), text("http://e.org/a/"), text("One  thing"));
        known.add(EntryId(2), text("https://e.org/b"), None, text("Twice"));
        known.add(EntryId(3), text("tag:3"), None, text("twice"));
        let mark = |guid, link, title| PendingMark {
            feed: FeedId(1),
            guid,
            link,
            title,
            is_read: true,
            starred_at: None,
        };
        for (mark, expected) in [
            (mark(text("tag:3"), None, None), Some(3)),
            (mark(None, text("https://e.org/a#comments"), None), Some(1)),
            (mark(None, text("https://e.org/b"), None), Some(2)),
            (mark(None, None, text("one thing")), Some(1)),
            (mark(None, None, text("Twice")), None),
            (mark(None, text("https://e.org/other"), text("One thing")), None),
            (mark(None, None, None), None),
        ] {
            assert_eq!(known.find(&mark).map(|id| id.0), expected, "{mark:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_letter() {
        let cut = short("ü".repeat(TEXT_BYTES_MAX));
        assert!(cut.len() <= TEXT_BYTES_MAX && cut.ends_with('ü'));
    }
}
