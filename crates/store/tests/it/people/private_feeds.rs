//! Private feeds of accounts: moves, undo, and what people keep when they unsubscribe.

use feed::{EntryId, FeedId, FetchSetting, SearchExpression};
use store::{
    AccountId, AddressChange, BulkScope, FeedSelection, FeedsChange, FetchSettingRow, NewQuery,
    QueryChange, QueryScope, ReadingFilter, RuleAct, RuleEffect, RuleStep, Scope, SearchWords,
    Store,
};

use crate::sample::{Fresh, T0, add, at, fresh, new_feed, poll, url};

const SECRET: &str = "https://me:pass@paper.org/feed";

/// Two accounts without feeds.
fn two() -> (Fresh, AccountId, AccountId) {
    let fresh = fresh();
    let account = |name: &str| fresh.store.add_account(name, "hash", T0).unwrap().unwrap();
    let (anna, bert) = (account("anna"), account("bert"));
    (fresh, anna, bert)
}

fn subscribe(store: &Store, account: AccountId, url: &str) -> FeedId {
    store.subscribe(account, &[new_feed(url)], T0).unwrap()[0].id
}

#[test]
fn a_feed_that_moves_to_a_secret_address_belongs_to_its_only_reader() {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let common = subscribe(store, anna, "https://common.org/");
    subscribe(store, bert, "https://common.org/");
    let moved = |feed| store.move_feed(feed, &url(SECRET), at(1)).unwrap();
    assert_eq!(moved(common), AddressChange::Shared);
    assert_eq!(store.feed(common).unwrap().location.url, url("https://common.org/"));
    assert_eq!(store.owner_of_feed(common).unwrap(), None, "nothing has changed");
    store.unsubscribe(bert, &[common], at(2)).unwrap();
    assert_eq!(moved(common), AddressChange::Moved { queries: Vec::new() });
    assert_eq!(store.owner_of_feed(common).unwrap(), Some(anna));
    assert!(store.subscribe_to(bert, common, &[], T0).is_err());
    assert_ne!(subscribe(store, bert, SECRET), common, "nobody else gets it");
    assert_eq!(store.find_feed_of(anna, SECRET).unwrap(), Some(common));
    // A query of somebody else needs the feed too.
    let read = subscribe(store, anna, "https://read.org/");
    let query = NewQuery {
        name: "Q".to_owned(),
        text: "CREATE FEED Q AS RETURN \"https://read.org/\"".to_owned(),
        urls: vec![url("https://read.org/")],
        receivers: Vec::new(),
        scope: QueryScope { owner: Some(bert), shared: false },
        link_key: "k".to_owned(),
        signing_key: "k".to_owned(),
    };
    store.change_queries(vec![QueryChange::Put(query)], None, T0).unwrap();
    assert_eq!(store.move_feed(read, &url("https://a:b@read.org/"), at(3)).unwrap(), {
        AddressChange::Shared
    });
    // A feed of the instance stays with it.
    let of_instance = add(store, "https://instance.org/");
    store.move_feed(of_instance, &url("https://a:b@instance.org/"), at(4)).unwrap();
    assert_eq!(store.owner_of_feed(of_instance).unwrap(), Some(AccountId::LOCAL));
    assert!(store.subscribe_to(anna, of_instance, &[], T0).is_err());
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn an_undo_gives_nobody_a_feed_that_is_private_to_somebody_else_now() {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let common = subscribe(store, anna, "https://common.org/");
    let other = subscribe(store, bert, "https://other.org/");
    subscribe(store, bert, "https://common.org/");
    let removed = subscribe(store, bert, "https://removed.org/");
    let of_instance = add(store, "https://instance.org/");
    let leave = |scope: BulkScope, feeds: &[FeedId]| {
        let selection = FeedSelection::Feeds(feeds.to_vec());
        let what = |n| format!("left {n}");
        store.change_feeds(scope, &selection, &FeedsChange::Unsubscribe, what, at(1)).unwrap();
    };
    let bert_own = BulkScope { actor: bert, owner: bert };
    let instance = BulkScope { actor: anna, owner: AccountId::LOCAL };
    leave(bert_own, &[common, other, removed]);
    leave(instance, &[of_instance]);
    store.subscribe_to(anna, of_instance, &[], T0).unwrap();
    assert_eq!(store.own_feed(anna, common, at(2)).unwrap(), Some(common));
    assert_eq!(store.own_feed(anna, of_instance, at(2)).unwrap(), Some(of_instance));
    store.remove_feed(removed).unwrap();
    assert!(store.undo_bulk(bert_own, None, at(3)).unwrap().is_some());
    assert!(store.undo_bulk(instance, None, at(3)).unwrap().is_some());
    let berts: Vec<FeedId> =
        store.subscriptions(bert).unwrap().into_iter().map(|row| row.feed).collect();
    assert_eq!(berts, [other]);
    assert_eq!(store.n_subscribers(common).unwrap(), 1);
    // The instance does not keep a feed with the secrets of a person.
    assert_eq!(store.unsubscribe(anna, &[of_instance], at(4)).unwrap(), [of_instance]);
    assert!(store.due(other).unwrap().is_some(), "it is polled again");
    assert_eq!(store.check().unwrap(), []);
}

#[tokio::test]
async fn starred_entries_stay_with_the_person_who_unsubscribes() {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let feed = subscribe(store, bert, "https://a.org/");
    let kept = subscribe(store, bert, "https://kept.org/");
    poll(store, feed, &["1", "2"], at(1));
    poll(store, kept, &["3"], at(2));
    let words = |entry| SearchWords {
        entry: EntryId(entry),
        edited_at: None,
        article_at: None,
        title: "ash".to_owned(),
        body: String::new(),
    };
    store.index(vec![words(1), words(2), words(3)]).await.unwrap();
    store.star(bert, &[EntryId(1)], true, at(3)).unwrap();
    store.unsubscribe(bert, &[feed], at(4)).unwrap();
    let list = |account, starred| {
        let reading = ReadingFilter { starred, ..ReadingFilter::newest(account, Scope::All, 10) };
        let found = store.reading(&reading).unwrap().into_iter();
        assert_eq!(store.reading_count(&reading).unwrap(), found.len() as u64);
        found.map(|one| one.entry.id.0).collect::<Vec<_>>()
    };
    assert_eq!(list(bert, Some(true)), [1]);
    assert_eq!(list(bert, None), [3]);
    assert_eq!(list(anna, Some(true)), [0_i64; 0]);
    let ash = SearchExpression::phrase(None, ["ash"], false).unwrap();
    let numbers = |found: Vec<store::ReadEntry>| -> Vec<i64> {
        found.into_iter().map(|one| one.entry.id.0).collect()
    };
    assert_eq!(numbers(store.search(bert, &ash, None, 10).unwrap()), [3, 1]);
    assert_eq!(numbers(store.search(anna, &ash, None, 10).unwrap()), [0_i64; 0]);
    assert_eq!(numbers(store.recorded_before(bert, None, 10).unwrap()), [3, 1]);
    // The feed is not removed while the star is there, and what it becomes is not shown.
    assert_eq!(store.unwanted_since(at(9999)).unwrap(), []);
    subscribe(store, anna, "https://a.org/");
    let own = store.own_feed(anna, feed, at(5)).unwrap().unwrap();
    assert_ne!(own, feed, "bert keeps what he has seen");
    assert_eq!(store.owner_of_feed(feed).unwrap(), None);
    assert_eq!(list(bert, Some(true)), [1]);
    poll(store, own, &["1", "2", "4"], at(6));
    store.star(bert, &[EntryId(2), EntryId(4)], true, at(7)).unwrap();
    assert_eq!(list(bert, Some(true)), [1], "and sees nothing else");
    store.star(bert, &[EntryId(1)], false, at(8)).unwrap();
    assert_eq!(list(bert, Some(true)), [0_i64; 0]);
}

/// A query of an account that reads all its feeds.
fn query_of(owner: AccountId) -> NewQuery {
    NewQuery {
        name: "Q".to_owned(),
        text: "CREATE FEED Q AS RETURN ALL FEEDS".to_owned(),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: QueryScope { owner: Some(owner), shared: false },
        link_key: "k".to_owned(),
        signing_key: "k".to_owned(),
    }
}

/// Stores entry 1 as a match of query 1.
fn keep_match(fresh: &Fresh) {
    let sql = "insert into query_entries (query, position, entry) values (1, 1, 1); \
               update queries set last_position = 1 where id = 1";
    store::testing::execute(&store::testing::location(fresh.folder.path()), sql);
}

#[test]
fn a_feed_whose_entries_others_keep_stays_open_to_them_and_gets_no_secret() {
    let keeps: [fn(&Fresh, AccountId); 4] = [
        |_, _| (),
        |fresh, bert| fresh.store.star(bert, &[EntryId(1)], true, at(2)).unwrap(),
        |fresh, bert| {
            assert!(fresh.store.label_entries(bert, "x", &[EntryId(1)], true, at(2)).unwrap());
        },
        |fresh, bert| {
            let put = vec![QueryChange::Put(query_of(bert))];
            fresh.store.change_queries(put, None, at(2)).unwrap();
            keep_match(fresh);
        },
    ];
    for (case, keep) in keeps.into_iter().enumerate() {
        let (fresh, anna, bert) = two();
        let store = &fresh.store;
        let feed = subscribe(store, anna, "https://a.org/");
        subscribe(store, bert, "https://a.org/");
        poll(store, feed, &["1"], at(1));
        keep(&fresh, bert);
        store.unsubscribe(bert, &[feed], at(3)).unwrap();
        let is_kept = case > 0;
        let moved = store.move_feed(feed, &url("https://x:y@a.org/"), at(4)).unwrap();
        assert_eq!(moved == AddressChange::Shared, is_kept, "case {case}");
        let own = store.own_feed(anna, feed, at(5)).unwrap().unwrap();
        assert_eq!(own != feed, is_kept, "case {case}");
        if is_kept {
            assert_eq!(store.owner_of_feed(feed).unwrap(), None, "case {case}");
            assert_eq!(store.owner_of_feed(own).unwrap(), Some(anna), "case {case}");
            assert!(!store.close_to_people(feed).unwrap(), "case {case}");
            assert!(store.is_subscribed(anna, own).unwrap());
            assert!(!store.is_subscribed(anna, feed).unwrap());
        }
        assert_eq!(store.check().unwrap(), []);
    }
}

#[test]
fn a_feed_that_is_private_already_gives_others_neither_matches_nor_pages() {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let feed = subscribe(store, anna, "https://a.org/");
    poll(store, feed, &["1"], at(1));
    store.change_queries(vec![QueryChange::Put(query_of(bert))], None, at(2)).unwrap();
    store.own_feed(anna, feed, at(3)).unwrap();
    // A store of an older version may have such rows.
    keep_match(&fresh);
    assert!(store.visible_entries(bert, &[EntryId(1)]).unwrap().contains(&EntryId(1)));
    assert!(!store.request_article_for(bert, EntryId(1), at(4)).unwrap());
    assert!(store.request_article_for(anna, EntryId(1), at(4)).unwrap());
    assert_eq!(store.drop_forbidden_matches().unwrap(), 1);
    assert!(store.visible_entries(bert, &[EntryId(1)]).unwrap().is_empty());
    assert_eq!(store.drop_forbidden_matches().unwrap(), 0);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn the_partner_of_a_match_is_hidden_if_its_feed_is_private_to_somebody_else() {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let feed = subscribe(store, anna, "https://a.org/");
    let common = subscribe(store, bert, "https://common.org/");
    poll(store, feed, &["1"], at(1));
    poll(store, common, &["2"], at(1));
    let put = vec![QueryChange::Put(query_of(bert))];
    store.change_queries(put, None, at(2)).unwrap();
    // The feed of entry 1 was open when the query found it.
    let sql = "insert into query_entries (query, position, entry, partner) values (1, 1, 2, 1)";
    store::testing::execute(&store::testing::location(fresh.folder.path()), sql);
    let partner = || {
        let found = store.query_entries(store::QueryId(1), 0, 10).unwrap().entries;
        found.iter().map(|one| (one.entry.id, one.partner)).collect::<Vec<_>>()
    };
    assert_eq!(partner(), [(EntryId(2), Some(EntryId(1)))]);
    assert_eq!(store.own_feed(anna, feed, at(3)).unwrap(), Some(feed));
    assert_eq!(partner(), [(EntryId(2), None)]);
}

/// A private feed of anna with a cookie, to which bert and carl subscribe too, as in a store that
/// is older than subscriptions.
fn read_by_three() -> (Fresh, FeedId, [AccountId; 3]) {
    let (fresh, anna, bert) = two();
    let store = &fresh.store;
    let carl = store.add_account("carl", "hash", T0).unwrap().unwrap();
    let feed = subscribe(store, anna, "https://a.org/");
    assert_eq!(store.own_feed(anna, feed, T0).unwrap(), Some(feed));
    let cookie = FetchSettingRow {
        feed,
        setting: FetchSetting::Cookie,
        origin: "https://a.org".to_owned(),
        shown: None,
        sealed: Some(vec![1]),
    };
    store.set_fetch_settings(feed, vec![cookie], Vec::new(), T0).unwrap();
    poll(store, feed, &["1"], at(1));
    for account in [bert, carl] {
        let sql = format!(
            "insert into subscriptions (account, feed, subscribed_at) values ({account}, {}, 0)",
            feed.0
        );
        store::testing::execute(&store::testing::location(fresh.folder.path()), &sql);
    }
    store.star(bert, &[EntryId(1)], true, at(2)).unwrap();
    (fresh, feed, [anna, bert, carl])
}

#[test]
fn a_private_feed_of_an_account_that_leaves_goes_to_its_next_reader_without_secrets() {
    let (fresh, feed, [anna, bert, carl]) = read_by_three();
    let store = &fresh.store;
    assert!(!store.request_article_for(bert, EntryId(1), at(3)).unwrap(), "the login is anna's");
    assert!(store.remove_account(anna).unwrap());
    assert_eq!(store.abandoned_feeds().unwrap(), [feed]);
    assert!(store.hand_on(feed).unwrap());
    assert_eq!(store.owner_of_feed(feed).unwrap(), Some(bert));
    assert_eq!(store.fetch_settings_of(feed).unwrap(), []);
    assert_eq!(store.stars(bert).unwrap().len(), 1);
    assert!(store.request_article_for(carl, EntryId(1), at(3)).unwrap(), "there is no login");
    assert_eq!(store.abandoned_feeds().unwrap(), []);
    // Carl has the address himself when bert leaves, so that the feed can be removed.
    subscribe(store, carl, "https://b.org/");
    let own = store.own_feed(carl, feed, at(4)).unwrap().unwrap();
    assert_ne!(own, feed);
    assert!(store.remove_account(bert).unwrap());
    assert!(!store.hand_on(feed).unwrap());
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn the_last_account_keeps_the_feeds_that_it_reads_for_the_person_at_the_machine() {
    let (fresh, feed, [anna, bert, carl]) = read_by_three();
    let store = &fresh.store;
    for account in [anna, carl, bert] {
        assert!(store.remove_account(account).unwrap());
    }
    assert_eq!(store.abandoned_feeds().unwrap(), []);
    assert_eq!(store.owner_of_feed(feed).unwrap(), Some(AccountId::LOCAL));
    assert_eq!(store.fetch_settings_of(feed).unwrap(), []);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn the_owner_of_a_feed_that_others_read_gets_one_alone_with_the_old_settings() {
    let (fresh, feed, [anna, bert, carl]) = read_by_three();
    let store = &fresh.store;
    let own = store.own_feed(anna, feed, at(3)).unwrap().unwrap();
    assert_ne!(own, feed);
    assert_eq!(store.owner_of_feed(own).unwrap(), Some(anna));
    assert_eq!(store.owner_of_feed(feed).unwrap(), Some(bert));
    assert_eq!(store.fetch_settings_of(feed).unwrap(), []);
    assert_eq!(store.fetch_settings_of(own).unwrap()[0].setting, FetchSetting::Cookie);
    assert!(!store.is_subscribed(anna, feed).unwrap());
    assert_eq!(store.own_feed(anna, own, at(4)).unwrap(), Some(own), "now it is anna's alone");
    // Carl and bert part in the same way, and then nobody else reads the feed.
    let carls = store.own_feed(carl, feed, at(5)).unwrap().unwrap();
    assert_ne!(carls, feed);
    assert_eq!(store.own_feed(bert, feed, at(6)).unwrap(), Some(feed));
    assert_eq!(store.check().unwrap(), []);
}

#[tokio::test]
async fn a_rule_that_marks_entries_read_is_not_a_reader() {
    let (fresh, anna, _) = two();
    let store = &fresh.store;
    let feed = subscribe(store, anna, "https://a.org/");
    poll(store, feed, &["1", "2"], at(1));
    let act = async |effect: RuleEffect, entry| {
        let new = store::NewRule {
            name: format!("r{entry}"),
            text: "CREATE RULE r ON ALL FEEDS DO HIDE".to_owned(),
            is_on: true,
            replaces: None,
        };
        let rule = store.put_rule(anna, &new, T0).unwrap().unwrap().id;
        let (from, version) = store.rule_progress().unwrap();
        let effects = [effect].into();
        let act = RuleAct { rule, account: anna, entry: EntryId(entry), effects };
        let step = RuleStep { version, from, to: from, acts: vec![act] };
        assert!(store.act_by_rules(step, T0).await.unwrap());
    };
    act(RuleEffect::MarkRead, 1).await;
    act(RuleEffect::Hide, 2).await;
    let marks = store.read_marks(anna).unwrap();
    assert!(marks.is_read(EntryId(1)) && marks.is_read(EntryId(2)));
    store.count_readers(at(-9_999_999)).unwrap();
    assert_eq!(store.readers(feed).unwrap(), Some(0));
    store.mark_read(anna, &[EntryId(1)], true).unwrap();
    store.count_readers(at(-9_999_999)).unwrap();
    assert_eq!(store.readers(feed).unwrap(), Some(1), "a person who marks an entry reads");
}
