//! Fills a record from the reading of a poll: entries, revisions, validators, the new address.

use std::mem;

use dispatch::{FeedDescription, ReadDocument};
use feed::{
    FeedUrl, Item, KeyedItem, Observed, Outcome, Published, Sighting, Trouble, WindowEntry, repair,
};
use store::{
    BodyHash, DocumentRecord, EditedEntry, EntryChanges, FeedFacts, Gone, LocationChange, NewEntry,
    PendingRedirect, PollContent, PollInput, PollProblem, PollRecord,
};
use url::Url;

use super::{JudgedReading, PollFacts};
use crate::event::PollAnswer;

/// A permanent redirect is remembered when it was seen this often in a row.
const MOVED_COUNT_BELIEVED: u32 = 2;
/// The longest address that is kept but never looked up. Every page with the feed reads these.
const ADDRESS_BYTES_MAX: usize = 8192;
/// After so many failures at a remembered redirect's target, the subscribed URL is tried again.
const EFFECTIVE_URL_FAILURES_MAX: u32 = 3;

/// Turns a 410 from the target of a remembered redirect into a failure. The publisher may have
/// moved the feed again, and the subscribed URL leads there.
pub fn not_yet_gone(input: &PollInput, reading: JudgedReading) -> JudgedReading {
    match (&input.location.effective_url, reading) {
        (Some(moved_to), JudgedReading::Gone) if *moved_to != input.location.url => {
            let to = moved_to.masked();
            let detail =
                format!("410 Gone at {to}, where it had moved; its own URL is polled next");
            let kind = Trouble::Status;
            JudgedReading::Failed { kind, detail, our_network: false, candidates: Vec::new() }
        }
        (_, reading) => reading,
    }
}

/// Turns a broken document without items into damage, if the one before had items. Then validators
/// and window stay. An empty feed that is well-formed is not damaged.
pub fn damaged(input: &PollInput, reading: JudgedReading) -> JudgedReading {
    match reading {
        JudgedReading::Document { document, .. }
            if document.is_damaged
                && document.items.is_empty()
                && !input.document.window.entries().is_empty() =>
        {
            JudgedReading::Damaged { warnings: document.warnings }
        }
        reading => reading,
    }
}

/// Follows permanent redirects: one that repeats becomes the feed's effective URL. An effective URL
/// that keeps failing is forgotten.
pub fn follow_redirects(
    input: &PollInput,
    poll: &PollFacts<'_>,
    outcome: Outcome,
    failures: u32,
) -> LocationChange {
    let mut change = LocationChange::default();
    if !outcome.is_success() {
        change.pending.clone_from(&input.location.pending);
        let remembered = input.location.effective_url.is_some();
        let is_gone = poll.facts.status == Some(410);
        if remembered && (is_gone || failures >= EFFECTIVE_URL_FAILURES_MAX) {
            change.effective_url = Some(input.location.url.clone());
        }
        return change;
    }
    if !poll.permanent {
        return change;
    }
    let Ok(to) = FeedUrl::parse(poll.url.as_str()) else { return change };
    let count = match &input.location.pending {
        Some(moved) if moved.to == to => moved.count + 1,
        _ => 1,
    };
    if count >= MOVED_COUNT_BELIEVED {
        change.effective_url = Some(to);
    } else {
        change.pending = Some(PendingRedirect { to, count });
    }
    change
}

/// Puts the reading into the record, and describes it in the answer.
pub fn keep_reading(
    record: &mut PollRecord,
    answer: &mut PollAnswer,
    input: &PollInput,
    reading: JudgedReading,
    poll: &PollFacts<'_>,
) {
    let feed = input.location.url.masked();
    match reading {
        JudgedReading::Unchanged { validators } => {
            answer.detail = "unchanged".to_owned();
            let sent = super::validators(input, poll.url);
            let kept = store::StoredValidators {
                etag: validators.etag.or(sent.etag),
                last_modified: validators.last_modified.or(sent.last_modified),
                of: Some(super::source(poll.url)),
            };
            let validators = (kept != input.document.validators).then_some(kept);
            record.content = PollContent::Unchanged { validators };
        }
        JudgedReading::Document { mut document, observed, dates } => {
            answer.detail = seen_in_words(&observed);
            record.warnings.clone_from(&document.warnings);
            // A broken document without items may be the beginning of one that has some.
            let is_cut_off =
                document.is_cut_off || document.is_damaged && document.items.is_empty();
            let previous = input.history.last_success_at;
            let repair = |item: &Item| repair(item, dates, poll.at, previous);
            let entries = entry_changes(mem::take(&mut document.items), &observed, repair);
            let body_hash = document.body_hash;
            let fetch::Validators { etag, last_modified } = mem::take(&mut document.validators);
            let mut kept = document_record(*document, entries, poll);
            let validators =
                store::StoredValidators { etag, last_modified, of: Some(super::source(poll.url)) };
            // The validators would stand for the missing rest too. Without them the next poll
            // fetches the whole document.
            kept.validators = if is_cut_off { Default::default() } else { validators };
            kept.body_hash = if is_cut_off { BodyHash::default() } else { body_hash };
            kept.entries.window = Some(observed.window).filter(|w| *w != input.document.window);
            record.content = PollContent::Document(Box::new(kept));
        }
        JudgedReading::Gone => {
            let reason = "the publisher ended the feed (410 Gone); \
                          `tidings feed poll` asks once more, `tidings feed remove` removes it";
            record.location.gone = Some(Gone { at: poll.at, reason: reason.to_owned() });
            record.problem = Some(PollProblem::new("410 Gone"));
            answer.detail = reason.to_owned();
        }
        JudgedReading::Damaged { warnings } => {
            let detail = damaged_in_words(&warnings);
            tracing::info!(feed, detail, "damaged");
            record.problem = Some(PollProblem::new(detail.clone()));
            record.warnings = warnings;
            answer.detail = detail;
        }
        JudgedReading::Refused { kind, detail } => {
            tracing::info!(feed, detail, "refused");
            record.problem = Some(PollProblem { error: detail.clone(), trouble: Some(kind) });
            answer.detail = detail;
        }
        JudgedReading::Failed { kind, detail, our_network, candidates } => {
            tracing::info!(feed, detail, our_network, "failed");
            record.problem = Some(PollProblem { error: detail.clone(), trouble: Some(kind) });
            answer.detail = detail;
            answer.candidates = candidates;
        }
    }
}

fn damaged_in_words(warnings: &[String]) -> String {
    let first = warnings.first().map_or(String::new(), |warning| format!(" ({warning})"));
    format!(
        "the document is damaged{first} and has no entries, although the one before had; \
         the publisher's software or the transfer broke it"
    )
}

fn seen_in_words(observed: &Observed) -> String {
    let edited = observed.sightings.iter().filter(|s| s.1 == Sighting::Edited).count();
    let mut words = match observed.n_new() {
        0 => "nothing new".to_owned(),
        1 => "1 new entry".to_owned(),
        n => format!("{n} new entries"),
    };
    if edited > 0 {
        words.push_str(&format!(", {edited} edited"));
    }
    if observed.suspected_miss {
        words.push_str("; none of the entries before is left, so some may have been missed");
    }
    words
}

/// Returns what the store keeps of a document; the caller adds validators, hash and window.
fn document_record(
    document: ReadDocument,
    entries: EntryChanges,
    poll: &PollFacts<'_>,
) -> DocumentRecord {
    let (description, hints) = (document.description, document.hints);
    let (hub, topic) = pushed_by(&description, poll);
    let (hub, topic) = (short(hub), short(topic));
    let facts = FeedFacts {
        title: description.title,
        // The store looks feeds with a secret up by their site.
        site: description.site.filter(|site| site.len() <= feed::INDEXED_ADDRESS_MAX),
        language: description.language,
        topic: hub.as_ref().and(topic),
        hub,
        cloud: short(description.cloud),
        categories: description.categories,
        icon: short(description.icon),
        detected_language: None,
    };
    DocumentRecord { facts, hints, entries, ..DocumentRecord::default() }
}

/// Drops an address that is too long.
fn short(address: Option<String>) -> Option<String> {
    address.filter(|address| address.len() <= ADDRESS_BYTES_MAX)
}

/// Returns the hub of a document, and the address under which the hub knows it. The header comes
/// before the document (WebSub, section 4), and the polled address after both. A feed with a login
/// or a token is not named to a hub.
fn pushed_by(document: &FeedDescription, poll: &PollFacts<'_>) -> (Option<String>, Option<String>) {
    let links = &poll.facts.links;
    let hub = links.hub.as_ref().map(Url::to_string).or_else(|| document.hub.clone());
    let public = Some(poll.url).filter(|url| feed::mask_secrets(url) == url.as_str());
    let said = links.own.as_ref().map(Url::to_string).or_else(|| document.self_link.clone());
    (hub, public.map(|url| said.unwrap_or_else(|| url.to_string())))
}

/// Returns the new and the edited entries. `repair` corrects the publication time of an item.
pub fn entry_changes(
    mut items: Vec<KeyedItem>,
    observed: &Observed,
    repair: impl Fn(&Item) -> Published,
) -> EntryChanges {
    let mut changes = EntryChanges::default();
    // Publishers put the newest on top; the stream runs from the oldest on.
    for (index, sighting, entry) in observed.sightings.iter().rev() {
        let WindowEntry { key, content, .. } = *entry;
        let Some(item) = items[*index].item.take() else { continue };
        match sighting {
            Sighting::New => {
                let published = repair(&item);
                changes.new.push(NewEntry {
                    key,
                    item,
                    published,
                    content,
                    facts: store::EntryFacts::default(),
                });
            }
            Sighting::Edited => changes.edited.push(EditedEntry {
                key,
                item,
                content,
                facts: store::EntryFacts::default(),
            }),
            Sighting::Known | Sighting::Returned => {}
        }
    }
    changes.new.sort_by_key(|new| new.published.at);
    changes
}
