//! Feeds as lists, pages and the API show them. Reads only.

use std::collections::HashMap;

use crate::db::sql::{Connection, Row, Value, params};
use feed::{FeedId, Hints, Outcome, Time};

use crate::db::columns::{
    count, hints, outcome, time, time_or_none, trouble, url, url_or_none, words,
};
use crate::error::DbError;
use crate::feeds::parts::{detected_language, gone, moved};
use crate::feeds::settings::{article_settings, settings};
use crate::{
    AccountId, FeedFacts, FeedLocation, FeedState, NextPollReason, PollHistory, PollProblem,
    Settings, Store, StoreError, StoredSchedule,
};

/// A feed with everything that lists and pages show of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedRow {
    pub id: FeedId,
    pub added_at: Time,
    pub generation: u32,
    pub location: FeedLocation,
    /// The registrable domain of its polls.
    pub domain: String,
    /// The title that the person who added the feed gave to it.
    pub given_title: Option<String>,
    /// The publisher's own words.
    pub facts: FeedFacts,
    pub hints: Hints,
    pub tags: Vec<String>,
    /// Its own settings; [`Store::tags`] returns those of its tags.
    pub settings: Settings,
    /// The account that a private feed belongs to; account 0: the instance.
    pub private_to: Option<AccountId>,
    /// The region that it asks for itself.
    pub region: Option<String>,
    /// By its own setting, or else by one of its tags.
    pub paused: bool,
    pub(crate) state: FeedState,
    /// The number of stored entries.
    pub entries: u64,
    pub schedule: StoredSchedule,
    pub history: PollHistory,
    pub last_outcome: Option<Outcome>,
    /// The error of the last poll.
    pub problem: Option<PollProblem>,
}

impl FeedRow {
    pub const fn state(&self) -> FeedState {
        self.state
    }

    /// Returns the error of the last poll.
    pub fn error(&self) -> Option<&str> {
        self.problem.as_ref().map(|problem| problem.error.as_str())
    }

    /// Leaves only the masked address and the state of a feed that is private to another account,
    /// for administrators.
    pub fn hide_private(&mut self, account: AccountId) {
        let owner = self.private_to.filter(|owner| *owner != AccountId::LOCAL);
        if account != AccountId::LOCAL && owner.is_some_and(|owner| owner != account) {
            self.given_title = None;
            self.facts = FeedFacts::default();
            self.tags.clear();
        }
    }

    /// Returns the title to show: the given one, or else the publisher's.
    pub fn shown_title(&self) -> Option<&str> {
        self.given_title.as_deref().or(self.facts.title.as_deref())
    }
}

/// The feeds to list, in the order of their numbers, starting after `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedFilter {
    pub tag: Option<String>,
    pub state: Option<FeedState>,
    pub after: Option<FeedId>,
    pub limit: Option<u32>,
}

/// A separate query reads the tags.
const COLUMNS: &str = "select f.id, f.url, f.effective_url, d.name, f.given_title, f.title, \
    f.site, f.language, f.hub, f.hints, f.added_at, f.policy, f.alpha_ms, f.beta_ms, f.weight, \
    f.max_delay_ms, s.paused, s.generation, s.entries, s.next_at, s.wanted_at, s.last_poll_at, \
    s.last_outcome, s.last_success_at, s.last_change_at, s.failures, s.error, s.gone_at, \
    s.gone_reason, s.moved_to, s.moved_count, s.reason, s.held, \
    exists (select 1 from feed_tags t join tag_settings g on g.tag = t.tag \
            where t.feed = f.id and g.paused = 1), f.cloud, s.trouble, s.state, f.topic, \
    s.cause, f.categories, f.icon, f.detected_language, f.detected_confidence, f.articles, \
    f.article_selector, f.region, p.owner \
    from feeds f join feed_state s on s.feed = f.id join domains d on d.id = s.domain \
    left join private_feeds p on p.feed = f.id ";

impl Store {
    pub fn feed(&self, feed: FeedId) -> Result<FeedRow, StoreError> {
        self.read(|conn| find(conn, feed)?.ok_or_else(|| StoreError::NoFeed(feed).into()))
    }

    /// Returns these feeds with one question, in the given order. Removed ones are left out.
    pub fn feed_rows(&self, feeds: &[FeedId]) -> Result<Vec<FeedRow>, StoreError> {
        self.read(|conn| find_all(conn, feeds))
    }

    pub fn feeds(&self, filter: &FeedFilter) -> Result<Vec<FeedRow>, StoreError> {
        let after = filter.after.map_or(0, |feed| feed.0);
        let limit = filter.limit.map_or(i64::MAX, i64::from);
        // The `+` prevents the use of an index by state: the list is in the order of numbers.
        let codes = FeedState::ALL.iter().filter(|state| state.is_listed_by(filter.state));
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

pub(crate) fn find(conn: &Connection, feed: FeedId) -> Result<Option<FeedRow>, DbError> {
    Ok(find_all(conn, &[feed])?.pop())
}

/// Returns these feeds in the given order. Missing ones are left out.
pub(crate) fn find_all(conn: &Connection, feeds: &[FeedId]) -> Result<Vec<FeedRow>, DbError> {
    let sql = format!("{COLUMNS} where f.id = $1");
    let mut found = conn.prepare_cached(&sql)?.each(&keys(feeds), &[], |_, row| feed_row(row))?;
    let mut tags = tags_of(conn, feeds)?;
    for row in &mut found {
        row.tags = tags.remove(&row.id).unwrap_or_default();
    }
    Ok(found)
}

/// The numbers of feeds as keys of a statement.
pub(crate) fn keys(feeds: &[FeedId]) -> Vec<Value<'static>> {
    feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect()
}

/// Returns the tags of feeds, by name.
pub(crate) fn tags_of(
    conn: &Connection,
    feeds: &[FeedId],
) -> Result<HashMap<FeedId, Vec<String>>, DbError> {
    let sql = "select tag from feed_tags where feed = $1";
    let mut tags: HashMap<FeedId, Vec<String>> = HashMap::new();
    conn.prepare_cached(sql)?.each(&keys(feeds), &[], |place, row| {
        tags.entry(feeds[place]).or_default().push(row.get(0)?);
        Ok(())
    })?;
    // PostgreSQL keeps the order of the feeds only.
    tags.values_mut().for_each(|tags: &mut Vec<String>| tags.sort_unstable());
    Ok(tags)
}

/// Returns the tags of a feed, by name.
pub(crate) fn tags(conn: &Connection, feed: FeedId) -> Result<Vec<String>, DbError> {
    let sql = "select tag from feed_tags where feed = $1 order by tag";
    let mut statement = conn.prepare_cached(sql)?;
    let tags = statement.query_map([feed.0], |row| row.get(0))?;
    Ok(tags.collect::<Result<_, _>>()?)
}

fn rows(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<FeedRow>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, feed_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn add_tags(conn: &Connection, found: &mut [FeedRow]) -> Result<(), DbError> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok(()) };
    let sql = "select feed, tag from feed_tags where feed >= $1 and feed <= $2 order by feed, tag";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([first.id.0, last.id.0])?;
    let mut tags: HashMap<u32, Vec<String>> = HashMap::new();
    while let Some(row) = &rows.next()? {
        tags.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    for feed in found {
        feed.tags = tags.remove(&feed.id.0).unwrap_or_default();
    }
    Ok(())
}

fn feed_row(row: &Row<'_>) -> crate::db::sql::Result<FeedRow> {
    let mut settings = settings(row, 11)?;
    settings.article = article_settings(row, 43)?;
    let paused = settings.paused.unwrap_or(row.get::<_, i64>(33)? != 0);
    let error: Option<String> = row.get(26)?;
    let trouble = trouble(row, 35)?;
    Ok(FeedRow {
        id: FeedId(row.get(0)?),
        added_at: time(row, 10)?,
        generation: row.get(17)?,
        location: FeedLocation {
            url: url(row, 1)?,
            effective_url: url_or_none(row, 2)?,
            gone: gone(row, 27)?,
            pending: moved(row, 29)?,
        },
        domain: row.get(3)?,
        given_title: row.get(4)?,
        facts: FeedFacts {
            title: row.get(5)?,
            site: row.get(6)?,
            language: row.get(7)?,
            hub: row.get(8)?,
            topic: row.get(37)?,
            cloud: row.get(34)?,
            categories: words(row, 39)?,
            icon: row.get(40)?,
            detected_language: detected_language(row, 41)?,
        },
        hints: hints(row, 9)?,
        tags: Vec::new(),
        settings,
        region: row.get(45)?,
        private_to: row.get::<_, Option<i64>>(46)?.map(AccountId),
        paused,
        state: FeedState::read(row, 36)?,
        entries: count(row, 18)?,
        schedule: StoredSchedule {
            next_at: time_or_none(row, 19)?,
            wanted_at: time_or_none(row, 20)?,
            why: NextPollReason { cause: row.get(38)?, reason: row.get(31)?, held: row.get(32)? },
        },
        history: PollHistory {
            last_poll_at: time_or_none(row, 21)?,
            last_success_at: time_or_none(row, 23)?,
            last_change_at: time_or_none(row, 24)?,
            failures: row.get(25)?,
        },
        last_outcome: outcome(row, 22)?,
        problem: error.map(|error| PollProblem { error, trouble }),
    })
}
