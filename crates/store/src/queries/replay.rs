//! What queries would have kept of the entries that are stored already, found in a memory of its
//! own beside the present. Nearly all of the past is read in steps before anything is written, so
//! that no poll waits for it; what was recorded meanwhile is looked at in the transaction that
//! gives positions, in the order of recording. Cut off before that one, nothing has happened.

use std::collections::{BTreeMap, HashMap, HashSet};

use feed::{EntryId, FeedId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::NewQuery;
use crate::db::columns::{time, words};
use crate::error::Fault;
use crate::matching::{Arrival, Keeps, Kept, StateChange, change_states, guarded, load};
use crate::queries::matches::{FeedView, add, wake_receivers};
use crate::reading::entries::position_before;
use crate::{QueryChange, QueryId, Store, StoreError};

/// Entries that one step looks at: some tens of milliseconds.
const STEP_ROWS: u32 = 1000;

/// A look at the past that goes on where it ended.
pub(crate) struct Past {
    since: Time,
    /// The last entry that was looked at.
    at: EntryId,
    /// All queries as they will be, without what they remember now.
    trial: Box<dyn Keeps>,
    /// Those that are put, under the numbers that they have in the trial.
    of: HashMap<QueryId, String>,
    found: Vec<(EntryId, Kept)>,
    /// What they remember so far.
    states: BTreeMap<(QueryId, u64), Vec<u8>>,
}

impl Store {
    /// Looks at the entries seen since then as the queries will see them once these changes are
    /// made. `None` where there is nobody to ask.
    pub(crate) fn look_back(
        &self,
        changes: &[QueryChange],
        since: Time,
    ) -> Result<Option<Past>, StoreError> {
        let keeper = self.keeper();
        let fresh = self.write(move |conn| keeper.ask(conn, |keeps| Ok(keeps.fresh())))?;
        let Some(trial) = fresh else { return Ok(None) };
        let mut past = self.read(|conn| guarded(|| Past::begin(conn, trial, changes, since)))?;
        while self.read(|conn| guarded(|| past.look(conn, STEP_ROWS)))? == STEP_ROWS {}
        Ok(Some(past))
    }
}

impl Past {
    fn begin(
        conn: &Connection,
        mut trial: Box<dyn Keeps>,
        changes: &[QueryChange],
        since: Time,
    ) -> Result<Past, Fault> {
        load(conn, &mut *trial, false)?;
        let mut next: u32 =
            conn.query_row("select coalesce(max(id), 0) + 1 from queries", [], |row| row.get(0))?;
        let mut statement = conn.prepare_cached("select id from queries where name = $1")?;
        let mut of: HashMap<QueryId, String> = HashMap::new();
        let mut dropped = HashSet::new();
        for change in changes {
            let (QueryChange::Put(NewQuery { name, .. }) | QueryChange::Drop(name)) = change;
            let put = of.iter().find(|(_, put)| *put == name).map(|(id, _)| *id);
            let stored = statement.query_row([name], |row| row.get(0).map(QueryId)).optional()?;
            let known = put.or(stored.filter(|id| !dropped.contains(id)));
            match change {
                QueryChange::Put(new) => {
                    let id = known.unwrap_or(QueryId(next));
                    next += u32::from(known.is_none());
                    trial.put(id, name, &new.text, &[]);
                    of.insert(id, name.clone());
                }
                QueryChange::Drop(_) => {
                    if let Some(id) = known {
                        trial.take_away(id);
                        of.remove(&id);
                        dropped.insert(id);
                    }
                }
            }
        }
        let at = position_before(conn, since)?;
        Ok(Past { since, at, trial, of, found: Vec::new(), states: BTreeMap::new() })
    }

    /// Looks at the next so many entries; answers how many there were.
    fn look(&mut self, conn: &Connection, limit: u32) -> Result<u32, Fault> {
        let sql = "select id, feed, title, summary, content, author, categories, link, \
                   published_at, seen_at from entries where id > $1 and seen_at >= $2 \
                   order by id limit $3";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.at.0, self.since.millis(), limit])?;
        let mut feeds: HashMap<u32, FeedView> = HashMap::new();
        let mut n_rows = 0;
        while let Some(row) = rows.next()? {
            let (id, feed): (i64, u32) = (row.get(0)?, row.get(1)?);
            let view = match feeds.entry(feed) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(FeedView::read(conn, FeedId(feed))?)
                }
            };
            let categories = words(row, 6)?;
            let text =
                |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
            self.show(&Arrival {
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
            n_rows += 1;
        }
        Ok(n_rows)
    }

    fn show(&mut self, entry: &Arrival<'_>) {
        let kept = self.trial.keep(entry).into_iter();
        self.found
            .extend(kept.filter(|one| self.of.contains_key(&one.query)).map(|one| (entry.id, one)));
        for change in self.trial.take_changes() {
            match change {
                StateChange::Remember { query, number, bytes } => {
                    if self.of.contains_key(&query) {
                        self.states.insert((query, number), bytes);
                    }
                }
                StateChange::Forget { query, number } => {
                    self.states.remove(&(query, number));
                }
            }
        }
        self.at = entry.id;
    }

    /// Looks at what was recorded meanwhile, then keeps what these queries said and what they
    /// remember after it. An entry that a query has kept before is not kept twice, and one that
    /// was dropped meanwhile not at all. Returns how many positions were given.
    pub(crate) fn keep(mut self, conn: &Connection, put: &[QueryId]) -> Result<u64, Fault> {
        self.look(conn, u32::MAX)?;
        let mut ids = HashMap::new();
        for id in put {
            let sql = "select name from queries where id = $1";
            let name: String = conn.prepare_cached(sql)?.query_row([id.0], |row| row.get(0))?;
            ids.extend(
                self.of.iter().filter(|(_, of)| **of == name).map(|(trial, _)| (trial, *id)),
            );
            conn.prepare_cached("delete from query_states where query = $1")?.execute([id.0])?;
        }
        let (mut n_given, mut kept_by) = (0, HashSet::new());
        for (entry, kept) in &self.found {
            let Some(query) = ids.get(&kept.query).copied() else { continue };
            if may_be_kept(conn, query, *entry)? {
                add(conn, &Kept { query, ..*kept }, *entry)?;
                kept_by.insert(query);
                n_given += 1;
            }
        }
        let remembered = self.states.into_iter().filter_map(|((query, number), bytes)| {
            let query = *ids.get(&query)?;
            Some(StateChange::Remember { query, number, bytes })
        });
        change_states(conn, &remembered.collect::<Vec<_>>())?;
        wake_receivers(conn, kept_by)?;
        Ok(n_given)
    }
}

fn may_be_kept(conn: &Connection, query: QueryId, entry: EntryId) -> Result<bool, Fault> {
    let sql = "select 1 from entries e where e.id = $1 and not exists \
               (select 1 from query_entries q where q.entry = e.id and q.query = $2)";
    Ok(conn.prepare_cached(sql)?.exists(params![entry.0, query.0])?)
}
