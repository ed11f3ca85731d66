//! Folds the entries of a story in a list: the first one is shown, the others come under it. Also
//! the stories that most feeds of a scope tell.

use std::collections::{BTreeMap, HashMap, HashSet};

use feed::{EntryId, FeedId, Time};

use crate::db::sql::{Connection, Value, params};
use crate::error::DbError;
use crate::reading::list::{OverflowRule, ReadEntry, ReadingFilter, Scope, load_entries};
use crate::reading::selection::{EntryCandidate, EntrySelection, candidate, conditions, select};
use crate::{Store, StoreError};

/// Entries that are shown under the first one.
const OTHERS_MAX: usize = 10;
/// Entries of stories that a ranking reads, from the newest on.
const RANKED_MAX: i64 = 50_000;

/// An entry of a list with the other entries of its story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedEntry {
    pub lead: ReadEntry,
    /// The other entries of the list that tell the same, in the order of the list, at most ten.
    pub others: Vec<ReadEntry>,
    /// The number of feeds among all of them.
    pub n_feeds: usize,
}

/// A page of a folded list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedPage {
    pub entries: Vec<FoldedEntry>,
    /// The number of entries before folding, and the place of the last one.
    pub n_found: usize,
    pub last: Option<crate::ReadingPosition>,
}

impl Store {
    /// Returns a list in which each story stands once: at its first entry in the order of the
    /// list. A page may be shorter than the limit, because entries under an earlier one are left
    /// out.
    pub fn reading_folded(&self, reading: &ReadingFilter) -> Result<FoldedPage, StoreError> {
        self.read(|conn| {
            let selection = select(conn, reading, false, Some(self.entry_feeds()))?;
            let language = reading.language.as_deref();
            let members = match reading.scope {
                // Other entries of a story need not be matches, nor in feeds of the account.
                Scope::Query(_) => HashMap::new(),
                _ => members_of(conn, &selection, language)?,
            };
            let mut groups: Vec<Vec<EntryCandidate>> = Vec::new();
            let mut shown = HashSet::new();
            for found in &selection.found {
                let Some(story) = members.get(&found.entry) else {
                    groups.push(vec![*found]);
                    continue;
                };
                let fitting = selection.in_list(story);
                let is_first = fitting.first().is_none_or(|first| first.entry == found.entry);
                if is_first && shown.insert(found.entry) {
                    groups.push(if fitting.is_empty() { vec![*found] } else { fitting });
                }
            }
            let last = selection.found.last().map(EntryCandidate::place);
            let n_found = selection.found.len();
            Ok(FoldedPage { entries: load_groups(conn, &selection, groups)?, n_found, last })
        })
    }

    /// Returns the stories since a time that the most feeds of a scope tell: at least two.
    pub fn top_stories(&self, reading: &ReadingFilter) -> Result<Vec<FoldedEntry>, StoreError> {
        self.read(|conn| {
            let selection = conditions(conn, reading, false)?;
            let sql = "select s.entry, e.feed, e.published_at, s.story from story_entries s \
                       join entries e on e.id = s.entry where s.published_at >= $1 \
                       order by s.published_at desc, s.entry desc limit $2";
            let since = reading.since.map_or(i64::MIN, Time::millis);
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query(params![since, RANKED_MAX])?;
            let mut stories: BTreeMap<i64, Vec<EntryCandidate>> = BTreeMap::new();
            while let Some(row) = &rows.next()? {
                let found = candidate(row)?;
                if selection.fits_anywhere(&found) {
                    stories.entry(row.get(3)?).or_default().push(found);
                }
            }
            let mut ranked: Vec<_> = stories
                .into_values()
                .map(|story| (n_feeds(&story), story))
                .filter(|(n, _)| *n >= 2)
                .collect();
            // The newest of equals first; `story` begins with its newest entry.
            let newest = |story: &[EntryCandidate]| story.first().map(EntryCandidate::place);
            ranked.sort_by(|(a, one), (b, other)| {
                b.cmp(a).then_with(|| newest(other).cmp(&newest(one)))
            });
            ranked.truncate(reading.limit as usize);
            let groups = ranked.into_iter().map(|(_, story)| story).collect();
            load_groups(conn, &selection, groups)
        })
    }
}

fn n_feeds(story: &[EntryCandidate]) -> usize {
    story.iter().map(|one| one.feed).collect::<HashSet<FeedId>>().len()
}

/// Returns all entries of the stories of found entries, under each found entry.
fn members_of(
    conn: &Connection,
    selection: &EntrySelection<'_>,
    language: Option<&str>,
) -> Result<HashMap<EntryId, Vec<EntryCandidate>>, DbError> {
    let sql = "select e.id, e.feed, e.published_at from story_entries s \
               join story_entries o on o.story = s.story join entries e on e.id = o.entry \
               where s.entry = $1 and ($2 = '' or e.lang = $2)";
    let found: Vec<EntryId> = selection.found.iter().map(|one| one.entry).collect();
    let keys: Vec<Value<'_>> = found.iter().map(|entry| Value::Int(entry.0)).collect();
    let rows = conn.prepare_cached(sql)?.each(
        &keys,
        &[Value::Text(language.unwrap_or_default())],
        |place, row| Ok((found[place], candidate(row)?)),
    )?;
    let mut members: HashMap<EntryId, Vec<EntryCandidate>> = HashMap::new();
    for (entry, member) in rows {
        members.entry(entry).or_default().push(member);
    }
    Ok(members)
}

/// Loads the rows of groups. The first of a group leads it.
fn load_groups(
    conn: &Connection,
    selection: &EntrySelection<'_>,
    groups: Vec<Vec<EntryCandidate>>,
) -> Result<Vec<FoldedEntry>, DbError> {
    let wanted = groups.iter().flat_map(|group| group.iter().take(OTHERS_MAX + 1));
    let ids: Vec<EntryId> = wanted.map(|one| one.entry).collect();
    let (marks, stars) = (&selection.marks, &selection.stars);
    let over = OverflowRule::LeaveTextsOut;
    let loaded = load_entries(conn, ids.into_iter(), marks, stars, over)?;
    let mut rows: HashMap<EntryId, ReadEntry> =
        loaded.into_iter().map(|row| (row.entry.id, row)).collect();
    let folded = groups.into_iter().filter_map(|group| {
        let mut entries = group.iter().filter_map(|one| rows.remove(&one.entry));
        let lead = entries.next()?;
        Some(FoldedEntry { lead, others: entries.collect(), n_feeds: n_feeds(&group) })
    });
    Ok(folded.collect())
}
