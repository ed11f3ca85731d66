//! All questions that a store answers, with arguments from a step.

use std::time::Duration;

use feed::{EntryId, EntryKey, FeedId, QueryId, SearchExpression};
use store::{
    AccountId, AccountListFilter, EntryFilter, FeedFilter, FeedListFilter, FeedOrder, FeedState,
    InstanceStatus, ReadingFilter, RecentMatches, RequestId, Scope, Store, StoreError,
};

use super::people::{account, scope};
use super::step::Step;
use super::{Side, said, said_sorted};

/// The answers so far, each under the name of its question.
#[derive(Default)]
struct Answers(Vec<(&'static str, String)>);

impl Answers {
    fn add(&mut self, name: &'static str, answer: String) {
        self.0.push((name, answer));
    }
}

/// Asks everything. Returns the answers by the names of the questions.
pub fn ask(side: &Side, step: &Step) -> Vec<(&'static str, String)> {
    let mut answers = Answers::default();
    feeds(&mut answers, &side.store, step);
    schedule(&mut answers, &side.store, step);
    entries(&mut answers, &side.store, step);
    reading(&mut answers, &side.store, step);
    people(&mut answers, &side.store, step);
    queries(&mut answers, &side.store, step);
    pushes(&mut answers, &side.store, step);
    answers.0
}

fn feeds(answers: &mut Answers, store: &Store, step: &Step) {
    let feed = step.feed();
    let states =
        [None, Some(FeedState::Active), Some(FeedState::Gone), Some(FeedState::BackingOff)];
    let state = states[(step.n % 4) as usize];
    answers.add("feed", said(store.feed(feed)));
    for tag in [None, Some(format!("t{}", step.n % 3))] {
        let filter = FeedFilter { tag, state, after: None, limit: None };
        answers.add("feeds", said(store.feeds(&filter)));
    }
    answers.add("find_feed", said(store.find_feed(step.url(step.n).as_str())));
    let orders = [
        FeedOrder::LastChange,
        FeedOrder::Trouble,
        FeedOrder::Title,
        FeedOrder::NextPoll,
        FeedOrder::LastPoll,
        FeedOrder::Entries,
    ];
    for order in orders {
        for text in ["", step.word, "D1.EXAMPLE"] {
            answers.add("feed_page", pages(store, step, order, text));
        }
    }
    answers.add("feed_names", said_sorted(store.feed_names((1..9).map(FeedId))));
    answers.add("numbered_tags", said(store.numbered_tags()));
    answers.add("tag_numbered", said(store.tag_numbered(step.small())));
    answers.add("tags", said(store.tags()));
    answers.add("setting", said(store.setting("k1")));
    answers.add("domain_states", said_sorted(store.domain_states()));
    let domain = feed::Domain::from_stored("d1.example");
    answers.add("domain_not_before", said(store.domain_not_before(&domain)));
    answers.add("feed_count", said(store.feed_count()));
    answers.add("counts", said(store.counts(step.now())));
    // The databases need different space.
    let status = store.status(step.now());
    let status = status.map(|status| InstanceStatus { database_bytes: 0, log_bytes: 0, ..status });
    answers.add("status", said(status));
    answers.add("delay_days", said(store.delay_days(step.now(), 30)));
    answers.add("domain_loads", said(store.domain_loads(10)));
    answers.add("check", said(store.check()));
    answers.add("polls", said(store.polls(feed, 20)));
    answers.add("poll_days", said(store.poll_days(feed)));
    answers.add("recent_times", said(store.recent_times(feed, 5)));
}

/// Walks over all pages of a list of feeds, two feeds on each.
fn pages(store: &Store, step: &Step, order: FeedOrder, text: &str) -> String {
    let mut filter = FeedListFilter {
        account: AccountId::LOCAL,
        text: text.to_owned(),
        tag: step.flag.then(|| format!("t{}", step.n % 3)),
        state: None,
        order,
        from: None,
        backwards: false,
        limit: 2,
    };
    let mut all = String::new();
    for _ in 0..10 {
        let page = store.feed_page(&filter, step.now() - Duration::from_secs(86_400));
        filter.from = page.as_ref().ok().and_then(|page| page.after.clone());
        all.push_str(&said(page));
        if filter.from.is_none() {
            break;
        }
    }
    all
}

fn schedule(answers: &mut Answers, store: &Store, step: &Step) {
    let (feed, now) = (step.feed(), step.now());
    answers.add("due_index", said(store.due_index()));
    answers.add("due", said(store.due(feed)));
    answers.add("due_feeds", said(store.due_feeds(now)));
    answers.add("places_of", said(store.places_of(&[FeedId(3), feed, FeedId(99)])));
    answers.add("poll_input", said(store.poll_input(feed)));
    answers.add("poll_inputs_of", said(store.poll_inputs_of(&[FeedId(3), feed, FeedId(99)])));
    let mut inputs = Vec::new();
    let done = store.poll_inputs(|input| inputs.push(input));
    answers.add("poll_inputs", format!("{} {inputs:?}", said(done)));
    answers.add("feed_ids", said(store.feed_ids(step.flag.then_some("t1"))));
    answers.add("latest_poll_at", said(store.latest_poll_at()));
    answers.add("last_poll_at", said(store.last_poll_at()));
    answers.add("strategy_progress", said(store.strategy_progress()));
}

fn entries(answers: &mut Answers, store: &Store, step: &Step) {
    let (feed, entry) = (step.feed(), step.entry());
    for feed in [None, Some(feed)] {
        let filter = EntryFilter { feed, limit: 1 + step.n % 50 };
        answers.add("entries", said(store.entries(entry, &filter)));
        answers.add("recent_entries", said(store.recent_entries(Some(entry), &filter)));
    }
    answers.add("stream", said(store.stream(EntryId(0), 200)));
    answers.add("entry", said(store.entry(entry)));
    answers.add("last_entry_id", said(store.last_entry_id()));
    answers.add("last_seen_before", said(store.last_seen_before(step.now())));
    answers.add("position_before", said(store.position_before(step.now())));
    answers.add("revisions", said(store.revisions(entry)));
    let feeds: Vec<FeedId> = (1..7).map(FeedId).collect();
    answers.add("n_published_since", said(store.n_published_since(&feeds, step.now())));
    answers.add("published_times", said(store.published_times(feed)));
    answers.add("entry_times", said(store.entry_times(feed)));
    let stored = store.entries(EntryId(0), &EntryFilter { feed: None, limit: 500 });
    let keys: Vec<EntryKey> = stored.unwrap_or_default().iter().map(|row| row.key).collect();
    answers.add("known", said_sorted(store.known(feed, &keys)));
    answers.add("indexed_to", said(store.indexed_to()));
    answers.add("unindexed", said(store.unindexed(50)));
}

fn reading(answers: &mut Answers, store: &Store, step: &Step) {
    let who = account(step);
    let some = |bit: u32| step.n >> bit & 1 == 1;
    for scope in [Scope::All, scope(step), Scope::Query(QueryId(1))] {
        let filter = ReadingFilter {
            read: some(3).then(|| some(4)),
            starred: some(5).then(|| some(6)),
            since: some(7).then(|| step.now() - Duration::from_secs(20 * 86_400)),
            until: some(8).then(|| step.now()),
            above: some(9).then_some(EntryId(3)),
            below: some(10).then_some(EntryId(30)),
            oldest_first: some(11),
            by_number: some(12),
            offset: u64::from(step.n % 3),
            ..ReadingFilter::newest(who, scope, 1 + step.n % 40)
        };
        let read = store.reading(&filter);
        let from = read.as_ref().ok().and_then(|read| read.get(2)).map(|entry| entry.place());
        answers.add("reading", said(read));
        answers.add("reading_count", said(store.reading_count(&filter)));
        answers.add("reading_places", said(store.reading_places(&filter)));
        answers.add("reading on", said(store.reading(&ReadingFilter { from, ..filter })));
    }
    answers.add("read_entries", said(store.read_entries(who, &step.entries())));
    answers.add("read_marks", said(store.read_marks(who)));
    answers.add("stars", said_sorted(store.stars(who)));
    let unread = store.unread_by_feed(who);
    answers.add("tag_feeds", said(store.tag_feeds(&unread.clone().unwrap_or_default())));
    answers.add("unread_by_feed", said_sorted(unread));
    answers.add("undoable", said(store.undoable(who, step.now())));
    for text in ["alpha", "3", "ünï", "вул"] {
        let Some(phrase) = SearchExpression::phrase(None, [text], step.flag) else { continue };
        let found = store.search(who, &phrase, some(1).then_some(EntryId(20)), 1 + step.n % 20);
        answers.add("search", said(found));
    }
    answers.add("recorded_before", said(store.recorded_before(who, Some(step.entry()), 7)));
}

fn people(answers: &mut Answers, store: &Store, step: &Step) {
    answers.add("has_accounts", said(store.has_accounts()));
    answers.add("accounts", said(store.accounts()));
    for (text, from, backwards) in
        [("", None, false), ("Er", Some("anna"), false), ("", Some("z"), true), ("_", None, true)]
    {
        let (text, from) = (text.to_owned(), from.map(str::to_owned));
        let filter = AccountListFilter { text, from, backwards, limit: 1 };
        answers.add("account_page", said(store.account_page(&filter)));
    }
    answers.add("account", said(store.account("BERTA")));
    answers.add("account_numbered", said(store.account_numbered(AccountId(1))));
    for who in (0..3).map(AccountId) {
        answers.add("tokens", said(store.tokens(who)));
        answers.add("sessions", said(store.sessions(who, feed::Time::from_secs(0))));
        answers.add("identities", said(store.identities(who)));
        answers.add("choices", said(store.choices(who)));
    }
    for digest in [[0; 32], [1; 32], [2; 32]] {
        answers.add("session", said(store.session(&digest, step.now())));
        answers.add("token", said(store.token(&digest)));
        answers.add("fever_token", said(store.fever_token(&digest)));
    }
    answers.add("pending_requests", said(store.pending_requests()));
    answers.add("request_answer", said(store.request_answer(RequestId(step.small()))));
}

fn queries(answers: &mut Answers, store: &Store, step: &Step) {
    let (since, now) = (Some(step.now() - Duration::from_secs(20 * 86_400)), step.now());
    answers.add("queries", said(store.queries()));
    answers.add("query", said(store.query("q")));
    answers.add("deliveries", said(store.deliveries(None)));
    answers.add("deliveries_due", said(store.deliveries_due(now)));
    answers.add("matching_queries", said_sorted(store.matching_queries(&step.entries())));
    answers.add("share", said(store.share(step.feed())));
    for id in (1..4).map(QueryId) {
        answers.add("query_numbered", said(store.query_numbered(id)));
        answers.add("n_query_entries", said(store.n_query_entries(id)));
        answers.add("query_entries", said(store.query_entries(id, 1, 1 + step.n % 9)));
        let matches = RecentMatches { query: id, before: None, since, limit: 9 };
        answers.add("recent_matches", said(store.recent_query_entries(&matches)));
        answers.add("query_mark", said(store.query_mark(&matches)));
        answers.add("articles_mark", said(store.articles_mark(&matches)));
        answers.add("position_before_last", said(store.position_before_last(id, step.n % 5)));
        answers.add("last_position", said(store.last_position(id)));
    }
    for id in (1..6).map(store::DeliveryId) {
        answers.add("dead_letters", said(store.dead_letters(id)));
    }
}

fn pushes(answers: &mut Answers, store: &Store, step: &Step) {
    let now = step.now();
    answers.add("push", said(store.push(step.feed())));
    answers.add("n_with_hub", said(store.n_with_hub()));
    answers.add("push_candidates", said(store.push_candidates(5)));
    answers.add("lapsed_pushes", said(store.lapsed_pushes(now)));
    answers.add("pushes_due", said(store.pushes_due(now, 9).map(|due| due.len())));
    answers.add("is_push_callback", said(store.is_push_callback("token 1")));
    answers.add("next_push", said(store.next_push(0).map(|push| push.map(|push| push.id))));
    answers.add("cloud_candidates", said(store.cloud_candidates(5)));
    answers.add("clouds_due", said(store.clouds_due(now, 5)));
    answers.add("cloud", said(store.cloud(step.feed())));
    answers.add("hub_subscription", said(store.hub_subscription(step.small())));
    let due = |visit: &dyn Fn(&mut Vec<String>) -> Result<(), StoreError>| {
        let mut found = Vec::new();
        let done = visit(&mut found);
        format!("{} {found:?}", said(done))
    };
    let requests = due(&|found| store.hub_requests_due(now, |one| found.push(format!("{one:?}"))));
    answers.add("hub_requests_due", requests);
    let pushes = due(&|found| store.hub_pushes_due(now, |one| found.push(format!("{one:?}"))));
    answers.add("hub_pushes_due", pushes);
}
