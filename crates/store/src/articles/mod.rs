//! The pages behind entries: their main text, or why there is none, next to the text of the feed.
//! Also the requests for pages, the deadlines of queries that use them, the daily counts and what
//! sites say in robots.txt.
//!
//! Nothing here fetches or extracts. The transaction that records an article also shows the entry
//! to the queries that waited for it.

mod attempts;
mod deciding;
mod late;
mod limits;
mod marks;
mod record;
mod requests;
mod retention;

pub use attempts::{ArticleAttempt, ArticleTry, PostponedArticle};
pub use late::LateDecisions;
pub use limits::RobotsRow;
pub use record::{ArticleFailure, ArticleRecord, NewArticle};
pub use requests::{ArticleRequest, ArticleState, WaitingArticle};

use std::collections::HashMap;

use feed::{EntryId, Time, Validators};

use crate::db::columns::{count, time, time_or_none};
use crate::db::sql::{OptionalExtension, Row, Value};
use crate::{Store, StoreError};

/// The longest HTML that is restored from its frame. Pages have a smaller limit.
const HTML_BYTES_MAX: usize = 16_000_000;

/// The page behind an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRow {
    pub entry: EntryId,
    pub fetched_at: Time,
    /// The address of the last request.
    pub url: String,
    /// The main text, or why there is none.
    pub content: Result<ArticleText, ArticleFailure>,
    /// The name and version of the extraction.
    pub extractor: String,
}

/// The main text of a page and what the page says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleText {
    pub title: Option<String>,
    pub byline: Option<String>,
    pub site: Option<String>,
    pub excerpt: Option<String>,
    pub image: Option<String>,
    pub section: Option<String>,
    pub canonical: Option<String>,
    pub language: Option<String>,
    /// `ltr` or `rtl`.
    pub direction: Option<String>,
    pub published: Option<Time>,
    /// Plain text, one line per block.
    pub text: String,
    /// The same as HTML. It is not sanitised.
    pub html: String,
    /// Players of other sites, as JSON. The HTML has links in their places.
    pub embeds: Option<String>,
    pub n_words: u64,
    /// The page asks that copies of it are not shown elsewhere.
    pub noarchive: bool,
}

/// A stored article, for the question whether its page has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownArticle {
    /// The address to which the validators belong.
    pub url: String,
    pub extractor: String,
    pub n_words: u64,
    pub validators: Validators,
}

const COLUMNS: &str = "select entry, fetched_at, url, extractor, why_not, detail, title, byline, \
    site, excerpt, image, section, canonical, language, direction, published_at, text, html, \
    embeds, n_words, noarchive from articles ";

impl Store {
    /// Returns the page behind an entry, if it was fetched.
    pub fn article(&self, entry: EntryId) -> Result<Option<ArticleRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where entry = $1");
            Ok(conn.prepare_cached(&sql)?.query_row([entry.0], article_row).optional()?)
        })
    }

    /// Returns the pages behind entries. Entries without one are left out. The texts of one answer
    /// have at most [`PAGE_BYTES_MAX`](crate::PAGE_BYTES_MAX) bytes, so the last ones may be
    /// missing.
    pub fn articles(
        &self,
        entries: &[EntryId],
    ) -> Result<HashMap<EntryId, ArticleRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where entry = $1 and why_not is null");
            let mut statement = conn.prepare_cached(&sql)?;
            let (mut found, mut n_bytes) = (HashMap::new(), 0);
            for entry in entries {
                let row = statement.query_row([entry.0], article_row).optional()?;
                let Some(row) = row else { continue };
                n_bytes += row.content.as_ref().map_or(0, |text| text.html.len());
                if n_bytes > crate::PAGE_BYTES_MAX {
                    break;
                }
                found.insert(*entry, row);
            }
            Ok(found)
        })
    }

    /// Returns the plain texts of the pages behind entries, for searches, and when each was
    /// fetched. They are cut at `chars_max`: some pages are books.
    pub fn article_texts(
        &self,
        entries: &[EntryId],
        chars_max: usize,
    ) -> Result<HashMap<EntryId, (Time, String)>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select fetched_at, substr(text, 1, {chars_max}) from articles \
                 where entry = $1 and text is not null"
            );
            let keys: Vec<Value<'_>> = entries.iter().map(|id| Value::Int(id.0)).collect();
            let found = conn.prepare_cached(&sql)?.each(&keys, &[], |place, row| {
                Ok((entries[place], (time(row, 0)?, row.get(1)?)))
            })?;
            Ok(found.into_iter().collect())
        })
    }

    /// Returns what a conditional request for a stored article needs.
    pub fn known_article(&self, entry: EntryId) -> Result<Option<KnownArticle>, StoreError> {
        self.read(|conn| {
            let sql = "select url, extractor, n_words, etag, last_modified from articles \
                       where entry = $1 and why_not is null";
            let found = conn.prepare_cached(sql)?.query_row([entry.0], |row| {
                let validators = Validators { etag: row.get(3)?, last_modified: row.get(4)? };
                let (url, extractor, n_words) = (row.get(0)?, row.get(1)?, count(row, 2)?);
                Ok(KnownArticle { url, extractor, n_words, validators })
            });
            Ok(found.optional()?)
        })
    }

    /// Returns the raw page behind an entry, if the operator keeps pages.
    pub fn article_page(&self, entry: EntryId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|conn| {
            let sql = "select page from articles where entry = $1 and page is not null";
            let found = conn
                .prepare_cached(sql)?
                .query_row([entry.0], |row| unpacked(row, 0))
                .optional()?;
            Ok(found)
        })
    }
}

fn article_row(row: &Row<'_>) -> crate::db::sql::Result<ArticleRow> {
    let why_not: Option<String> = row.get(4)?;
    let content = match why_not {
        Some(code) => {
            let detail: Option<String> = row.get(5)?;
            Err(ArticleFailure { code, detail: detail.unwrap_or_default() })
        }
        None => Ok(ArticleText {
            title: row.get(6)?,
            byline: row.get(7)?,
            site: row.get(8)?,
            excerpt: row.get(9)?,
            image: row.get(10)?,
            section: row.get(11)?,
            canonical: row.get(12)?,
            language: row.get(13)?,
            direction: row.get(14)?,
            published: time_or_none(row, 15)?,
            text: row.get::<_, Option<String>>(16)?.unwrap_or_default(),
            html: String::from_utf8_lossy(&unpacked(row, 17)?).into_owned(),
            embeds: row.get(18)?,
            n_words: count(row, 19)?,
            noarchive: row.get::<_, i64>(20)? != 0,
        }),
    };
    Ok(ArticleRow {
        entry: EntryId(row.get(0)?),
        fetched_at: time(row, 1)?,
        url: row.get(2)?,
        content,
        extractor: row.get(3)?,
    })
}

/// Reads a zstandard frame; null is empty.
fn unpacked(row: &Row<'_>, column: usize) -> crate::db::sql::Result<Vec<u8>> {
    let Some(frame) = row.get_ref(column)?.as_blob_or_null()? else { return Ok(Vec::new()) };
    zstd::bulk::decompress(frame, HTML_BYTES_MAX)
        .map_err(|e| crate::db::sql::SqlError::value(format!("column {column}: {e}")))
}
