//! One page of a list of feeds, filtered by text, tag and state, in a given order. Only the rows of
//! that page are read in full. The cost does not depend on how many entries a feed has.

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{FeedId, FeedUrl, Outcome, Time, Trouble};

use crate::db::columns::{count, outcome, time, time_or_none, trouble, url};
use crate::error::DbError;
use crate::feeds::list_order::{FeedListPart, GATHERED_MAX, ListedFeed, sorted, walk};
use crate::feeds::rows;
use crate::feeds::state;
use crate::{FeedCursor, FeedOrder, FeedRow, FeedState, StateCounts, Store, StoreError};

/// The most feeds on one page.
const LINES_MAX: u32 = 500;

/// The filter, order and position of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedListFilter {
    /// A part of a title, URL or tag, in any case; empty for all feeds.
    pub text: String,
    /// Feeds with exactly this tag.
    pub tag: Option<String>,
    pub state: Option<FeedState>,
    pub order: FeedOrder,
    /// The position to continue from; `None` is the beginning.
    pub from: Option<FeedCursor>,
    /// Returns the page before the cursor instead of the one after it.
    pub backwards: bool,
    pub limit: u32,
}

/// One page of a list of feeds.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedListPage<T> {
    pub lines: Vec<T>,
    /// Number of feeds with this text and tag, by state; `None` if there are too many to count.
    pub states: Option<StateCounts>,
    /// The cursors of the page before and the page after, if these exist.
    pub before: Option<FeedCursor>,
    pub after: Option<FeedCursor>,
}

/// One feed in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedListRow {
    pub id: FeedId,
    pub url: FeedUrl,
    /// The given title, or else the publisher's.
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub state: FeedState,
    pub entries: u64,
    /// Entries published since the query's `since`.
    pub n_since: u64,
    pub added_at: Time,
    pub last_poll_at: Option<Time>,
    pub last_outcome: Option<Outcome>,
    pub last_status: Option<u16>,
    pub next_at: Option<Time>,
    pub failures: u32,
    pub error: Option<String>,
    pub trouble: Option<Trouble>,
    pub gone_reason: Option<String>,
}

/// SQL condition: the feed `f` contains the pattern `$1`. `$tagged` is the condition on its tags.
macro_rules! has_text {
    ($tagged:literal) => {
        concat!(
            "($1 = '%%' or lower(f.url) like $1 escape '\\' \
             or lower(coalesce(f.given_title, '')) like $1 escape '\\' \
             or lower(coalesce(f.title, '')) like $1 escape '\\' or ",
            $tagged,
            ")"
        )
    };
}

/// For many feeds: finds the matching tags once, by skipping from name to name.
const HAS_TEXT: &str = has_text!(
    "f.id in (select t.feed from feed_tags t where t.tag in \
      (with recursive names (tag) as (select min(tag) from feed_tags union all \
       select (select min(t.tag) from feed_tags t where t.tag > names.tag) from names \
       where names.tag is not null) \
       select tag from names where lower(tag) like $1 escape '\\'))"
);
/// For a single feed.
const HAS_TEXT_ITSELF: &str = has_text!(
    "exists (select 1 from feed_tags t where t.feed = f.id and lower(t.tag) like $1 escape '\\')"
);

impl Store {
    /// Returns one page of feeds, with the number of feeds in each state. Each row counts the
    /// entries published since `since`.
    pub fn feed_page(
        &self,
        query: &FeedListFilter,
        since: Time,
    ) -> Result<FeedListPage<FeedListRow>, StoreError> {
        self.read(|conn| page(conn, query, |listed| list_row(conn, listed, since)))
    }

    /// Returns the same page with the complete row of each feed.
    pub fn feed_list(&self, query: &FeedListFilter) -> Result<FeedListPage<FeedRow>, StoreError> {
        self.read(|conn| page(conn, query, |listed| rows::find(conn, listed.feed)))
    }

    /// Returns when the entries of a feed were published (repaired time) and seen, last seen first.
    pub fn recent_times(&self, feed: FeedId, limit: u32) -> Result<Vec<(Time, Time)>, StoreError> {
        self.read(|conn| {
            let sql = "select published_at, seen_at from entry_keys where feed = $1 \
                       order by seen_at desc, published_at desc limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let limit = limit.min(LINES_MAX);
            let rows =
                statement.query_map([feed.0, limit], |row| Ok((time(row, 0)?, time(row, 1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn page<T>(
    conn: &Connection,
    query: &FeedListFilter,
    mut show: impl FnMut(&ListedFeed) -> Result<Option<T>, DbError>,
) -> Result<FeedListPage<T>, DbError> {
    let limit = query.limit.min(LINES_MAX) as usize;
    let (mut found, states) = found(conn, query, limit + 1)?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    if query.backwards {
        found.reverse();
    }
    let (is_before, is_after) = match query.backwards {
        true => (is_more, query.from.is_some()),
        false => (query.from.is_some(), is_more),
    };
    let place = |listed: Option<&ListedFeed>| listed.map(|listed| listed.cursor.clone());
    let (before, after) = (place(found.first()), place(found.last()));
    let mut lines = Vec::with_capacity(found.len());
    for listed in &found {
        lines.extend(show(listed)?);
    }
    let (before, after) = (before.filter(|_| is_before), after.filter(|_| is_after));
    Ok(FeedListPage { lines, states, before, after })
}

fn found(
    conn: &Connection,
    query: &FeedListFilter,
    limit: usize,
) -> Result<(Vec<ListedFeed>, Option<StateCounts>), DbError> {
    let (order, state, backwards) = (query.order, query.state, query.backwards);
    let part = FeedListPart { order, state, from: query.from.as_ref(), backwards, limit };
    let pattern = pattern(&query.text);
    if pattern == "%%" && query.tag.is_none() {
        return Ok((walk(conn, &part, |_| Ok(true))?, Some(state::counts(conn)?)));
    }
    let gathered = gather(conn, &pattern, query.tag.as_deref())?;
    if gathered.len() <= GATHERED_MAX {
        let (found, counts) = sorted(conn, &part, &gathered)?;
        return Ok((found, Some(counts)));
    }
    let sql = format!(
        "select 1 from feeds f where {HAS_TEXT_ITSELF} and ($2 is null or exists \
         (select 1 from feed_tags x where x.feed = f.id and x.tag = $2)) and f.id = $3"
    );
    let mut fits = conn.prepare_cached(&sql)?;
    let found = walk(conn, &part, |feed| Ok(fits.exists(params![pattern, query.tag, feed.0])?))?;
    Ok((found, None))
}

/// Returns the feeds with a text and a tag, at most one more than [`GATHERED_MAX`].
fn gather(conn: &Connection, pattern: &str, tag: Option<&str>) -> Result<Vec<FeedId>, DbError> {
    let (of, tagged) = match tag {
        Some(_) => ("feed_tags x join feeds f on f.id = x.feed", "x.tag = $2"),
        None => ("feeds f", "$2 is null"),
    };
    let sql = format!("select f.id from {of} where {HAS_TEXT} and {tagged} limit $3");
    let mut statement = conn.prepare_cached(&sql)?;
    let values = params![pattern, tag, GATHERED_MAX as i64 + 1];
    let rows = statement.query_map(values, |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn list_row(
    conn: &Connection,
    listed: &ListedFeed,
    since: Time,
) -> Result<Option<FeedListRow>, DbError> {
    let (id, state) = (listed.feed, listed.state);
    let sql = "select f.url, coalesce(f.given_title, f.title), s.entries, f.added_at, \
               s.last_poll_at, s.last_outcome, s.next_at, s.failures, s.error, s.gone_reason, \
               (select p.status from polls p where p.feed = f.id \
                order by p.generation desc limit 1), \
               (select count(*) from entry_keys k where k.feed = f.id and k.published_at >= $1), \
               s.trouble from feeds f join feed_state s on s.feed = f.id where f.id = $2";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params![since.millis(), id.0], |row| {
        Ok(FeedListRow {
            id,
            url: url(row, 0)?,
            title: row.get(1)?,
            tags: Vec::new(),
            state,
            entries: count(row, 2)?,
            added_at: Time::from_millis(row.get(3)?),
            last_poll_at: time_or_none(row, 4)?,
            last_outcome: outcome(row, 5)?,
            next_at: time_or_none(row, 6)?,
            failures: row.get(7)?,
            error: row.get(8)?,
            gone_reason: row.get(9)?,
            last_status: row.get(10)?,
            n_since: count(row, 11)?,
            trouble: trouble(row, 12)?,
        })
    });
    let Some(mut line) = found.optional()? else { return Ok(None) };
    line.tags = rows::tags(conn, id)?;
    Ok(Some(line))
}

/// Turns a typed text into a pattern, in lower case as SQL does it: ASCII letters only.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.trim().to_ascii_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests;
