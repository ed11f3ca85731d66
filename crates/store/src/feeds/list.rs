//! One page of a list of feeds, filtered by text, tag and state, in a given order. Only the rows of
//! that page are read in full. The cost does not depend on how many entries a feed has.

mod shown;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use feed::{FeedId, Time};

use crate::db::columns::time;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::feeds::list_order::{FeedListPart, GATHERED_MAX, ListedFeed, sorted, walk};
use crate::feeds::of_account;
use crate::feeds::rows;
use crate::feeds::state;
use crate::{AccountId, FeedCursor, FeedOrder, FeedRow, FeedState, StateCounts, Store, StoreError};

pub use shown::FeedListRow;
use shown::list_rows;

/// The most feeds on one page.
const LINES_MAX: u32 = 500;
/// Up to this many feeds of an account are sorted in memory. With more, the index of all feeds is
/// walked.
const OWN_SORTED_MAX: usize = 1000;

/// The filter, order and position of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedListFilter {
    /// The account whose feeds are listed, with its titles and tags. Account 0 lists every feed.
    pub account: AccountId,
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
    /// Number of entries of all feeds of the account, if it was counted with their states.
    pub n_entries: Option<u64>,
    /// The cursors of the page before and the page after, if these exist.
    pub before: Option<FeedCursor>,
    pub after: Option<FeedCursor>,
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
        self.read(|conn| page(conn, query, |listed| list_rows(conn, query.account, listed, since)))
    }

    /// Returns the same page with the complete row of each feed.
    pub fn feed_list(&self, query: &FeedListFilter) -> Result<FeedListPage<FeedRow>, StoreError> {
        self.read(|conn| {
            page(conn, query, |listed| {
                let feeds: Vec<FeedId> = listed.iter().map(|listed| listed.feed).collect();
                of_account::find_all(conn, query.account, &feeds)
            })
        })
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

/// The feeds of a page and what was counted with them.
struct FoundFeeds {
    found: Vec<ListedFeed>,
    states: Option<StateCounts>,
    n_entries: Option<u64>,
}

fn page<T>(
    conn: &Connection,
    query: &FeedListFilter,
    show: impl FnOnce(&[ListedFeed]) -> Result<Vec<T>, DbError>,
) -> Result<FeedListPage<T>, DbError> {
    let limit = query.limit.min(LINES_MAX) as usize;
    let FoundFeeds { mut found, states, n_entries } = found(conn, query, limit + 1)?;
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
    let lines = show(&found)?;
    let (before, after) = (before.filter(|_| is_before), after.filter(|_| is_after));
    Ok(FeedListPage { lines, states, n_entries, before, after })
}

fn found(conn: &Connection, query: &FeedListFilter, limit: usize) -> Result<FoundFeeds, DbError> {
    let counted = |found, states| Ok(FoundFeeds { found, states: Some(states), n_entries: None });
    let (order, state, backwards) = (query.order, query.state, query.backwards);
    let part = FeedListPart { order, state, from: query.from.as_ref(), backwards, limit };
    let pattern = pattern(&query.text);
    if query.account != AccountId::LOCAL {
        let own = of_account::matching(conn, query.account, &query.text, query.tag.as_deref())?;
        if own.len() > OWN_SORTED_MAX && pattern == "%%" && query.tag.is_none() {
            let own: HashSet<FeedId> = own.into_iter().collect();
            let (states, n_entries) = of_account::totals(conn, query.account)?;
            let found = walk(conn, &part, |feed| Ok(own.contains(&feed)))?;
            return Ok(FoundFeeds { found, states: Some(states), n_entries: Some(n_entries) });
        }
        let (found, states) = sorted(conn, &part, &own)?;
        return counted(found, states);
    }
    if pattern == "%%" && query.tag.is_none() {
        return counted(walk(conn, &part, |_| Ok(true))?, state::counts(conn)?);
    }
    let gathered = gather(conn, &pattern, query.tag.as_deref())?;
    if gathered.len() <= GATHERED_MAX {
        let (found, states) = sorted(conn, &part, &gathered)?;
        return counted(found, states);
    }
    let sql = format!(
        "select 1 from feeds f where {HAS_TEXT_ITSELF} and (cast($2 as text) is null or exists \
         (select 1 from feed_tags x where x.feed = f.id and x.tag = $2)) and f.id = $3"
    );
    let mut fits = conn.prepare_cached(&sql)?;
    let found = walk(conn, &part, |feed| Ok(fits.exists(params![pattern, query.tag, feed.0])?))?;
    Ok(FoundFeeds { found, states: None, n_entries: None })
}

/// Returns all feeds of an account with a text, a tag and a state, in no order, at most `most`.
pub(crate) fn all_matching(
    conn: &Connection,
    account: AccountId,
    text: &str,
    tag: Option<&str>,
    state: Option<FeedState>,
    most: usize,
) -> Result<Vec<FeedId>, DbError> {
    let states = FeedState::ALL.into_iter().filter(|one| one.is_listed_by(state));
    let states: Vec<String> = states.map(|state| state.code().to_string()).collect();
    let in_state = format!("s.state in ({})", states.join(", "));
    if account != AccountId::LOCAL {
        let own = of_account::matching(conn, account, text, tag)?;
        let sql = format!("select s.feed from feed_state s where s.feed = $1 and {in_state}");
        let mut statement = conn.prepare_cached(&sql)?;
        return Ok(statement.each(&rows::keys(&own), &[], |place, _| Ok(own[place]))?);
    }
    let (of, tagged) = tagged_feeds(tag);
    let sql = format!(
        "select f.id from {of} join feed_state s on s.feed = f.id \
         where {HAS_TEXT} and {tagged} and {in_state} limit $3"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let values = params![pattern(text), tag, most as i64];
    let found = statement.query_map(values, |row| row.get(0).map(FeedId))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// SQL for the feeds `f` with a tag, which is `$2`, or for all feeds: their tables and a condition.
const fn tagged_feeds(tag: Option<&str>) -> (&'static str, &'static str) {
    match tag {
        Some(_) => ("feed_tags x join feeds f on f.id = x.feed", "x.tag = $2"),
        None => ("feeds f", "cast($2 as text) is null"),
    }
}

/// Returns the feeds with a text and a tag, at most one more than [`GATHERED_MAX`].
fn gather(conn: &Connection, pattern: &str, tag: Option<&str>) -> Result<Vec<FeedId>, DbError> {
    let (of, tagged) = tagged_feeds(tag);
    let sql = format!("select f.id from {of} where {HAS_TEXT} and {tagged} limit $3");
    let mut statement = conn.prepare_cached(&sql)?;
    let values = params![pattern, tag, GATHERED_MAX as i64 + 1];
    let rows = statement.query_map(values, |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Turns a typed text into a pattern, in lower case as SQL does it: ASCII letters only.
pub(crate) fn pattern(text: &str) -> String {
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
