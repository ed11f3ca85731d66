//! Lists of entries for one account: of all feeds, a feed, a tag or a query, unread or starred, in
//! either direction. Candidates come from indexes that contain only numbers and times. Texts are
//! read only for the entries on the page.

use std::collections::{HashMap, HashSet};

use crate::db::sql::{Connection, Value};
use feed::{EntryId, FeedId, Time};

use crate::db::sequence;
use crate::error::DbError;
use crate::reading::entries::{PAGE_BYTES_MAX, entry_row};
use crate::reading::marks::{self, ReadMarks, SetBits};
use crate::reading::selection::{EntryCandidate, FEW, conditions, fill, look_up, select};
use crate::subscriptions::scope;
use crate::{AccountId, EntryRow, LabelId, QueryId, ReadFeeds, Store, StoreError};

/// The feeds or the query that a list covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Feed(FeedId),
    /// Several feeds, in any order.
    Feeds(Vec<FeedId>),
    Tag(String),
    /// The matches of a query, always in the order of recording.
    Query(QueryId),
    /// The entries with a label of the account.
    Label(LabelId),
}

/// The position of an entry in a list. Lists are in the order of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadingPosition {
    pub published_at: Time,
    pub entry: EntryId,
}

/// The filter, order and position of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingFilter {
    pub account: AccountId,
    pub scope: Scope,
    /// `Some(true)`: read entries only; `Some(false)`: unread entries only.
    pub read: Option<bool>,
    pub starred: Option<bool>,
    /// Only the entries that rules have hidden. Otherwise these are left out.
    pub hidden: bool,
    /// Entries in this language only: a primary subtag such as `de`.
    pub language: Option<String>,
    /// Published at or after `since`, and before `until`.
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Entry numbers above and below these.
    pub above: Option<EntryId>,
    pub below: Option<EntryId>,
    pub oldest_first: bool,
    /// In the order of recording instead of publication.
    pub by_number: bool,
    /// The list continues after this position.
    pub from: Option<ReadingPosition>,
    pub offset: u64,
    pub limit: u32,
}

impl ReadingFilter {
    /// Lists the newest entries of a scope.
    pub fn newest(account: AccountId, scope: Scope, limit: u32) -> ReadingFilter {
        ReadingFilter {
            account,
            scope,
            read: None,
            starred: None,
            hidden: false,
            language: None,
            since: None,
            until: None,
            above: None,
            below: None,
            oldest_first: false,
            by_number: false,
            from: None,
            offset: 0,
            limit,
        }
    }
}

/// An entry with the marks of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadEntry {
    pub entry: EntryRow,
    pub read: bool,
    pub starred: bool,
    /// Its texts were left out, because the result has too many bytes already.
    pub without_texts: bool,
}

impl ReadEntry {
    pub fn place(&self) -> ReadingPosition {
        ReadingPosition { published_at: self.entry.published_at, entry: self.entry.id }
    }
}

impl Store {
    /// Returns a list of entries.
    pub fn reading(&self, reading: &ReadingFilter) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let selection = select(conn, reading, false, Some(self.entry_feeds()))?;
            let found = selection.found.iter().map(|candidate| candidate.entry);
            load_entries(conn, found, &selection.marks, &selection.stars, OverflowRule::End)
        })
    }

    /// Returns the positions of the same list, without the entries.
    pub fn reading_places(
        &self,
        reading: &ReadingFilter,
    ) -> Result<Vec<ReadingPosition>, StoreError> {
        self.read(|conn| {
            Ok(select(conn, reading, false, Some(self.entry_feeds()))?
                .found
                .iter()
                .map(EntryCandidate::place)
                .collect())
        })
    }

    /// Returns the length of the complete list; offset and limit are ignored.
    pub fn reading_count(&self, reading: &ReadingFilter) -> Result<u64, StoreError> {
        self.read(|conn| Ok(select(conn, reading, true, Some(self.entry_feeds()))?.passed))
    }

    /// Returns entries by their numbers, in the given order. Deleted ones are left out, and those
    /// that the account may not see. After [`PAGE_BYTES_MAX`](crate::PAGE_BYTES_MAX) the entries
    /// come without their texts.
    pub fn read_entries(
        &self,
        account: AccountId,
        entries: &[EntryId],
    ) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let marks = ReadMarks::load(conn, account)?;
            let stars = marks::stars(conn, account)?;
            let visible = scope::visible_entries(conn, account, entries)?;
            let entries = entries.iter().copied().filter(|entry| visible.contains(entry));
            load_entries(conn, entries, &marks, &stars, OverflowRule::LeaveTextsOut)
        })
    }

    /// Returns the number of unread entries of each feed that has any.
    pub fn unread_by_feed(&self, account: AccountId) -> Result<HashMap<FeedId, u64>, StoreError> {
        self.read(|conn| {
            let marks = ReadMarks::load(conn, account)?;
            if let ReadFeeds::Only(feeds) = scope::read_feeds(conn, account)? {
                let is_unread = |entry| !marks.is_read(entry);
                return self.entry_feeds().unread_of(conn, &feeds, is_unread);
            }
            if marks.n_unread() > FEW {
                return self.entry_feeds().unread(conn, |visit| marks.for_each_unread(visit));
            }
            let mut counts = HashMap::new();
            for candidate in look_up(conn, marks.unread(), None)? {
                *counts.entry(candidate.feed).or_default() += 1;
            }
            Ok(counts)
        })
    }

    /// Returns the unread entries of an account, the highest number first.
    pub fn unread_entries(&self, account: AccountId) -> Result<Vec<EntryId>, StoreError> {
        self.read(|conn| {
            let marks = ReadMarks::load(conn, account)?;
            let ReadFeeds::Only(feeds) = scope::read_feeds(conn, account)? else {
                return Ok(marks.unread().collect());
            };
            let is_unread = |entry| !marks.is_read(entry);
            let cache = self.entry_feeds();
            let unread = cache.unread_entries(conn, &feeds, u64::MAX, is_unread)?;
            let mut unread = unread.unwrap_or_default();
            unread.sort_unstable_by(|one, other| other.cmp(one));
            Ok(unread)
        })
    }

    /// Marks a scope as read, optionally up to a time of publication and up to an entry number.
    /// Entries that came after the page was shown stay unread.
    pub fn mark_scope_read(
        &self,
        account: AccountId,
        scope: &Scope,
        published_to: Option<Time>,
        up_to: Option<EntryId>,
    ) -> Result<(), StoreError> {
        let scope = scope.clone();
        self.write_own(move |conn| mark_scope(conn, account, scope, published_to, up_to).map(drop))
    }
}

/// Entries that are marked in one step. In the order of their times they are spread over all blocks
/// of marks, so each step may write every block.
const MARKED_AT_ONCE: usize = 100_000;

/// Does the work of [`Store::mark_scope_read`] inside a transaction. Returns the bits that were
/// set.
pub(crate) fn mark_scope(
    conn: &Connection,
    account: AccountId,
    scope: Scope,
    published_to: Option<Time>,
    up_to: Option<EntryId>,
) -> Result<SetBits, DbError> {
    // With accounts, the entries of other people's feeds get no marks: a person may subscribe to
    // one of these feeds later, and finds its entries unread.
    if let (AccountId::LOCAL, Scope::All, None) = (account, &scope, published_to) {
        let last = EntryId(sequence::last_entry(conn)?);
        return marks::mark_up_to(conn, account, up_to.map_or(last, |id| id.min(last)));
    }
    let mut wanted = ReadingFilter::newest(account, scope, u32::MAX);
    wanted.read = Some(false);
    wanted.until = published_to.map(|at| at + std::time::Duration::from_millis(1));
    wanted.below = up_to.map(|id| EntryId(id.0 + 1));
    let mut set = SetBits::new();
    loop {
        let mut selection = conditions(conn, &wanted, false)?;
        selection.limit = MARKED_AT_ONCE;
        fill(conn, &mut selection, None)?;
        let found = selection.found;
        let entries: Vec<EntryId> = found.iter().map(|found| found.entry).collect();
        for (block, new) in marks::mark(conn, account, &entries, true)? {
            let bits = set.entry(block).or_insert_with(|| marks::mark_bits(&[]));
            bits.iter_mut().zip(new).for_each(|(bits, new)| *bits |= new);
        }
        let Some(last) = found.last() else { return Ok(set) };
        wanted.from = Some(last.place());
    }
}

/// The treatment of further entries when the result has reached its limit of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverflowRule {
    /// The result ends. The caller continues after the last entry.
    End,
    /// Further entries come without their texts, because the caller named each of them.
    LeaveTextsOut,
}

/// Entries that one question to a server loads. A page has fifty.
const LOADED_AT_ONCE: usize = 50;

pub(crate) fn load_entries(
    conn: &Connection,
    entries: impl Iterator<Item = EntryId>,
    marks: &ReadMarks,
    stars: &HashSet<EntryId>,
    over: OverflowRule,
) -> Result<Vec<ReadEntry>, DbError> {
    let sql = format!("{} where id = $1", crate::reading::entries::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let keys: Vec<Value<'_>> = entries.map(|id| Value::Int(id.0)).collect();
    let step = if conn.is_postgres() { LOADED_AT_ONCE } else { 1 };
    let (mut rows, mut n_bytes) = (Vec::new(), 0);
    for keys in keys.chunks(step) {
        if n_bytes >= PAGE_BYTES_MAX && over == OverflowRule::End {
            break;
        }
        for mut entry in statement.each(keys, &[], |_, row| entry_row(row))? {
            let without_texts = n_bytes >= PAGE_BYTES_MAX;
            if without_texts && over == OverflowRule::End {
                break;
            }
            if without_texts {
                (entry.summary, entry.content) = (None, None);
            }
            n_bytes += entry.n_bytes();
            let (read, starred) = (marks.is_read(entry.id), stars.contains(&entry.id));
            rows.push(ReadEntry { entry, read, starred, without_texts });
        }
    }
    Ok(rows)
}
