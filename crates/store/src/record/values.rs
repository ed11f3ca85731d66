//! The values of the rows that a record becomes, and the columns that they go to. Both ways of
//! recording use them: one row at a time, and many rows as lists.

use std::collections::HashSet;

use crate::db::sql::{Datum, row};
use feed::{EntryKey, FeedId, Time, Window};

use crate::db::columns::{enclosures_json, hints_json, media_json, millis, words_json};
use crate::{
    CategoryOrigin, Decision, DocumentRecord, EditedEntry, EntryLanguage, LanguageOrigin,
    LocationChange, NewEntry, PollRecord,
};

/// The columns of `entries` for [`new_entry`].
pub(super) const NEW_ENTRY: &str = "id bigint, feed bigint, key bytea, guid text, title text, \
    link text, author text, summary text, content text, categories text, enclosures text, \
    published_claim bigint, published_at bigint, updated_at bigint, seen_at bigint, \
    content_hash bigint, source text, language text, lang text, lang_tag text, \
    lang_source smallint, lang_confidence smallint, category text, category_source smallint, \
    topic smallint, wants_article smallint, media text";

/// The row of a new entry. `source` is the feed that published it first, as JSON.
pub(super) fn new_entry(
    id: i64,
    feed: FeedId,
    new: &NewEntry,
    at: Time,
    source: Option<String>,
) -> [Datum<'_>; 27] {
    let (item, facts) = (&new.item, &new.facts);
    let language = facts.language.as_ref();
    row![
        id,
        feed.0,
        new.key.bytes(),
        &item.id,
        &item.title,
        &item.link,
        &item.author,
        &item.summary,
        &item.content,
        words_json(&item.categories),
        enclosures_json(&item.enclosures),
        millis(new.published.claim),
        new.published.at.millis(),
        millis(item.updated),
        at.millis(),
        new.content.cast_signed(),
        source,
        &item.language,
        language.map(EntryLanguage::primary),
        language.and_then(EntryLanguage::longer_tag),
        language.map(|language| language.source.code()),
        language.and_then(|language| language.confidence_permille).map(i64::from),
        facts.category.as_ref().map(|category| &category.name),
        facts.category.as_ref().map(|category| category.source.code()),
        facts.topic.map(i64::from),
        facts.wants_article.then_some(1_i64),
        media_json(&item.media),
    ]
}

/// The columns of `entry_keys` for [`new_key`].
pub(super) const NEW_KEY: &str = "feed bigint, key bytea, entry bigint, content_hash bigint, \
    published_at bigint, seen_at bigint, origin bytea";

/// The key of a new entry.
pub(super) fn new_key(
    id: i64,
    feed: FeedId,
    new: &NewEntry,
    at: Time,
    origin: Option<[u8; 16]>,
) -> [Datum<'_>; 7] {
    row![
        feed.0,
        new.key.bytes(),
        id,
        new.content.cast_signed(),
        new.published.at.millis(),
        at.millis(),
        origin,
    ]
}

/// The columns of `entries` for the first values of [`edited`].
pub(super) const EDITED: &str = "title text, link text, author text, summary text, content text, \
    categories text, enclosures text, updated_at bigint, edited_at bigint, content_hash bigint, \
    language text, media text";

/// The columns for its last values. [`edited_facts`] keeps an older value that is better known.
pub(super) const EDITED_FACTS: &str = "category_source smallint, category text, topic smallint, \
    lang_source smallint, lang text, lang_tag text, lang_confidence smallint";

/// The new text of an edited entry.
pub(super) fn edited(new: &EditedEntry, at: Time) -> [Datum<'_>; 19] {
    let (item, facts) = (&new.item, &new.facts);
    let language = facts.language.as_ref();
    row![
        &item.title,
        &item.link,
        &item.author,
        &item.summary,
        &item.content,
        words_json(&item.categories),
        enclosures_json(&item.enclosures),
        millis(item.updated),
        at.millis(),
        new.content.cast_signed(),
        &item.language,
        media_json(&item.media),
        facts.category.as_ref().map(|category| category.source.code()),
        facts.category.as_ref().map(|category| &category.name),
        facts.topic.map(i64::from),
        language.map(|language| language.source.code()),
        language.map(EntryLanguage::primary),
        language.and_then(EntryLanguage::longer_tag),
        language.and_then(|language| language.confidence_permille).map(i64::from),
    ]
}

/// Assigns the facts of an edited entry `e`. An edit knows only the item. The section of the page
/// stays if the item names no category of its own. The topic and the language that the page of a
/// stored article names stay too. A language gives way to one that was found as near or nearer.
/// `new` are the values for [`EDITED_FACTS`] in SQL.
pub(super) fn edited_facts(new: [&str; 7]) -> String {
    let [source, category, topic, lang_source, lang, lang_tag, lang_confidence] = new;
    let (section, of_feed) = (CategoryOrigin::Section.code(), CategoryOrigin::Feed.code());
    let is_section =
        format!("e.category_source = {section} and coalesce({source}, {of_feed}) = {of_feed}");
    let has_page = "exists (select 1 from articles a where a.entry = e.id and a.why_not is null)";
    // Unknown is farther than any origin.
    let (weak, unknown) = (LanguageOrigin::DetectedInFeed.code(), 9);
    let is_nearer = format!(
        "coalesce({lang_source}, {unknown}) <= coalesce(e.lang_source, {unknown}) \
         and (coalesce(e.lang_source, {unknown}) >= {weak} or not {has_page})"
    );
    let kept = |when: &str, name: &str, new: &str| {
        format!("{name} = case when {when} then e.{name} else {new} end")
    };
    let replaced = |name: &str, new: &str| {
        format!("{name} = case when {is_nearer} then {new} else e.{name} end")
    };
    [
        kept(&is_section, "category_source", source),
        kept(&is_section, "category", category),
        format!("topic = coalesce({topic}, case when {has_page} then e.topic end)"),
        replaced("lang_source", lang_source),
        replaced("lang", lang),
        replaced("lang_tag", lang_tag),
        replaced("lang_confidence", lang_confidence),
    ]
    .join(", ")
}

/// The columns of `feeds` for [`facts`].
pub(super) const FACTS: &str = "title text, site text, language text, hub text, topic text, \
    cloud text, categories text, icon text, detected_language text, \
    detected_confidence smallint";

/// The facts that a document states about its feed.
pub(super) fn facts(document: &DocumentRecord) -> [Datum<'_>; 10] {
    let facts = &document.facts;
    row![
        &facts.title,
        &facts.site,
        &facts.language,
        &facts.hub,
        &facts.topic,
        &facts.cloud,
        words_json(&facts.categories),
        &facts.icon,
        facts.detected_language.as_ref().map(|(tag, _)| tag),
        facts.detected_language.as_ref().map(|(_, confidence)| i64::from(*confidence)),
    ]
}

/// The hints of a document, for the column `hints` of `feeds`.
pub(super) fn hints(document: &DocumentRecord) -> Datum<'static> {
    hints_json(&document.hints).into()
}

/// The columns of `feed_state` for [`validators`].
pub(super) const VALIDATORS: &str = "etag bytea, last_modified bytea, validators_of bigint";

/// The validators that replace the stored ones, if there are any.
pub(super) fn validators(record: &PollRecord) -> Option<[Datum<'_>; 3]> {
    let validators = record.validators()?;
    Some(row![&validators.etag, &validators.last_modified, validators.of])
}

/// The columns of `feed_state` for [`state`]. `success_at` is null if the poll failed.
pub(super) const STATE: &str = "next_at bigint, wanted_at bigint, last_poll_at bigint, \
    last_outcome text, success_at bigint, error text, gone_at bigint, gone_reason text, \
    moved_to text, moved_count bigint, reason text, held text, cause text, trouble text, \
    failures bigint";

/// The state of a feed after a poll.
pub(super) fn state(record: &PollRecord) -> [Datum<'_>; 15] {
    let at = record.at.millis();
    let Decision { next, failures, .. } = &record.decision;
    let LocationChange { pending, gone, .. } = &record.location;
    row![
        next.at.millis(),
        millis(next.wanted_at),
        at,
        record.outcome.word(),
        record.outcome.is_success().then_some(at),
        record.problem.as_ref().map(|problem| &problem.error),
        gone.as_ref().map(|gone| gone.at.millis()),
        gone.as_ref().map(|gone| &gone.reason),
        pending.as_ref().map(|moved| moved.to.as_str()),
        pending.as_ref().map_or(0, |moved| moved.count),
        &next.why.reason,
        &next.why.held,
        &next.why.cause,
        record.problem.as_ref().and_then(|problem| problem.trouble).map(feed::Trouble::code),
        *failures,
    ]
}

/// The keys of a window.
pub(super) fn keys(window: &Window) -> HashSet<EntryKey> {
    window.entries().iter().map(|entry| entry.key).collect()
}

/// The keys that left the window, each with the time, and those that entered it or came back.
pub(super) fn window_marks(
    before: &HashSet<EntryKey>,
    window: &Window,
    at: Time,
) -> Vec<(EntryKey, Option<i64>)> {
    let now = keys(window);
    let left = before.difference(&now).map(|key| (*key, Some(at.millis())));
    let entered = now.difference(before).map(|key| (*key, None));
    left.chain(entered).collect()
}
