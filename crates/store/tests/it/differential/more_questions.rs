//! More questions: about subscriptions, rules, labels, articles, icons and statistics.

use std::collections::HashMap;
use std::time::Duration;

use feed::{EntryId, EntryKey, FeedId};
use store::{
    AccountId, EntryFilter, FeedFilter, FeedListFilter, FeedOrder, Identity, PopularityOrder,
    ReadFeeds, ReadingFilter, Scope, Store,
};

use super::step::Step;
use super::{Side, said, said_sorted};

/// Asks, and returns each question with its answer.
pub fn ask(side: &Side, step: &Step) -> Vec<(&'static str, String)> {
    let mut answers = Answers(Vec::new());
    let store = &side.store;
    for who in (0..4).map(AccountId) {
        feeds_of(&mut answers, store, step, who);
        people(&mut answers, store, step, who);
        rules(&mut answers, store, step, who);
        statistics_of(&mut answers, store, step, who);
    }
    feeds(&mut answers, store, step);
    articles(&mut answers, store, step);
    icons(&mut answers, store, step);
    statistics(&mut answers, store, step);
    recordings(&mut answers, store, step);
    answers.add("n_grants", said(store.n_grants()));
    answers.0
}

struct Answers(Vec<(&'static str, String)>);

impl Answers {
    fn add(&mut self, question: &'static str, answer: String) {
        self.0.push((question, answer));
    }
}

const ALL: FeedFilter = FeedFilter { tag: None, state: None, after: None, limit: None };

fn some_feeds() -> Vec<FeedId> {
    (1..9).map(FeedId).collect()
}

fn feeds_of(answers: &mut Answers, store: &Store, step: &Step, who: AccountId) {
    let feeds = some_feeds();
    for tag in [None, Some(format!("t{}", step.n % 3))] {
        answers.add("feeds_of", said(store.feeds_of(who, &FeedFilter { tag, ..ALL })));
    }
    answers.add("feed_of", said(store.feed_of(who, step.feed())));
    answers.add("feed_rows_of", said(store.feed_rows_of(who, &feeds)));
    answers.add("find_feed_of", said(store.find_feed_of(who, step.url(step.n).as_str())));
    answers.add("own_addresses", said_sorted(store.own_addresses(who)));
    let tag = format!("t{}", step.n % 3);
    for tag in [None, Some(tag.as_str())] {
        answers.add("feeds_in_own_order", said(store.feeds_in_own_order(who, tag)));
    }
    let url = step.url(step.n);
    answers.add("private_among", said(store.private_among(who, &[&url])));
    answers.add("role_of", said(store.role_of(who)));
    answers.add("sees_query", said(store.sees_query(who, feed::QueryId(1 + step.n % 3))));
    answers.add("feed_names_of", said_sorted(store.feed_names_of(who, feeds)));
    answers.add("languages_of", said(store.languages_of(who)));
    answers.add("reads_any_feed", said(store.reads_any_feed(who)));
    answers.add("feed_totals_of", said(store.feed_totals_of(who)));
    let unread = store.unread_by_feed(who).unwrap_or_default();
    answers.add("tag_feeds_of", said(store.tag_feeds_of(who, &unread)));
    let query = FeedListFilter {
        account: who,
        text: step.word(),
        tag: None,
        state: None,
        order: FeedOrder::Title,
        from: None,
        backwards: step.flag,
        limit: 1 + step.n % 5,
    };
    answers.add("feed_list", said(store.feed_list(&query)));
    answers.add("subscriptions", said(store.subscriptions(who)));
    let read = store.read_feeds(who).map(|read| match read {
        ReadFeeds::All => Vec::new(),
        ReadFeeds::Only(feeds) => feeds.into_iter().collect(),
    });
    answers.add("read_feeds", said_sorted(read));
    answers.add("is_subscribed", said(store.is_subscribed(who, step.feed())));
    answers.add("tags_of", said(store.tags_of(who)));
    answers.add("tag_of_number", said(store.tag_of_number(who, step.small())));
    answers.add("queries_of", said(store.queries_of(who)));
    answers.add("query_of", said(store.query_of(who, "q")));
    answers.add("bulk_changes", said(store.bulk_changes(who, step.now())));
    let entries: Vec<EntryId> = (1..40).map(EntryId).collect();
    answers.add("visible_entries", said_sorted(store.visible_entries(who, &entries)));
    answers.add("stream_of", said(store.stream_of(who, EntryId(0), 1 + step.n % 200)));
}

fn people(answers: &mut Answers, store: &Store, step: &Step, who: AccountId) {
    answers.add("share_targets", said(store.share_targets(who)));
    answers.add("playback_positions", said(store.playback_positions(who, step.entry())));
    answers.add("move_in_state", said(store.move_in_state(who, "other")));
    answers.add("unmatched_marks", said(store.unmatched_marks(who, 1 + step.n % 9)));
    answers.add("star_times", said_sorted(store.star_times(who)));
    answers.add("unread_entries", said(store.unread_entries(who)));
    for oldest_first in [false, true] {
        let newest = ReadingFilter::newest(who, Scope::All, 30);
        let filter = ReadingFilter { oldest_first, ..newest };
        answers.add("reading_folded", said(store.reading_folded(&filter)));
        answers.add("top_stories", said(store.top_stories(&filter)));
    }
    let hidden = ReadingFilter { hidden: true, ..ReadingFilter::newest(who, Scope::All, 30) };
    answers.add("reading hidden", said(store.reading(&hidden)));
    let german = Some("de".to_owned());
    let german = ReadingFilter { language: german, ..ReadingFilter::newest(who, Scope::All, 30) };
    answers.add("reading german", said(store.reading(&german)));
}

fn rules(answers: &mut Answers, store: &Store, step: &Step, who: AccountId) {
    answers.add("rules", said(store.rules(who)));
    answers.add("rule", said(store.rule(who, &step.name())));
    answers.add("hidden_marks", said(store.hidden_marks(who)));
    answers.add("n_hidden", said(store.n_hidden(who)));
    answers.add("labels", said(store.labels(who)));
    let label = store.label(who, &step.name());
    if let Ok(Some(label)) = label {
        let filter = ReadingFilter::newest(who, Scope::Label(label), 9);
        answers.add("reading label", said(store.reading(&filter)));
    }
    answers.add("label", said(label));
    answers.add("labelled", said(store.labelled(who)));
    answers.add("labels_of", said_sorted(store.labels_of(who, &step.entries())));
    answers.add("push_devices", said(store.push_devices(who)));
    answers.add("notifications", said(store.notifications(who, 0, 1 + step.n % 9)));
}

fn feeds(answers: &mut Answers, store: &Store, step: &Step) {
    let feed = step.feed();
    answers.add("feed_rows", said(store.feed_rows(&some_feeds())));
    answers.add("languages", said(store.languages()));
    answers.add("fetch_settings_of", said(store.fetch_settings_of(feed)));
    answers.add("fetch_settings", said(store.fetch_settings()));
    answers.add("has_secrets", said(store.has_secrets()));
    answers.add("has_policy", said(store.has_policy(step.word)));
    answers.add("owner_of_feed", said(store.owner_of_feed(feed)));
    answers.add("is_private_feed", said(store.is_private_feed(feed)));
    answers.add("abandoned_feeds", said(store.abandoned_feeds()));
    answers.add("close_to_people", said(store.close_to_people(feed)));
    answers.add("hand_on", said(store.hand_on(feed)));
    answers.add("drop_forbidden_matches", said(store.drop_forbidden_matches()));
    let (reader, entry) = (AccountId(1), step.entry());
    answers.add("may_judge", said(store.may_judge(reader, entry)));
    let asked = store.request_article_for(reader, entry, step.now());
    answers.add("request_article_for", said(asked));
    answers.add("all_playback_positions", said(store.all_playback_positions(reader)));
    answers.add("last_seen", said_sorted(store.last_seen(&[reader, AccountId(2)], step.now())));
    answers.add("regions", said_sorted(store.regions()));
    answers.add("unwanted_since", said(store.unwanted_since(step.now())));
    answers.add("n_subscribers", said(store.n_subscribers(feed)));
    answers.add("readers", said(store.readers(feed)));
    let audiences = store.feed_audiences(&some_feeds()).map(|found| {
        let sorted = found.into_iter().map(|(feed, audience)| {
            (feed, audience.into_iter().collect::<std::collections::BTreeMap<_, _>>())
        });
        sorted.collect::<std::collections::BTreeMap<_, _>>()
    });
    answers.add("feed_audiences", said(audiences));
    answers.add("reader_tags", said(store.reader_tags(AccountId(1), feed)));
    answers.add("poll_sizes", said_sorted(store.poll_sizes()));
    for (position, query) in [(1, 1), (2, 1), (1, 2)] {
        let query = feed::QueryId(query);
        answers.add("query_entry_at", said(store.query_entry_at(query, position)));
    }
    let identity = Identity { issuer: "https://0.example".to_owned(), subject: step.word() };
    answers.add("identified", said(store.identified(&identity)));
    answers.add("session_seen", said(store.session_seen(&step.digest(), step.now())));
    answers.add("waiting_marks", said_sorted(store.waiting_marks()));
    answers.add("rule_progress", said(store.rule_progress()));
    answers.add("rule_with_past", said(store.rule_with_past()));
    answers.add("changed_rules", said(store.changed_rules(&HashMap::new())));
    let known = [(store::RuleId(1), 1), (store::RuleId(7), 2)].into();
    // The numbers of removed rules have no order.
    let changed = store.changed_rules(&known).map(|changed| {
        let gone: std::collections::BTreeSet<_> = changed.gone.iter().map(|id| id.0).collect();
        (changed.version, changed.changed, gone)
    });
    answers.add("changed_rules", said(changed));
    answers.add("push_devices_due", said(store.push_devices_due(step.now(), 9)));
}

fn articles(answers: &mut Answers, store: &Store, step: &Step) {
    let entries: Vec<EntryId> = (1..40).map(EntryId).collect();
    answers.add("article", said(store.article(step.entry())));
    answers.add("articles", said_sorted(store.articles(&entries)));
    answers
        .add("article_texts", said_sorted(store.article_texts(&entries, 3 + step.n as usize % 9)));
    for entry in entries {
        answers.add("article_state", said(store.article_state(entry)));
        answers.add("known_article", said(store.known_article(entry)));
        answers.add("article_page", said(store.article_page(entry)));
    }
    for by_person in [false, true] {
        let due = store.articles_due(step.now(), by_person, EntryId(0), 1 + step.n % 30);
        answers.add("articles_due", said(due));
    }
    answers.add("n_articles_waiting", said(store.n_articles_waiting()));
    answers.add("articles_today", said(store.articles_today("d1.example", step.now())));
    let of_people = store.articles_of_people_today(step.now());
    answers.add("articles_of_people_today", said(of_people));
    answers.add("robots", said(store.robots("https://d1.example")));
}

fn icons(answers: &mut Answers, store: &Store, step: &Step) {
    let feeds = some_feeds();
    for hash in ["00f2", "00f5"] {
        answers.add("icon", said(store.icon(hash)));
    }
    answers.add("feed_icons", said_sorted(store.feed_icons(&feeds)));
    answers.add("feed_icon", said(store.feed_icon(step.feed())));
    answers.add("iconless_feeds", said(store.iconless_feeds(FeedId(1), 1 + step.n % 9)));
    answers.add("icons_due", said(store.icons_due(step.now(), 9)));
}

fn statistics_of(answers: &mut Answers, store: &Store, step: &Step, who: AccountId) {
    let since = step.now() - Duration::from_secs(30 * 86_400);
    answers.add("dismissed_feeds", said_sorted(store.dismissed_feeds(who)));
    answers.add("neighbours_of", said(store.neighbours_of(who)));
    answers.add("has_opened", said(store.has_opened(who, step.entry())));
    answers.add("opened_counts", said(store.opened_counts(who, since)));
    answers.add("entries_since", said(store.entries_since(who, &some_feeds(), since)));
    answers.add("linked_sites_of", said(store.linked_sites_of(who, 1, since, 9)));
    answers.add("sites_of", said_sorted(store.sites_of(who)));
    answers.add("feeds_of_own_sites", said(store.feeds_of_own_sites(who, 1, 9)));
}

fn statistics(answers: &mut Answers, store: &Store, step: &Step) {
    let since = step.now() - Duration::from_secs(30 * 86_400);
    answers.add("counted_subscriptions", said(store.counted_subscriptions()));
    for order in [PopularityOrder::Subscribers, PopularityOrder::Opened] {
        answers.add("popular_feeds", said(store.popular_feeds(order, 1, 1 + step.n % 9)));
    }
    answers.add("instance_figures", said(store.instance_figures(since)));
    answers.add("site_candidates", said(store.site_candidates(1, since, step.now(), 9)));
    answers.add("n_site_looks", said(store.n_site_looks(since)));
    let sites = ["s0.example".to_owned(), "s2.example".to_owned()];
    answers.add("site_feeds", said(store.site_feeds(&sites)));
}

fn recordings(answers: &mut Answers, store: &Store, step: &Step) {
    let feed = step.feed();
    answers.add("recording", said(store.recording()));
    answers.add("recordings", said(store.recordings()));
    answers.add("recorded_polls", said(store.recorded_polls(feed)));
    let mut versions = Vec::new();
    let done = store.document_versions(feed, |version| versions.push(version));
    answers.add("document_versions", format!("{} {versions:?}", said(done)));
    for version in [None, Some(1), Some(2)] {
        answers.add("document_version", said(store.document_version(feed, version)));
    }
    answers.add("recorded_entries", said(store.recorded_entries(feed)));
    answers.add("document_list", said(store.document_list(feed, step.flag, 9)));
    let filter = EntryFilter { feed: None, limit: 500 };
    let stored = store.entries(EntryId(0), &filter).unwrap_or_default();
    let items: Vec<_> = stored.iter().map(|row| (row.key, item(row))).collect();
    let items: Vec<(EntryKey, u64, &feed::Item)> =
        items.iter().map(|(key, item)| (*key, 7, item)).collect();
    answers.add("known_copies", said_sorted(store.known_copies(feed, &items)));
}

/// An item that claims to be a copy of an entry.
fn item(row: &store::EntryRow) -> feed::Item {
    let id = row.guid.clone();
    feed::Item { id, title: row.title.clone(), link: row.link.clone(), ..Default::default() }
}
