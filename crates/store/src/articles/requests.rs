//! Requests for pages: of people, and of the setting that fetches every page. The engine follows
//! the stream of entries by a mark of its own, so that recording a poll costs nothing.

use std::time::Duration;

use feed::{EntryId, EntryKey, FeedId, Time};

use crate::db::columns::{count, time, time_or_none};
use crate::db::dialect;
use crate::db::sql::{OptionalExtension, params};
use crate::feeds::private;
use crate::feeds::settings::put_setting;
use crate::matching::{REQUESTED_TO, requested_to};
use crate::{AccountId, Store, StoreError};

/// The state of the page behind an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArticleState {
    /// Nobody has asked for it.
    NotAsked,
    Waiting(WaitingArticle),
    /// The store has it.
    There {
        n_words: u64,
    },
    /// It was fetched, or not, and there is no article: why, as a sentence.
    Nothing {
        reason: String,
    },
}

/// A page that is to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingArticle {
    pub by_person: bool,
    pub asked_at: Time,
    pub tries: u32,
    /// When it is tried next.
    pub next_at: Option<Time>,
    /// The error of the last try.
    pub error: Option<String>,
}

/// A request that is due, with all that fetching needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRequest {
    pub entry: EntryId,
    pub feed: FeedId,
    pub link: Option<String>,
    pub by_person: bool,
    pub asked_at: Time,
    pub tries: u32,
}

impl Store {
    /// Returns the state of the page behind an entry.
    pub fn article_state(&self, entry: EntryId) -> Result<ArticleState, StoreError> {
        self.read(|conn| {
            let sql = "select by_person, asked_at, tries, next_at, error from article_requests \
                       where entry = $1";
            let found = conn.prepare_cached(sql)?.query_row([entry.0], |row| {
                Ok(WaitingArticle {
                    by_person: row.get::<_, i64>(0)? != 0,
                    asked_at: time(row, 1)?,
                    tries: row.get(2)?,
                    next_at: time_or_none(row, 3)?,
                    error: row.get(4)?,
                })
            });
            let waiting = found.optional()?;
            if let Some(waiting) = waiting.filter(|waiting| waiting.next_at.is_some()) {
                return Ok(ArticleState::Waiting(waiting));
            }
            let sql = "select detail, n_words from articles where entry = $1";
            let found = conn.prepare_cached(sql)?.query_row([entry.0], |row| {
                Ok(match row.get::<_, Option<String>>(0)? {
                    Some(reason) => ArticleState::Nothing { reason },
                    None => ArticleState::There { n_words: count(row, 1)? },
                })
            });
            Ok(found.optional()?.unwrap_or(ArticleState::NotAsked))
        })
    }

    /// Asks for the page behind an entry in the name of a person. It is due at once, also if it
    /// was fetched before. Returns `false` if the entry does not exist.
    pub fn request_article(&self, entry: EntryId, now: Time) -> Result<bool, StoreError> {
        self.request_article_for(AccountId::LOCAL, entry, now)
    }

    /// The same in the name of an account. Also returns `false` if the page would be fetched with
    /// the login of somebody else.
    pub fn request_article_for(
        &self,
        account: AccountId,
        entry: EntryId,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            let lock = dialect::for_key_share(conn);
            let sql = format!("select feed from entries where id = $1{lock}");
            let mut statement = conn.prepare_cached(&sql)?;
            let feed = statement.query_row([entry.0], |row| row.get(0).map(FeedId)).optional()?;
            let Some(feed) = feed else { return Ok(false) };
            if !private::may_use_login(conn, account, feed)? {
                return Ok(false);
            }
            let sql = "insert into article_requests (entry, by_person, asked_at, next_at) \
                       values ($1, 1, $2, $2) on conflict (entry) do update \
                       set by_person = 1, asked_at = excluded.asked_at, tries = 0, \
                       next_at = excluded.next_at, error = null";
            conn.prepare_cached(sql)?.execute(params![entry.0, now.millis()])?;
            Ok(true)
        })
    }

    /// Makes requests for new entries whose pages are fetched without being asked. Queries wait
    /// for each page until `wait` after the entry was seen. Returns how many there are.
    pub async fn request_new_articles(
        &self,
        now: Time,
        wait: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let (seen_to, last) = self.read(|conn| {
            let sql = "select coalesce(max(id), 0) from \
                       (select id from entries where wants_article = 1 and id > $1 \
                        order by id limit $2) as wanting";
            let seen_to = requested_to(conn)?;
            let mut statement = conn.prepare_cached(sql)?;
            let last: i64 = statement.query_row(params![seen_to, limit], |row| row.get(0))?;
            Ok((seen_to, last))
        })?;
        if last <= seen_to {
            return Ok(0);
        }
        self.write_async(move |conn| {
            let sql = "insert into article_requests \
                       (entry, by_person, asked_at, next_at, decide_by) \
                       select id, 0, cast($1 as bigint), \
                       case when link is null then null else cast($1 as bigint) end, \
                       seen_at + cast($2 as bigint) from entries \
                       where wants_article = 1 and id > $3 and id <= $4 \
                       on conflict (entry) do update set decide_by = excluded.decide_by";
            let wait = crate::db::columns::duration_ms(wait);
            let n = conn.execute(sql, params![now.millis(), wait, seen_to, last])?;
            put_setting(conn, REQUESTED_TO, Some(&last.to_string()))?;
            Ok(n as u64)
        })
        .await
    }

    /// Asks again for the pages of entries that were edited, if they were fetched without being
    /// asked. Only the first edit of an entry counts: some feeds change their texts all the time.
    /// Returns how many there are.
    pub async fn request_edited_articles(
        &self,
        feed: FeedId,
        edited: Vec<EntryKey>,
        now: Time,
    ) -> Result<u64, StoreError> {
        self.write_async(move |conn| {
            let sql = "insert into article_requests (entry, by_person, asked_at, next_at) \
                       select e.id, 0, cast($1 as bigint), cast($1 as bigint) \
                       from entry_keys k join entries e on e.id = k.entry \
                       where k.feed = $2 and k.key = $3 and e.wants_article = 1 \
                       and e.link is not null \
                       and exists (select 1 from articles a where a.entry = e.id) \
                       and (select count(*) from revisions r where r.entry = e.id) = 1 \
                       on conflict (entry) do nothing";
            let mut statement = conn.prepare_cached(sql)?;
            let mut n = 0;
            for key in &edited {
                n += statement.execute(params![now.millis(), feed.0, key.bytes()])? as u64;
            }
            Ok(n)
        })
        .await
    }

    /// Returns requests that are due: those of people first, then the oldest entries.
    pub fn articles_due(
        &self,
        now: Time,
        by_person: bool,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<ArticleRequest>, StoreError> {
        self.read(|conn| {
            let sql = "select r.entry, e.feed, e.link, r.by_person, r.asked_at, r.tries \
                       from article_requests r join entries e on e.id = r.entry \
                       where r.by_person = $1 and r.next_at <= $2 and r.entry > $3 \
                       order by r.entry limit $4";
            let mut statement = conn.prepare_cached(sql)?;
            let values = params![i64::from(by_person), now.millis(), after.0, limit];
            let rows = statement.query_map(values, |row| {
                Ok(ArticleRequest {
                    entry: EntryId(row.get(0)?),
                    feed: FeedId(row.get(1)?),
                    link: row.get(2)?,
                    by_person: row.get::<_, i64>(3)? != 0,
                    asked_at: time(row, 4)?,
                    tries: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns how many pages are waiting to be fetched.
    pub fn n_articles_waiting(&self) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from article_requests where next_at is not null";
            Ok(conn.prepare_cached(sql)?.query_row([], |row| count(row, 0))?)
        })
    }
}
