//! Walks over feeds in an order, from a cursor in either direction.
//!
//! Each order has an index within a state, and the lists of the states are merged. A filter that
//! finds few feeds is sorted in memory; one that finds many is applied along the index.

use std::cmp::Ordering;

use crate::db::dialect;
use crate::db::sql::{Connection, DbStatement, Row, Rows, Value};
use feed::FeedId;

use crate::error::DbError;
use crate::feeds::rows;
use crate::{FeedState, StateCounts};

/// Feeds that a filter may find to be sorted in memory, which takes about ten milliseconds. With
/// more, the filter is applied along the index.
pub(crate) const GATHERED_MAX: usize = 20_000;

/// The order of a list of feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedOrder {
    /// The feed with the latest new entries first.
    LastChange,
    /// Backing off or damaged, then gone, then paused, then the others.
    Trouble,
    Title,
    NextPoll,
    LastPoll,
    Entries,
}

impl FeedOrder {
    #[cfg(test)]
    pub(crate) const ALL: [FeedOrder; 6] = [
        FeedOrder::LastChange,
        FeedOrder::Trouble,
        FeedOrder::Title,
        FeedOrder::NextPoll,
        FeedOrder::LastPoll,
        FeedOrder::Entries,
    ];

    /// The sort key as an SQL expression, exactly as in the index of this order.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            FeedOrder::LastChange => "coalesce(last_change_at, 0)",
            FeedOrder::Trouble => "failures",
            FeedOrder::Title => "sort_title",
            FeedOrder::NextPoll => "coalesce(next_at, 0)",
            FeedOrder::LastPoll => "coalesce(last_poll_at, 0)",
            FeedOrder::Entries => "entries",
        }
    }

    /// The table with the index of this order.
    fn table(self, conn: &Connection) -> &'static str {
        match self {
            FeedOrder::NextPoll | FeedOrder::LastPoll => "feed_state",
            _ => dialect::feed_orders(conn),
        }
    }

    const fn descends(self) -> bool {
        !matches!(self, FeedOrder::Title | FeedOrder::NextPoll)
    }

    /// The groups of states, one after the other. The states of one group are merged.
    const fn groups(self) -> &'static [&'static [FeedState]] {
        use FeedState::{Active, BackingOff, Damaged, Gone, Never, Paused};
        match self {
            FeedOrder::Trouble => &[&[BackingOff, Damaged], &[Gone], &[Paused], &[Active, Never]],
            FeedOrder::NextPoll => &[&[Active, Never, BackingOff, Damaged], &[Gone, Paused]],
            _ => &[&FeedState::ALL],
        }
    }

    fn group_of(self, state: FeedState) -> usize {
        self.groups().iter().position(|group| group.contains(&state)).unwrap_or(0)
    }
}

/// The sort key of a feed. All keys of one order are of the same kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    Number(i64),
    Text(String),
}

/// A position in a list of feeds, from which the list continues in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    group: usize,
    key: SortKey,
    feed: FeedId,
}

impl FeedCursor {
    fn compare(&self, other: &FeedCursor, order: FeedOrder) -> Ordering {
        let within = (&self.key, self.feed).cmp(&(&other.key, other.feed));
        let within = if order.descends() { within.reverse() } else { within };
        self.group.cmp(&other.group).then(within)
    }
}

impl std::fmt::Display for FeedCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (group, feed) = (self.group, self.feed);
        match &self.key {
            SortKey::Number(n) => write!(f, "{group}.{feed}.n{n}"),
            SortKey::Text(text) => write!(f, "{group}.{feed}.t{text}"),
        }
    }
}

impl FeedCursor {
    /// Parses a cursor; `None` if the text is not a cursor.
    pub fn parse(text: &str) -> Option<FeedCursor> {
        let mut parts = text.splitn(3, '.');
        let group = parts.next()?.parse().ok()?;
        let feed = FeedId(parts.next()?.parse().ok()?);
        let key = parts.next()?;
        let key = match key.strip_prefix('n') {
            Some(n) => SortKey::Number(n.parse().ok()?),
            None => SortKey::Text(key.strip_prefix('t')?.to_owned()),
        };
        Some(FeedCursor { group, key, feed })
    }
}

/// A feed of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedFeed {
    pub feed: FeedId,
    pub state: FeedState,
    pub cursor: FeedCursor,
}

/// The part of a list of feeds that a caller wants.
#[derive(Clone, Debug)]
pub(crate) struct FeedListPart<'a> {
    pub order: FeedOrder,
    pub state: Option<FeedState>,
    pub from: Option<&'a FeedCursor>,
    /// Walks backwards from the cursor.
    pub backwards: bool,
    pub limit: usize,
}

impl FeedListPart<'_> {
    /// Compares two positions in the direction of the walk.
    fn compare(&self, one: &FeedCursor, other: &FeedCursor) -> Ordering {
        let order = one.compare(other, self.order);
        if self.backwards { order.reverse() } else { order }
    }

    fn is_ahead(&self, place: &FeedCursor) -> bool {
        self.from.is_none_or(|from| self.compare(place, from) == Ordering::Greater)
    }

    /// Returns the SQL for the feeds of one state in this order; with a cursor (`$2` and `$3`),
    /// from there on.
    pub(crate) fn sql(&self, conn: &Connection, from_cursor: bool) -> String {
        let (key, table) = (self.order.key(), self.order.table(conn));
        let (way, sign) = match self.order.descends() != self.backwards {
            true => ("desc", "<"),
            false => ("asc", ">"),
        };
        let from =
            if from_cursor { format!("and ({key}, feed) {sign} ($2, $3)") } else { String::new() };
        format!(
            "select feed, {key} from {table} where state = $1 {from} \
             order by {key} {way}, feed {way}"
        )
    }
}

/// Walks along the order and collects the feeds that `fits` accepts, up to the limit.
pub(crate) fn walk(
    conn: &Connection,
    part: &FeedListPart<'_>,
    mut fits: impl FnMut(FeedId) -> Result<bool, DbError>,
) -> Result<Vec<ListedFeed>, DbError> {
    let mut groups: Vec<usize> = (0..part.order.groups().len()).collect();
    if part.backwards {
        groups.reverse();
    }
    let mut found = Vec::new();
    for group in groups {
        let from = part.from.filter(|from| from.group == group);
        let passed = part.from.is_some_and(|from| match part.backwards {
            true => group > from.group,
            false => group < from.group,
        });
        if passed {
            continue;
        }
        merge(conn, part, group, from, &mut |listed: ListedFeed| {
            if fits(listed.feed)? {
                found.push(listed);
            }
            Ok(found.len() < part.limit)
        })?;
        if found.len() >= part.limit {
            break;
        }
    }
    Ok(found)
}

/// Passes the feeds of one group to `take` in order, until it returns `false`.
fn merge(
    conn: &Connection,
    part: &FeedListPart<'_>,
    group: usize,
    from: Option<&FeedCursor>,
    take: &mut dyn FnMut(ListedFeed) -> Result<bool, DbError>,
) -> Result<(), DbError> {
    let states = part.order.groups()[group].iter().copied();
    let states: Vec<FeedState> = states.filter(|state| state.is_listed_by(part.state)).collect();
    let sql = part.sql(conn, from.is_some());
    let mut statements: Vec<DbStatement<'_>> =
        states.iter().map(|_| conn.prepare_cached(&sql)).collect::<Result<_, _>>()?;
    let mut lists = Vec::with_capacity(states.len());
    for (state, statement) in states.into_iter().zip(&mut statements) {
        let mut values = vec![Value::Int(state.code())];
        if let Some(from) = from {
            values.push(match &from.key {
                SortKey::Number(n) => Value::Int(*n),
                SortKey::Text(text) => Value::Text(text),
            });
            values.push(Value::Int(i64::from(from.feed.0)));
        }
        let mut rows = statement.scan(&values[..])?;
        let head = next(&mut rows, group, state)?;
        lists.push((rows, state, head));
    }
    loop {
        let heads = lists.iter_mut().filter(|(_, _, head)| head.is_some());
        let first = heads.min_by(|(_, _, one), (_, _, other)| match (one, other) {
            (Some(one), Some(other)) => part.compare(&one.cursor, &other.cursor),
            _ => Ordering::Equal,
        });
        let Some((rows, state, head)) = first else { return Ok(()) };
        let Some(listed) = head.take() else { return Ok(()) };
        if !take(listed)? {
            return Ok(());
        }
        *head = next(rows, group, *state)?;
    }
}

fn next(
    rows: &mut Rows<'_>,
    group: usize,
    state: FeedState,
) -> Result<Option<ListedFeed>, DbError> {
    let Some(row) = &rows.next()? else { return Ok(None) };
    let feed = FeedId(row.get(0)?);
    Ok(Some(ListedFeed { feed, state, cursor: FeedCursor { group, key: key(row, 1)?, feed } }))
}

fn key(row: &Row<'_>, column: usize) -> crate::db::sql::Result<SortKey> {
    Ok(match row.get_ref(column)? {
        Value::Text(_) => SortKey::Text(row.get(column)?),
        _ => SortKey::Number(row.get(column)?),
    })
}

/// Sorts feeds that a filter has found, and counts them by state.
pub(crate) fn sorted(
    conn: &Connection,
    part: &FeedListPart<'_>,
    feeds: &[FeedId],
) -> Result<(Vec<ListedFeed>, StateCounts), DbError> {
    let sql = format!("select state, {} from feed_state where feed = $1", part.order.key());
    let mut statement = conn.prepare_cached(&sql)?;
    let (mut found, mut counts) = (Vec::new(), StateCounts::default());
    statement.each(&rows::keys(feeds), &[], |place, row| {
        let (feed, state) = (feeds[place], FeedState::read(row, 0)?);
        counts.add(state, 1);
        let cursor = FeedCursor { group: part.order.group_of(state), key: key(row, 1)?, feed };
        if state.is_listed_by(part.state) && part.is_ahead(&cursor) {
            found.push(ListedFeed { feed, state, cursor });
        }
        Ok(())
    })?;
    found.sort_by(|one, other| part.compare(&one.cursor, &other.cursor));
    found.truncate(part.limit);
    Ok((found, counts))
}
