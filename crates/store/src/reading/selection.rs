//! Selects the entries of a list. Candidates come from the index that yields the fewest, and the
//! selection checks the remaining conditions. It reads only numbers and times, never a text.

use std::collections::HashSet;

use crate::db::sql::{Connection, Value, params};
use feed::{EntryId, FeedId, Time};

use crate::QueryId;
use crate::db::entry_feeds::EntryFeeds;
use crate::error::DbError;
use crate::reading::cost::{few_entries, few_numbers, few_unread, is_by_star, is_soon_found};
use crate::reading::hidden::HiddenMarks;
use crate::reading::labels;
use crate::reading::list::{ReadingFilter, ReadingPosition, Scope};
use crate::reading::marks::{self, ReadMarks};
use crate::reading::newest::{check_newest, check_published, time_ends};
use crate::subscriptions::scope;

/// The most entries on one page.
pub(super) const LIMIT_MAX: u32 = 1000;
/// Up to this many unread or starred entries are looked up one by one and sorted. With more, the
/// index of all entries is scanned.
pub(crate) const FEW: u64 = 2000;
/// An entry that may belong to the list.
#[derive(Clone, Copy)]
pub(crate) struct EntryCandidate {
    pub(crate) entry: EntryId,
    pub(crate) feed: FeedId,
    pub(crate) published_at: Time,
}

impl EntryCandidate {
    pub(crate) fn place(&self) -> ReadingPosition {
        ReadingPosition { published_at: self.published_at, entry: self.entry }
    }
}

/// The conditions that no index answers, and the entries found so far.
pub(crate) struct EntrySelection<'a> {
    pub(super) reading: &'a ReadingFilter,
    pub(crate) marks: ReadMarks,
    pub(crate) stars: HashSet<EntryId>,
    hidden: HiddenMarks,
    /// `None`: any feed.
    pub(super) feeds: Option<HashSet<FeedId>>,
    /// Counts all fitting entries and collects none.
    pub(super) counts: bool,
    /// Entries that are collected at most.
    pub(super) limit: usize,
    pub(crate) passed: u64,
    pub(crate) found: Vec<EntryCandidate>,
    /// The number of candidates: a list of ten entries must not look at a million.
    #[cfg(test)]
    pub(super) looked_at: u64,
}

impl EntrySelection<'_> {
    /// Returns whether the list has all its entries.
    pub(super) fn is_full(&self) -> bool {
        !self.counts && self.found.len() >= self.limit
    }

    /// Checks a candidate; returns whether more are needed.
    fn check(&mut self, candidate: EntryCandidate) -> bool {
        #[cfg(test)]
        {
            self.looked_at += 1;
        }
        if self.fits(&candidate) {
            self.passed += 1;
            if !self.counts && self.passed > self.reading.offset {
                self.found.push(candidate);
            }
        }
        !self.is_full()
    }

    fn fits(&self, candidate: &EntryCandidate) -> bool {
        let reading = self.reading;
        let behind = |from: ReadingPosition| {
            let (here, there) = (self.order_key(candidate.place()), self.order_key(from));
            if reading.oldest_first { here > there } else { here < there }
        };
        self.fits_anywhere(candidate) && reading.from.is_none_or(behind)
    }

    /// Checks all conditions except the position at which the list continues.
    pub(crate) fn fits_anywhere(&self, candidate: &EntryCandidate) -> bool {
        let reading = self.reading;
        self.hidden.is_hidden(candidate.entry) == reading.hidden
            && reading.read.is_none_or(|read| self.marks.is_read(candidate.entry) == read)
            && reading.starred.is_none_or(|on| self.stars.contains(&candidate.entry) == on)
            && self.feeds.as_ref().is_none_or(|feeds| feeds.contains(&candidate.feed))
            && reading.since.is_none_or(|since| candidate.published_at >= since)
            && reading.until.is_none_or(|until| candidate.published_at < until)
            && reading.above.is_none_or(|above| candidate.entry > above)
            && reading.below.is_none_or(|below| candidate.entry < below)
    }

    /// Returns the candidates that belong to the list, before or after its position, in its order.
    pub(crate) fn in_list(&self, candidates: &[EntryCandidate]) -> Vec<EntryCandidate> {
        let mut fitting: Vec<EntryCandidate> =
            candidates.iter().copied().filter(|one| self.fits_anywhere(one)).collect();
        self.sort(&mut fitting);
        fitting
    }

    /// Returns the sort key of a list: the number alone, or the time and the number.
    fn order_key(&self, place: ReadingPosition) -> (Time, EntryId) {
        let numbered = self.reading.by_number || matches!(self.reading.scope, Scope::Query(_));
        (if numbered { Time::default() } else { place.published_at }, place.entry)
    }

    /// Sorts candidates in the order of the list.
    fn sort(&self, candidates: &mut [EntryCandidate]) {
        candidates.sort_unstable_by_key(|candidate| self.order_key(candidate.place()));
        if !self.reading.oldest_first {
            candidates.reverse();
        }
    }

    pub(super) fn check_all(&mut self, mut candidates: Vec<EntryCandidate>) {
        self.sort(&mut candidates);
        for candidate in candidates {
            if !self.check(candidate) {
                break;
            }
        }
    }
}

/// Returns the feeds of a list that the account may read; `None`: any feed.
fn feeds_of(
    conn: &Connection,
    reading: &ReadingFilter,
) -> Result<Option<HashSet<FeedId>>, DbError> {
    let account = reading.account;
    Ok(match &reading.scope {
        Scope::Tag(tag) => Some(scope::tagged(conn, account, tag)?),
        Scope::Feed(feed) => Some(match scope::is_subscribed(conn, account, *feed)? {
            true => HashSet::from([*feed]),
            false => HashSet::new(),
        }),
        Scope::Feeds(feeds) => {
            let own = scope::read_feeds(conn, account)?;
            Some(feeds.iter().copied().filter(|feed| own.contains(*feed)).collect())
        }
        // People keep what they have starred after they unsubscribe.
        Scope::All if reading.starred == Some(true) => None,
        Scope::All | Scope::Label(_) => scope::read_feeds(conn, account)?.into_list(),
        Scope::Query(query) => match scope::may_read_query(conn, account, *query)? {
            true => None,
            false => Some(HashSet::new()),
        },
    })
}

/// Reads the conditions of a list that no index answers.
pub(crate) fn conditions<'a>(
    conn: &Connection,
    reading: &'a ReadingFilter,
    counts: bool,
) -> Result<EntrySelection<'a>, DbError> {
    Ok(EntrySelection {
        reading,
        marks: ReadMarks::load(conn, reading.account)?,
        stars: marks::stars(conn, reading.account)?,
        hidden: HiddenMarks::load(conn, reading.account)?,
        feeds: feeds_of(conn, reading)?,
        counts,
        limit: reading.limit.min(LIMIT_MAX) as usize,
        passed: 0,
        found: Vec::new(),
        #[cfg(test)]
        looked_at: 0,
    })
}

/// Finds the entries of a list, or only counts them. With `cache`, the unread entries of an account
/// are found in memory.
pub(crate) fn select<'a>(
    conn: &Connection,
    reading: &'a ReadingFilter,
    counts: bool,
    cache: Option<&EntryFeeds>,
) -> Result<EntrySelection<'a>, DbError> {
    let mut selection = conditions(conn, reading, counts)?;
    fill(conn, &mut selection, cache)?;
    Ok(selection)
}

/// Finds the entries that fit the conditions, up to the limit.
pub(super) fn fill(
    conn: &Connection,
    selection: &mut EntrySelection<'_>,
    cache: Option<&EntryFeeds>,
) -> Result<(), DbError> {
    let reading = selection.reading;
    let language = reading.language.as_deref();
    if selection.feeds.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(());
    }
    if let Scope::Query(query) = reading.scope {
        scan_query(conn, query, selection)?;
    } else if let Scope::Label(label) = reading.scope {
        let labelled = labels::entries(conn, reading.account, label)?;
        let candidates = look_up(conn, labelled.into_iter(), language)?;
        selection.check_all(candidates);
    } else if is_by_star(selection) {
        let candidates = look_up(conn, selection.stars.iter().copied(), language)?;
        selection.check_all(candidates);
    } else if reading.read == Some(false) && selection.marks.n_unread() <= FEW {
        let candidates = look_up(conn, selection.marks.unread(), language)?;
        selection.check_all(candidates);
    } else if let Some(unread) = few_unread(conn, selection, cache)? {
        let candidates = look_up(conn, unread.into_iter(), language)?;
        selection.check_all(candidates);
    } else if !reading.by_number
        && let Some(numbers) = few_numbers(conn, reading)?
    {
        let candidates = look_up(conn, numbers.map(EntryId), language)?;
        selection.check_all(candidates);
    } else {
        scan(conn, selection)?;
    }
    Ok(())
}

pub(crate) fn look_up(
    conn: &Connection,
    entries: impl Iterator<Item = EntryId>,
    language: Option<&str>,
) -> Result<Vec<EntryCandidate>, DbError> {
    let keys: Vec<Value<'_>> = entries.map(|entry| Value::Int(entry.0)).collect();
    if let Some(language) = language {
        let sql = "select id, feed, published_at from entries where id = $1 and lang = $2";
        let language = [Value::Text(language)];
        return Ok(conn.prepare_cached(sql)?.each(&keys, &language, |_, row| candidate(row))?);
    }
    let sql = "select id, feed, published_at from entries where id = $1";
    Ok(conn.prepare_cached(sql)?.each(&keys, &[], |_, row| candidate(row))?)
}

/// Scans the index of a feed, of each feed of a small tag, or of all entries.
fn scan(conn: &Connection, selection: &mut EntrySelection<'_>) -> Result<(), DbError> {
    let mut times = time_ends(selection.reading);
    let several =
        !matches!(selection.reading.scope, Scope::Feed(_)) && selection.reading.language.is_none();
    if let Some(feeds) = selection.feeds.clone().filter(|_| several) {
        let Some(older) = check_newest(conn, selection, &feeds, times)? else { return Ok(()) };
        times = older;
        if let Some(n_entries) = few_entries(conn, &feeds)?
            && !is_soon_found(conn, selection, n_entries)?
        {
            return check_published(conn, selection, &feeds, times);
        }
    }
    let reading = selection.reading;
    let direction = if reading.oldest_first { "" } else { "desc" };
    let feed = match reading.scope {
        Scope::Feed(feed) => i64::from(feed.0),
        _ => 0,
    };
    let of_feed = if feed == 0 { "$1 = 0" } else { "feed = $1" };
    let of_language = if reading.language.is_none() { "$4 = ''" } else { "lang = $4" };
    let (column, order, ends) = if reading.by_number {
        ("id", format!("id {direction}"), number_ends(reading))
    } else {
        let order = format!("published_at {direction}, id {direction}");
        ("published_at", order, times)
    };
    let sql = format!(
        "select id, feed, published_at from entries where {of_feed} and {column} >= $2 \
         and {column} <= $3 and {of_language} order by {order}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let language = reading.language.as_deref().unwrap_or_default();
    let mut rows = statement.scan(params![feed, ends.0, ends.1, language])?;
    while let Some(row) = &rows.next()? {
        if !selection.check(candidate(row)?) {
            break;
        }
    }
    Ok(())
}

/// Returns the lowest and the highest number that may belong to the list.
fn number_ends(reading: &ReadingFilter) -> (i64, i64) {
    let from = reading.from.map(|place| place.entry.0);
    let low = reading.above.map_or(0, |above| above.0.saturating_add(1));
    let high = reading.below.map_or(i64::MAX, |below| below.0.saturating_sub(1));
    match from {
        Some(from) if reading.oldest_first => (low.max(from), high),
        Some(from) => (low, high.min(from)),
        None => (low, high),
    }
}

fn scan_query(
    conn: &Connection,
    query: QueryId,
    selection: &mut EntrySelection<'_>,
) -> Result<(), DbError> {
    let direction = if selection.reading.oldest_first { "" } else { "desc" };
    let sql = format!(
        "select e.id, e.feed, e.published_at from query_entries q join entries e \
         on e.id = q.entry where q.query = $1 and q.entry >= $2 and q.entry <= $3 \
         and ($4 = '' or e.lang = $4) order by q.entry {direction}"
    );
    let (low, high) = number_ends(selection.reading);
    let language = selection.reading.language.as_deref().unwrap_or_default();
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.scan(params![query.0, low, high, language])?;
    let mut last = None;
    while let Some(row) = &rows.next()? {
        let candidate = candidate(row)?;
        // A join may match an entry with several partners.
        if last.replace(candidate.entry) == Some(candidate.entry) {
            continue;
        }
        if !selection.check(candidate) {
            break;
        }
    }
    Ok(())
}

pub(crate) fn candidate(row: &crate::db::sql::Row<'_>) -> crate::db::sql::Result<EntryCandidate> {
    Ok(EntryCandidate {
        entry: EntryId(row.get(0)?),
        feed: FeedId(row.get(1)?),
        published_at: Time::from_millis(row.get(2)?),
    })
}

#[cfg(test)]
mod tests {
    use feed::{EntryKey, FeedUrl, Item, Outcome, Published};

    use super::*;
    use crate::{AccountId, NewEntry, NewFeed, OpenMode, PollRecord, Store};

    const T0: i64 = 1_700_000_000;

    /// A hundred entries, published one second after the other.
    fn filled(folder: &std::path::Path) -> Store {
        let store = Store::open(crate::testing::location(folder), OpenMode::ReadWrite).unwrap();
        let url = FeedUrl::parse("https://example.org/").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let at = Time::from_secs(T0);
        let feed = store.add_feed(&new, at).unwrap().id;
        let mut record = PollRecord::empty(feed, 0, at, Outcome::Seen, at);
        record.document_mut().entries.new.extend((1..=100_u8).map(|n| NewEntry {
            key: EntryKey::from_bytes([n; 16]),
            item: Item::default(),
            published: Published { claim: None, at: Time::from_secs(T0 + i64::from(n)) },
            content: 0,
            facts: crate::EntryFacts::default(),
        }));
        store.record_blocking(record).unwrap();
        store
    }

    #[test]
    fn a_walk_ends_where_nothing_can_fit_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path());
        let second = |n| Some(Time::from_secs(T0 + n));
        let all = ReadingFilter::newest(AccountId::LOCAL, Scope::All, 50);
        for oldest_first in [false, true] {
            for bounded in [
                ReadingFilter { since: second(91), ..all.clone() },
                ReadingFilter { until: second(11), ..all.clone() },
                ReadingFilter { above: Some(EntryId(90)), by_number: true, ..all.clone() },
                ReadingFilter { below: Some(EntryId(11)), by_number: true, ..all.clone() },
                ReadingFilter { above: Some(EntryId(90)), ..all.clone() },
            ] {
                let reading = ReadingFilter { oldest_first, ..bounded };
                store
                    .read(|conn| {
                        let selection = select(conn, &reading, false, None)?;
                        assert_eq!(
                            (selection.found.len(), selection.looked_at),
                            (10, 10),
                            "{reading:?}"
                        );
                        Ok(())
                    })
                    .unwrap();
            }
        }
    }
}
