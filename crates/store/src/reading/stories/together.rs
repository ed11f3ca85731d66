//! The entries of a story are marked as read together, if the account wants that.

use feed::{EntryId, FeedId};

use crate::AccountId;
use crate::db::sql::{Connection, OptionalExtension, Value, params};
use crate::error::DbError;
use crate::subscriptions::scope;

/// The preference of an account, and its value.
pub const STORIES_CHOICE: (&str, &str) = ("stories", "together");

/// Adds the other entries of the stories of `entries`, if the account marks them together. Entries
/// of feeds that it does not read get no marks: it may subscribe to these later.
pub(crate) fn with_stories(
    conn: &Connection,
    account: AccountId,
    mut entries: Vec<EntryId>,
) -> Result<Vec<EntryId>, DbError> {
    let (name, value) = STORIES_CHOICE;
    let sql = "select 1 from reading_choices where account = $1 and name = $2 and value = $3";
    let chosen = conn
        .prepare_cached(sql)?
        .query_row(params![account.0, name, value], |row| row.get::<_, i64>(0))
        .optional()?;
    if chosen.is_none() {
        return Ok(entries);
    }
    let sql = "select o.entry, e.feed from story_entries s \
               join story_entries o on o.story = s.story join entries e on e.id = o.entry \
               where s.entry = $1";
    let keys: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let others = conn
        .prepare_cached(sql)?
        .each(&keys, &[], |_, row| Ok((EntryId(row.get(0)?), FeedId(row.get(1)?))))?;
    let own = scope::read_feeds(conn, account)?;
    entries.extend(others.into_iter().filter(|(_, feed)| own.contains(*feed)).map(|(id, _)| id));
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}
