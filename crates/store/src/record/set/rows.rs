//! The second flight of a set: the rows of its records, one statement for each table.

use std::collections::{BTreeMap, HashSet};

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Datum, from_lists, names, row, unnest};

use super::Accepted;
use super::before::SetBefore;
use crate::db::columns::sql_count;
use crate::facts::languages;
use crate::feeds::domains::PaceSet;
use crate::feeds::state::{FeedTotal, SORT_TITLE};
use crate::push::inbox;
use crate::queries::match_set::MatchSet;
use crate::record::grants;
use crate::record::values::{
    self, EDITED, EDITED_FACTS, FACTS, NEW_ENTRY, NEW_KEY, STATE, VALIDATORS,
};
use crate::record::{REVISIONS_MAX, poll_history};
use crate::{DocumentRecord, PollRecord, PushTrust};

/// The rows that a set writes.
#[derive(Default)]
pub(super) struct SetRows<'a> {
    entries: Lists<'a>,
    keys: Lists<'a>,
    edited: Lists<'a>,
    marks: Lists<'a>,
    facts: Lists<'a>,
    windows: Lists<'a>,
    states: Lists<'a>,
    polls: Lists<'a>,
    folds: Lists<'a>,
    totals: BTreeMap<&'static str, i64>,
    languages: BTreeMap<&'a str, i64>,
    domains: PaceSet<'a>,
    trust: BTreeMap<i64, PushTrust>,
    matches: MatchSet<'a>,
    grants: Vec<u64>,
}

impl<'a> SetRows<'a> {
    /// Adds the rows of one record.
    pub fn add(&mut self, accepted: Accepted<'a>, before: &SetBefore) {
        let Accepted { record, place, new, matches } = accepted;
        let Some(feed) = before.feed(place) else { return };
        for (id, entry) in &new {
            self.entries.push(values::new_entry(id.0, record.feed, entry, record.at, None));
            self.keys.push(values::new_key(id.0, record.feed, entry, record.at, None));
            if let Some(language) = &entry.facts.language {
                *self.languages.entry(language.primary()).or_default() += 1;
            }
        }
        if let Some(document) = record.document() {
            let new = new.iter().map(|(_, entry)| entry.key).collect();
            self.add_document(record, document, before, &new);
        }
        if let Some(found) = matches {
            self.matches.add(record.feed, found);
        }
        let n_new = sql_count(new.len() as u64);
        self.add_state(record, n_new, feed.state_after.code(), feed.load_after);
        self.polls.push(poll_history::values(record, new.len() as u64));
        if let Some(up_to) = poll_history::fold_up_to(record) {
            self.folds.push(row![record.feed.0, up_to]);
        }
        self.count(FeedTotal::Entries, n_new);
        self.count(FeedTotal::Polls, 1);
        self.count(FeedTotal::NeverPolled, -i64::from(feed.is_first));
        self.count(FeedTotal::Feeds(feed.state), -1);
        self.count(FeedTotal::Feeds(feed.state_after), 1);
        self.domains.add_load(&feed.domain, feed.load_after - feed.load);
        for pace in &record.exchange.paces {
            self.domains.add(pace);
        }
        self.grants.extend(&record.grants);
        if let Some(change) = &record.trust {
            self.trust.insert(change.subscription, change.trust);
        }
    }

    fn count(&mut self, total: FeedTotal, n: i64) {
        *self.totals.entry(total.name()).or_default() += n;
    }

    /// Adds the edited entries, the marks of the window and the facts of a document. `new` are the
    /// keys of its new entries, which the window shows.
    fn add_document(
        &mut self,
        record: &'a PollRecord,
        document: &'a DocumentRecord,
        before: &SetBefore,
        new: &HashSet<feed::EntryKey>,
    ) {
        for edit in &document.entries.edited {
            let [a, b, c, d, e, f, g, h, i, j, k, l, facts @ ..] = values::edited(edit, record.at);
            let [m, n, o, p, q, r, s] = facts;
            let (feed, key) = (record.feed.0.into(), edit.key.bytes().into());
            self.edited.push([feed, key, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s]);
        }
        if let Some(window) = &document.entries.window {
            let none = HashSet::new();
            let shown = before.window(record.feed).unwrap_or(&none);
            for (key, left_at) in values::window_marks(shown, window, record.at) {
                if left_at.is_some() || !new.contains(&key) {
                    self.marks.push(row![record.feed.0, *key.bytes(), left_at]);
                }
            }
        }
        let [a, b, c, d, e, f, g, h, i, j] = values::facts(document);
        let (feed, hints) = (record.feed.0.into(), values::hints(document));
        self.facts.push([feed, a, b, c, d, e, f, g, h, i, j, hints]);
    }

    fn add_state(&mut self, record: &'a PollRecord, n_new: i64, state: i64, load: i64) {
        let document = record.document();
        let window = document.and_then(|document| document.entries.window.as_ref());
        let learned = &record.decision.learned;
        if window.is_some() || learned.is_some() {
            self.windows.push(row![record.feed.0, window.map(feed::Window::encode), learned]);
        }
        let validators = values::validators(record);
        let is_validated = validators.is_some();
        let [etag, modified, of] = validators.unwrap_or([Datum::Null, Datum::Null, Datum::Null]);
        let body_hash = document.map(|document| &document.body_hash);
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, failures] = values::state(record);
        let (feed, generation) = (record.feed.0.into(), record.generation.into());
        let (validated, body_hash) = (is_validated.into(), body_hash.into());
        let (n_new, state, load) = (n_new.into(), state.into(), load.into());
        self.states.push([
            a, b, c, d, e, f, g, h, i, j, k, l, m, n, failures, etag, modified, of, feed,
            generation, validated, body_hash, n_new, state, load,
        ]);
    }

    /// Makes the statements. The order is that of recording row by row.
    pub fn into_flight(self, first_entry: i64, last_entry: i64) -> Flight<'a> {
        let mut flight = Flight::default();
        if last_entry > first_entry {
            let mut numbers = Lists::default();
            numbers.push(row![first_entry, last_entry]);
            let sql = format!(
                "update stream s set last_entry = u.last from {} where s.last_entry = u.first",
                unnest("first bigint, last bigint")
            );
            flight.add_exact(sql, numbers);
        }
        let sql = format!("insert into entries ({}) {}", names(NEW_ENTRY), from_lists(NEW_ENTRY));
        flight.add_exact(sql, self.entries);
        let sql = format!("insert into entry_keys ({}) {}", names(NEW_KEY), from_lists(NEW_KEY));
        flight.add_exact(sql, self.keys);
        flight.add(edit_sql(), self.edited);
        let sql = format!(
            "update entry_keys k set left_window_at = u.left_at from {} \
             where k.feed = u.feed and k.key = u.key",
            unnest("feed bigint, key bytea, left_at bigint")
        );
        flight.add(sql, self.marks);
        flight.add(facts_sql(), self.facts);
        self.matches.write(&mut flight);
        flight.add(window_sql(), self.windows);
        flight.add_exact(state_sql(), self.states);
        poll_history::write_set(&mut flight, self.polls, self.folds);
        let mut totals = Lists::default();
        for (name, n) in self.totals.into_iter().filter(|(_, n)| *n != 0) {
            totals.push(row![name, n]);
        }
        let sql = format!(
            "update totals t set n = t.n + u.n from {} where t.name = u.name",
            unnest("name text, n bigint")
        );
        flight.add(sql, totals);
        languages::count_set(&mut flight, &self.languages);
        inbox::write_trust_set(&mut flight, &self.trust);
        self.domains.write(&mut flight);
        grants::remove_set(&mut flight, self.grants.into_iter());
        flight
    }
}

/// Replaces the texts of edited entries. All parts of the statement see the entries as they were
/// before it, so the revisions get the earlier texts and the counts the earlier languages.
fn edit_sql() -> String {
    let columns = format!("feed bigint, key bytea, {EDITED}, {EDITED_FACTS}");
    let texts = assigned(EDITED, "k");
    let facts = values::edited_facts([
        "k.category_source",
        "k.category",
        "k.topic",
        "k.lang_source",
        "k.lang",
        "k.lang_tag",
        "k.lang_confidence",
    ]);
    format!(
        "with k as (update entry_keys k set content_hash = u.content_hash from {} \
         where k.feed = u.feed and k.key = u.key returning k.entry, u.*), \
         r as (insert into revisions \
         (entry, n, seen_at, title, link, author, summary, content, content_hash) \
         select e.id, r.used + 1, coalesce(e.edited_at, e.seen_at), e.title, e.link, e.author, \
         e.summary, e.content, e.content_hash from k join entries e on e.id = k.entry \
         cross join lateral (select count(*) as used from revisions where entry = e.id) as r \
         where r.used < {REVISIONS_MAX}), \
         e as (update entries e set {texts}, {facts} from k join entries o on o.id = k.entry \
         where e.id = k.entry returning e.id, o.lang as lang_before, e.lang as lang_after), \
         n as (insert into language_counts as c (language, entries) \
         select w.lang, sum(w.n) from \
         (select lang_before as lang, -1 as n from e where lang_before is distinct from lang_after \
         union all \
         select lang_after, 1 from e where lang_before is distinct from lang_after) as w \
         where w.lang is not null group by w.lang \
         on conflict (language) do update set entries = c.entries + excluded.entries) \
         insert into search_stale (entry) select e.id from e, search_progress p \
         where p.indexed_to >= e.id on conflict do nothing",
        unnest(&columns)
    )
}

/// Writes the facts and hints that differ from the stored ones, and the title for sorting.
fn facts_sql() -> String {
    let facts = format!("{FACTS}, hints text");
    let names = names(&facts);
    let differs: Vec<String> =
        names.split(", ").map(|name| format!("f.{name} is distinct from u.{name}")).collect();
    format!(
        "with f as (update feeds f set {} from {} where f.id = u.id and ({}) \
         returning f.id, f.given_title, f.title, f.url) \
         update feed_state s set sort_title = n.title \
         from (select f.id, {SORT_TITLE} as title from f) as n \
         where s.feed = n.id and s.sort_title <> n.title",
        assigned(&facts, "u"),
        unnest(&format!("id bigint, {facts}")),
        differs.join(" or ")
    )
}

/// Writes windows and learned states. Null leaves the stored value.
fn window_sql() -> String {
    format!(
        "with u as materialized (select * from {}), \
         old as (update feed_window w set shown = coalesce(u.shown, w.shown), \
         learned = coalesce(u.learned, w.learned) from u where w.feed = u.feed returning w.feed) \
         insert into feed_window (feed, shown, learned) \
         select u.feed, coalesce(u.shown, ''), coalesce(u.learned, '') from u \
         where u.feed not in (select feed from old)",
        unnest("feed bigint, shown bytea, learned bytea")
    )
}

/// Writes the state of feeds after their polls.
fn state_sql() -> String {
    let columns = format!(
        "{STATE}, {VALIDATORS}, feed bigint, generation bigint, validated boolean, \
         body_hash bytea, n_new bigint, state smallint, load bigint"
    );
    let plain = STATE.replace("success_at bigint, ", "");
    let validators: Vec<String> = names(VALIDATORS)
        .split(", ")
        .map(|name| format!("{name} = case when u.validated then u.{name} else s.{name} end"))
        .collect();
    format!(
        "update feed_state s set {}, {}, body_hash = coalesce(u.body_hash, s.body_hash), \
         last_success_at = coalesce(u.success_at, s.last_success_at), \
         entries = s.entries + u.n_new, \
         last_change_at = case when u.n_new > 0 then u.last_poll_at else s.last_change_at end, \
         generation = s.generation + 1, state = u.state, load = u.load from {} \
         where s.feed = u.feed and s.generation = u.generation",
        assigned(&plain, "u"),
        validators.join(", "),
        unnest(&columns)
    )
}

/// Assigns columns from those of the same name.
fn assigned(columns: &str, from: &str) -> String {
    let names = names(columns);
    names.split(", ").map(|name| format!("{name} = {from}.{name}")).collect::<Vec<_>>().join(", ")
}
