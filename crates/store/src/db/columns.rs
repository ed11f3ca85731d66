//! Converts values to columns and back. The JSON is the store's own format; nothing else reads it.

use std::time::Duration;

use crate::db::sql::{Result, Row, SqlError};
use feed::{Enclosure, FeedUrl, Hints, ItemMedia, Outcome, Source, Time, Trouble};
use serde::{Deserialize, Serialize};

pub(crate) fn millis(time: Option<Time>) -> Option<i64> {
    time.map(Time::millis)
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Time> {
    row.get(column).map(Time::from_millis)
}

pub(crate) fn time_or_none(row: &Row<'_>, column: usize) -> Result<Option<Time>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Time::from_millis))
}

pub(crate) fn duration_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn duration(row: &Row<'_>, column: usize) -> Result<Option<Duration>> {
    let ms: Option<i64> = row.get(column)?;
    Ok(ms.map(|ms| Duration::from_millis(ms.max(0).unsigned_abs())))
}

/// Converts a count to an SQL integer.
pub(crate) fn sql_count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(crate) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.max(0).unsigned_abs())
}

pub(crate) fn url(row: &Row<'_>, column: usize) -> Result<FeedUrl> {
    FeedUrl::from_stored(row.get_ref(column)?.as_str()?).map_err(|e| unreadable(column, e))
}

pub(crate) fn url_or_none(row: &Row<'_>, column: usize) -> Result<Option<FeedUrl>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    FeedUrl::from_stored(text).map(Some).map_err(|e| unreadable(column, e))
}

pub(crate) fn outcome(row: &Row<'_>, column: usize) -> Result<Option<Outcome>> {
    Ok(row.get_ref(column)?.as_str_or_null()?.and_then(Outcome::from_word))
}

pub(crate) fn trouble(row: &Row<'_>, column: usize) -> Result<Option<Trouble>> {
    Ok(row.get_ref(column)?.as_str_or_null()?.and_then(Trouble::from_code))
}

fn unreadable(column: usize, error: impl std::error::Error) -> SqlError {
    SqlError::value(format!("column {column}: {error}"))
}

#[derive(Serialize, Deserialize)]
struct StoredEnclosure {
    url: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    medium: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u16>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_ms: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredHints {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skip_hours: Vec<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skip_days: Vec<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_every_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_base_ms: Option<i64>,
}

pub(crate) fn words_json(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| json(&words))
}

pub(crate) fn words(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    from_json(row, column)
}

pub(crate) fn enclosures_json(enclosures: &[Enclosure]) -> Option<String> {
    let stored: Vec<StoredEnclosure> = enclosures
        .iter()
        .map(|e| StoredEnclosure {
            url: e.url.clone(),
            mime_type: e.mime_type.clone(),
            length: e.length,
            medium: e.medium.clone(),
            duration: e.duration,
            width: e.width,
            height: e.height,
            group: e.group,
        })
        .collect();
    (!stored.is_empty()).then(|| json(&stored))
}

pub(crate) fn enclosures(row: &Row<'_>, column: usize) -> Result<Vec<Enclosure>> {
    let stored: Vec<StoredEnclosure> = from_json(row, column)?;
    let back = |e: StoredEnclosure| Enclosure {
        url: e.url,
        mime_type: e.mime_type,
        length: e.length,
        medium: e.medium,
        duration: e.duration,
        width: e.width,
        height: e.height,
        group: e.group,
    };
    Ok(stored.into_iter().map(back).collect())
}

pub(crate) fn media_json(media: &ItemMedia) -> Option<String> {
    (!media.is_empty()).then(|| json(media))
}

pub(crate) fn media(row: &Row<'_>, column: usize) -> Result<ItemMedia> {
    from_json(row, column)
}

pub(crate) fn source_json(source: &Source) -> String {
    json(&StoredSource {
        id: source.id.clone(),
        url: source.url.clone(),
        title: source.title.clone(),
        site: source.site.clone(),
        updated_ms: source.updated.map(Time::millis),
        via: source.via.clone(),
    })
}

pub(crate) fn source(row: &Row<'_>, column: usize) -> Result<Option<Source>> {
    let stored: Option<StoredSource> = from_json(row, column)?;
    Ok(stored.map(|s| Source {
        id: s.id,
        url: s.url,
        title: s.title,
        site: s.site,
        updated: s.updated_ms.map(Time::from_millis),
        via: s.via,
    }))
}

pub(crate) fn hints_json(hints: &Hints) -> Option<String> {
    let stored = StoredHints {
        ttl_ms: hints.ttl.map(duration_ms),
        skip_hours: hints.skip_hours.clone(),
        skip_days: hints.skip_days.clone(),
        update_every_ms: hints.update_every.map(duration_ms),
        update_base_ms: hints.update_base.map(Time::millis),
    };
    (!hints.is_empty()).then(|| json(&stored))
}

pub(crate) fn hints(row: &Row<'_>, column: usize) -> Result<Hints> {
    let stored: StoredHints = from_json(row, column)?;
    let back = |ms: i64| Duration::from_millis(ms.max(0).unsigned_abs());
    Ok(Hints {
        ttl: stored.ttl_ms.map(back),
        skip_hours: stored.skip_hours,
        skip_days: stored.skip_days,
        update_every: stored.update_every_ms.map(back),
        update_base: stored.update_base_ms.map(Time::from_millis),
    })
}

/// Cannot fail: the values are lists of texts and numbers.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn from_json<T: Default + for<'a> Deserialize<'a>>(row: &Row<'_>, column: usize) -> Result<T> {
    match row.get_ref(column)?.as_str_or_null()? {
        None => Ok(T::default()),
        Some(text) => serde_json::from_str(text).map_err(|e| unreadable(column, e)),
    }
}
