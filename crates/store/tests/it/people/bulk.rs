//! Changes of many feeds and of tags: all or none, only the own ones, and exactly undone.

use std::collections::BTreeMap;
use std::time::Duration;

use feed::{FeedId, Time};
use store::{
    AccountId, BULK_UNDO_LASTS, BulkDone, BulkScope, FEEDS_AT_ONCE_MAX, FeedFilter, FeedSelection,
    FeedState, FeedsChange, NewFeed, SettingsChange, Store, StoreError, testing,
};

use crate::sample::{Fresh, T0, at, fresh, new_feed, poll};

const INSTANCE: BulkScope = BulkScope { actor: AccountId::LOCAL, owner: AccountId::LOCAL };

/// Returns the scope of an account's own feeds.
fn own(account: AccountId) -> BulkScope {
    BulkScope { actor: account, owner: account }
}

fn texts(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

fn tagging(add: &[&str], remove: &[&str]) -> FeedsChange {
    FeedsChange::Tag { add: texts(add), remove: texts(remove) }
}

fn pausing(paused: bool) -> FeedsChange {
    FeedsChange::Set { policy: None, paused: Some(paused) }
}

fn all() -> FeedSelection {
    FeedSelection::Matching { text: String::new(), tag: None, state: None }
}

fn tagged(tag: &str) -> FeedSelection {
    FeedSelection::Matching { text: String::new(), tag: Some(tag.to_owned()), state: None }
}

fn add(store: &Store, url: &str, tags: &[&str]) -> FeedId {
    let new = NewFeed { tags: texts(tags), ..new_feed(url) };
    store.add_feed(&new, T0).unwrap().id
}

fn subscribe(store: &Store, account: AccountId, url: &str, tags: &[&str]) -> FeedId {
    let new = NewFeed { tags: texts(tags), ..new_feed(url) };
    store.subscribe(account, &[new], T0).unwrap()[0].id
}

#[track_caller]
fn change(
    store: &Store,
    scope: BulkScope,
    selection: &FeedSelection,
    change: &FeedsChange,
    now: Time,
) -> BulkDone {
    store.change_feeds(scope, selection, change, |n| format!("changed {n}"), now).unwrap()
}

/// Everything that these changes may touch, of the instance and of some accounts.
fn everything(store: &Store, accounts: &[AccountId]) -> Vec<String> {
    let mut lines = Vec::new();
    for row in store.feeds(&FeedFilter::default()).unwrap() {
        lines.push(format!("{} {:?} {:?} {:?}", row.id, row.tags, row.settings, row.state()));
        lines.push(format!("{:?}", store.poll_input(row.id).unwrap().settings.of_tags));
    }
    lines.push(format!("{:?}", store.tags().unwrap()));
    lines.push(format!("{:?}", store.numbered_tags().unwrap()));
    lines.push(format!("{:?}", store.tag_feeds(&Default::default()).unwrap()));
    lines.push(format!("{:?}", store.counts(T0).unwrap()));
    lines.push(format!("{:?}", store.unwanted_since(at(1_000_000)).unwrap()));
    for account in accounts {
        lines.push(format!("{:?}", store.subscriptions(*account).unwrap()));
        lines.push(format!("{:?}", store.tags_of(*account).unwrap()));
    }
    lines
}

/// Makes a change, checks that it changed something, undoes it, and compares everything.
#[track_caller]
fn undone(store: &Store, scope: BulkScope, act: impl FnOnce() -> BulkDone) -> BulkDone {
    let accounts: Vec<AccountId> =
        store.accounts().unwrap().into_iter().map(|row| row.id).collect();
    let before = everything(store, &accounts);
    let done = act();
    let number = done.number.expect("it can be undone");
    assert_ne!(everything(store, &accounts), before, "it changed something");
    assert_eq!(store.check().unwrap(), []);
    let (row, _) = store
        .undo_bulk(BulkScope { owner: AccountId::LOCAL, ..scope }, Some(number), at(100))
        .unwrap()
        .expect("undone");
    assert_eq!(row.number, number);
    assert_eq!(everything(store, &accounts), before, "{}", row.what);
    assert_eq!(store.check().unwrap(), []);
    done
}

#[test]
fn an_account_changes_its_own_subscriptions_only_and_undoes_it_exactly() {
    let Fresh { store, folder: _folder } = fresh();
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let bert = store.add_account("bert", "hash", T0).unwrap().unwrap();
    let common = subscribe(&store, anna, "https://common.org/", &["news", "old"]);
    subscribe(&store, bert, "https://common.org/", &["news"]);
    let mine = subscribe(&store, anna, "https://mine.org/", &["news"]);
    subscribe(&store, anna, "https://else.org/", &[]);
    store.title_subscription(anna, mine, Some("Über \"mine\"")).unwrap();
    let his = store.subscriptions(bert).unwrap();

    let news = tagged("news");
    let done = undone(&store, own(anna), || {
        change(&store, own(anna), &news, &tagging(&["read", "new"], &["old", "no such"]), at(1))
    });
    assert_eq!(done.n_feeds, 2);
    change(&store, own(anna), &news, &tagging(&["read"], &["news"]), at(2));
    let tags = |feed| store.feed_of(anna, feed).unwrap().tags;
    assert_eq!((tags(common), tags(mine)), (texts(&["old", "read"]), texts(&["read"])));
    assert_eq!(store.subscriptions(bert).unwrap(), his, "the other account keeps its tags");

    let done = undone(&store, own(anna), || {
        change(&store, own(anna), &tagged("read"), &FeedsChange::Unsubscribe, at(3))
    });
    assert_eq!(done.touched, [mine], "the other account still needs the common feed");
    change(&store, own(anna), &tagged("read"), &FeedsChange::Unsubscribe, at(4));
    assert_eq!(store.feed(mine).unwrap().state(), FeedState::Paused);
    assert!(store.unwanted_since(at(5)).unwrap().contains(&mine));
    assert_eq!(store.subscriptions(bert).unwrap(), his);

    // A feed of somebody else is not there, and nothing happens.
    let both = FeedSelection::Feeds(vec![FeedId(3), common]);
    let what = |_| String::new();
    let refused = store.change_feeds(own(anna), &both, &tagging(&["x"], &[]), what, at(5));
    assert!(matches!(refused, Err(StoreError::NoFeed(feed)) if feed == common));
    assert!(store.tags_of(anna).unwrap().iter().all(|tag| tag.tag != "x"));
}

#[test]
fn settings_and_tags_of_the_instance_are_undone_exactly() {
    let Fresh { store, folder: _folder } = fresh();
    let a = add(&store, "https://a.org/", &["x", "query:Q"]);
    let b = add(&store, "https://b.org/", &["x", "y"]);
    let c = add(&store, "https://c.org/", &[]);
    poll(&store, a, &["1"], at(10));
    let own_policy = SettingsChange {
        policy: Some(Some("fix:1h".to_owned())),
        paused: Some(Some(false)),
        ..SettingsChange::default()
    };
    store.set_feed(a, &own_policy).unwrap();
    let slow = SettingsChange {
        weight: Some(Some(0.5)),
        paused: Some(Some(true)),
        ..SettingsChange::default()
    };
    store.set_tag("y", &slow).unwrap();
    store.numbered_tags().unwrap();

    let policy = FeedsChange::Set { policy: Some(Some("mavsync".to_owned())), paused: None };
    for one in [pausing(true), pausing(false), policy, tagging(&["y", "z"], &["x"])] {
        let done = undone(&store, INSTANCE, || change(&store, INSTANCE, &all(), &one, at(20)));
        assert_eq!(done.touched, [a, b, c]);
    }
    let rename = |tag: &str, to: Option<&str>| {
        let what = |n| format!("{n} feeds");
        store.rename_tag_undoably(INSTANCE, tag, to, what, at(21)).unwrap()
    };
    for (tag, to) in [("x", Some("fresh")), ("x", Some("y")), ("y", Some("x")), ("y", None)] {
        let done = undone(&store, INSTANCE, || rename(tag, to));
        assert_eq!(done.n_feeds, if tag == "x" { 2 } else { 1 }, "{tag} to {to:?}");
    }
    assert_eq!(rename("nothing", Some("x")), BulkDone::default());
    undone(&store, INSTANCE, || {
        store.order_tags(INSTANCE, &texts(&["y", "x"]), "order", at(22)).unwrap()
    });
    store.order_tags(INSTANCE, &texts(&["y", "x"]), "order", at(22)).unwrap();
    let names = |store: &Store| {
        let tags = store.tag_feeds(&Default::default()).unwrap();
        tags.into_iter().map(|tag| tag.tag).collect::<Vec<_>>()
    };
    assert_eq!(names(&store), ["y", "x", "query:Q"]);
    // The first account keeps this order.
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let tags: Vec<String> = store.tags_of(anna).unwrap().into_iter().map(|tag| tag.tag).collect();
    assert_eq!(tags, ["", "y", "x"]);
}

#[test]
fn tags_of_an_account_are_renamed_merged_and_ordered() {
    let Fresh { store, folder: _folder } = fresh();
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    subscribe(&store, anna, "https://a.org/", &["x", "y"]);
    subscribe(&store, anna, "https://b.org/", &["x"]);
    subscribe(&store, anna, "https://c.org/", &["y"]);
    store.make_tag_of(anna, "made").unwrap();
    let rename = |tag: &str, to: Option<&str>| {
        store.rename_tag_undoably(own(anna), tag, to, |n| n.to_string(), at(1)).unwrap()
    };
    for (tag, to) in [("x", Some("z")), ("x", Some("y")), ("made", Some("y")), ("x", None)] {
        undone(&store, own(anna), || rename(tag, to));
    }
    assert_eq!(rename("x", Some("y")).n_feeds, 2);
    let count: BTreeMap<String, u64> =
        store.tags_of(anna).unwrap().into_iter().map(|tag| (tag.tag, tag.n_feeds)).collect();
    assert_eq!(count["y"], 3);
    undone(&store, own(anna), || {
        store.order_tags(own(anna), &texts(&["made", "y"]), "order", at(2)).unwrap()
    });
}

#[test]
fn without_accounts_feeds_that_are_given_up_rest_and_come_back() {
    let Fresh { store, folder: _folder } = fresh();
    let a = add(&store, "https://a.org/", &["x"]);
    let b = add(&store, "https://b.org/", &["x"]);
    let resumed = SettingsChange { paused: Some(Some(false)), ..SettingsChange::default() };
    store.set_feed(b, &resumed).unwrap();
    poll(&store, a, &["1"], at(1));
    let give_up = || change(&store, INSTANCE, &tagged("x"), &FeedsChange::Unsubscribe, at(2));
    undone(&store, INSTANCE, give_up);
    give_up();
    assert_eq!(store.unwanted_since(at(3)).unwrap(), [a, b]);
    // A person who resumes a feed wants to keep it.
    undone(&store, INSTANCE, || {
        change(&store, INSTANCE, &FeedSelection::Feeds(vec![a]), &pausing(false), at(3))
    });
    store.set_feed(a, &resumed).unwrap();
    assert_eq!(store.unwanted_since(at(3)).unwrap(), [b]);
    assert_eq!(store.rest_unwanted_feeds(at(4)).unwrap(), []);
    // The first account does not get a feed that waits for its removal.
    let anna = store.add_account("anna", "hash", at(5)).unwrap().unwrap();
    let feeds: Vec<FeedId> =
        store.subscriptions(anna).unwrap().into_iter().map(|row| row.feed).collect();
    assert_eq!(feeds, [a]);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn a_selection_is_by_text_tag_and_state_and_within_the_account() {
    let Fresh { store, folder: _folder } = fresh();
    let a = add(&store, "https://a.org/Loud", &["x"]);
    let b = add(&store, "https://b.org/loud", &[]);
    poll(&store, a, &["1"], at(1));
    let n = |text: &str, tag: Option<&str>, state| {
        let (text, tag) = (text.to_owned(), tag.map(str::to_owned));
        let selection = FeedSelection::Matching { text, tag, state };
        let done = change(&store, INSTANCE, &selection, &tagging(&["seen"], &[]), at(2));
        done.n_feeds
    };
    assert_eq!(n("loud", None, None), 2);
    assert_eq!(n("LOUD", Some("x"), None), 1);
    assert_eq!(n("", None, Some(FeedState::Never)), 1);
    assert_eq!(n("", None, Some(FeedState::Active)), 2);
    assert_eq!(n("%", None, None), 0);
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let bert = store.add_account("bert", "hash", T0).unwrap().unwrap();
    subscribe(&store, bert, "https://b.org/loud", &[]);
    let of = |account| change(&store, own(account), &all(), &tagging(&["t"], &[]), at(3)).n_feeds;
    assert_eq!((of(anna), of(bert)), (2, 1));
    let gone =
        FeedSelection::Matching { text: String::new(), tag: None, state: Some(FeedState::Never) };
    assert_eq!(change(&store, own(anna), &gone, &tagging(&["u"], &[]), at(4)).n_feeds, 1);
    assert_eq!(store.feed_of(anna, b).unwrap().tags, texts(&["seen", "t", "u"]));
}

#[test]
fn changes_are_a_stack_that_is_bounded_in_number_and_time() {
    let Fresh { store, folder: _folder } = fresh();
    add(&store, "https://a.org/", &[]);
    let tag = |n: usize, now| {
        change(&store, INSTANCE, &all(), &tagging(&[&format!("t{n}")], &[]), now).number.unwrap()
    };
    let numbers: Vec<i64> = (0..25).map(|n| tag(n, T0)).collect();
    let listed = store.bulk_changes(AccountId::LOCAL, T0).unwrap();
    let newest: Vec<i64> = numbers.iter().rev().copied().take(20).collect();
    assert_eq!(listed.iter().map(|row| row.number).collect::<Vec<_>>(), newest);
    assert_eq!(listed[0].what, "changed 1");
    let undo = |number| store.undo_bulk(INSTANCE, number, T0).unwrap();
    assert!(undo(Some(numbers[23])).is_none(), "the last change comes first");
    assert!(undo(Some(numbers[24])).is_some());
    assert!(undo(Some(numbers[24])).is_none());
    assert!(undo(Some(numbers[23])).is_some());
    assert_eq!(undo(None).unwrap().0.number, numbers[22]);
    let anna = AccountId(7);
    assert!(store.undo_bulk(own(anna), None, T0).unwrap().is_none());
    let late = T0 + BULK_UNDO_LASTS + Duration::from_secs(1);
    assert_eq!(store.bulk_changes(AccountId::LOCAL, late).unwrap(), []);
    assert!(store.undo_bulk(INSTANCE, None, late).unwrap().is_none());
    tag(99, late);
    assert_eq!(store.bulk_changes(AccountId::LOCAL, T0).unwrap().len(), 1, "old ones are deleted");
    // The row of an account goes with it.
    let anna = store.add_account("anna", "hash", late).unwrap().unwrap();
    change(&store, own(anna), &all(), &tagging(&["t"], &[]), late);
    store.remove_account(anna).unwrap();
    assert_eq!(store.bulk_changes(anna, late).unwrap(), []);
}

#[test]
fn an_account_that_is_not_an_admin_any_more_undoes_its_own_changes_only() {
    let Fresh { store, folder: _folder } = fresh();
    add(&store, "https://a.org/", &["x"]);
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let as_admin = BulkScope { actor: anna, owner: AccountId::LOCAL };
    let changes: [&dyn Fn(); 5] = [
        &|| drop(change(&store, own(anna), &all(), &pausing(true), at(1))),
        &|| drop(change(&store, as_admin, &all(), &tagging(&["y"], &[]), at(1))),
        &|| drop(change(&store, as_admin, &all(), &FeedsChange::Unsubscribe, at(1))),
        &|| {
            let what = |_| "renamed".to_owned();
            store.rename_tag_undoably(as_admin, "y", Some("z"), what, at(1)).unwrap();
        },
        &|| drop(store.order_tags(as_admin, &texts(&["z"]), "order", at(1)).unwrap()),
    ];
    for make in changes {
        make();
        let before = everything(&store, &[anna]);
        let n_changes = store.bulk_changes(anna, at(2)).unwrap().len();
        let refused = store.undo_bulk(own(anna), None, at(2));
        assert!(matches!(refused, Err(StoreError::NeedsAdmin)), "{refused:?}");
        assert_eq!(everything(&store, &[anna]), before);
        assert_eq!(store.bulk_changes(anna, at(2)).unwrap().len(), n_changes, "it waits");
    }
    change(&store, own(anna), &all(), &tagging(&["mine"], &[]), at(3));
    assert!(store.undo_bulk(own(anna), None, at(4)).unwrap().is_some());
    assert!(store.undo_bulk(as_admin, None, at(4)).unwrap().is_some());
}

#[test]
fn an_undo_of_settings_leaves_later_changes_alone() {
    let Fresh { store, folder: _folder } = fresh();
    let a = add(&store, "https://a.org/", &[]);
    let b = add(&store, "https://b.org/", &[]);
    let set = |feed, policy: Option<&str>, paused| {
        let policy = policy.map(|policy| Some(policy.to_owned()));
        let later = SettingsChange { policy, paused, ..SettingsChange::default() };
        store.set_feed(feed, &later).unwrap();
    };
    let settings = || {
        [a, b].map(|feed| {
            let row = store.feed(feed).unwrap();
            (row.settings.policy, row.settings.paused)
        })
    };
    set(b, Some("fixed 2h"), None);
    let before = settings();
    let wish = FeedsChange::Set { policy: Some(Some("fixed 3h".to_owned())), paused: Some(true) };
    change(&store, INSTANCE, &all(), &wish, at(1));
    set(a, Some("fixed 9h"), Some(Some(false)));
    let later = settings()[0].clone();
    assert!(store.undo_bulk(INSTANCE, None, at(2)).unwrap().is_some());
    assert_eq!(settings(), [later, before[1].clone()]);
    // The removal of a policy is undone too.
    let wish = FeedsChange::Set { policy: Some(None), paused: None };
    undone(&store, INSTANCE, || change(&store, INSTANCE, &all(), &wish, at(3)));
}

/// They are inserted at once. Work that grows with the square of the feeds would take hours.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures real time")]
fn twenty_thousand_feeds_are_changed_and_undone_in_minutes() {
    let Fresh { store, folder } = fresh();
    let location = testing::location(folder.path());
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let n = FEEDS_AT_ONCE_MAX;
    let numbers = "with recursive n (i) as (select 1 union all select i + 1 from n where i < LAST)"
        .replace("LAST", &(n + 1).to_string());
    let fill = format!(
        "insert into domains (id, name) {numbers} select i, 'd' || i || '.org' from n; \
         insert into feeds (id, url, added_at) {numbers} select i, 'https://d' || i || '.org/', 0 \
         from n; \
         insert into feed_state (feed, domain, state, sort_title) {numbers} \
         select i, i, 1, 'https://d' || i || '.org/' from n; \
         update totals set n = {} where name in ('feeds 1', 'never polled'); \
         update domains set feeds = 1; \
         insert into subscriptions (account, feed, subscribed_at) {numbers} select {anna}, i, 0 \
         from n where i <= {n}",
        n + 1
    );
    testing::execute(&location, &fill);
    assert_eq!(store.check().unwrap(), []);
    let begun = std::time::Instant::now();
    let done = change(&store, own(anna), &all(), &tagging(&["a", "b"], &[]), at(1));
    assert_eq!(done.n_feeds, n);
    change(&store, own(anna), &tagged("a"), &FeedsChange::Unsubscribe, at(2));
    assert_eq!(store.subscriptions(anna).unwrap(), []);
    for _ in 0..2 {
        assert!(store.undo_bulk(own(anna), None, at(3)).unwrap().is_some());
    }
    assert_eq!(store.subscriptions(anna).unwrap().len(), n);
    let many = FeedSelection::Feeds((1..=n as u32).map(FeedId).collect());
    assert_eq!(change(&store, INSTANCE, &many, &pausing(true), at(4)).n_feeds, n);
    assert!(store.undo_bulk(INSTANCE, None, at(5)).unwrap().is_some());
    assert!(begun.elapsed() < Duration::from_secs(900), "took {:?}", begun.elapsed());
    assert_eq!(store.check().unwrap(), []);
    let what = |_| String::new();
    let refused = store.change_feeds(INSTANCE, &all(), &pausing(true), what, at(6));
    assert!(matches!(refused, Err(StoreError::TooManyFeeds { .. })), "{refused:?}");
}
