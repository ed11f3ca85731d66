//! Finds the stored entries that changed queries match, in a separate matcher. It reads nearly all
//! entries in steps before anything is written, so that no poll waits. The transaction that gives
//! positions looks at the entries recorded meanwhile, in the order of recording. If the process
//! stops before that transaction, nothing has changed.
//!
//! Queries that wait for pages do not decide here on an entry whose page is on its way. They decide
//! when the page or its deadline comes. If that happened during the replay, the transaction shows
//! the entry to them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::db::sql::{Connection, OptionalExtension, ToValue, params};
use feed::{EntryId, FeedId, Time};

use crate::NewQuery;
use crate::db::columns::{time, words};
use crate::error::DbError;
use crate::matching::{
    ArrivedArticle, ArrivedEntry, EntryMatcher, QueryMatch, QueryStateChange, change_states,
    guarded, load, requested_to,
};
use crate::queries::matches::{FeedView, add, kept_by, wake_receivers};
use crate::reading::entries::position_before;
use crate::{QueryChange, QueryId, Store, StoreError};

/// Entries in one step, which takes some tens of milliseconds.
const STEP_ROWS: u32 = 1000;

/// A replay of stored entries that continues where the last step ended.
pub(crate) struct PastReplay {
    since: Time,
    /// The entry before the first one.
    from: EntryId,
    /// The last entry that was read.
    at: EntryId,
    /// A matcher with all queries after the change, without their present state.
    trial: Box<dyn EntryMatcher>,
    /// The names of the changed queries, by their number in the trial matcher.
    of: HashMap<QueryId, String>,
    found: Vec<(EntryId, QueryMatch)>,
    /// The entries whose pages were on their way.
    expected: Vec<EntryId>,
    /// The state of the changed queries so far.
    states: BTreeMap<(QueryId, u64), Vec<u8>>,
}

impl Store {
    /// Replays the entries seen since a time through the queries as they will be after these
    /// changes. `None` means that no matcher is installed.
    pub(crate) fn replay_past(
        &self,
        changes: &[QueryChange],
        since: Time,
    ) -> Result<Option<PastReplay>, StoreError> {
        let slot = self.matcher();
        let fresh =
            self.write(move |conn| slot.with_matcher(conn, |matcher| Ok(matcher.fresh())))?;
        let Some(trial) = fresh else { return Ok(None) };
        let mut past =
            self.read(|conn| guarded(|| PastReplay::begin(conn, trial, changes, since)))?;
        while self.read(|conn| guarded(|| past.look(conn, STEP_ROWS)))? == STEP_ROWS {}
        Ok(Some(past))
    }
}

impl PastReplay {
    fn begin(
        conn: &Connection,
        mut trial: Box<dyn EntryMatcher>,
        changes: &[QueryChange],
        since: Time,
    ) -> Result<PastReplay, DbError> {
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
                    if known.is_none() {
                        trial.set_scope(id, new.scope);
                    }
                    trial.put(id, name, &new.text, &[]);
                    trial.note_since(id, EntryId(0));
                    of.insert(id, name.clone());
                }
                QueryChange::Drop(_) => {
                    if let Some(id) = known {
                        trial.remove_query(id);
                        of.remove(&id);
                        dropped.insert(id);
                    }
                }
            }
        }
        let at = position_before(conn, since)?;
        let (found, expected, states) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ok(PastReplay { since, from: at, at, trial, of, found, expected, states })
    }

    /// Returns the entry before the first one that was replayed.
    pub(crate) fn from(&self) -> EntryId {
        self.from
    }

    /// Reads the next entries, at most `limit`; returns how many there were.
    fn look(&mut self, conn: &Connection, limit: u32) -> Result<u32, DbError> {
        let of = "e.id > $2 and e.seen_at >= $3 order by e.id limit $4";
        let (at, since) = (self.at.0, self.since.millis());
        let requested_to = requested_to(conn)?;
        self.show_rows(conn, of, params![requested_to, at, since, limit], PastReplay::show)
    }

    /// Shows the entries on which a condition holds. Returns how many there were. The first
    /// parameter is the last entry that was looked at for a request of its page.
    fn show_rows(
        &mut self,
        conn: &Connection,
        of: &str,
        values: &[&dyn ToValue],
        show: impl Fn(&mut PastReplay, &ArrivedEntry<'_>),
    ) -> Result<u32, DbError> {
        let sql = format!(
            "select e.id, e.feed, e.title, e.summary, e.content, e.author, e.categories, \
             e.link, e.published_at, e.seen_at, \
             coalesce(e.lang_tag, e.lang, e.language), e.topic, a.text, \
             case when r.decide_by is not null or e.wants_article = 1 and e.id > $1 \
             then 1 else 0 end \
             from entries e left join articles a on a.entry = e.id \
             left join article_requests r on r.entry = e.id where {of}"
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(values)?;
        let mut feeds: HashMap<u32, FeedView> = HashMap::new();
        let mut n_rows = 0;
        while let Some(row) = &rows.next()? {
            let (id, feed): (i64, u32) = (row.get(0)?, row.get(1)?);
            let view = match feeds.entry(feed) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(FeedView::read(conn, FeedId(feed))?)
                }
            };
            let categories = words(row, 6)?;
            let topic: Option<i64> = row.get(11)?;
            let text = |column| row.get_ref(column)?.as_str_or_null();
            let is_expected = row.get::<_, i64>(13)? != 0;
            let article = text(12)?.map_or(ArrivedArticle::Absent, ArrivedArticle::There);
            let arrived = ArrivedEntry {
                id: EntryId(id),
                feed: FeedId(feed),
                feed_url: &view.url,
                tags: &view.tags,
                // Entries of earlier versions have only what they and their feed declare.
                language: text(10)?.or(view.language.as_deref()),
                topic: topic.and_then(|topic| u8::try_from(topic).ok()),
                title: text(2)?,
                summary: text(3)?,
                content: text(4)?,
                author: text(5)?,
                categories: &categories,
                link: text(7)?,
                article: if is_expected { ArrivedArticle::Expected } else { article },
                published_at: time(row, 8)?,
                seen_at: time(row, 9)?,
            };
            show(self, &arrived);
            n_rows += 1;
        }
        Ok(n_rows)
    }

    fn show(&mut self, entry: &ArrivedEntry<'_>) {
        let matches = self.trial.match_entry(entry);
        self.note(entry.id, matches);
        if entry.article == ArrivedArticle::Expected {
            self.expected.push(entry.id);
        }
        self.at = entry.id;
    }

    /// Shows the entries that were decided since they were replayed to the queries that waited for
    /// their pages.
    fn look_again(&mut self, conn: &Connection) -> Result<(), DbError> {
        let requested_to = requested_to(conn)?;
        for entry in std::mem::take(&mut self.expected) {
            let mut names = kept_by(conn, entry)?;
            let found = self.found.iter().filter(|(of, _)| *of == entry);
            names.extend(found.filter_map(|(_, one)| self.of.get(&one.query).cloned()));
            let show = |replay: &mut PastReplay, entry: &ArrivedEntry<'_>| {
                if entry.article != ArrivedArticle::Expected {
                    let matches = replay.trial.match_waiting(entry, &names);
                    replay.note(entry.id, matches);
                }
            };
            self.show_rows(conn, "e.id = $2", params![requested_to, entry.0], show)?;
        }
        Ok(())
    }

    /// Keeps the matches of changed queries, and the changes of their state.
    fn note(&mut self, entry: EntryId, matches: Vec<QueryMatch>) {
        let matches = matches.into_iter().filter(|one| self.of.contains_key(&one.query));
        self.found.extend(matches.map(|one| (entry, one)));
        for change in self.trial.take_changes() {
            match change {
                QueryStateChange::Remember { query, number, bytes } => {
                    if self.of.contains_key(&query) {
                        self.states.insert((query, number), bytes);
                    }
                }
                QueryStateChange::Forget { query, number } => {
                    self.states.remove(&(query, number));
                }
            }
        }
    }

    /// Reads the entries recorded meanwhile, then stores the matches and the state of the changed
    /// queries. An entry does not become a match of the same query twice. Deleted entries are left
    /// out. Returns the number of new matches.
    pub(crate) fn store_matches(
        mut self,
        conn: &Connection,
        put: &[QueryId],
    ) -> Result<u64, DbError> {
        self.look(conn, u32::MAX)?;
        self.look_again(conn)?;
        let mut ids = HashMap::new();
        for id in put {
            let sql = "select name from queries where id = $1";
            let name: String = conn.prepare_cached(sql)?.query_row([id.0], |row| row.get(0))?;
            ids.extend(
                self.of.iter().filter(|(_, of)| **of == name).map(|(trial, _)| (trial, *id)),
            );
            conn.prepare_cached("delete from query_states where query = $1")?.execute([id.0])?;
        }
        let (mut n_given, mut matched_by) = (0, HashSet::new());
        for (entry, kept) in &self.found {
            let Some(query) = ids.get(&kept.query).copied() else { continue };
            if is_new_match(conn, query, *entry)? {
                add(conn, &QueryMatch { query, ..*kept }, *entry)?;
                matched_by.insert(query);
                n_given += 1;
            }
        }
        let remembered = self.states.into_iter().filter_map(|((query, number), bytes)| {
            let query = *ids.get(&query)?;
            Some(QueryStateChange::Remember { query, number, bytes })
        });
        change_states(conn, &remembered.collect::<Vec<_>>())?;
        wake_receivers(conn, matched_by)?;
        Ok(n_given)
    }
}

pub(crate) fn is_new_match(
    conn: &Connection,
    query: QueryId,
    entry: EntryId,
) -> Result<bool, DbError> {
    let sql = "select 1 from entries e where e.id = $1 and not exists \
               (select 1 from query_entries q where q.entry = e.id and q.query = $2)";
    Ok(conn.prepare_cached(sql)?.exists(params![entry.0, query.0])?)
}
