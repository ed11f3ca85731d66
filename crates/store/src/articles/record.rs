//! Records an article, or why there is none. The same transaction updates the language, category
//! and topic of the entry, marks the entry for the index of words, and lets the queries decide that
//! waited for the page.

use feed::{EntryId, Time};

use super::{ArticleText, deciding};
use crate::db::columns::{millis, sql_count};
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::facts::languages;
use crate::{EntryFacts, EntryLanguage, Store, StoreError, search};

/// The level of compression. Higher ones take much longer and save little.
const LEVEL: i32 = 3;

/// Why a page yields no article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleFailure {
    /// A short word for programs, such as `not-html`.
    pub code: String,
    /// A sentence for people.
    pub detail: String,
}

/// The end of a request for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRecord {
    pub entry: EntryId,
    pub fetched_at: Time,
    /// The address of the last request.
    pub url: String,
    pub extractor: String,
    pub content: Result<NewArticle, ArticleFailure>,
}

/// An article to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArticle {
    pub text: ArticleText,
    /// The raw page, if the operator keeps pages.
    pub page: Option<Vec<u8>>,
    /// The facts about the entry, now that its page is known. `None`: as before.
    pub facts: Option<EntryFacts>,
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
}

impl Store {
    /// Records the end of a request. Returns the number of matches of queries that waited for it.
    /// An entry that was deleted meanwhile changes nothing. A failure replaces no article.
    pub async fn record_article(&self, record: ArticleRecord) -> Result<u64, StoreError> {
        let slot = self.matcher();
        let packed = pack(&record)?;
        let n_matches = self
            .write_async(move |conn| {
                if !is_stored(conn, record.entry)? {
                    return Ok(0);
                }
                // An article that came once stays if its page is asked for again in vain.
                if record.content.is_ok() || !has_article(conn, record.entry)? {
                    write(conn, &record, &packed)?;
                }
                if let Ok(NewArticle { facts: Some(facts), .. }) = &record.content {
                    change_facts(conn, record.entry, facts)?;
                }
                search::note_change(conn, record.entry)?;
                let n_matches = deciding::decide(conn, &slot, record.entry, record.fetched_at)?;
                let sql = "delete from article_requests where entry = $1";
                conn.prepare_cached(sql)?.execute([record.entry.0])?;
                Ok(n_matches)
            })
            .await?;
        self.counters().recorded(&[], n_matches);
        Ok(n_matches)
    }

    /// Records that a page is still the same. The article stays. Returns as
    /// [`Store::record_article`] does.
    pub async fn keep_article(&self, entry: EntryId, at: Time) -> Result<u64, StoreError> {
        let slot = self.matcher();
        let n_matches = self
            .write_async(move |conn| {
                let sql = "update articles set fetched_at = $1 where entry = $2";
                conn.prepare_cached(sql)?.execute(params![at.millis(), entry.0])?;
                let n_matches = deciding::decide(conn, &slot, entry, at)?;
                let sql = "delete from article_requests where entry = $1";
                conn.prepare_cached(sql)?.execute([entry.0])?;
                Ok(n_matches)
            })
            .await?;
        self.counters().recorded(&[], n_matches);
        Ok(n_matches)
    }
}

fn is_stored(conn: &Connection, entry: EntryId) -> Result<bool, DbError> {
    Ok(conn.prepare_cached("select 1 from entries where id = $1")?.exists([entry.0])?)
}

fn has_article(conn: &Connection, entry: EntryId) -> Result<bool, DbError> {
    let sql = "select 1 from articles where entry = $1 and why_not is null";
    Ok(conn.prepare_cached(sql)?.exists([entry.0])?)
}

/// The frames of an article.
#[derive(Default)]
struct PackedArticle {
    html: Option<Vec<u8>>,
    page: Option<Vec<u8>>,
}

/// Compresses outside the writer.
fn pack(record: &ArticleRecord) -> Result<PackedArticle, StoreError> {
    let Ok(new) = &record.content else { return Ok(PackedArticle::default()) };
    let frame = |bytes: &[u8]| zstd::bulk::compress(bytes, LEVEL).map_err(|_| StoreError::Closed);
    let page = new.page.as_deref().map(frame).transpose()?;
    Ok(PackedArticle { html: Some(frame(new.text.html.as_bytes())?), page })
}

fn write(conn: &Connection, record: &ArticleRecord, packed: &PackedArticle) -> Result<(), DbError> {
    let sql = "insert into articles (entry, fetched_at, url, extractor, why_not, detail, title, \
               byline, site, excerpt, image, section, canonical, language, direction, \
               published_at, text, html, page, embeds, n_words, noarchive, etag, last_modified) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
               $17, $18, $19, $20, $21, $22, $23, $24)";
    let none = ArticleText::default();
    let new = record.content.as_ref().ok();
    let failure = record.content.as_ref().err();
    let text = new.map_or(&none, |new| &new.text);
    let remove = "delete from articles where entry = $1";
    conn.prepare_cached(remove)?.execute([record.entry.0])?;
    conn.prepare_cached(sql)?.execute(params![
        record.entry.0,
        record.fetched_at.millis(),
        record.url,
        record.extractor,
        failure.map(|failure| &failure.code),
        failure.map(|failure| &failure.detail),
        text.title,
        text.byline,
        text.site,
        text.excerpt,
        text.image,
        text.section,
        text.canonical,
        text.language,
        text.direction,
        millis(text.published),
        new.map(|new| &new.text.text),
        packed.html,
        packed.page,
        text.embeds,
        sql_count(text.n_words),
        i64::from(text.noarchive),
        new.and_then(|new| new.etag.as_ref()),
        new.and_then(|new| new.last_modified.as_ref()),
    ])?;
    Ok(())
}

/// Replaces the facts about an entry, and corrects the numbers of languages.
fn change_facts(conn: &Connection, entry: EntryId, facts: &EntryFacts) -> Result<(), DbError> {
    let sql = "select lang from entries where id = $1";
    let before: Option<Option<String>> =
        conn.prepare_cached(sql)?.query_row([entry.0], |row| row.get(0)).optional()?;
    let before = before.flatten();
    let language = facts.language.as_ref();
    let after = language.map(EntryLanguage::primary);
    if before.as_deref() != after {
        if let Some(before) = &before {
            languages::count(conn, before, -1)?;
        }
        if let Some(after) = after {
            languages::count(conn, after, 1)?;
        }
    }
    let sql = "update entries set lang = $1, lang_tag = $2, lang_source = $3, \
               lang_confidence = $4, category = $5, category_source = $6, topic = $7 \
               where id = $8";
    conn.prepare_cached(sql)?.execute(params![
        after,
        language.and_then(EntryLanguage::longer_tag),
        language.map(|language| language.source.code()),
        language.and_then(|language| language.confidence_permille),
        facts.category.as_ref().map(|category| &category.name),
        facts.category.as_ref().map(|category| category.source.code()),
        facts.topic,
        entry.0,
    ])?;
    Ok(())
}
