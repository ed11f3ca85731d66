//! Tries of pages. A try is noted before its request is sent: if the end of the request is never
//! recorded, the page is tried again a few times only.

use feed::{EntryId, Time};

use super::limits;
use crate::db::sql::params;
use crate::{Store, StoreError};

/// A request for a page that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleTry {
    pub entry: EntryId,
    /// The number of tries, with this one.
    pub tries: u32,
    pub at: Time,
    /// When the page is due again if nothing is recorded before.
    pub next_at: Time,
    /// The domain whose pages of a day it counts for. `None`: a person asked for it.
    pub counted_for: Option<String>,
}

/// A try that failed and is repeated, or left to the deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleAttempt {
    pub entry: EntryId,
    pub tries: u32,
    /// When the next try is due.
    pub next_at: Time,
    pub error: String,
}

/// A page that waits for something besides its own turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostponedArticle {
    pub entry: EntryId,
    pub until: Time,
    pub why: String,
}

impl Store {
    /// Notes that a page is asked for now.
    pub async fn begin_article(&self, one: ArticleTry) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update article_requests set tries = $1, next_at = $2, error = null \
                       where entry = $3";
            let values = params![one.tries, one.next_at.millis(), one.entry.0];
            conn.prepare_cached(sql)?.execute(values)?;
            limits::count_page(conn, one.counted_for.as_deref(), one.at)
        })
        .await
    }

    /// Notes a failed try. Waiting queries go on waiting until their deadline.
    pub async fn note_article_attempt(&self, attempt: ArticleAttempt) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update article_requests set tries = $1, next_at = $2, error = $3 \
                       where entry = $4";
            let ArticleAttempt { entry, tries, next_at, error } = &attempt;
            conn.prepare_cached(sql)?.execute(params![tries, next_at.millis(), error, entry.0])?;
            Ok(())
        })
        .await
    }

    /// Postpones pages that nobody asked for. Their tries stay.
    pub async fn postpone_articles(&self, pages: Vec<PostponedArticle>) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update article_requests set next_at = $1, error = $2 \
                       where entry = $3 and by_person = 0 and next_at is not null";
            let mut statement = conn.prepare_cached(sql)?;
            for PostponedArticle { entry, until, why } in &pages {
                statement.execute(params![until.millis(), why, entry.0])?;
            }
            Ok(())
        })
        .await
    }
}
