//! The state of a feed, and totals over all feeds: feeds by state, entries, polls, and the load of
//! each domain. The transaction of every change updates them, so that no page walks over all feeds
//! to count them.

use std::collections::HashSet;

use crate::db::dialect;
use crate::db::sql::{Connection, Row, SqlError, Value, params};
use feed::FeedId;

use crate::error::DbError;

/// The state of a feed. The store keeps the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedState {
    Active = 0,
    /// Active, but not polled yet.
    Never = 1,
    BackingOff = 2,
    /// Its document is broken and has no entries, although the previous one had some.
    Damaged = 3,
    Gone = 4,
    Paused = 5,
}

impl FeedState {
    pub const ALL: [FeedState; 6] = [
        FeedState::Active,
        FeedState::Never,
        FeedState::BackingOff,
        FeedState::Damaged,
        FeedState::Gone,
        FeedState::Paused,
    ];

    /// Returns the word for the state in lists. A feed that was never polled counts as active.
    pub const fn word(self) -> &'static str {
        match self {
            FeedState::Active | FeedState::Never => "active",
            FeedState::BackingOff => "backing-off",
            FeedState::Damaged => "damaged",
            FeedState::Gone => "gone",
            FeedState::Paused => "paused",
        }
    }

    /// Returns the word for the state in filters.
    pub const fn filter_word(self) -> &'static str {
        match self {
            FeedState::Never => "never",
            other => other.word(),
        }
    }

    pub fn from_filter_word(word: &str) -> Option<FeedState> {
        FeedState::ALL.into_iter().find(|state| state.filter_word() == word)
    }

    /// Returns whether a filter lists feeds in this state. Active feeds include those that were
    /// never polled.
    pub fn is_listed_by(self, filter: Option<FeedState>) -> bool {
        let waits = self == FeedState::Never && filter == Some(FeedState::Active);
        waits || filter.is_none_or(|wanted| wanted == self)
    }

    /// Returns whether the last poll failed.
    pub const fn is_failing(self) -> bool {
        matches!(self, FeedState::BackingOff | FeedState::Damaged)
    }

    /// Returns whether the engine polls feeds in this state.
    pub const fn is_polled(self) -> bool {
        !matches!(self, FeedState::Gone | FeedState::Paused)
    }

    /// Returns the load of a feed in this state.
    pub(crate) const fn load(self, load_if_polled: i64) -> i64 {
        if self.is_polled() { load_if_polled } else { 0 }
    }

    pub(crate) const fn code(self) -> i64 {
        self as i64
    }

    pub(crate) fn read(row: &Row<'_>, column: usize) -> crate::db::sql::Result<FeedState> {
        let code: i64 = row.get(column)?;
        let found = FeedState::ALL.into_iter().find(|state| state.code() == code);
        found.ok_or_else(|| SqlError::value(format!("column {column}: {code} is not a state")))
    }
}

/// The number of feeds in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts([u64; FeedState::ALL.len()]);

impl StateCounts {
    pub(crate) fn add(&mut self, state: FeedState, n: u64) {
        self.0[state as usize] += n;
    }

    /// Returns how many feeds a filter lists.
    pub fn of(&self, filter: Option<FeedState>) -> u64 {
        let listed = FeedState::ALL.into_iter().filter(|state| state.is_listed_by(filter));
        listed.map(|state| self.0[state as usize]).sum()
    }
}

/// A stored total over all feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedTotal {
    Feeds(FeedState),
    NeverPolled,
    /// Entries whose text is stored.
    Entries,
    /// Polls ever made of the existing feeds.
    Polls,
}

impl FeedTotal {
    /// The name of its row.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            FeedTotal::Feeds(FeedState::Active) => "feeds 0",
            FeedTotal::Feeds(FeedState::Never) => "feeds 1",
            FeedTotal::Feeds(FeedState::BackingOff) => "feeds 2",
            FeedTotal::Feeds(FeedState::Damaged) => "feeds 3",
            FeedTotal::Feeds(FeedState::Gone) => "feeds 4",
            FeedTotal::Feeds(FeedState::Paused) => "feeds 5",
            FeedTotal::NeverPolled => "never polled",
            FeedTotal::Entries => "entries",
            FeedTotal::Polls => "polls",
        }
    }

    pub(crate) fn all() -> impl Iterator<Item = FeedTotal> {
        let others = [FeedTotal::NeverPolled, FeedTotal::Entries, FeedTotal::Polls];
        FeedState::ALL.into_iter().map(FeedTotal::Feeds).chain(others)
    }

    /// Returns the stored total.
    pub(crate) fn stored(self, conn: &Connection) -> Result<i64, DbError> {
        let mut statement = conn.prepare_cached("select n from totals where name = $1")?;
        Ok(statement.query_row([self.name()], |row| row.get(0))?)
    }

    /// Counts the total by a walk over all feeds.
    pub(crate) fn counted(self, conn: &Connection) -> Result<i64, DbError> {
        let what = match self {
            FeedTotal::Feeds(state) => {
                format!("count(*) from feed_state where state = {}", state.code())
            }
            FeedTotal::NeverPolled => {
                "count(*) from feed_state where last_poll_at is null".to_owned()
            }
            FeedTotal::Entries => "coalesce(sum(entries), 0) from feed_state".to_owned(),
            FeedTotal::Polls => "coalesce(sum(generation), 0) from feed_state".to_owned(),
        };
        Ok(conn.query_row(&format!("select {what}"), [], |row| row.get(0))?)
    }

    pub(crate) fn add(self, conn: &Connection, n: i64) -> Result<(), DbError> {
        if n != 0 {
            let sql = "update totals set n = n + $1 where name = $2";
            conn.prepare_cached(sql)?.execute(params![n, self.name()])?;
        }
        Ok(())
    }
}

/// How many feeds are in each state.
pub(crate) fn counts(conn: &Connection) -> Result<StateCounts, DbError> {
    let mut states = StateCounts::default();
    let keys = FeedState::ALL.map(|state| Value::Text(FeedTotal::Feeds(state).name()));
    let mut statement = conn.prepare_cached("select n from totals where name = $1")?;
    statement.each(&keys, &[], |place, row| {
        states.add(FeedState::ALL[place], row.get::<_, i64>(0)?.max(0).unsigned_abs());
        Ok(())
    })?;
    Ok(states)
}

/// SQL for the state of a row `s` of `feed_state`. `$of_tags` says whether a tag pauses the feed.
macro_rules! state {
    ($of_tags:expr) => {
        concat!(
            "case when s.gone_at is not null then 4 when coalesce(s.paused, ",
            $of_tags,
            ", 0) = 1 then 5 when s.failures > 0 and s.last_outcome = 'damaged' then 3 \
             when s.failures > 0 then 2 when s.last_poll_at is null then 1 else 0 end"
        )
    };
}

macro_rules! paused_by_tags {
    () => {
        "(select max(g.paused) from feed_tags t join tag_settings g on g.tag = t.tag \
         where t.feed = s.feed)"
    };
}

/// The state, derived from the other columns of the row and the tags of the feed.
pub(crate) const STATE: &str = state!(paused_by_tags!());

/// The same for many feeds: their tags are read only if some tag pauses feeds.
pub(crate) const STATE_OF_MANY: &str = state!(concat!(
    "case when exists (select 1 from tag_settings where paused = 1) then ",
    paused_by_tags!(),
    " end"
));

/// SQL for the load of a row `s` of `feed_state`: thousandths of a poll a day.
pub(crate) const LOAD: &str = "case when s.next_at > s.last_poll_at \
    then 86400000000 / (s.next_at - s.last_poll_at) else 0 end";

/// SQL for the title by which a feed is sorted; `f` is its row in `feeds`.
pub(crate) const SORT_TITLE: &str = "lower(substr(coalesce(nullif(trim(f.given_title), ''), \
    nullif(trim(f.title), ''), f.url), 1, 80))";

/// Updates the state and load of a feed, and the totals, after a change of its row or its tags.
pub(crate) fn refresh(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql =
        format!("select s.state, s.load, {STATE}, {LOAD} from feed_state s where s.feed = $1");
    let mut statement = conn.prepare_cached(&sql)?;
    let (before, load_before, state, load) = statement.query_row([feed.0], |row| {
        let load: i64 = row.get(3)?;
        Ok((FeedState::read(row, 0)?, row.get::<_, i64>(1)?, FeedState::read(row, 2)?, load))
    })?;
    let load = state.load(load);
    if state != before {
        let sql = "update feed_state set state = $1 where feed = $2";
        conn.prepare_cached(sql)?.execute(params![state.code(), feed.0])?;
        FeedTotal::Feeds(before).add(conn, -1)?;
        FeedTotal::Feeds(state).add(conn, 1)?;
    }
    if load != load_before {
        let sql = "update feed_state set load = $1 where feed = $2 returning domain";
        let mut statement = conn.prepare_cached(sql)?;
        let domain: i64 = statement.query_row(params![load, feed.0], |row| row.get(0))?;
        let sql = "update domains set load = load + $1 where id = $2";
        conn.prepare_cached(sql)?.execute(params![load - load_before, domain])?;
    }
    Ok(())
}

/// Does the same for many feeds, with few statements.
pub(crate) fn refresh_many(conn: &Connection, feeds: &[FeedId]) -> Result<(), DbError> {
    let sql =
        format!("select s.state, {STATE_OF_MANY}, s.domain from feed_state s where s.feed = $1");
    let keys: Vec<Value<'_>> = feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
    let rows = conn.prepare_cached(&sql)?.each(&keys, &[], |place, row| {
        let domain: i64 = row.get(2)?;
        Ok((feeds[place], FeedState::read(row, 0)?, FeedState::read(row, 1)?, domain))
    })?;
    let list = |numbers: &mut dyn Iterator<Item = String>| {
        format!("[{}]", numbers.collect::<Vec<_>>().join(","))
    };
    let numbers = dialect::json_numbers(conn, "$1");
    for state in FeedState::ALL {
        let changed = || rows.iter().filter(|row| row.2 == state && row.1 != state);
        if changed().next().is_none() {
            continue;
        }
        let second = dialect::json_numbers(conn, "$2");
        let sql = format!("update feed_state set state = $1 where feed in ({second})");
        let feeds = list(&mut changed().map(|row| row.0.to_string()));
        conn.prepare_cached(&sql)?.execute(params![state.code(), feeds])?;
        for before in FeedState::ALL {
            let n = changed().filter(|row| row.1 == before).count() as i64;
            FeedTotal::Feeds(before).add(conn, -n)?;
            FeedTotal::Feeds(state).add(conn, n)?;
        }
    }
    let load = format!("case when s.state in (4, 5) then 0 else {LOAD} end");
    let sql = format!(
        "update feed_state as s set load = {load} where s.feed in ({numbers}) and load <> {load}"
    );
    let feeds = list(&mut rows.iter().map(|row| row.0.to_string()));
    if conn.prepare_cached(&sql)?.execute([feeds])? == 0 {
        return Ok(());
    }
    let domains: HashSet<i64> = rows.iter().map(|row| row.3).collect();
    let sql = format!(
        "update domains set load = n.load from (select s.domain, sum(s.load) as load \
         from feed_state s where s.domain in ({numbers}) group by s.domain) as n \
         where n.domain = domains.id and domains.load <> n.load"
    );
    let domains = list(&mut domains.iter().map(ToString::to_string));
    conn.prepare_cached(&sql)?.execute([domains])?;
    Ok(())
}

/// Updates every feed with a tag, after the settings of the tag changed.
pub(crate) fn refresh_tagged(conn: &Connection, tag: &str) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached("select feed from feed_tags where tag = $1")?;
    let rows = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
    refresh_many(conn, &rows.collect::<Result<Vec<_>, _>>()?)
}

/// Updates the load of every feed and domain, after all times changed.
pub(crate) fn refresh_loads(conn: &Connection) -> Result<(), DbError> {
    let load = format!("case when s.state in (4, 5) then 0 else {LOAD} end");
    conn.execute(&format!("update feed_state as s set load = {load} where load <> {load}"), [])?;
    let sums = "select d.id, coalesce(sum(s.load), 0) as load from domains d \
                left join feed_state s on s.domain = d.id group by d.id";
    let sql = format!(
        "update domains set load = n.load from ({sums}) as n \
         where n.id = domains.id and domains.load <> n.load"
    );
    conn.execute(&sql, [])?;
    Ok(())
}

/// Updates the title by which a feed is sorted.
pub(crate) fn refresh_title(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = format!(
        "update feed_state set sort_title = f.title from \
         (select {SORT_TITLE} as title from feeds f where f.id = $1) as f \
         where feed = $1 and sort_title <> f.title"
    );
    conn.prepare_cached(&sql)?.execute([feed.0])?;
    Ok(())
}

/// Adds a feed that was just inserted to the totals.
pub(crate) fn add_to_totals(conn: &Connection, feed: FeedId, domain: i64) -> Result<(), DbError> {
    FeedTotal::Feeds(FeedState::Never).add(conn, 1)?;
    FeedTotal::NeverPolled.add(conn, 1)?;
    conn.prepare_cached("update domains set feeds = feeds + 1 where id = $1")?.execute([domain])?;
    refresh_title(conn, feed)
}

/// Removes a feed from the totals. Call it before its rows are deleted.
pub(crate) fn remove_from_totals(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = "select state, last_poll_at is null, entries, generation, domain, load \
               from feed_state where feed = $1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([feed.0])?;
    let Some(row) = &rows.next()? else { return Ok(()) };
    FeedTotal::Feeds(FeedState::read(row, 0)?).add(conn, -1)?;
    FeedTotal::NeverPolled.add(conn, -row.get::<_, i64>(1)?)?;
    FeedTotal::Entries.add(conn, -row.get::<_, i64>(2)?)?;
    FeedTotal::Polls.add(conn, -row.get::<_, i64>(3)?)?;
    let sql = "update domains set feeds = feeds - 1, load = load - $1 where id = $2";
    let (domain, load): (i64, i64) = (row.get(4)?, row.get(5)?);
    conn.prepare_cached(sql)?.execute([load, domain])?;
    Ok(())
}

/// Assigns a feed to another domain.
pub(crate) fn change_domain(conn: &Connection, feed: FeedId, domain: i64) -> Result<(), DbError> {
    let sql = "select domain, load from feed_state where feed = $1";
    let (before, load): (i64, i64) =
        conn.prepare_cached(sql)?.query_row([feed.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if before == domain {
        return Ok(());
    }
    let sql = "update feed_state set domain = $1 where feed = $2";
    conn.prepare_cached(sql)?.execute(params![domain, feed.0])?;
    let sql = "update domains set feeds = feeds + $1, load = load + $2 where id = $3";
    let mut statement = conn.prepare_cached(sql)?;
    statement.execute([-1, -load, before])?;
    statement.execute([1, load, domain])?;
    Ok(())
}
