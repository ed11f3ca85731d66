//! Turns the records of polls and pushes into rows. All of it runs inside the writer's transaction;
//! an error undoes the whole record.

use std::collections::HashSet;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, EntryKey, FeedId, Time, Window};

use crate::db::columns::{millis, source_json, sql_count};
use crate::db::sequence;
use crate::error::DbError;
use crate::facts::languages;
use crate::feeds::domains;
use crate::feeds::state::{self, FeedTotal};
use crate::matching::MatcherSlot;
use crate::push::inbox;
use crate::queries::matches;
use crate::record::copies::SourceClaim;
use crate::record::grants;
use crate::record::{REVISIONS_MAX, poll_history, values};
use crate::recording::write::PollNumber;
use crate::{
    DocumentRecord, EditedEntry, EntryChanges, NewEntry, NextPoll, PollRecord, PushRecord,
    RecordResult, StoreError, recording, search,
};

/// Records a poll. `decide` may replace the decision about the next one: it runs after the queries
/// have seen the new entries.
pub(crate) fn record_poll<T>(
    conn: &Connection,
    mut record: PollRecord,
    slot: &MatcherSlot,
    decide: impl FnOnce(&Connection, &mut PollRecord) -> Result<T, DbError>,
) -> Result<(RecordResult, T), DbError> {
    let is_first = refuse_stale(conn, record.feed, record.generation)?;
    let (feed, at) = (record.feed, record.at);
    let no_entries = EntryChanges::default();
    let entries = record.document().map_or(&no_entries, |document| &document.entries);
    let new = add_entries(conn, feed, entries, at)?;
    write_facts(conn, &record)?;
    write_validators(conn, &record)?;
    // After the facts, because queries use the language that this document states.
    let recorded = match_new(conn, slot, feed, at, new)?;
    let n_new = recorded.new_ids.len() as u64;
    let more = decide(conn, &mut record)?;
    let record = &record;
    let window = record.document().and_then(|document| document.entries.window.as_ref());
    write_window(conn, feed, window, record.decision.learned.as_deref())?;
    count_entries(conn, feed, at, n_new)?;
    write_state(conn, record, is_first)?;
    poll_history::write(conn, record, n_new)?;
    if let Some(raw) = &record.raw {
        let PollRecord { feed, generation, outcome, .. } = *record;
        recording::write::write(conn, PollNumber { feed, generation, outcome }, raw)?;
    }
    state::refresh(conn, feed)?;
    if let Some(trust) = &record.trust {
        inbox::write_trust(conn, trust)?;
    }
    for pace in &record.exchange.paces {
        domains::write_pace(conn, pace)?;
    }
    grants::remove(conn, &record.grants)?;
    Ok((recorded, more))
}

/// Records a push: its entries, the next poll, and the end of its row in the inbox.
pub(crate) fn record_push(
    conn: &Connection,
    record: &PushRecord,
    slot: &MatcherSlot,
) -> Result<RecordResult, DbError> {
    refuse_stale(conn, record.feed, record.generation)?;
    let (feed, at) = (record.feed, record.at);
    let new = add_entries(conn, feed, &record.entries, at)?;
    let recorded = match_new(conn, slot, feed, at, new)?;
    write_window(conn, feed, record.entries.window.as_ref(), None)?;
    count_entries(conn, feed, at, recorded.new_ids.len() as u64)?;
    write_next_poll(conn, feed, &record.next)?;
    state::refresh(conn, feed)?;
    inbox::write_trust(conn, &record.trust)?;
    inbox::close(conn, record.trust.subscription, record.parcel, at)?;
    Ok(recorded)
}

/// Adds the new entries, revises the edited ones and follows the window. Returns the entries that
/// are new to the store, with their ids.
fn add_entries<'a>(
    conn: &Connection,
    feed: FeedId,
    entries: &'a EntryChanges,
    at: Time,
) -> Result<Vec<(EntryId, &'a NewEntry)>, DbError> {
    let mut new = Vec::with_capacity(entries.new.len());
    for entry in &entries.new {
        let id = add_entry(conn, feed, entry, at)?;
        new.extend(id.map(|id| (id, entry)));
    }
    for edited in &entries.edited {
        revise_entry(conn, feed, edited, at)?;
    }
    if let Some(window) = &entries.window {
        mark_window(conn, feed, window, at)?;
    }
    Ok(new)
}

/// Shows the new entries to the queries.
fn match_new(
    conn: &Connection,
    slot: &MatcherSlot,
    feed: FeedId,
    at: Time,
    new: Vec<(EntryId, &NewEntry)>,
) -> Result<RecordResult, DbError> {
    let shown: Vec<_> = new.iter().map(|(id, new)| new.arrival(*id)).collect();
    let n_matches = matches::match_new_entries(conn, slot, feed, at, &shown)?;
    Ok(RecordResult { new_ids: new.into_iter().map(|(id, _)| id).collect(), n_matches })
}

/// Refuses a record of another generation. Returns whether the feed was never polled before.
fn refuse_stale(conn: &Connection, feed: FeedId, generation: u32) -> Result<bool, DbError> {
    let sql = "select generation, last_poll_at is null from feed_state where feed = $1";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row([feed.0], |row| Ok((row.get(0)?, row.get(1)?)));
    let (current, is_first): (u32, bool) = found.optional()?.ok_or(StoreError::NoFeed(feed))?;
    if current != generation {
        return Err(StoreError::Stale { feed, generation }.into());
    }
    Ok(is_first)
}

/// Adds an entry. Returns `None` if the entry is not new: its key is known, or it is a copy of a
/// known entry.
fn add_entry(
    conn: &Connection,
    feed: FeedId,
    new: &NewEntry,
    at: Time,
) -> Result<Option<EntryId>, DbError> {
    let sql = "select 1 from entry_keys where feed = $1 and key = $2";
    let mut statement = conn.prepare_cached(sql)?;
    if statement.exists(params![feed.0, new.key.bytes()])? {
        return Ok(None);
    }
    let claim = SourceClaim::of(conn, feed, &new.item)?;
    if let Some(claim) = &claim
        && claim.is_known(conn, new.content)?
    {
        return Ok(None);
    }
    let id = sequence::next_entry(conn)?;
    let sql = "insert into entries (id, feed, key, guid, title, link, author, summary, content, \
               categories, enclosures, published_claim, published_at, updated_at, seen_at, \
               content_hash, source, language, lang, lang_tag, lang_source, lang_confidence, \
               category, category_source, topic, wants_article, media) values ($1, $2, $3, $4, \
               $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, \
               $22, $23, $24, $25, $26, $27)";
    let source = claim.as_ref().map(|claim| source_json(&claim.source));
    let row = values::new_entry(id, feed, new, at, source);
    conn.prepare_cached(sql)?.execute(row.as_slice())?;
    let sql = "insert into entry_keys (feed, key, entry, content_hash, published_at, seen_at, \
               origin) values ($1, $2, $3, $4, $5, $6, $7)";
    let origin = claim.as_ref().and_then(SourceClaim::origin);
    let row = values::new_key(id, feed, new, at, origin);
    conn.prepare_cached(sql)?.execute(row.as_slice())?;
    if let Some(language) = &new.facts.language {
        languages::count(conn, language.primary(), 1)?;
    }
    Ok(Some(EntryId(id)))
}

/// Replaces the text of an entry. The earlier text becomes a revision, up to [`REVISIONS_MAX`].
fn revise_entry(
    conn: &Connection,
    feed: FeedId,
    new: &EditedEntry,
    at: Time,
) -> Result<(), DbError> {
    let sql = "update entry_keys set content_hash = $1 where feed = $2 and key = $3 \
               returning entry";
    let entry: Option<i64> = conn
        .prepare_cached(sql)?
        .query_row(params![new.content.cast_signed(), feed.0, new.key.bytes()], |row| row.get(0))
        .optional()?;
    let Some(entry) = entry else { return Ok(()) };
    let sql = "insert into revisions \
               (entry, n, seen_at, title, link, author, summary, content, content_hash) \
               select e.id, r.used + 1, coalesce(e.edited_at, e.seen_at), e.title, e.link, \
               e.author, e.summary, e.content, e.content_hash \
               from entries e, (select count(*) as used from revisions where entry = $1) r \
               where e.id = $1 and r.used < $2";
    conn.prepare_cached(sql)?.execute(params![entry, REVISIONS_MAX])?;
    let language = "select lang from entries where id = $1";
    let before = conn.prepare_cached(language)?.query_row([entry], |row| row.get(0)).optional()?;
    let Some(before): Option<Option<String>> = before else { return Ok(()) };
    // SQLite numbers parameters by their first use.
    let facts = values::edited_facts(["$13", "$14", "$15", "$16", "$17", "$18", "$19"]);
    let sql = format!(
        "update entries as e set title = $1, link = $2, author = $3, summary = $4, content = $5, \
         categories = $6, enclosures = $7, updated_at = $8, edited_at = $9, content_hash = $10, \
         language = $11, media = $12, {facts} where id = $20 returning lang"
    );
    let mut row = values::edited(new, at).to_vec();
    row.push(entry.into());
    let after: Option<String> =
        conn.prepare_cached(&sql)?.query_row(row.as_slice(), |row| row.get(0))?;
    if before != after {
        for (language, n) in [(&before, -1), (&after, 1)] {
            language.iter().try_for_each(|language| languages::count(conn, language, n))?;
        }
    }
    search::note_change(conn, EntryId(entry))
}

/// Marks the keys that left the window, and those that entered it or came back.
fn mark_window(conn: &Connection, feed: FeedId, window: &Window, at: Time) -> Result<(), DbError> {
    let before = keys_in_window(conn, feed)?;
    let sql = "update entry_keys set left_window_at = $1 where feed = $2 and key = $3";
    let mut mark = conn.prepare_cached(sql)?;
    for (key, left_at) in values::window_marks(&before, window, at) {
        mark.execute(params![left_at, feed.0, key.bytes()])?;
    }
    Ok(())
}

/// Returns the keys of the previous window. If it cannot be read, these are the keys that never
/// left a window.
fn keys_in_window(conn: &Connection, feed: FeedId) -> Result<HashSet<EntryKey>, DbError> {
    let sql = "select shown from feed_window where feed = $1";
    let found = conn
        .prepare_cached(sql)?
        .query_row([feed.0], |row| Ok(Window::decode(row.get_ref(0)?.as_blob()?)));
    match found.optional()? {
        None => Ok(HashSet::new()),
        Some(Ok(window)) => Ok(values::keys(&window)),
        Some(Err(_)) => {
            let sql = "select key from entry_keys where feed = $1 and left_window_at is null";
            let mut statement = conn.prepare_cached(sql)?;
            let keys = statement
                .query_map([feed.0], |row| row.get::<_, [u8; 16]>(0).map(EntryKey::from_bytes))?;
            Ok(keys.collect::<Result<_, _>>()?)
        }
    }
}

fn write_window(
    conn: &Connection,
    feed: FeedId,
    window: Option<&Window>,
    learned: Option<&[u8]>,
) -> Result<(), DbError> {
    if window.is_none() && learned.is_none() {
        return Ok(());
    }
    let shown = window.map(Window::encode);
    let sql = "insert into feed_window (feed, shown, learned) values ($1, $2, $3) \
               on conflict (feed) do nothing";
    let first = conn.prepare_cached(sql)?.execute(params![
        feed.0,
        shown.as_deref().unwrap_or_default(),
        learned.unwrap_or_default(),
    ])?;
    if first == 0 {
        let sql = "update feed_window set shown = coalesce($1, shown), \
                   learned = coalesce($2, learned) where feed = $3";
        conn.prepare_cached(sql)?.execute(params![shown, learned, feed.0])?;
    }
    Ok(())
}

fn write_facts(conn: &Connection, record: &PollRecord) -> Result<(), DbError> {
    let feed = record.feed.0;
    if let Some(document) = record.document() {
        // Most documents repeat the same facts, and then no row is rewritten.
        let sql = "update feeds set title = $1, site = $2, language = $3, hub = $4, topic = $5, \
                   cloud = $6, categories = $7, icon = $8, detected_language = $9, \
                   detected_confidence = $10 where id = $11 \
                   and (title is distinct from $1 or site is distinct from $2 \
                   or language is distinct from $3 or hub is distinct from $4 \
                   or topic is distinct from $5 or cloud is distinct from $6 \
                   or categories is distinct from $7 or icon is distinct from $8 \
                   or detected_language is distinct from $9 \
                   or detected_confidence is distinct from $10)";
        let mut row = values::facts(document).to_vec();
        row.push(feed.into());
        let changed = conn.prepare_cached(sql)?.execute(row.as_slice())?;
        if changed > 0 {
            state::refresh_title(conn, record.feed)?;
        }
        let sql = "update feeds set hints = $1 where id = $2 and hints is distinct from $1";
        conn.prepare_cached(sql)?.execute([values::hints(document), feed.into()].as_slice())?;
    }
    if let Some(url) = &record.location.effective_url {
        let sql = "update feeds set effective_url = nullif($1, url) where id = $2";
        conn.prepare_cached(sql)?.execute(params![url.as_str(), feed])?;
        let domain = domains::number(conn, &url.domain())?;
        state::change_domain(conn, record.feed, domain)?;
    }
    Ok(())
}

fn write_validators(conn: &Connection, record: &PollRecord) -> Result<(), DbError> {
    let feed = record.feed.0;
    if let Some([etag, last_modified, of]) = values::validators(record) {
        let sql = "update feed_state set etag = $1, last_modified = $2, validators_of = $3 \
                   where feed = $4";
        let row = [etag, last_modified, of, feed.into()];
        conn.prepare_cached(sql)?.execute(row.as_slice())?;
    }
    if let Some(DocumentRecord { body_hash, .. }) = record.document() {
        let sql = "update feed_state set body_hash = $1 where feed = $2";
        conn.prepare_cached(sql)?.execute(params![body_hash, feed])?;
    }
    Ok(())
}

/// Counts new entries. Unchanged columns are left out of the update, because each is in an index.
fn count_entries(conn: &Connection, feed: FeedId, at: Time, n_new: u64) -> Result<(), DbError> {
    if n_new == 0 {
        return Ok(());
    }
    let sql = "update feed_state set entries = entries + $1, last_change_at = $2 where feed = $3";
    let n_new = sql_count(n_new);
    let values = params![n_new, at.millis(), feed.0];
    conn.prepare_cached(sql)?.execute(values)?;
    FeedTotal::Entries.add(conn, n_new)
}

fn write_state(conn: &Connection, record: &PollRecord, is_first: bool) -> Result<(), DbError> {
    let sql = "update feed_state set next_at = $1, wanted_at = $2, last_poll_at = $3, \
               last_outcome = $4, last_success_at = coalesce($5, last_success_at), \
               error = $6, gone_at = $7, gone_reason = $8, moved_to = $9, moved_count = $10, \
               reason = $11, held = $12, cause = $13, trouble = $14, \
               generation = generation + 1 where feed = $15";
    let mut row = values::state(record);
    // The number of failures is in an index, so it is written only when it changes.
    let failures = std::mem::replace(&mut row[14], record.feed.0.into());
    conn.prepare_cached(sql)?.execute(row.as_slice())?;
    let sql = "update feed_state set failures = $1 where feed = $2 and failures <> $1";
    conn.prepare_cached(sql)?.execute([failures, record.feed.0.into()].as_slice())?;
    FeedTotal::Polls.add(conn, 1)?;
    FeedTotal::NeverPolled.add(conn, -i64::from(is_first))
}

/// Writes only the next poll, as needed after a push.
fn write_next_poll(conn: &Connection, feed: FeedId, next: &NextPoll) -> Result<(), DbError> {
    let sql = "update feed_state set next_at = $1, wanted_at = $2, reason = $3, held = $4, \
               cause = $5 where feed = $6";
    conn.prepare_cached(sql)?.execute(params![
        next.at.millis(),
        millis(next.wanted_at),
        next.why.reason,
        next.why.held,
        next.why.cause,
        feed.0,
    ])?;
    Ok(())
}
