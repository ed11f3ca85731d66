//! Shows an entry to the queries that waited for its page: once, in the transaction that records
//! the article or the passing of the deadline.

use std::collections::HashSet;

use feed::{EntryId, FeedId, Time};

use crate::db::columns::{time, words};
use crate::db::sql::Connection;
use crate::error::DbError;
use crate::matching::{ArrivedArticle, ArrivedEntry, MatcherSlot, change_states};
use crate::queries::matches::{FeedView, add, kept_by, wake_receivers};
use crate::queries::replay::is_new_match;

/// Lets the waiting queries decide on an entry, if they still wait. Returns the number of matches.
pub(super) fn decide(
    conn: &Connection,
    slot: &MatcherSlot,
    entry: EntryId,
    now: Time,
) -> Result<u64, DbError> {
    let sql = "update article_requests set decide_by = null \
               where entry = $1 and decide_by is not null";
    if conn.prepare_cached(sql)?.execute([entry.0])? == 0 {
        return Ok(0);
    }
    let sql = "select e.feed, e.title, e.summary, e.content, e.author, e.categories, e.link, \
               e.published_at, coalesce(e.lang_tag, e.lang, e.language), e.topic, a.text \
               from entries e \
               left join articles a on a.entry = e.id where e.id = $1";
    let n_matches = slot.with_matcher(conn, |matcher| {
        if !matcher.has_waiting() {
            return Ok(0);
        }
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([entry.0])?;
        let Some(row) = &rows.next()? else { return Ok(0) };
        let feed = FeedId(row.get(0)?);
        let view = FeedView::read(conn, feed)?;
        let categories = words(row, 5)?;
        let text = |column| row.get_ref(column)?.as_str_or_null();
        let topic: Option<i64> = row.get(9)?;
        let article = text(10)?.map_or(ArrivedArticle::Absent, ArrivedArticle::There);
        let arrived = ArrivedEntry {
            id: entry,
            feed,
            feed_url: &view.url,
            tags: &view.tags,
            // Entries of earlier versions have only what they and their feed declare.
            language: text(8)?.or(view.language.as_deref()),
            topic: topic.and_then(|topic| u8::try_from(topic).ok()),
            title: text(1)?,
            summary: text(2)?,
            content: text(3)?,
            author: text(4)?,
            categories: &categories,
            link: text(6)?,
            article,
            published_at: time(row, 7)?,
            // Windows of operators count from the decision: the order of decisions is the order of
            // the outbox.
            seen_at: now,
        };
        let mut matched_by = HashSet::new();
        for one in matcher.match_waiting(&arrived, &kept_by(conn, entry)?) {
            // A query that was replaced may have kept the entry before it waited for pages.
            if is_new_match(conn, one.query, entry)? {
                add(conn, &one, entry)?;
                matched_by.insert(one.query);
            }
        }
        let n_matches = matched_by.len() as u64;
        wake_receivers(conn, matched_by)?;
        change_states(conn, &matcher.take_changes())?;
        Ok(n_matches)
    })?;
    Ok(n_matches.unwrap_or(0))
}
