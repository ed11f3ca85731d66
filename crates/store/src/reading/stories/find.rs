//! The rows that the search for stories reads and writes: the next entries of the stream, the keys
//! of the last days, and the entries of stories.

use feed::{EntryId, FeedId, STORY_SPAN, StoryKeys, Time};

use crate::db::columns::time;
use crate::db::sql::{OptionalExtension, Value, params};
use crate::reading::entries::{COLUMNS, entry_row, page};
use crate::reading::stories::linked::{self, LinkedSite};
use crate::{EntryRow, Store, StoreError};

/// Candidates for one key. More entries with one key are a habit of publishers, not a story.
const CANDIDATES_MAX: i64 = 20;
/// Keys that are forgotten with one batch of entries.
const FORGOTTEN_MAX: i64 = 5000;

/// An earlier entry that shares a key with a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryCandidate {
    pub key: i64,
    pub entry: EntryId,
    pub feed: FeedId,
    pub published_at: Time,
    pub title: Option<String>,
    /// The story that it belongs to.
    pub story: Option<EntryId>,
}

/// An entry whose stories were looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryRecord {
    pub entry: EntryId,
    pub published_at: Time,
    /// Empty if the entry is too old for others to find it.
    pub keys: StoryKeys,
    /// An earlier entry that tells the same.
    pub same_as: Option<EntryId>,
    /// Other sites that the entry links to.
    pub sites: Vec<LinkedSite>,
}

impl Store {
    /// Returns the next entries whose stories are to be found.
    pub fn next_for_stories(&self, limit: u32) -> Result<Vec<EntryRow>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "{COLUMNS} where id > (select done_to from story_progress) order by id limit $1"
            );
            page(conn.prepare_cached(&sql)?.query_map([limit], entry_row)?, |row| row)
        })
    }

    /// Returns earlier entries with one of the keys, the newest first for each key.
    pub fn story_candidates(&self, keys: &[i64]) -> Result<Vec<StoryCandidate>, StoreError> {
        self.read(|conn| {
            let sql = "select k.key, k.entry, e.feed, e.published_at, e.title, s.story \
                       from story_keys k join entries e on e.id = k.entry \
                       left join story_entries s on s.entry = k.entry \
                       where k.key = $1 order by k.entry desc limit $2";
            let keys: Vec<Value<'_>> = keys.iter().map(|key| Value::Int(*key)).collect();
            let limit = [Value::Int(CANDIDATES_MAX)];
            Ok(conn.prepare_cached(sql)?.each(&keys, &limit, |_, row| {
                Ok(StoryCandidate {
                    key: row.get(0)?,
                    entry: EntryId(row.get(1)?),
                    feed: FeedId(row.get(2)?),
                    published_at: time(row, 3)?,
                    title: row.get(4)?,
                    story: row.get::<_, Option<i64>>(5)?.map(EntryId),
                })
            })?)
        })
    }

    /// Stores the stories of entries, notes the last entry, and forgets old keys.
    pub async fn record_stories(
        &self,
        records: Vec<StoryRecord>,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let key = "insert into story_keys (key, entry, published_at) \
                       select $1, id, $2 from entries where id = $3 \
                       on conflict (key, entry) do nothing";
            for record in &records {
                let at = record.published_at.millis();
                for one in record.keys.pages.iter().chain(&record.keys.titles) {
                    conn.prepare_cached(key)?.execute(params![*one, at, record.entry.0])?;
                }
                if let Some(other) = record.same_as {
                    join(conn, record.entry, other)?;
                }
                linked::note(conn, record.entry, at.min(now.millis()), &record.sites)?;
            }
            let last = records.iter().map(|record| record.entry.0).max().unwrap_or(0);
            let sql = "update story_progress set done_to = $1 where done_to < $1";
            conn.prepare_cached(sql)?.execute([last])?;
            let old = "delete from story_keys where entry in (select entry from story_keys \
                       where published_at < $1 order by published_at limit $2)";
            let before = (now - STORY_SPAN - STORY_SPAN).millis();
            conn.prepare_cached(old)?.execute(params![before, FORGOTTEN_MAX])?;
            Ok(())
        })
        .await
    }
}

/// Puts an entry into the story of an earlier one. Entries that were deleted meanwhile stay out.
fn join(
    conn: &crate::db::sql::Connection,
    entry: EntryId,
    other: EntryId,
) -> Result<(), crate::error::DbError> {
    let known = "select story from story_entries where entry = $1";
    let story: Option<i64> =
        conn.prepare_cached(known)?.query_row([other.0], |row| row.get(0)).optional()?;
    let story = story.unwrap_or(other.0);
    let add = "insert into story_entries (story, entry, published_at) \
               select $1, id, published_at from entries where id = $2 \
               on conflict (entry) do nothing";
    for member in [other, entry] {
        conn.prepare_cached(add)?.execute(params![story, member.0])?;
    }
    Ok(())
}
