//! What queries would have kept of the entries that are stored already: run in a memory of its
//! own, beside the present, and given positions in the order of recording.

use std::collections::{HashMap, HashSet};

use feed::{EntryId, FeedId, Time};
use rusqlite::{Connection, params};

use crate::columns::{time, words};
use crate::error::Fault;
use crate::kept::{FeedView, add, change_states, wake_receivers};
use crate::matching::{Arrival, Keeps, StateChange};
use crate::query_entries::position_before;
use crate::{QueryId, queries};

/// Shows the entries seen since then to all queries, keeps what these queries say, and what they
/// remember after it. An entry that a query has kept before is not kept twice. Returns how many
/// positions were given.
pub(crate) fn past(
    conn: &Connection,
    keeps: &dyn Keeps,
    of: &[QueryId],
    since: Time,
) -> Result<u64, Fault> {
    for query in of {
        conn.prepare_cached("delete from query_states where query = $1")?.execute([query.0])?;
    }
    let mut trial = keeps.fresh();
    queries::load(conn, &mut *trial, false)?;
    let sql = "select id, feed, title, summary, content, author, categories, link, published_at, \
               seen_at from entries where id > $1 and seen_at >= $2 order by id";
    let mut statement = conn.prepare_cached(sql)?;
    let start = position_before(conn, since)?;
    let mut rows = statement.query(params![start.0, since.millis()])?;
    let mut feeds: HashMap<u32, FeedView> = HashMap::new();
    let (mut n_given, mut kept_by) = (0, HashSet::new());
    while let Some(row) = rows.next()? {
        let (id, feed): (i64, u32) = (row.get(0)?, row.get(1)?);
        let view = match feeds.entry(feed) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(FeedView::read(conn, FeedId(feed))?)
            }
        };
        let categories = words(row, 6)?;
        let text = |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
        let kept = trial.keep(&Arrival {
            id: EntryId(id),
            feed: FeedId(feed),
            feed_url: &view.url,
            tags: &view.tags,
            language: view.language.as_deref(),
            title: text(2)?,
            summary: text(3)?,
            content: text(4)?,
            author: text(5)?,
            categories: &categories,
            link: text(7)?,
            published_at: time(row, 8)?,
            seen_at: time(row, 9)?,
        });
        for one in kept.iter().filter(|one| of.contains(&one.query)) {
            if !is_kept(conn, one.query, EntryId(id))? {
                add(conn, one, EntryId(id))?;
                kept_by.insert(one.query);
                n_given += 1;
            }
        }
        let changes: Vec<StateChange> = trial
            .take_changes()
            .into_iter()
            .filter(|change| of.contains(&query_of(change)))
            .collect();
        change_states(conn, &changes)?;
    }
    wake_receivers(conn, kept_by)?;
    Ok(n_given)
}

fn is_kept(conn: &Connection, query: QueryId, entry: EntryId) -> Result<bool, Fault> {
    let sql = "select 1 from query_entries where entry = $1 and query = $2";
    Ok(conn.prepare_cached(sql)?.exists(params![entry.0, query.0])?)
}

fn query_of(change: &StateChange) -> QueryId {
    match change {
        StateChange::Remember { query, .. } | StateChange::Forget { query, .. } => *query,
    }
}
