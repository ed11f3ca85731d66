//! Feeds as they are shown: everything that list, page and API say about one.

use std::collections::HashMap;

use feed::{FeedId, FeedUrl, Hints, Outcome, Time, Trouble};
use rusqlite::{Connection, Row, params};

use crate::columns::{count, hints, outcome, time, time_or_none, trouble, url, url_or_none};
use crate::error::Fault;
use crate::settings::settings;
use crate::{Gone, Moved, Settings, State, Store, StoreError};

/// Everything shown of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedRow {
    pub id: FeedId,
    pub url: FeedUrl,
    pub effective_url: Option<FeedUrl>,
    /// The registrable domain that it is polled at.
    pub domain: String,
    /// As given by whoever added it.
    pub given_title: Option<String>,
    /// As the publisher calls it.
    pub title: Option<String>,
    pub site: Option<String>,
    pub language: Option<String>,
    pub hub: Option<String>,
    /// Where rssCloud notices are offered, which we do not speak.
    pub cloud: Option<String>,
    pub hints: Hints,
    pub added_at: Time,
    pub tags: Vec<String>,
    /// Its own settings; those of its tags are in [`Store::tags`].
    pub settings: Settings,
    /// By its own setting, or else by one of its tags.
    pub paused: bool,
    pub(crate) state: State,
    pub generation: u32,
    /// How many entries are kept.
    pub entries: u64,
    pub next_at: Option<Time>,
    pub wanted_at: Option<Time>,
    pub last_poll_at: Option<Time>,
    pub last_outcome: Option<Outcome>,
    pub last_success_at: Option<Time>,
    /// The last poll that found new entries.
    pub last_change_at: Option<Time>,
    pub failures: u32,
    pub error: Option<String>,
    /// What kind of trouble the error is; `None` where it was never said.
    pub trouble: Option<Trouble>,
    pub gone: Option<Gone>,
    pub moved: Option<Moved>,
    pub reason: Option<String>,
    pub held: Option<String>,
}

impl FeedRow {
    pub const fn state(&self) -> State {
        self.state
    }

    /// The title to show: the given one, or else the publisher's.
    pub fn shown_title(&self) -> Option<&str> {
        self.given_title.as_deref().or(self.title.as_deref())
    }
}

/// Which feeds to list; by number, from the one after `after` on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedFilter {
    pub tag: Option<String>,
    pub state: Option<State>,
    pub after: Option<FeedId>,
    pub limit: Option<u32>,
}

/// `$1`: after, `$2`: limit. The tags come by a query of their own.
const COLUMNS: &str = "select f.id, f.url, f.effective_url, d.name, f.given_title, f.title, \
    f.site, f.language, f.hub, f.hints, f.added_at, f.policy, f.alpha_ms, f.beta_ms, f.weight, \
    f.max_delay_ms, s.paused, s.generation, s.entries, s.next_at, s.wanted_at, s.last_poll_at, \
    s.last_outcome, s.last_success_at, s.last_change_at, s.failures, s.error, s.gone_at, \
    s.gone_reason, s.moved_to, s.moved_count, s.reason, s.held, \
    exists (select 1 from feed_tags t join tag_settings g on g.tag = t.tag \
            where t.feed = f.id and g.paused = 1), f.cloud, s.trouble, s.state \
    from feeds f join feed_state s on s.feed = f.id join domains d on d.id = s.domain ";

impl Store {
    pub fn feed(&self, feed: FeedId) -> Result<FeedRow, StoreError> {
        self.read(|conn| find(conn, feed)?.ok_or_else(|| StoreError::NoFeed(feed).into()))
    }

    pub fn feeds(&self, filter: &FeedFilter) -> Result<Vec<FeedRow>, StoreError> {
        let after = filter.after.map_or(0, |feed| feed.0);
        let limit = filter.limit.map_or(i64::MAX, i64::from);
        // The list is in the order of numbers; no index by state must be taken for it.
        let codes = State::ALL.iter().filter(|state| state.is_listed_by(filter.state));
        let codes: Vec<String> = codes.map(|state| state.code().to_string()).collect();
        let states = format!("+s.state in ({})", codes.join(", "));
        self.read(|conn| {
            let mut found = match &filter.tag {
                None => {
                    let sql =
                        format!("{COLUMNS} where {states} and f.id > $1 order by f.id limit $2");
                    rows(conn, &sql, params![after, limit])?
                }
                Some(tag) => {
                    let sql = format!(
                        "{COLUMNS} join feed_tags x on x.feed = f.id \
                         where {states} and x.tag = $1 and f.id > $2 order by f.id limit $3"
                    );
                    rows(conn, &sql, params![tag, after, limit])?
                }
            };
            add_tags(conn, &mut found)?;
            Ok(found)
        })
    }
}

pub(crate) fn find(conn: &Connection, feed: FeedId) -> Result<Option<FeedRow>, Fault> {
    let sql = format!("{COLUMNS} where f.id = $1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([feed.0])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut found = feed_row(row)?;
    let sql = "select tag from feed_tags where feed = $1 order by tag";
    let mut statement = conn.prepare_cached(sql)?;
    let tags = statement.query_map([feed.0], |row| row.get(0))?;
    found.tags = tags.collect::<Result<_, _>>()?;
    Ok(Some(found))
}

fn rows(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<FeedRow>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, feed_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn add_tags(conn: &Connection, found: &mut [FeedRow]) -> Result<(), Fault> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok(()) };
    let sql = "select feed, tag from feed_tags where feed >= $1 and feed <= $2 order by feed, tag";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([first.id.0, last.id.0])?;
    let mut tags: HashMap<u32, Vec<String>> = HashMap::new();
    while let Some(row) = rows.next()? {
        tags.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    for feed in found {
        feed.tags = tags.remove(&feed.id.0).unwrap_or_default();
    }
    Ok(())
}

fn feed_row(row: &Row<'_>) -> rusqlite::Result<FeedRow> {
    let settings = settings(row, 11)?;
    let paused = settings.paused.unwrap_or(row.get::<_, i64>(33)? != 0);
    Ok(FeedRow {
        id: FeedId(row.get(0)?),
        url: url(row, 1)?,
        effective_url: url_or_none(row, 2)?,
        domain: row.get(3)?,
        given_title: row.get(4)?,
        title: row.get(5)?,
        site: row.get(6)?,
        language: row.get(7)?,
        hub: row.get(8)?,
        cloud: row.get(34)?,
        hints: hints(row, 9)?,
        added_at: time(row, 10)?,
        tags: Vec::new(),
        settings,
        paused,
        state: State::read(row, 36)?,
        generation: row.get(17)?,
        entries: count(row, 18)?,
        next_at: time_or_none(row, 19)?,
        wanted_at: time_or_none(row, 20)?,
        last_poll_at: time_or_none(row, 21)?,
        last_outcome: outcome(row, 22)?,
        last_success_at: time_or_none(row, 23)?,
        last_change_at: time_or_none(row, 24)?,
        failures: row.get(25)?,
        error: row.get(26)?,
        trouble: trouble(row, 35)?,
        gone: gone(row, 27)?,
        moved: moved(row, 29)?,
        reason: row.get(31)?,
        held: row.get(32)?,
    })
}

/// Two columns: when, and why.
pub(crate) fn gone(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Gone>> {
    let Some(at) = time_or_none(row, first)? else { return Ok(None) };
    Ok(Some(Gone { at, reason: row.get::<_, Option<String>>(first + 1)?.unwrap_or_default() }))
}

/// Two columns: where to, and how often it was said.
pub(crate) fn moved(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Moved>> {
    let Some(to) = url_or_none(row, first)? else { return Ok(None) };
    Ok(Some(Moved { to, count: row.get(first + 1)? }))
}
