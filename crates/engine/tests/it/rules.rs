//! The rules of people follow the stream: once for each entry, for their own account, also if the
//! engine is replaced between two steps.

use std::time::Duration;

use engine::RulesRunner;
use feed::{EntryId, EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Time};
use store::{
    AccountId, NewEntry, NewFeed, NewRule, OpenMode, PollRecord, ReadingFilter, Scope, Store,
};

const T0: Time = Time::from_secs(1_700_000_000);
const ME: AccountId = AccountId::LOCAL;

fn open(folder: &std::path::Path) -> Store {
    Store::open(store::testing::location(folder), OpenMode::ReadWrite).unwrap()
}

fn feed(store: &Store, url: &str, tag: &str) -> FeedId {
    let url = FeedUrl::parse(url).unwrap();
    let new = NewFeed { url, title: None, site: None, tags: vec![tag.to_owned()] };
    store.add_feed(&new, T0).unwrap().id
}

fn poll(store: &Store, feed: FeedId, titles: impl Iterator<Item = String>, n: u64) {
    let generation = store.poll_input(feed).unwrap().generation;
    let at = T0 + Duration::from_secs(60 * n);
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
    for (number, title) in titles.enumerate() {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&(n * 1000 + number as u64).to_le_bytes());
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item: Item { title: Some(title), ..Item::default() },
            published: Published { claim: None, at },
            content: 0,
            facts: store::EntryFacts::default(),
        });
    }
    store.record_blocking(record).unwrap();
}

fn rule(store: &Store, account: AccountId, text: &str) {
    let rule = query::parse_rule(text).unwrap();
    let new = NewRule { name: rule.name.text, text: rule.text, is_on: true, replaces: None };
    store.put_rule(account, &new, T0).unwrap().unwrap();
}

#[tokio::test]
async fn each_rule_acts_once_on_each_of_its_entries_even_if_the_engine_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (news, other) =
        (feed(&store, "https://a.example/", "news"), feed(&store, "https://b.example/", "other"));
    poll(&store, news, (0..5).map(|n| format!("Football before {n}")), 0);
    let [anna, berta] =
        ["anna", "berta"].map(|name| store.add_account(name, "x", T0).unwrap().unwrap());
    store.subscribe_to(berta, news, &["news".to_owned()], T0).unwrap();
    store.subscribe_to(berta, other, &[], T0).unwrap();
    rule(&store, anna, r#"CREATE RULE mute ON TAG "news" WHERE TITLE CONTAINS "football" DO HIDE"#);
    rule(&store, berta, r#"CREATE RULE star ON "https://b.example/" DO STAR, LABEL "b""#);
    let text = r#"CREATE RULE no ON ALL FEEDS WHERE NOT FEED TAGGED "news" DO MARK READ"#;
    rule(&store, berta, text);
    poll(&store, news, (0..250).map(|n| format!("{} {n}", ["Football", "Tea"][n % 2])), 1);
    poll(&store, other, (0..30).map(|n| format!("Football {n}")), 2);
    assert_eq!(store.rule_progress().unwrap().0, EntryId(0), "polls do not wait for rules");
    let mut n_entries = 0;
    loop {
        // A new runner knows nothing of the steps before.
        match RulesRunner::default().run_once(&store, T0).await.unwrap() {
            0 => break,
            n => n_entries += n,
        }
    }
    assert_eq!(n_entries, 280, "entries before the first rule are not looked at");
    let acted = |account, name: &str| store.rule(account, name).unwrap().unwrap().n_acted;
    assert_eq!([acted(anna, "mute"), acted(berta, "star"), acted(berta, "no")], [125, 30, 30]);
    assert_eq!(store.n_hidden(anna).unwrap(), 125);
    assert_eq!(store.n_hidden(berta).unwrap(), 0);
    assert_eq!(store.stars(berta).unwrap().len(), 30);
    assert_eq!(store.stars(anna).unwrap().len(), 0);
    let labels = store.labels(berta).unwrap();
    assert_eq!((labels.len(), labels[0].n_entries), (1, 30));
    assert_eq!(store.read_marks(berta).unwrap().n_unread(), 285 - 30);

    // The past, for one rule only.
    assert!(store.apply_rule_to_past(anna, "mute").unwrap());
    let mut runner = RulesRunner::default();
    while runner.run_once(&store, T0).await.unwrap() > 0 {}
    assert_eq!([acted(anna, "mute"), acted(berta, "no")], [130, 30]);
    assert_eq!(store.n_hidden(anna).unwrap(), 130, "five more");
}

#[tokio::test]
async fn a_runner_notices_rules_that_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let news = feed(&store, "https://a.example/", "news");
    let mut runner = RulesRunner::default();
    let titles = || (0..3).map(|n| format!("Tea {n}"));
    poll(&store, news, titles(), 0);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 0, "without rules nothing is read");
    rule(&store, ME, "CREATE RULE all ON ALL FEEDS DO STAR");
    poll(&store, news, titles(), 1);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 3);
    store.switch_rule(ME, "all", false, T0).unwrap();
    poll(&store, news, titles(), 2);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 0);
    store.switch_rule(ME, "all", true, T0).unwrap();
    poll(&store, news, titles(), 3);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 3);
    store.delete_rule(ME, "all").unwrap();
    poll(&store, news, titles(), 4);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 0);
    assert_eq!(store.stars(ME).unwrap().len(), 6, "not those that came while it was off");
}

#[tokio::test]
async fn a_rule_means_the_subscriptions_and_tags_of_its_own_account() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (news, other) =
        (feed(&store, "https://a.example/", "news"), feed(&store, "https://b.example/", "other"));
    rule(&store, ME, "CREATE RULE all ON ALL FEEDS DO STAR");
    let mut runner = RulesRunner::default();
    let titles = || (0..3).map(|n| format!("Tea {n}"));
    poll(&store, news, titles(), 0);
    assert_eq!(runner.run_once(&store, T0).await.unwrap(), 3);
    // The same runner learns that the first account has taken the rule over.
    let [anna, bert] =
        ["anna", "bert"].map(|name| store.add_account(name, "x", T0).unwrap().unwrap());
    store.subscribe_to(bert, other, &["news".to_owned()], T0).unwrap();
    rule(&store, bert, "CREATE RULE mine ON ALL FEEDS DO STAR");
    rule(&store, bert, r#"CREATE RULE tagged ON TAG "news" DO LABEL "x""#);
    rule(&store, bert, r#"CREATE RULE foreign ON "https://a.example/" DO STAR"#);
    rule(&store, anna, r#"CREATE RULE tagged ON TAG "news" DO LABEL "x""#);
    poll(&store, news, titles(), 1);
    poll(&store, other, titles(), 2);
    while runner.run_once(&store, T0).await.unwrap() > 0 {}
    let acted = |account, name: &str| store.rule(account, name).unwrap().unwrap().n_acted;
    assert_eq!([acted(anna, "all"), acted(anna, "tagged")], [9, 3]);
    assert_eq!([acted(bert, "mine"), acted(bert, "tagged"), acted(bert, "foreign")], [3, 3, 0]);
    assert_eq!([ME, anna, bert].map(|who| store.stars(who).unwrap().len()), [0, 9, 3]);
    let feeds = |account| -> Vec<FeedId> {
        let label = store.label(account, "x").unwrap().unwrap();
        let list = ReadingFilter::newest(account, Scope::Label(label), 50);
        store.reading(&list).unwrap().iter().map(|one| one.entry.feed).collect()
    };
    assert_eq!((feeds(anna), feeds(bert)), (vec![news; 3], vec![other; 3]));
    // After the end of a subscription its entries are gone from the label too.
    store.unsubscribe(bert, &[other], T0).unwrap();
    assert_eq!(feeds(bert), []);
}
