//! Several accounts on one engine: one poll for all subscribers, and queries of each.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::{Command, FetchSettingsChange, QueriesCommand, SealedSetting};
use engine::Settings;
use engine::command::carry_out;
use feed::{EntryId, FeedId, FeedUrl, FetchSetting};
use store::{AccountId, FeedFilter, FetchSettingRow, NewFeed};

use crate::scripted::{Answer, House, document};

pub struct Two {
    pub house: House,
    pub anna: AccountId,
    pub bert: AccountId,
}

pub async fn two() -> Two {
    let answer = |place: &str| {
        // Each feed has an entry of its own.
        let id: String = place.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(document(&[&id]))
    };
    two_reading(Arc::new(answer)).await
}

/// Two accounts whose feeds answer in this way.
pub async fn two_reading(answer: Answer) -> Two {
    let house = House::new(Settings::new(), answer).await;
    let now = house.clock.now();
    let add = |name| house.store.add_account(name, "x", now).unwrap().unwrap();
    let (anna, bert) = (add("anna"), add("bert"));
    Two { anna, bert, house }
}

impl Two {
    pub async fn subscribe(&self, account: AccountId, place: &str, tags: &[&str]) {
        let (urls, account) = (vec![self.house.url(place)], Some(account.0));
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        self.house.act(Command::Add { urls, tags, poll: false, force: true, account }).await;
    }

    /// Subscribes past the engine, so that nothing is recorded before all have subscribed.
    pub fn subscribe_without_poll(&self, account: AccountId, place: &str, tags: &[&str]) {
        let url = FeedUrl::parse(&self.house.url(place)).unwrap();
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let new = NewFeed { url, title: None, site: None, tags };
        self.house.store.subscribe(account, &[new], self.house.clock.now()).unwrap();
    }

    pub async fn apply(&self, account: AccountId, text: &str) -> Result<(), String> {
        let (file, text, past) = ("t".to_owned(), text.to_owned(), None);
        let account = (account != AccountId::LOCAL).then_some(account.0);
        let wish = QueriesCommand::Apply { file, text, past, account };
        let done = carry_out(&self.house.engine, Command::Query { wish }, &|_, _| ()).await;
        done.map(drop).map_err(|error| error.to_string())
    }

    pub async fn polled(&self, places: &[&str]) {
        let all = |house: &House| places.iter().all(|place| house.n_asked(place) >= 1);
        assert!(self.house.until(all).await);
        self.house.rest().await;
    }

    /// The feeds whose entries a query has kept, by the end of their address.
    pub fn kept(&self, query: &str) -> Vec<String> {
        let store = &self.house.store;
        let query = store.query(query).unwrap().unwrap();
        let found = store.query_entries(query.id, 0, 100).unwrap().entries;
        let mut names: Vec<String> = found
            .iter()
            .map(|found| store.feed(found.entry.feed).unwrap().location.url)
            .map(|url| url.url().path().trim_start_matches('/').to_owned())
            .collect();
        names.sort();
        names
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_common_feed_is_polled_once_and_until_its_last_reader_leaves() {
    let two = two().await;
    two.subscribe(two.anna, "a.test/common", &[]).await;
    two.subscribe(two.bert, "a.test/common", &[]).await;
    two.subscribe(two.anna, "b.test/annas", &[]).await;
    two.subscribe(two.bert, "c.test/berts", &[]).await;
    two.polled(&["a.test/common", "b.test/annas", "c.test/berts"]).await;
    assert_eq!(two.house.n_asked("a.test/common"), 1, "one poll for both");
    let feeds = |account| -> Vec<u32> {
        let rows = two.house.store.feeds_of(account, &FeedFilter::default()).unwrap();
        rows.iter().map(|row| row.id.0).collect()
    };
    assert_eq!((feeds(two.anna), feeds(two.bert)), (vec![1, 2], vec![1, 3]));
    let leave = |account: AccountId| Command::Remove {
        feed: two.house.url("a.test/common"),
        account: Some(account.0),
    };
    two.house.act(leave(two.anna)).await;
    two.house.pass(60 * 25).await;
    let asked = two.house.n_asked("a.test/common");
    assert!(asked >= 2, "bert still reads it");
    two.house.act(leave(two.bert)).await;
    two.house.pass(60 * 25).await;
    assert_eq!(two.house.n_asked("a.test/common"), asked, "nobody reads it");
    assert!(carry_out(&two.house.engine, leave(two.bert), &|_, _| ()).await.is_err());
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_an_account_reads_its_own_subscriptions() {
    let two = two().await;
    two.apply(two.anna, "CREATE FEED AnnasAll AS RETURN ALL FEEDS").await.unwrap();
    two.apply(two.bert, "CREATE FEED BertsAll AS RETURN ALL FEEDS").await.unwrap();
    two.apply(two.anna, "CREATE FEED AnnasNews AS RETURN TAG \"news\"").await.unwrap();
    let tagged = "CREATE FEED BertsNews AS RETURN ALL FEEDS WHERE FEED TAGGED \"news\"";
    two.apply(two.bert, tagged).await.unwrap();
    two.apply(AccountId::LOCAL, "CREATE FEED Everything AS RETURN ALL FEEDS").await.unwrap();
    let published = "CREATE FEED Published AS RETURN ALL FEEDS PUBLISH";
    two.apply(two.bert, published).await.unwrap();
    let (secret, masked) = ("c.test/token=abc", "token=abc");
    for (account, place, tags) in [
        (two.anna, "a.test/common", &["news"][..]),
        (two.bert, "a.test/common", &[]),
        (two.anna, "b.test/annas", &[]),
        (two.bert, "c.test/berts", &["news"]),
        (two.bert, secret, &[]),
    ] {
        two.subscribe_without_poll(account, place, tags);
    }
    let named = format!("CREATE FEED Named AS RETURN \"{}\" PUBLISH", two.house.url(secret));
    two.apply(two.bert, &named).await.unwrap();
    let feeds = two.house.store.feeds(&FeedFilter::default()).unwrap();
    let feeds = feeds.iter().map(|row| row.id.to_string()).collect();
    two.house.act(Command::Poll { feeds: Some(feeds) }).await;
    assert_eq!(two.kept("AnnasAll"), ["annas", "common"]);
    assert_eq!(two.kept("BertsAll"), ["berts", "common", masked]);
    assert_eq!(two.kept("AnnasNews"), ["common"]);
    assert_eq!(two.kept("BertsNews"), ["berts"]);
    assert_eq!(two.kept("Everything"), ["annas", "berts", "common"], "without private feeds");
    assert_eq!(two.kept("Published"), ["berts", "common"], "nothing private without asking");
    assert_eq!(two.kept("Named"), [masked], "its owner has named it");
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_queries_are_unique_and_others_are_left_alone() {
    let two = two().await;
    two.apply(two.anna, "CREATE FEED Q AS RETURN ALL FEEDS").await.unwrap();
    let taken = two.apply(two.bert, "CREATE OR REPLACE FEED Q AS RETURN ALL FEEDS").await;
    assert!(taken.is_err_and(|error| error.contains("somebody else")));
    let reads = two.apply(two.bert, "CREATE FEED R AS RETURN FEED Q").await;
    assert!(reads.is_err(), "a query of somebody else does not exist for him");
    let wish =
        QueriesCommand::Share { name: "Q".to_owned(), shared: true, account: Some(two.anna.0) };
    two.house.act(Command::Query { wish }).await;
    two.apply(two.bert, "CREATE FEED R AS RETURN FEED Q").await.unwrap();
    let dropped = two.apply(two.bert, "DROP FEED Q").await;
    assert!(dropped.is_err(), "it is not his");
    let delivers = "CREATE FEED W AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"https://x.test/\"";
    let refused = two.apply(two.bert, delivers).await;
    assert!(refused.is_err_and(|error| error.contains("administrators")));
    two.subscribe(two.anna, "a.test/feed", &[]).await;
    two.polled(&["a.test/feed"]).await;
    assert_eq!(two.kept("R"), ["feed"], "what a shared query keeps");
    // The queries of an account end with it.
    assert!(two.house.store.remove_account(two.bert).unwrap());
    two.house.store.drop_abandoned_queries(two.house.clock.now()).unwrap();
    assert!(two.house.store.query("R").unwrap().is_none());
    assert!(two.house.store.query("Q").unwrap().is_some());
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_account_gets_the_queries_and_polls_go_on() {
    let house = House::new(Settings::new(), Arc::new(|_| Some(document(&["1"])))).await;
    let urls = vec![house.url("a.test/feed")];
    let command = Command::Add { urls, tags: vec![], poll: true, force: true, account: None };
    house.act(command).await;
    let text = "CREATE FEED Q AS RETURN ALL FEEDS".to_owned();
    let wish = QueriesCommand::Apply { file: "t".to_owned(), text, past: None, account: None };
    house.act(Command::Query { wish }).await;
    let anna = house.store.add_account("anna", "x", house.clock.now()).unwrap().unwrap();
    house.store.hand_over_queries().unwrap();
    assert_eq!(house.store.query("Q").unwrap().unwrap().scope.owner, Some(anna));
    house.store.rest_unwanted_feeds(house.clock.now()).unwrap();
    house.pass(60 * 25).await;
    assert!(house.n_asked("a.test/feed") >= 2, "the feed has a subscriber now");
    house.clock.set(house.clock.now() + Duration::from_secs(60));
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_with_secrets_of_a_person_is_theirs_alone() {
    let two = two().await;
    let url = two.house.url("a.test/common");
    two.subscribe(two.anna, "a.test/common", &["news"]).await;
    two.subscribe(two.bert, "a.test/common", &[]).await;
    two.polled(&["a.test/common"]).await;
    let store = &two.house.store;
    let origin = feed::origin_text(store.feed(FeedId(1)).unwrap().location.current().url());
    let fetch = |account: AccountId, name: &str, set: bool| {
        let shown = Some("x".to_owned());
        let one = SealedSetting { name: name.to_owned(), shown, sealed: None };
        let (set, remove) = match set {
            true => (vec![one], Vec::new()),
            false => (Vec::new(), vec![name.to_owned()]),
        };
        let change = FetchSettingsChange { origin: origin.clone(), set, remove };
        let account = (account != AccountId::LOCAL).then_some(account.0);
        Command::Fetch { feed: url.clone(), change, account }
    };
    let refused = |command| async {
        carry_out(&two.house.engine, command, &|_, _| ()).await.unwrap_err().to_string()
    };
    let error = refused(fetch(two.bert, "user-agent", false)).await;
    assert!(error.contains("administrators"), "{error}");
    two.house.act(fetch(two.anna, "user-agent", true)).await;
    let own = store.find_feed_of(two.anna, &url).unwrap().unwrap();
    assert_eq!((own, store.owner_of_feed(own).unwrap()), (FeedId(2), Some(two.anna)));
    assert_eq!(store.feed_of(two.anna, own).unwrap().tags, ["news"]);
    assert_eq!(store.find_feed_of(two.bert, &url).unwrap(), Some(FeedId(1)));
    assert_eq!(store.fetch_settings_of(FeedId(1)).unwrap(), [], "bert's feed is as it was");
    assert_eq!(store.fetch_settings_of(own).unwrap().len(), 1);
    assert!(two.house.until(|house| house.n_asked("a.test/common") >= 2).await, "each is polled");
    two.house.act(fetch(two.anna, "user-agent", false)).await;
    assert_eq!(store.fetch_settings_of(own).unwrap(), []);
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_private_feeds_of_a_removed_account_are_removed_at_once() {
    let two = two().await;
    let secret = "c.test/token=abc";
    two.subscribe(two.bert, secret, &[]).await;
    two.subscribe(two.bert, "a.test/common", &[]).await;
    two.polled(&[secret, "a.test/common"]).await;
    let store = &two.house.store;
    assert!(store.remove_account(two.bert).unwrap());
    // The engine looks every five seconds.
    let mut feeds = Vec::new();
    for _ in 0..600 {
        feeds = store.feeds(&FeedFilter::default()).unwrap();
        if feeds.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let left: Vec<&str> = feeds.iter().map(|row| row.location.url.as_str()).collect();
    assert_eq!(left, [two.house.url("a.test/common")], "the common feed waits a month");
    let asked = two.house.n_asked(secret);
    two.house.pass(60 * 25).await;
    assert_eq!(two.house.n_asked(secret), asked);
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_feed_that_others_read_outlives_its_owner_without_their_settings() {
    let two = two().await;
    two.subscribe(two.anna, "a.test/own", &[]).await;
    two.polled(&["a.test/own"]).await;
    let store = &two.house.store;
    let feed = FeedId(1);
    assert_eq!(store.own_feed(two.anna, feed, two.house.clock.now()).unwrap(), Some(feed));
    two.house.act(fetch(&two, Some(two.anna), feed, &["user-agent"], &[])).await;
    // A store that is older than subscriptions has such rows.
    let sql = format!(
        "insert into subscriptions (account, feed, subscribed_at) values ({}, {feed}, 0)",
        two.bert
    );
    store::testing::execute(store.location(), &sql);
    assert!(store.remove_account(two.anna).unwrap());
    // The engine looks every five seconds.
    for _ in 0..600 {
        if store.owner_of_feed(feed).unwrap() == Some(two.bert) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(store.owner_of_feed(feed).unwrap(), Some(two.bert));
    assert_eq!(store.fetch_settings_of(feed).unwrap(), []);
    assert_eq!(store.find_feed_of(two.bert, &two.house.url("a.test/own")).unwrap(), Some(feed));
    two.house.engine.stop().await;
}

/// The command that changes settings which need no key.
fn fetch(
    two: &Two,
    account: Option<AccountId>,
    feed: FeedId,
    set: &[&str],
    remove: &[&str],
) -> Command {
    let row = two.house.store.feed(feed).unwrap();
    let set = set.iter().map(|name| SealedSetting {
        name: (*name).to_owned(),
        shown: Some("x".to_owned()),
        sealed: None,
    });
    let change = FetchSettingsChange {
        origin: feed::origin_text(row.location.current().url()),
        set: set.collect(),
        remove: remove.iter().map(|name| (*name).to_owned()).collect(),
    };
    Command::Fetch { feed: feed.to_string(), change, account: account.map(|account| account.0) }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_cannot_lead_the_login_of_somebody_else_to_another_server() {
    let two = two().await;
    two.subscribe_without_poll(two.bert, "c.test/token=abc", &[]);
    two.subscribe_without_poll(two.bert, "a.test/cookie", &[]);
    let (in_address, with_cookie) = (FeedId(1), FeedId(2));
    let store = &two.house.store;
    let now = two.house.clock.now();
    assert_eq!(store.own_feed(two.bert, with_cookie, now).unwrap(), Some(with_cookie));
    let cookie = FetchSettingRow {
        feed: with_cookie,
        setting: FetchSetting::Cookie,
        origin: feed::origin_text(store.feed(with_cookie).unwrap().location.current().url()),
        shown: None,
        sealed: Some(vec![1; 60]),
    };
    store.set_fetch_settings(with_cookie, vec![cookie], Vec::new(), now).unwrap();
    let act = |command| async {
        let done = carry_out(&two.house.engine, command, &|_, _| ()).await;
        done.map(drop).map_err(|error| error.to_string())
    };
    let insecure = |account, feed, remove| fetch(&two, account, feed, &["insecure-tls"], remove);
    for feed in [in_address, with_cookie] {
        let error = act(insecure(None, feed, &[])).await.unwrap_err();
        assert!(error.contains("login of somebody else"), "{error}");
    }
    act(insecure(Some(two.bert), with_cookie, &[])).await.unwrap();
    act(fetch(&two, None, with_cookie, &[], &["insecure-tls"])).await.unwrap();
    act(insecure(None, with_cookie, &["cookie"])).await.unwrap();
    let settings = store.fetch_settings_of(with_cookie).unwrap();
    let settings: Vec<_> = settings.into_iter().map(|row| row.setting).collect();
    assert_eq!(settings, [FetchSetting::InsecureTls]);
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_a_reader_is_on_a_public_address() {
    let two = two().await;
    for account in [two.anna, two.bert] {
        two.subscribe(account, "a.test/common", &[]).await;
    }
    two.polled(&["a.test/common"]).await;
    assert!(two.house.until(|house| house.store.last_entry_id().unwrap() > EntryId(0)).await);
    let send = |account: AccountId| {
        let target = store::ShareTarget {
            position: 0,
            name: "inside".to_owned(),
            kind: store::ShareKind::Webhook,
            template: two.house.url("b.test/hook"),
            signing_key: "k".to_owned(),
        };
        let position = two.house.store.add_share_target(account, &target).unwrap().unwrap();
        Command::Share { account: account.0, position, entry: 1 }
    };
    let refused = carry_out(&two.house.engine, send(two.bert), &|_, _| ()).await.unwrap_err();
    assert!(refused.to_string().contains("not a public address"), "{refused}");
    assert_eq!(two.house.n_asked("b.test/hook"), 0);
    carry_out(&two.house.engine, send(two.anna), &|_, _| ()).await.unwrap();
    two.house.engine.stop().await;
}
