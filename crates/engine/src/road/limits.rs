//! Holds the results of terminals to the limits of a poll and of the parser: they come from other
//! machines. A result beyond them becomes a failure, so that its feed backs off.

use std::time::Duration;

use dispatch::{
    ErrandReading, ErrandResult, LookTerms, ParseTerms, PollReading, PollResult, ReadDocument,
    SoFar,
};
use feed::{ExchangeFacts, Item, RawAnswer, Time, Trouble, Validators};
use fetch::{LOCATION_BYTES_MAX, VALIDATOR_BYTES_MAX};
use url::Url;

use crate::controller::HOPS_MAX;

/// Sums of larger figures could leave the range of the store.
const BYTES_MAX: u64 = 1 << 40;
const TIME_MAX: Duration = Duration::from_secs(365 * 86_400);
/// The longest reason for a failure, in bytes.
const DETAIL_BYTES_MAX: usize = 16 * 1024;
/// A terminal reports at most 20 feeds of a page.
const CANDIDATES_MAX: usize = 200;
/// The parser makes one warning of each kind.
const WARNINGS_MAX: usize = 200;
/// Hours and days of a hint, some of them twice.
const HINTS_MAX: usize = 200;
/// Addresses and chapters may have this even if the operator limits texts and lists to less.
const TEXT_BYTES_MIN: usize = 64 * 1024;
const LIST_MIN: usize = 500;
/// Media facts of one item. The parser limits them by the length of the document.
const MEDIA_BYTES_MAX: usize = 8_000_000;
/// An address that was joined with another one and written with escapes is longer than its header.
const URL_BYTES_MAX: usize = 4 * LOCATION_BYTES_MAX;
/// The client refuses longer heads.
const HEAD_BYTES_MAX: usize = 1_000_000;
/// Times are in milliseconds. Sums of larger ones could leave their range.
const MILLIS_MAX: u64 = 1 << 60;

/// Bounds the figures of a result. If anything else of it is beyond the limits, turns it into a
/// failure and returns why.
pub fn hold(result: &mut PollResult, terms: &LookTerms) -> Option<String> {
    let SoFar { bytes, elapsed, parse: parse_time, .. } = &mut result.so_far;
    *bytes = (*bytes).min(BYTES_MAX);
    for time in [elapsed, parse_time, &mut result.elapsed, &mut result.held, &mut result.waited] {
        *time = (*time).min(TIME_MAX);
    }
    hold_facts(&mut result.facts);
    result.raw.take_if(|raw| is_long(raw, terms.fetch.body_bytes_max));
    let why = if has_too_many_hops(&result.so_far) {
        result.so_far = SoFar::default();
        "it claims more redirects than a poll follows".to_owned()
    } else {
        too_much(&result.reading, &terms.parse)?
    };
    let detail = format!("the terminal's result is beyond the limits: {why}");
    result.reading = PollReading::Failed { trouble: Trouble::TooLarge, detail };
    result.raw = None;
    Some(why)
}

/// Does the same for an errand. The job knows the limit of the body.
pub fn hold_errand(result: &mut ErrandResult) -> Option<String> {
    hold_facts(&mut result.facts);
    let is_too_much = match &result.reading {
        ErrandReading::NotModified { validators } => is_beyond_header(validators),
        ErrandReading::Body { validators, content_type, .. } => {
            is_beyond_header(validators)
                || content_type.as_ref().is_some_and(|kind| kind.len() > DETAIL_BYTES_MAX)
        }
        ErrandReading::Moved { to, .. } | ErrandReading::Posted { to: Some(to), .. } => {
            is_long_url(to)
        }
        ErrandReading::Failed { detail, .. } | ErrandReading::Blocked { reason: detail } => {
            detail.len() > DETAIL_BYTES_MAX
        }
        ErrandReading::NotSent
        | ErrandReading::Gone
        | ErrandReading::Refused { .. }
        | ErrandReading::Posted { to: None, .. } => false,
    };
    let why = is_too_much.then(|| "a text is too long".to_owned())?;
    let detail = format!("the terminal's answer is beyond the limits: {why}");
    result.reading = ErrandReading::Failed { trouble: Trouble::TooLarge, detail };
    Some(why)
}

/// Bounds the figures of an exchange, and drops links that are too long.
fn hold_facts(facts: &mut ExchangeFacts) {
    facts.wire_bytes = facts.wire_bytes.min(BYTES_MAX);
    facts.elapsed = facts.elapsed.min(TIME_MAX);
    for link in [&mut facts.links.hub, &mut facts.links.own] {
        link.take_if(|link| is_long_url(link));
    }
}

fn is_long(raw: &RawAnswer, body_bytes_max: usize) -> bool {
    raw.request.len() > HEAD_BYTES_MAX
        || raw.head.len() > HEAD_BYTES_MAX
        || raw.body.as_ref().is_some_and(|body| body.len() > body_bytes_max)
}

fn is_long_url(url: &Url) -> bool {
    url.as_str().len() > URL_BYTES_MAX
}

fn is_beyond_header(Validators { etag, last_modified }: &Validators) -> bool {
    [etag, last_modified].into_iter().flatten().any(|text| text.len() > VALIDATOR_BYTES_MAX)
}

fn has_too_many_hops(so_far: &SoFar) -> bool {
    so_far.n_hops > HOPS_MAX || so_far.passed.len() > HOPS_MAX as usize
}

fn too_much(reading: &PollReading, parse: &ParseTerms) -> Option<String> {
    let is_too_much = match reading {
        PollReading::Document(document) => return too_much_of(document, parse),
        PollReading::NotAFeed { detail, candidates, .. } => {
            detail.len() > DETAIL_BYTES_MAX
                || candidates.len() > CANDIDATES_MAX
                || candidates.iter().any(|url| url.as_str().len() > DETAIL_BYTES_MAX)
        }
        PollReading::Failed { detail, .. } | PollReading::Blocked { reason: detail } => {
            detail.len() > DETAIL_BYTES_MAX
        }
        PollReading::NotModified { validators } | PollReading::Same { validators } => {
            is_beyond_header(validators)
        }
        PollReading::Moved { to, .. } => is_long_url(to),
        PollReading::NotSent
        | PollReading::WorkerFailed
        | PollReading::Gone
        | PollReading::Refused { .. } => false,
    };
    is_too_much.then(|| "a text is too long".to_owned())
}

fn too_much_of(document: &ReadDocument, parse: &ParseTerms) -> Option<String> {
    let text_max = parse.field_bytes_max.saturating_mul(4).max(TEXT_BYTES_MIN);
    let list_max = parse.list_max.max(LIST_MIN);
    let ReadDocument { description, hints, items, warnings, .. } = document;
    if items.len() > parse.items_max {
        return Some(format!("more than {} items", parse.items_max));
    }
    if is_beyond_header(&document.validators) {
        return Some("its validators are too long".to_owned());
    }
    if warnings.len() > WARNINGS_MAX || warnings.iter().any(|text| text.len() > DETAIL_BYTES_MAX) {
        return Some("its warnings are too long".to_owned());
    }
    let texts = [
        &description.title,
        &description.site,
        &description.language,
        &description.hub,
        &description.self_link,
        &description.cloud,
        &description.icon,
    ];
    let is_long = |text: &String| text.len() > text_max;
    if texts.into_iter().flatten().any(is_long)
        || description.categories.len() > list_max
        || description.categories.iter().any(is_long)
        || hints.skip_hours.len() > HINTS_MAX
        || hints.skip_days.len() > HINTS_MAX
    {
        return Some("its description is longer than the parser allows".to_owned());
    }
    let mut items = items.iter().filter_map(|keyed| keyed.item.as_ref());
    let is_beyond = items.any(|item| is_beyond(item, text_max, list_max));
    is_beyond.then(|| "an item is longer than the parser allows".to_owned())
}

fn is_beyond(item: &Item, text_max: usize, list_max: usize) -> bool {
    let Item { categories, enclosures, source, media, .. } = item;
    let texts = [
        &item.id,
        &item.title,
        &item.link,
        &item.author,
        &item.summary,
        &item.content,
        &item.language,
    ];
    let of_source = source.iter().flat_map(|source| {
        [&source.id, &source.url, &source.title, &source.site].into_iter().flatten()
    });
    let via = source.iter().flat_map(|source| &source.via);
    let mut texts = texts.into_iter().flatten().chain(categories).chain(of_source).chain(via);
    let lists = [
        categories.len(),
        enclosures.len(),
        media.thumbnails.len(),
        media.chapters.len(),
        media.transcripts.len(),
        source.as_ref().map_or(0, |source| source.via.len()),
    ];
    let is_time = |time: Time| time.millis().unsigned_abs() < MILLIS_MAX;
    texts.any(|text| text.len() > text_max)
        || enclosures.iter().any(|file| file.n_bytes() > text_max)
        || lists.into_iter().any(|n| n > list_max)
        || media.n_bytes() > MEDIA_BYTES_MAX
        || ![item.published, item.updated].into_iter().flatten().all(is_time)
}

#[cfg(test)]
mod tests;
