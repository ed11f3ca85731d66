//! How entries are found for a reader: candidates come from the index that names the fewest, and
//! a sieve lets through what fits. It reads numbers and times only, never a text.

use std::collections::HashSet;

use feed::{EntryId, FeedId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::QueryId;
use crate::error::Fault;
use crate::marks::{self, ReadMarks};
use crate::reading::{Reading, ReadingPlace, Scope};

/// Entries on one page at most.
const LIMIT_MAX: u32 = 1000;
/// So few unread (or starred) entries are looked up one by one and sorted, rather than searched
/// for among all.
pub(crate) const FEW: u64 = 2000;
/// Feeds that hold no more than this together are gathered feed by feed.
const GATHERED_MAX: i64 = 20_000;

/// An entry that may be wanted.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) entry: EntryId,
    pub(crate) feed: FeedId,
    pub(crate) published_at: Time,
}

impl Candidate {
    pub(crate) fn place(&self) -> ReadingPlace {
        ReadingPlace { published_at: self.published_at, entry: self.entry }
    }
}

/// What a candidate must be; everything that no index answers.
pub(crate) struct Sieve<'a> {
    reading: &'a Reading,
    pub(crate) marks: ReadMarks,
    pub(crate) stars: HashSet<EntryId>,
    /// `None`: any feed.
    feeds: Option<HashSet<FeedId>>,
    /// Counts what fits, all of it, and keeps nothing.
    counts: bool,
    pub(crate) passed: u64,
    pub(crate) found: Vec<Candidate>,
}

impl Sieve<'_> {
    /// Whether more are wanted.
    fn take(&mut self, candidate: Candidate) -> bool {
        if self.fits(&candidate) {
            self.passed += 1;
            if !self.counts && self.passed > self.reading.offset {
                self.found.push(candidate);
            }
        }
        self.counts || self.found.len() < self.reading.limit.min(LIMIT_MAX) as usize
    }

    fn fits(&self, candidate: &Candidate) -> bool {
        let reading = self.reading;
        let behind = |from: ReadingPlace| {
            let (here, there) = (self.order_key(candidate.place()), self.order_key(from));
            if reading.oldest_first { here > there } else { here < there }
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

    /// By what a list is ordered: numbers alone, or times before them.
    fn order_key(&self, place: ReadingPlace) -> (Time, EntryId) {
        let numbered = self.reading.by_number || matches!(self.reading.scope, Scope::Query(_));
        (if numbered { Time::default() } else { place.published_at }, place.entry)
    }

    fn take_all(&mut self, mut candidates: Vec<Candidate>) {
        candidates.sort_unstable_by_key(|candidate| self.order_key(candidate.place()));
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

/// Finds what a reader wants, or only counts it.
pub(crate) fn sift<'a>(
    conn: &Connection,
    reading: &'a Reading,
    counts: bool,
) -> Result<Sieve<'a>, Fault> {
    let mut sieve = Sieve {
        reading,
        marks: ReadMarks::load(conn, reading.account)?,
        stars: marks::stars(conn, reading.account)?,
        feeds: match &reading.scope {
            Scope::Tag(tag) => Some(tagged(conn, tag)?),
            Scope::Feed(feed) => Some(HashSet::from([*feed])),
            Scope::Feeds(feeds) => Some(feeds.iter().copied().collect()),
            Scope::All | Scope::Query(_) => None,
        },
        counts,
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

pub(crate) fn looked_up(
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
    let several = matches!(sieve.reading.scope, Scope::Tag(_) | Scope::Feeds(_));
    if let Some(feeds) = sieve.feeds.clone().filter(|_| several)
        && hold_few(conn, &feeds)?
    {
        let sql = "select id, feed, published_at from entries where feed = $1";
        let mut statement = conn.prepare_cached(sql)?;
        let mut candidates = Vec::new();
        for feed in feeds {
            for row in statement.query_map([feed.0], candidate)? {
                candidates.push(row?);
            }
        }
        sieve.take_all(candidates);
        return Ok(());
    }
    let reading = sieve.reading;
    let (direction, sign) = if reading.oldest_first { ("", ">=") } else { ("desc", "<=") };
    let feed = match reading.scope {
        Scope::Feed(feed) => i64::from(feed.0),
        _ => 0,
    };
    let of_feed = if feed == 0 { "$1 = 0" } else { "feed = $1" };
    let (column, order) = if reading.by_number {
        ("id", format!("id {direction}"))
    } else {
        ("published_at", format!("published_at {direction}, id {direction}"))
    };
    let sql = format!(
        "select id, feed, published_at from entries where {of_feed} and {column} {sign} $2 \
         order by {order}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![feed, start(reading)])?;
    while let Some(row) = rows.next()? {
        if !sieve.take(candidate(row)?) {
            break;
        }
    }
    Ok(())
}

/// Where a walk begins: at the place to go on from, or at the end of the list.
fn start(reading: &Reading) -> i64 {
    let (below, above) = (reading.below.map(|id| id.0), reading.above.map(|id| id.0));
    match (reading.by_number, reading.oldest_first) {
        (true, true) => reading.from.map(|at| at.entry.0).max(above).unwrap_or(0),
        (true, false) => {
            let from = reading.from.map_or(i64::MAX, |at| at.entry.0);
            from.min(below.unwrap_or(i64::MAX))
        }
        (false, true) => reading.from.map_or(i64::MIN, |at| at.published_at.millis()),
        (false, false) => reading.from.map_or(i64::MAX, |at| at.published_at.millis()),
    }
}

fn hold_few(conn: &Connection, feeds: &HashSet<FeedId>) -> Result<bool, Fault> {
    let mut statement = conn.prepare_cached("select entries from feed_state where feed = $1")?;
    let mut sum = 0;
    for feed in feeds {
        let held: Option<i64> = statement.query_row([feed.0], |row| row.get(0)).optional()?;
        sum += held.unwrap_or(0);
        if sum > GATHERED_MAX {
            return Ok(false);
        }
    }
    Ok(true)
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
