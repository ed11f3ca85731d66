//! Subscriptions of accounts: titles, tags and order of one person, and what each account sees.

use feed::{EntryId, FeedId};
use store::{
    AccountId, AccountRole, FeedFilter, NewFeed, NumberedTag, OpenMode, ReadingFilter, Scope,
    Store, StoreError,
};

use crate::sample::{Fresh, T0, add, at, fresh, new_feed, poll, url};

/// Two accounts after the first feeds were added without any.
struct Two {
    fresh: Fresh,
    anna: AccountId,
    bert: AccountId,
    /// Taken over by anna.
    old: FeedId,
}

impl Two {
    fn new() -> Two {
        let fresh = fresh();
        let store = &fresh.store;
        let old = store
            .add_feed(
                &NewFeed { tags: vec!["news".to_owned()], ..new_feed("https://old.org/") },
                T0,
            )
            .unwrap()
            .id;
        store.title_feed(old, Some("My old one")).unwrap();
        poll(store, old, &["1", "2"], at(10));
        store.mark_read(AccountId::LOCAL, &[EntryId(1)], true).unwrap();
        store.star(AccountId::LOCAL, &[EntryId(2)], true, T0).unwrap();
        let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
        let bert = store.add_account("bert", "hash", T0).unwrap().unwrap();
        Two { fresh, anna, bert, old }
    }

    fn store(&self) -> &Store {
        &self.fresh.store
    }

    fn subscribe(&self, account: AccountId, url: &str, tags: &[&str]) -> FeedId {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let new = NewFeed { tags, ..new_feed(url) };
        self.store().subscribe(account, &[new], T0).unwrap()[0].id
    }

    /// The numbers of the entries that an account sees, in ascending order.
    fn sees(&self, account: AccountId, scope: Scope) -> Vec<i64> {
        let reading = ReadingFilter::newest(account, scope, 100);
        let mut seen: Vec<i64> =
            self.store().reading(&reading).unwrap().iter().map(|one| one.entry.id.0).collect();
        seen.sort_unstable();
        seen
    }

    fn feeds(&self, account: AccountId) -> Vec<FeedId> {
        let rows = self.store().feeds_of(account, &FeedFilter::default()).unwrap();
        rows.iter().map(|row| row.id).collect()
    }
}

#[test]
fn the_first_account_takes_everything_over_and_the_second_begins_empty() {
    let two = Two::new();
    let store = two.store();
    let row = store.feed_of(two.anna, two.old).unwrap();
    assert_eq!((row.shown_title(), &row.tags[..]), (Some("My old one"), &["news".to_owned()][..]));
    assert_eq!(two.sees(two.anna, Scope::All), [1, 2]);
    assert_eq!(two.sees(two.anna, Scope::Tag("news".to_owned())), [1, 2]);
    assert!(store.read_marks(two.anna).unwrap().is_read(EntryId(1)));
    assert!(store.stars(two.anna).unwrap().contains(&EntryId(2)));
    assert_eq!(two.feeds(two.bert), []);
    assert_eq!(two.sees(two.bert, Scope::All), [0_i64; 0]);
    assert_eq!(two.sees(two.bert, Scope::Tag("news".to_owned())), [0_i64; 0]);
    assert_eq!(two.sees(two.bert, Scope::Feed(two.old)), [0_i64; 0]);
    assert_eq!(two.sees(two.bert, Scope::Feeds(vec![two.old])), [0_i64; 0]);
    assert_eq!(store.read_entries(two.bert, &[EntryId(1)]).unwrap(), []);
    assert!(store.unread_by_feed(two.bert).unwrap().is_empty());
    assert!(matches!(store.feed_of(two.bert, two.old), Err(StoreError::NoFeed(_))));
    assert_eq!(store.find_feed_of(two.bert, "https://old.org/").unwrap(), None);
    assert_eq!(store.find_feed_of(two.anna, "https://old.org/").unwrap(), Some(two.old));
    store.star(two.bert, &[EntryId(1)], true, T0).unwrap();
    assert!(store.stars(two.bert).unwrap().is_empty(), "nobody stars what they cannot see");
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn a_common_feed_is_one_feed_with_titles_tags_and_marks_of_each() {
    let two = Two::new();
    let store = two.store();
    let common = two.subscribe(two.anna, "https://common.org/", &["a"]);
    assert_eq!(two.subscribe(two.bert, "https://common.org/", &["b", "c"]), common);
    let own = two.subscribe(two.bert, "https://own.org/", &[]);
    poll(store, common, &["3", "4"], at(20));
    poll(store, own, &["5"], at(30));
    store.title_subscription(two.bert, common, Some("Bert's")).unwrap();
    assert_eq!(two.sees(two.anna, Scope::All), [1, 2, 3, 4]);
    assert_eq!(two.sees(two.bert, Scope::All), [3, 4, 5]);
    assert_eq!(two.sees(two.bert, Scope::Tag("c".to_owned())), [3, 4]);
    assert_eq!(two.sees(two.anna, Scope::Tag("c".to_owned())), [0_i64; 0]);
    assert_eq!(store.feed_of(two.anna, common).unwrap().given_title, None);
    assert_eq!(store.feed_of(two.bert, common).unwrap().given_title.as_deref(), Some("Bert's"));
    let names = store.feed_names_of(two.anna, [common]).unwrap();
    assert_eq!(names[&common].title, None, "the title of another account is not shown");
    store.mark_scope_read(two.bert, &Scope::All, None, None).unwrap();
    assert!(store.unread_by_feed(two.bert).unwrap().is_empty());
    let unread = store.unread_by_feed(two.anna).unwrap();
    assert_eq!((unread.get(&common), unread.get(&two.old)), (Some(&2), Some(&1)));
    let mut later = ReadingFilter::newest(two.anna, Scope::All, 10);
    later.read = Some(false);
    assert_eq!(store.reading_count(&later).unwrap(), 3);
    assert_eq!(store.n_subscribers(common).unwrap(), 2);
    // Entries that bert did not see when he marked all are unread if he subscribes later.
    two.subscribe(two.bert, "https://old.org/", &[]);
    assert_eq!(store.unread_by_feed(two.bert).unwrap().get(&two.old), Some(&2));
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn tags_of_an_account_keep_their_numbers_and_their_order() {
    let two = Two::new();
    let store = two.store();
    let feed = two.subscribe(two.bert, "https://a.org/", &["b", "a"]);
    let listed = || -> Vec<(i64, String, u64)> {
        let tags = store.tags_of(two.bert).unwrap().into_iter();
        tags.map(|NumberedTag { number, tag, n_feeds }| (number, tag, n_feeds)).collect()
    };
    let line = |number, tag: &str, n| (number, tag.to_owned(), n);
    assert_eq!(listed(), [line(1, "", 0), line(2, "b", 1), line(3, "a", 1)]);
    let scope = store::BulkScope { actor: two.bert, owner: two.bert };
    store.order_tags(scope, &["a".to_owned(), "b".to_owned()], "ordered", T0).unwrap();
    assert_eq!(listed(), [line(1, "", 0), line(3, "a", 1), line(2, "b", 1)]);
    store.rename_tag_of(two.bert, "a", Some("z")).unwrap();
    assert_eq!(store.tag_of_number(two.bert, 3).unwrap().as_deref(), Some("z"));
    assert_eq!(store.tag_of_number(two.anna, 3).unwrap(), None, "tags are their owner's");
    assert_eq!(store.make_tag_of(two.bert, "empty").unwrap(), 4);
    store.rename_tag_of(two.bert, "b", Some("z")).unwrap();
    assert_eq!(store.feed_of(two.bert, feed).unwrap().tags, ["z"]);
    store.rename_tag_of(two.bert, "empty", None).unwrap();
    assert_eq!(store.make_tag_of(two.bert, "again").unwrap(), 5, "no number is given twice");
    store.tag_subscriptions(two.bert, &[feed], &[], &["z".to_owned()]).unwrap();
    assert_eq!(listed(), [line(1, "", 1), line(5, "again", 0)]);
    assert_eq!(store.tags_of(two.anna).unwrap()[1].tag, "news", "nobody else's tags changed");
}

#[test]
fn a_feed_that_nobody_needs_rests_and_wakes() {
    let two = Two::new();
    let store = two.store();
    let common = two.subscribe(two.anna, "https://common.org/", &[]);
    two.subscribe(two.bert, "https://common.org/", &[]);
    assert_eq!(store.unsubscribe(two.anna, &[common], at(5)).unwrap(), []);
    assert!(store.due(common).unwrap().is_some());
    assert_eq!(store.unsubscribe(two.bert, &[common], at(6)).unwrap(), [common]);
    assert!(store.due(common).unwrap().is_none());
    assert_eq!(store.unwanted_since(at(5)).unwrap(), []);
    assert_eq!(store.unwanted_since(at(6)).unwrap(), [common]);
    two.subscribe(two.bert, "https://common.org/", &[]);
    assert!(store.due(common).unwrap().is_some());
    assert_eq!(store.unwanted_since(at(6)).unwrap(), []);
    // An account that leaves leaves its feeds to the next sweep.
    assert!(store.remove_account(two.bert).unwrap());
    assert_eq!(store.rest_unwanted_feeds(at(7)).unwrap(), [common]);
    assert_eq!(store.rest_unwanted_feeds(at(8)).unwrap(), []);
    // A feed of the instance stays.
    let kept = add(store, "https://instance.org/");
    assert_eq!(two.feeds(two.anna), [two.old], "and is in nobody's list");
    store.subscribe_to(two.anna, kept, &[], T0).unwrap();
    assert_eq!(store.unsubscribe(two.anna, &[kept], at(9)).unwrap(), []);
    // The feed with a star is kept, but not polled.
    store.unsubscribe(two.anna, &[two.old], at(9)).unwrap();
    assert_eq!(store.unwanted_since(at(100)).unwrap(), [common]);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn an_address_with_a_secret_is_one_feed_for_each_account() {
    let two = Two::new();
    let store = two.store();
    let secret = "https://me:pass@paper.org/feed";
    let annas = two.subscribe(two.anna, secret, &[]);
    let berts = two.subscribe(two.bert, secret, &[]);
    assert_ne!(annas, berts);
    assert_eq!(two.subscribe(two.bert, secret, &[]), berts, "each account has it once");
    let of_instance = add(store, secret);
    assert!(of_instance != annas && of_instance != berts);
    for (feed, owner) in [(annas, two.anna), (berts, two.bert), (of_instance, AccountId::LOCAL)] {
        assert_eq!(store.owner_of_feed(feed).unwrap(), Some(owner));
        assert_eq!(store.feed(feed).unwrap().location.url, url(secret));
    }
    assert_eq!(store.find_feed_of(two.bert, secret).unwrap(), Some(berts));
    assert!(store.subscribe_to(two.bert, annas, &[], T0).is_err());
    assert!(store.subscribe_to(two.bert, of_instance, &[], T0).is_err());
    // A common feed that one of them gives a password becomes a second feed.
    let common = two.subscribe(two.anna, "https://common.org/", &["x"]);
    two.subscribe(two.bert, "https://common.org/", &[]);
    let own = store.own_feed(two.anna, common, T0).unwrap().unwrap();
    assert_ne!(own, common);
    assert_eq!(store.feed_of(two.anna, own).unwrap().tags, ["x"]);
    assert!(store.feed_of(two.anna, common).is_err() && store.feed_of(two.bert, common).is_ok());
    assert_eq!(store.own_feed(two.bert, common, T0).unwrap(), Some(common), "now only bert's");
    assert_eq!(store.owner_of_feed(common).unwrap(), Some(two.bert));
    // Nobody may have the feeds of an account that has left, also not the instance.
    assert_eq!(store.abandoned_feeds().unwrap(), []);
    assert!(store.remove_account(two.bert).unwrap());
    assert_eq!(store.abandoned_feeds().unwrap(), [berts, common]);
    assert!(store.remove_account(two.anna).unwrap(), "the last one");
    assert_eq!(store.abandoned_feeds().unwrap(), [berts, common]);
    assert_eq!(store.owner_of_feed(own).unwrap(), Some(AccountId::LOCAL));
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn secrets_of_settings_make_a_feed_private_and_labels_stay_with_what_one_sees() {
    let two = Two::new();
    let store = two.store();
    assert!(!store.close_to_people(two.old).unwrap(), "anna reads it");
    let of_instance = add(store, "https://instance.org/");
    assert!(store.close_to_people(of_instance).unwrap());
    assert_eq!(store.owner_of_feed(of_instance).unwrap(), Some(AccountId::LOCAL));
    assert!(store.subscribe_to(two.bert, of_instance, &[], T0).is_err());
    let common = two.subscribe(two.anna, "https://common.org/", &["a"]);
    two.subscribe(two.bert, "https://common.org/", &["b", "c"]);
    let reader_tags = |account, feed| store.reader_tags(account, feed).unwrap();
    assert_eq!(reader_tags(two.bert, common), Some(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(reader_tags(two.bert, two.old), None);
    // Entries 1 and 2 are of a feed that bert does not read.
    poll(store, common, &["3"], at(20));
    let all = [EntryId(1), EntryId(2), EntryId(3)];
    assert!(store.label_entries(two.bert, "x", &all, true, T0).unwrap());
    let label = store.label(two.bert, "x").unwrap().unwrap();
    assert_eq!(two.sees(two.bert, Scope::Label(label)), [3]);
    assert_eq!(store.labels(two.bert).unwrap()[0].n_entries, 1);
    assert_eq!(two.sees(two.anna, Scope::Label(label)), [0_i64; 0], "a label of somebody else");
    // An entry with a label of a person is kept, and so is its feed.
    store.unsubscribe(two.bert, &[common], T0).unwrap();
    store.unsubscribe(two.anna, &[common], T0).unwrap();
    assert_eq!(store.unwanted_since(at(9999)).unwrap(), []);
    store.delete_label(two.bert, "x").unwrap();
    assert_eq!(store.unwanted_since(at(9999)).unwrap(), [common]);
}

#[test]
fn readers_are_subscribers_who_have_read_something_lately() {
    let two = Two::new();
    let store = two.store();
    let common = two.subscribe(two.anna, "https://common.org/", &[]);
    two.subscribe(two.bert, "https://common.org/", &[]);
    assert_eq!(store.readers(common).unwrap(), None);
    store.note_reading(two.anna, at(1000)).unwrap();
    store.note_reading(two.bert, at(10)).unwrap();
    assert_eq!(store.count_readers(at(0)).unwrap(), [two.old, common]);
    assert_eq!(
        (store.readers(common).unwrap(), store.readers(two.old).unwrap()),
        (Some(2), Some(1))
    );
    assert_eq!(store.count_readers(at(500)).unwrap(), [common]);
    assert_eq!(store.readers(common).unwrap(), Some(1));
    assert_eq!(store.count_readers(at(500)).unwrap(), []);
}

/// Tables whose rows others refer to, in the order in which they must be filled.
const PARENTS: [&str; 7] =
    ["accounts", "domains", "feeds", "entries", "queries", "icon_origins", "feed_state"];

/// The rows of the store of version 21 as PostgreSQL takes them: parents first, its own form of
/// bytes, and the last numbers that were given.
fn for_server(file: &str) -> String {
    let lines = file.lines().filter(|line| !line.starts_with("--") && !line.starts_with("pragma"));
    let (mut emptied, mut filled) = (Vec::new(), Vec::new());
    for line in lines {
        match line.strip_prefix("insert into sqlite_sequence (name, seq) values (") {
            Some(number) => {
                let (table, number) = number.trim_end_matches(");").split_once(", ").unwrap();
                let sequence = format!("pg_get_serial_sequence({table}, 'id')");
                filled.push(format!("select setval({sequence}, {number});"));
            }
            None if line.contains("sqlite_sequence") => {}
            None if line.starts_with("delete") => emptied.push(line.to_owned()),
            None => filled.push(line.replace(" x'", " '\\x")),
        }
    }
    filled.sort_by_key(|line| {
        let table = line.strip_prefix("insert into ").and_then(|rest| rest.split(' ').next());
        let parent = PARENTS.iter().position(|parent| Some(*parent) == table);
        parent.unwrap_or(PARENTS.len())
    });
    emptied.extend(filled);
    emptied.join("\n")
}

/// The steps after version 21 and before subscriptions, with rows of their tables.
const VERSION_24: &str = "insert into meta (key, value) values ('step fetch settings', 'taken'), \
      ('step rules', 'taken'), ('step stories', 'taken'); \
    update meta set value = '24' where key = 'version'; \
    insert into fetch_settings (feed, name, origin, shown, sealed, changed_at) values \
      (1, 'header x-key', 'http://127.0.0.1:18931', null, x'00', 0), \
      (3, 'user-agent', 'http://127.0.0.1:18931', 'x', null, 0); \
    insert into labels (id, account, name) values (1, 1, 'x'); \
    insert into entry_labels (label, entry, by_rule, labelled_at) values (1, 1, 0, 0)";

#[test]
fn accounts_of_an_older_store_subscribe_to_all_that_they_saw() {
    older_store(21, None);
    older_store(24, Some(VERSION_24));
}

fn older_store(version: i64, more: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let location = store::testing::location(folder.path());
    store::testing::make_older(&location, version);
    let rows = include_str!("../../data/version-21.sql");
    match store::testing::is_postgres() {
        true => {
            store::testing::execute(&location, &for_server(rows));
            let more = more.map(|more| more.replace(" x'", " '\\x"));
            more.iter().for_each(|more| store::testing::execute(&location, more));
        }
        false => {
            store::testing::execute(&location, rows);
            more.iter().for_each(|more| store::testing::execute(&location, more));
        }
    }
    assert_eq!(store::testing::schema_version(&location), Some(version));
    let store = Store::open(location, OpenMode::ReadWrite).unwrap();
    assert_eq!(store.check().unwrap(), []);
    let [anna, bert] = ["anna", "bert"].map(|name| store.account(name).unwrap().unwrap());
    assert_eq!((anna.role, bert.role), (AccountRole::Admin, AccountRole::Reader));
    let secret = "http://me:secret@127.0.0.1:18931/two.xml";
    for account in [anna.id, bert.id] {
        let rows = store.feeds_of(account, &FeedFilter::default()).unwrap();
        let tags: Vec<&[String]> = rows.iter().map(|row| &row.tags[..]).collect();
        assert_eq!(tags, [&["news"][..], &["daily", "news"], &[]]);
        assert_eq!(rows[0].shown_title(), Some("My one"));
        assert_eq!(rows[1].location.url, url(secret));
        let all = ReadingFilter::newest(account, Scope::All, 100);
        assert_eq!(store.reading(&all).unwrap().len(), 5);
        let news = ReadingFilter::newest(account, Scope::Tag("news".to_owned()), 100);
        assert_eq!(store.reading(&news).unwrap().len(), 3);
        let numbers: Vec<(i64, String)> =
            store.tags_of(account).unwrap().into_iter().map(|tag| (tag.number, tag.tag)).collect();
        let expect = [(1, ""), (2, "daily"), (3, "news")].map(|(n, tag)| (n, tag.to_owned()));
        assert_eq!(numbers, expect, "apps know the tags by the same numbers");
        let query = store.query_of(account, "Volcano").unwrap().unwrap();
        assert_eq!((query.scope.owner, query.scope.shared), (Some(anna.id), true));
    }
    let marks = |account| {
        let (marks, stars) = (store.read_marks(account).unwrap(), store.stars(account).unwrap());
        let read: Vec<i64> = (1..=5).filter(|n| marks.is_read(EntryId(*n))).collect();
        (read, stars.len())
    };
    assert_eq!((marks(anna.id), marks(bert.id)), ((vec![1], 1), (vec![3], 0)));
    assert_eq!(store.owner_of_feed(FeedId(2)).unwrap(), Some(anna.id), "it has a password");
    assert_eq!(store.is_private_feed(FeedId(1)).unwrap(), more.is_some(), "it has a secret header");
    assert!(!store.is_private_feed(FeedId(3)).unwrap());
    assert_eq!(store.labels(anna.id).unwrap().len(), usize::from(more.is_some()));
    // A person who comes now sees nothing of it, and a second opening changes nothing.
    drop(store);
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let carl = store.add_account("carl", "hash", T0).unwrap().unwrap();
    assert_eq!(store.feeds_of(carl, &FeedFilter::default()).unwrap(), []);
    assert_eq!(store.subscriptions(anna.id).unwrap().len(), 3);
    assert_eq!(store.check().unwrap(), []);
}
