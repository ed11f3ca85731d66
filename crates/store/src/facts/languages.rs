//! The number of stored entries in each language. The transaction of every change updates it, so
//! that no page counts entries.

use std::collections::BTreeMap;

use feed::FeedId;

use crate::db::columns::count as n_of;
use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Connection, params, row, unnest};
use crate::error::DbError;
use crate::{Store, StoreError};

/// A language and how many stored entries have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageCount {
    /// The primary subtag, such as `de`.
    pub language: String,
    pub n_entries: u64,
}

impl Store {
    /// Returns the languages of all stored entries, the most frequent first.
    pub fn languages(&self) -> Result<Vec<LanguageCount>, StoreError> {
        self.read(|conn| {
            let sql = "select language, entries from language_counts where entries > 0 \
                       order by entries desc, language";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(LanguageCount { language: row.get(0)?, n_entries: n_of(row, 1)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Adds `n` entries to a language.
pub(crate) fn count(conn: &Connection, language: &str, n: i64) -> Result<(), DbError> {
    let sql = "insert into language_counts (language, entries) values ($1, $2) \
               on conflict (language) do update set entries = language_counts.entries + $2";
    conn.prepare_cached(sql)?.execute(params![language, n])?;
    Ok(())
}

/// Does the same for the entries of many polls (PostgreSQL).
pub(crate) fn count_set<'a>(flight: &mut Flight<'a>, languages: &BTreeMap<&'a str, i64>) {
    let mut counts = Lists::default();
    for (language, n) in languages {
        counts.push(row![*language, *n]);
    }
    let sql = format!(
        "insert into language_counts (language, entries) select u.language, u.n from {} \
         on conflict (language) do update \
         set entries = language_counts.entries + excluded.entries",
        unnest("language text, n bigint")
    );
    flight.add(sql, counts);
}

/// Removes the entries of a feed that is about to be deleted.
pub(crate) fn forget_feed(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = "select lang, count(*) from entries where feed = $1 and lang is not null \
               group by lang";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([feed.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let counts: Vec<(String, i64)> = rows.collect::<Result<_, _>>()?;
    counts.into_iter().try_for_each(|(language, n)| count(conn, &language, -n))
}

/// Returns the languages whose stored number is not what a count finds, at most `limit`.
pub(crate) fn wrong_counts(conn: &Connection, limit: i64) -> Result<Vec<String>, DbError> {
    let sql = "select coalesce(c.language, e.lang) from language_counts c full join \
               (select lang, count(*) as n from entries where lang is not null group by lang) e \
               on e.lang = c.language where coalesce(c.entries, 0) <> coalesce(e.n, 0) limit $1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([limit], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
