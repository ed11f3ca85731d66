//! Creates, replaces and drops standing queries. One job of the writer changes the rows, adds the
//! feeds that only queries need, and updates the matcher.

use std::collections::BTreeSet;

use crate::db::sql::{Connection, OptionalExtension, Row, params};
use feed::{EntryId, FeedId, FeedUrl, Time};

use crate::db::columns::{count, time};
use crate::db::sequence;
use crate::error::DbError;
use crate::feeds::subscribing::{self, by_url_of};
use crate::feeds::{change, private_matches, state};
use crate::matching::{EntryMatcher, put_stored, scope_columns};
use crate::queries::replay::PastReplay;
use crate::subscriptions::limits::check_queries;
use crate::{AccountId, QueryId, QueryScope, Store, StoreError};

/// A stored query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRow {
    pub id: QueryId,
    pub name: String,
    /// The statement as it was written.
    pub text: String,
    pub created_at: Time,
    pub changed_at: Time,
    /// The position of the last match; 0 before the first.
    pub last_position: i64,
    pub link_key: String,
    pub signing_key: String,
    pub scope: QueryScope,
}

/// A change of the set of queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryChange {
    /// Creates a query, or replaces the one with this name.
    Put(NewQuery),
    /// Drops the query with this name, if there is one.
    Drop(String),
}

/// A query to be created, or to replace another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQuery {
    pub name: String,
    pub text: String,
    /// The addresses that must be feeds for this query.
    pub urls: Vec<FeedUrl>,
    /// The receivers of its matches. Known receivers continue at their position.
    pub receivers: Vec<String>,
    /// Used only if the name is new: a query keeps its owner.
    pub scope: QueryScope,
    /// Both keys are used only if the name is new.
    pub link_key: String,
    pub signing_key: String,
}

/// The effects of changed queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueriesChanged {
    /// Feeds to poll from now on.
    pub wanted: Vec<FeedId>,
    /// Feeds that no query and no person needs any more.
    pub unwanted: Vec<FeedId>,
    /// Stored entries that became matches.
    pub n_past: u64,
}

/// The prefix of tags that mark feeds of queries. Pages do not show them.
pub const QUERY_TAG: &str = "query:";

/// Returns the tag of feeds that a query has added.
fn tag_of(name: &str) -> String {
    format!("{QUERY_TAG}{name}")
}

pub(crate) const COLUMNS: &str = "select id, name, text, created_at, changed_at, last_position, \
    link_key, signing_key, owner, shared from queries ";

impl Store {
    /// Installs a matcher, which sees every entry that is recorded from now on. First the stored
    /// queries are loaded into it.
    pub fn install(&self, matcher: Box<dyn EntryMatcher>) -> Result<(), StoreError> {
        let slot = self.matcher();
        self.write(move |conn| slot.install(conn, matcher))
    }

    /// Returns all queries, by name.
    pub fn queries(&self) -> Result<Vec<QueryRow>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(&format!("{COLUMNS} order by name"))?;
            let rows = statement.query_map([], query_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn query(&self, name: &str) -> Result<Option<QueryRow>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(&format!("{COLUMNS} where name = $1"))?;
            Ok(statement.query_row([name], query_row).optional()?)
        })
    }

    pub fn query_numbered(&self, id: QueryId) -> Result<Option<QueryRow>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(&format!("{COLUMNS} where id = $1"))?;
            Ok(statement.query_row([id.0], query_row).optional()?)
        })
    }

    /// Returns how many matches of a query are stored.
    pub fn n_query_entries(&self, id: QueryId) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from query_entries where query = $1";
            Ok(conn.prepare_cached(sql)?.query_row([id.0], |row| count(row, 0))?)
        })
    }

    /// Makes all changes or none. With `past`, entries seen since that time become matches too,
    /// before any new one, if the created queries match them. The caller must prevent other changes
    /// of queries meanwhile; polls may be recorded.
    pub fn change_queries(
        &self,
        changes: Vec<QueryChange>,
        past: Option<Time>,
        now: Time,
    ) -> Result<QueriesChanged, StoreError> {
        let past = match past {
            Some(since) => self.replay_past(&changes, since)?,
            None => None,
        };
        let slot = self.matcher();
        let past_from = past.as_ref().map(PastReplay::from);
        self.write(move |conn| {
            let mut changed = QueriesChanged::default();
            let (mut put, mut dropped) = (Vec::new(), Vec::new());
            for change in &changes {
                match change {
                    QueryChange::Put(new) => put.push(put_row(conn, new, now, &mut changed)?),
                    QueryChange::Drop(name) => {
                        dropped.extend(drop_row(conn, name, now, &mut changed)?);
                    }
                }
            }
            let owner = |change: &QueryChange| match change {
                QueryChange::Put(new) => new.scope.owner,
                QueryChange::Drop(_) => None,
            };
            let owners: BTreeSet<AccountId> = changes.iter().filter_map(owner).collect();
            owners.into_iter().try_for_each(|owner| check_queries(conn, owner))?;
            put.retain(|id| !dropped.contains(id));
            slot.with_matcher(conn, |matcher| {
                if let Some(past) = past {
                    changed.n_past = past.store_matches(conn, &put)?;
                }
                for id in &put {
                    begin_deciding(conn, *id, past_from, matcher.waits(*id))?;
                }
                dropped.iter().for_each(|id| matcher.remove_query(*id));
                put.iter().try_for_each(|id| put_stored(conn, matcher, *id))?;
                put.iter().copied().try_for_each(|id| match matcher.others_see(id) {
                    true => private_matches::forget(conn, matcher, id),
                    false => Ok(()),
                })
            })?;
            changed.unwanted.retain(|feed| !changed.wanted.contains(feed));
            Ok(changed)
        })
    }
}

fn put_row(
    conn: &Connection,
    new: &NewQuery,
    now: Time,
    changed: &mut QueriesChanged,
) -> Result<QueryId, DbError> {
    let NewQuery { name, text, urls, receivers, scope, link_key, signing_key } = new;
    let sql = "insert into queries (name, text, created_at, changed_at, link_key, signing_key, \
                owner, shared) \
               values ($1, $2, $3, $3, $4, $5, $6, $7) on conflict (name) do update set \
               text = excluded.text, changed_at = excluded.changed_at returning id, owner";
    let (owner, shared) = (scope.owner.map(|account| account.0), i64::from(scope.shared));
    let values = params![name, text, now.millis(), link_key, signing_key, owner, shared];
    let (id, owner) = conn.query_row(sql, values, |row| {
        let owner: Option<i64> = row.get(1)?;
        Ok((QueryId(row.get(0)?), owner.map_or(AccountId::LOCAL, AccountId)))
    })?;
    let before = feeds_of(conn, id)?;
    conn.execute("delete from query_feeds where query = $1", [id.0])?;
    for url in urls {
        add_query_feed(conn, (id, name, owner), url, now, changed)?;
    }
    let after = feeds_of(conn, id)?;
    for feed in before.into_iter().filter(|feed| !after.contains(feed)) {
        release_feed(conn, name, feed, now, changed)?;
    }
    write_receivers(conn, id, receivers)?;
    Ok(id)
}

/// Notes after which entry a query decides later, when their pages come: from now on, or with the
/// entries that were replayed. A query that waited for pages before goes on waiting for the same
/// entries.
fn begin_deciding(
    conn: &Connection,
    id: QueryId,
    past_from: Option<EntryId>,
    waited: bool,
) -> Result<(), DbError> {
    let from = match past_from {
        Some(from) => from.0,
        None => sequence::last_entry(conn)?,
    };
    let sql = "update queries set since_entry = $1 where id = $2 \
               and (since_entry > $1 or $3 = 0)";
    conn.prepare_cached(sql)?.execute(params![from, id.0, i64::from(waited)])?;
    Ok(())
}

fn drop_row(
    conn: &Connection,
    name: &str,
    now: Time,
    changed: &mut QueriesChanged,
) -> Result<Option<QueryId>, DbError> {
    let sql = "select id from queries where name = $1";
    let Some(id) = conn.query_row(sql, [name], |row| row.get(0)).optional()?.map(QueryId) else {
        return Ok(None);
    };
    let feeds = feeds_of(conn, id)?;
    conn.execute("delete from queries where id = $1", [id.0])?;
    for feed in feeds {
        release_feed(conn, name, feed, now, changed)?;
    }
    Ok(Some(id))
}

/// Stores the receivers of a query. Known receivers continue at their position; new ones begin with
/// the next match.
fn write_receivers(conn: &Connection, id: QueryId, receivers: &[String]) -> Result<(), DbError> {
    let sql = "select receiver from deliveries where query = $1";
    let mut statement = conn.prepare_cached(sql)?;
    let known: Vec<String> =
        statement.query_map([id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for gone in known.iter().filter(|known| !receivers.contains(known)) {
        let sql = "delete from deliveries where query = $1 and receiver = $2";
        conn.execute(sql, params![id.0, gone])?;
    }
    for receiver in receivers {
        let sql = "insert into deliveries (query, receiver, position) \
                   select id, $1, last_position from queries where id = $2 \
                   on conflict (query, receiver) do nothing";
        conn.execute(sql, params![receiver, id.0])?;
    }
    Ok(())
}

fn feeds_of(conn: &Connection, id: QueryId) -> Result<Vec<FeedId>, DbError> {
    let mut statement =
        conn.prepare_cached("select feed from query_feeds where query = $1 order by feed")?;
    let feeds = statement.query_map([id.0], |row| row.get(0).map(FeedId))?;
    Ok(feeds.collect::<Result<_, _>>()?)
}

/// Makes sure that an address is a feed that is polled. A feed that people have added stays as it
/// is, even if it is paused.
fn add_query_feed(
    conn: &Connection,
    (id, name, owner): (QueryId, &str, AccountId),
    url: &FeedUrl,
    now: Time,
    changed: &mut QueriesChanged,
) -> Result<(), DbError> {
    let tag = tag_of(name);
    let known = by_url_of(conn, owner, url)?;
    let feed = match known {
        Some(feed) => feed,
        None => subscribing::add_for_query(conn, owner, url, &tag, now)?,
    };
    let sql = "select 1 from query_orphans where feed = $1";
    let orphan = conn.prepare_cached(sql)?.exists([feed.0])?;
    subscribing::wake(conn, feed)?;
    if orphan || brought_by_query(conn, feed)? {
        change::add_tags(conn, feed, &[tag])?;
    }
    state::refresh(conn, feed)?;
    if orphan || known.is_none() {
        changed.wanted.push(feed);
    }
    let sql = "insert into query_feeds (query, feed) values ($1, $2) \
               on conflict (query, feed) do nothing";
    conn.execute(sql, params![id.0, feed.0])?;
    Ok(())
}

fn brought_by_query(conn: &Connection, feed: FeedId) -> Result<bool, DbError> {
    let sql = "select 1 from feed_tags where feed = $1 and tag like 'query:%'";
    Ok(conn.prepare_cached(sql)?.exists([feed.0])?)
}

/// Removes a feed from a query. If no person and no other query needs the feed, it is paused.
fn release_feed(
    conn: &Connection,
    name: &str,
    feed: FeedId,
    now: Time,
    changed: &mut QueriesChanged,
) -> Result<(), DbError> {
    let sql = "delete from feed_tags where feed = $1 and tag = $2";
    let brought = conn.execute(sql, params![feed.0, tag_of(name)])? > 0;
    let sql = "select count(*) from feed_tags where feed = $1";
    let n_tags: i64 = conn.query_row(sql, [feed.0], |row| row.get(0))?;
    if brought && n_tags == 0 && subscribing::rest_if_unwanted(conn, feed, now)? {
        changed.unwanted.push(feed);
    }
    state::refresh(conn, feed)
}

pub(crate) fn query_row(row: &Row<'_>) -> crate::db::sql::Result<QueryRow> {
    Ok(QueryRow {
        id: QueryId(row.get(0)?),
        name: row.get(1)?,
        text: row.get(2)?,
        created_at: time(row, 3)?,
        changed_at: time(row, 4)?,
        last_position: row.get(5)?,
        link_key: row.get(6)?,
        signing_key: row.get(7)?,
        scope: scope_columns(row, 8)?,
    })
}
