//! Lists of subscriptions without names, and the feeds that have subscribers in common.

use std::collections::{BTreeMap, BTreeSet};

use feed::FeedId;

use crate::db::columns::count;
use crate::db::sql::{Connection, Row, params};
use crate::error::DbError;
use crate::statistics::counted::{IS_COUNTED, IS_OPEN};
use crate::{AccountId, Store, StoreError};

/// Feeds whose neighbours are written in one transaction.
const WRITTEN_AT_ONCE: usize = 20;

/// A feed that has subscribers in common with another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedNeighbour {
    pub other: FeedId,
    pub people: u64,
    pub similarity: f64,
}

/// The neighbours of each feed.
pub type FeedNeighbours = BTreeMap<FeedId, Vec<FeedNeighbour>>;

impl Store {
    /// Returns the subscriptions of each account that wants to be counted, without its name.
    pub fn counted_subscriptions(&self) -> Result<Vec<Vec<FeedId>>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select account, feed from subscriptions where {IS_COUNTED} and {IS_OPEN} \
                 order by account, feed"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.scan([])?;
            let (mut lists, mut last): (Vec<Vec<FeedId>>, _) = (Vec::new(), 0_i64);
            while let Some(row) = &rows.next()? {
                let account: i64 = row.get(0)?;
                if account != last || lists.is_empty() {
                    lists.push(Vec::new());
                    last = account;
                }
                let feed = FeedId(row.get(1)?);
                lists.last_mut().into_iter().for_each(|list| list.push(feed));
            }
            Ok(lists)
        })
    }

    /// Stores the neighbours of all feeds. Returns the number of feeds whose neighbours have
    /// changed.
    pub fn put_neighbours(&self, mut all: FeedNeighbours) -> Result<usize, StoreError> {
        all.values_mut().for_each(|list| list.sort_by_key(|one| one.other));
        let before = self.read(|conn| {
            let sql = "select feed, other, people, similarity from feed_neighbours \
                       order by feed, other";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.scan([])?;
            let mut before = FeedNeighbours::new();
            while let Some(row) = &rows.next()? {
                before.entry(FeedId(row.get(0)?)).or_default().push(neighbour(row)?);
            }
            Ok(before)
        })?;
        let feeds: BTreeSet<FeedId> = before.keys().chain(all.keys()).copied().collect();
        let mut changed: Vec<(FeedId, Vec<FeedNeighbour>)> = Vec::new();
        for feed in feeds {
            if before.get(&feed) != all.get(&feed) {
                changed.push((feed, all.remove(&feed).unwrap_or_default()));
            }
        }
        for part in changed.chunks(WRITTEN_AT_ONCE) {
            let part = part.to_vec();
            self.write(move |conn| part.iter().try_for_each(|one| write(conn, one.0, &one.1)))?;
        }
        Ok(changed.len())
    }

    /// Returns the neighbours of the feeds of an account, without those that got a secret since.
    pub fn neighbours_of(&self, account: AccountId) -> Result<FeedNeighbours, StoreError> {
        self.read(|conn| {
            let sql = "select n.feed, n.other, n.people, n.similarity from subscriptions s \
                       join feed_neighbours n on n.feed = s.feed where s.account = $1 \
                       and n.other not in (select feed from private_feeds) \
                       order by n.feed, n.other";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([account.0])?;
            let mut found = FeedNeighbours::new();
            while let Some(row) = &rows.next()? {
                found.entry(FeedId(row.get(0)?)).or_default().push(neighbour(row)?);
            }
            Ok(found)
        })
    }
}

fn neighbour(row: &Row<'_>) -> crate::db::sql::Result<FeedNeighbour> {
    let (other, people) = (FeedId(row.get(1)?), count(row, 2)?);
    Ok(FeedNeighbour { other, people, similarity: row.get(3)? })
}

/// Replaces the neighbours of a feed. Feeds that were removed meanwhile are left out.
fn write(conn: &Connection, feed: FeedId, list: &[FeedNeighbour]) -> Result<(), DbError> {
    conn.prepare_cached("delete from feed_neighbours where feed = $1")?.execute([feed.0])?;
    let sql = "insert into feed_neighbours (feed, other, people, similarity) \
               select a.id, b.id, $1, $2 from feeds a, feeds b where a.id = $3 and b.id = $4";
    let mut statement = conn.prepare_cached(sql)?;
    for one in list {
        let people = one.people.cast_signed();
        statement.execute(params![people, one.similarity, feed.0, one.other.0])?;
    }
    Ok(())
}
