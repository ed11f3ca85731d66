//! Entries as one person reads them: all, of a feed, a tag or a query, unread or starred, in
//! either direction, with a place to go on from. Candidates come from indexes that hold nothing
//! but numbers and times; texts are read for those only that are shown.

use std::collections::{HashMap, HashSet};

use feed::{EntryId, FeedId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::entries::entry_row;
use crate::error::Fault;
use crate::marks::{self, ReadMarks};
use crate::{AccountId, EntryRow, QueryId, Store, StoreError};

/// Entries on one page at most.
const LIMIT_MAX: u32 = 1000;
/// So few unread (or starred) entries are looked up one by one and sorted, rather than searched
/// for among all.
const FEW: u64 = 2000;
/// A tag whose feeds hold no more than this is gathered feed by feed.
const TAG_FEW: i64 = 20_000;

/// Whose entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Feed(FeedId),
    Tag(String),
    /// What a query kept; always in the order of recording.
    Query(QueryId),
}

/// A place in a list: the entry that stands there. Lists are in the order of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadingPlace {
    pub published_at: Time,
    pub entry: EntryId,
}

/// Which entries somebody wants to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub account: AccountId,
    pub scope: Scope,
    /// Only the read ones, or only the unread.
    pub read: Option<bool>,
    pub starred: Option<bool>,
    /// Published at or after, and before.
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Numbers above and below these.
    pub above: Option<EntryId>,
    pub below: Option<EntryId>,
    pub oldest_first: bool,
    /// Goes on behind this place.
    pub from: Option<ReadingPlace>,
    pub offset: u64,
    pub limit: u32,
}

impl Reading {
    /// The newest of a scope.
    pub fn newest(account: AccountId, scope: Scope, limit: u32) -> Reading {
        Reading {
            account,
            scope,
            read: None,
            starred: None,
            since: None,
            until: None,
            above: None,
            below: None,
            oldest_first: false,
            from: None,
            offset: 0,
            limit,
        }
    }
}

/// An entry and how its reader stands to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadEntry {
    pub entry: EntryRow,
    pub read: bool,
    pub starred: bool,
}

impl ReadEntry {
    pub fn place(&self) -> ReadingPlace {
        ReadingPlace { published_at: self.entry.published_at, entry: self.entry.id }
    }
}

#[derive(Clone, Copy)]
struct Candidate {
    entry: EntryId,
    feed: FeedId,
    published_at: Time,
}

impl Candidate {
    fn place(&self) -> ReadingPlace {
        ReadingPlace { published_at: self.published_at, entry: self.entry }
    }
}

/// What a candidate must be; everything that no index answers.
struct Sieve<'a> {
    reading: &'a Reading,
    marks: ReadMarks,
    stars: HashSet<EntryId>,
    /// `None`: any feed.
    feeds: Option<HashSet<FeedId>>,
    passed: u64,
    found: Vec<Candidate>,
}

impl Sieve<'_> {
    /// Whether more are wanted.
    fn take(&mut self, candidate: Candidate) -> bool {
        if self.fits(&candidate) {
            self.passed += 1;
            if self.passed > self.reading.offset {
                self.found.push(candidate);
            }
        }
        self.found.len() < self.reading.limit.min(LIMIT_MAX) as usize
    }

    fn fits(&self, candidate: &Candidate) -> bool {
        let reading = self.reading;
        let behind = |place: ReadingPlace| match (&reading.scope, reading.oldest_first) {
            (Scope::Query(_), false) => candidate.entry < place.entry,
            (Scope::Query(_), true) => candidate.entry > place.entry,
            (_, false) => candidate.place() < place,
            (_, true) => candidate.place() > place,
        };
        reading.read.is_none_or(|read| self.marks.is_read(candidate.entry) == read)
            && reading.starred.is_none_or(|on| self.stars.contains(&candidate.entry) == on)
            && self.feeds.as_ref().is_none_or(|feeds| feeds.contains(&candidate.feed))
            && reading.since.is_none_or(|since| candidate.published_at >= since)
            && reading.until.is_none_or(|until| candidate.published_at < until)
            && reading.above.is_none_or(|above| candidate.entry > above)
            && reading.below.is_none_or(|below| candidate.entry < below)
            && reading.from.is_none_or(behind)
    }

    fn take_all(&mut self, mut candidates: Vec<Candidate>) {
        candidates.sort_unstable_by_key(Candidate::place);
        if !self.reading.oldest_first {
            candidates.reverse();
        }
        for candidate in candidates {
            if !self.take(candidate) {
                break;
            }
        }
    }
}

impl Store {
    /// Some entries in the order of publication, the newest first unless asked otherwise.
    pub fn reading(&self, reading: &Reading) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let mut sieve = sift(conn, reading)?;
            let found = std::mem::take(&mut sieve.found);
            shown(conn, found.iter().map(|candidate| candidate.entry), &sieve.marks, &sieve.stars)
        })
    }

    /// The same, numbers only.
    pub fn reading_places(&self, reading: &Reading) -> Result<Vec<ReadingPlace>, StoreError> {
        self.read(|conn| Ok(sift(conn, reading)?.found.iter().map(Candidate::place).collect()))
    }

    /// Entries by their numbers, in the order asked; those that are not kept are left out.
    pub fn read_entries(
        &self,
        account: AccountId,
        entries: &[EntryId],
    ) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let marks = ReadMarks::load(conn, account)?;
            let stars = marks::stars(conn, account)?;
            shown(conn, entries.iter().copied(), &marks, &stars)
        })
    }

    /// Unread entries of each feed that has any.
    pub fn unread_by_feed(&self, account: AccountId) -> Result<HashMap<FeedId, u64>, StoreError> {
        self.read(|conn| {
            let marks = ReadMarks::load(conn, account)?;
            let mut counts = HashMap::new();
            if marks.n_unread() <= FEW {
                for candidate in looked_up(conn, marks.unread())? {
                    *counts.entry(candidate.feed).or_default() += 1;
                }
                return Ok(counts);
            }
            let mut statement = conn.prepare_cached("select feed, id from entries")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !marks.is_read(EntryId(row.get(1)?)) {
                    *counts.entry(FeedId(row.get(0)?)).or_default() += 1;
                }
            }
            Ok(counts)
        })
    }

    /// Marks a scope as read: what was published up to a time and has a number up to one, where
    /// those are given. What came meanwhile is not swept away unseen.
    pub fn mark_scope_read(
        &self,
        account: AccountId,
        scope: &Scope,
        published_to: Option<Time>,
        up_to: Option<EntryId>,
    ) -> Result<(), StoreError> {
        let scope = scope.clone();
        self.write(move |conn| {
            if let (Scope::All, None) = (&scope, published_to) {
                let sql = "select seq from sqlite_sequence where name = 'entries'";
                let last = conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
                let last = EntryId(last.unwrap_or(0));
                return marks::mark_up_to(conn, account, up_to.map_or(last, |id| id.min(last)));
            }
            let mut wanted = Reading::newest(account, scope, u32::MAX);
            wanted.read = Some(false);
            wanted.until = published_to.map(|at| at + std::time::Duration::from_millis(1));
            wanted.below = up_to.map(|id| EntryId(id.0 + 1));
            loop {
                let found = sift(conn, &wanted)?.found;
                let entries: Vec<EntryId> = found.iter().map(|found| found.entry).collect();
                marks::mark(conn, account, &entries, true)?;
                let Some(last) = found.last() else { return Ok(()) };
                wanted.from = Some(last.place());
            }
        })
    }
}

fn sift<'a>(conn: &Connection, reading: &'a Reading) -> Result<Sieve<'a>, Fault> {
    let mut sieve = Sieve {
        reading,
        marks: ReadMarks::load(conn, reading.account)?,
        stars: marks::stars(conn, reading.account)?,
        feeds: match &reading.scope {
            Scope::Tag(tag) => Some(tagged(conn, tag)?),
            Scope::Feed(feed) => Some(HashSet::from([*feed])),
            Scope::All | Scope::Query(_) => None,
        },
        passed: 0,
        found: Vec::new(),
    };
    if let Scope::Query(query) = reading.scope {
        of_query(conn, query, &mut sieve)?;
    } else if reading.starred == Some(true) && sieve.stars.len() as u64 <= FEW {
        let candidates = looked_up(conn, sieve.stars.iter().copied())?;
        sieve.take_all(candidates);
    } else if reading.read == Some(false) && sieve.marks.n_unread() <= FEW {
        let candidates = looked_up(conn, sieve.marks.unread())?;
        sieve.take_all(candidates);
    } else {
        scan(conn, &mut sieve)?;
    }
    Ok(sieve)
}

fn tagged(conn: &Connection, tag: &str) -> Result<HashSet<FeedId>, Fault> {
    let mut statement = conn.prepare_cached("select feed from feed_tags where tag = $1")?;
    let rows = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn looked_up(
    conn: &Connection,
    entries: impl Iterator<Item = EntryId>,
) -> Result<Vec<Candidate>, Fault> {
    let mut statement =
        conn.prepare_cached("select feed, published_at from entries where id = $1")?;
    let mut found = Vec::new();
    for entry in entries {
        let row = statement.query_row([entry.0], |row| {
            let published_at = Time::from_millis(row.get(1)?);
            Ok(Candidate { entry, feed: FeedId(row.get(0)?), published_at })
        });
        found.extend(row.optional()?);
    }
    Ok(found)
}

/// Walks the index of a feed, of each feed of a small tag, or of all entries.
fn scan(conn: &Connection, sieve: &mut Sieve<'_>) -> Result<(), Fault> {
    let few = match (&sieve.reading.scope, &sieve.feeds) {
        (Scope::Tag(tag), Some(_)) => {
            let sql = "select coalesce(sum(s.entries), 0) from feed_tags t \
                       join feed_state s on s.feed = t.feed where t.tag = $1";
            conn.prepare_cached(sql)?.query_row([tag], |row| row.get::<_, i64>(0))? <= TAG_FEW
        }
        _ => false,
    };
    if few {
        let feeds = sieve.feeds.clone().unwrap_or_default();
        let sql = "select id, feed, published_at from entries where feed = $1";
        let mut statement = conn.prepare_cached(sql)?;
        let mut candidates = Vec::new();
        for feed in feeds {
            let rows = statement.query_map([feed.0], candidate)?;
            for row in rows {
                candidates.push(row?);
            }
        }
        sieve.take_all(candidates);
        return Ok(());
    }
    let reading = sieve.reading;
    let (direction, sign) = if reading.oldest_first { ("", ">=") } else { ("desc", "<=") };
    let ends = if reading.oldest_first { i64::MIN } else { i64::MAX };
    let from = reading.from.map_or(ends, |place| place.published_at.millis());
    let order = format!("order by published_at {direction}, id {direction}");
    let columns = "select id, feed, published_at from entries";
    let mut walk = |sql: &str, values: &[i64]| -> Result<(), Fault> {
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !sieve.take(candidate(row)?) {
                break;
            }
        }
        Ok(())
    };
    match reading.scope {
        Scope::Feed(feed) => {
            let sql = format!("{columns} where feed = $1 and published_at {sign} $2 {order}");
            walk(&sql, &[feed.0.into(), from])
        }
        _ => walk(&format!("{columns} where published_at {sign} $1 {order}"), &[from]),
    }
}

fn of_query(conn: &Connection, query: QueryId, sieve: &mut Sieve<'_>) -> Result<(), Fault> {
    let reading = sieve.reading;
    let (direction, sign) = if reading.oldest_first { ("", ">=") } else { ("desc", "<=") };
    let sql = format!(
        "select e.id, e.feed, e.published_at from query_entries q join entries e \
         on e.id = q.entry where q.query = $1 and q.entry {sign} $2 order by q.entry {direction}"
    );
    let ends = if reading.oldest_first { 0 } else { i64::MAX };
    let from = reading.from.map_or(ends, |place| place.entry.0);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![query.0, from])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let candidate = candidate(row)?;
        // A join may keep an entry with several partners.
        if last.replace(candidate.entry) == Some(candidate.entry) {
            continue;
        }
        if !sieve.take(candidate) {
            break;
        }
    }
    Ok(())
}

fn candidate(row: &rusqlite::Row<'_>) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        entry: EntryId(row.get(0)?),
        feed: FeedId(row.get(1)?),
        published_at: Time::from_millis(row.get(2)?),
    })
}

pub(crate) fn shown(
    conn: &Connection,
    entries: impl Iterator<Item = EntryId>,
    marks: &ReadMarks,
    stars: &HashSet<EntryId>,
) -> Result<Vec<ReadEntry>, Fault> {
    let sql = format!("{} where id = $1", crate::entries::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = Vec::new();
    for id in entries {
        if let Some(entry) = statement.query_row([id.0], entry_row).optional()? {
            let (read, starred) = (marks.is_read(id), stars.contains(&id));
            rows.push(ReadEntry { entry, read, starred });
        }
    }
    Ok(rows)
}
