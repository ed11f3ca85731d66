//! Queries and private feeds: nothing of a private feed reaches anybody but its owner.

use std::sync::Arc;

use dispatch::command::{Command, CommandResult, QueriesCommand};
use engine::command::carry_out;
use store::{AccountId, FeedFilter};

use crate::subscriptions::{Two, two, two_reading};

const SECRET: &str = "c.test/token=abc";
const MASKED: &str = "token=abc";

async fn share(two: &Two, name: &str, shared: bool, account: AccountId) -> Result<(), String> {
    let wish = QueriesCommand::Share { name: name.to_owned(), shared, account: Some(account.0) };
    let done: Result<CommandResult, _> =
        carry_out(&two.house.engine, Command::Query { wish }, &|_, _| ()).await;
    done.map(drop).map_err(|error| error.to_string())
}

async fn poll_all(two: &Two) {
    let feeds = two.house.store.feeds(&FeedFilter::default()).unwrap();
    let feeds = feeds.iter().map(|row| row.id.to_string()).collect();
    two.house.act(Command::Poll { feeds: Some(feeds) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_see_has_nothing_of_a_private_feed() {
    let two = two().await;
    let url = two.house.url(SECRET);
    two.subscribe_without_poll(two.bert, "a.test/common", &[]);
    two.subscribe_without_poll(two.bert, SECRET, &[]);
    for text in [
        "CREATE FEED Mine AS RETURN ALL FEEDS",
        "CREATE FEED Later AS RETURN ALL FEEDS",
        "CREATE FEED Reading AS RETURN FEED Mine PUBLISH",
        "CREATE FEED Linked AS RETURN FEED Mine PUBLISH BY SECRET LINK",
        "CREATE FEED Shared AS RETURN FEED Mine",
        &format!("CREATE FEED Named AS RETURN \"{url}\""),
    ] {
        two.apply(two.bert, text).await.unwrap();
    }
    share(&two, "Shared", true, two.bert).await.unwrap();
    two.apply(two.anna, "CREATE FEED Annas AS RETURN FEED Shared").await.unwrap();
    let refused = share(&two, "Named", true, two.bert).await.unwrap_err();
    assert!(refused.contains("names the private feed") && !refused.contains("abc"), "{refused}");
    assert!(refused.contains("c.test"), "{refused}");
    poll_all(&two).await;
    assert_eq!(two.kept("Mine"), ["common", MASKED]);
    assert_eq!(two.kept("Named"), [MASKED]);
    for open in ["Reading", "Linked", "Shared", "Annas"] {
        assert_eq!(two.kept(open), ["common"], "{open}");
    }
    // The earlier matches of a query are left out too when it is shared or published.
    assert_eq!(two.kept("Later"), ["common", MASKED]);
    share(&two, "Later", true, two.bert).await.unwrap();
    assert_eq!(two.kept("Later"), ["common"]);
    two.apply(two.bert, "CREATE OR REPLACE FEED Mine AS RETURN ALL FEEDS PUBLISH").await.unwrap();
    assert_eq!(two.kept("Mine"), ["common"]);
    // A shared query cannot get the address later, and a published one keeps what it names.
    let named = format!("CREATE OR REPLACE FEED Later AS RETURN \"{url}\"");
    let refused = two.apply(two.bert, &named).await.unwrap_err();
    assert!(refused.contains("names the private feed"), "{refused}");
    let published = format!("CREATE OR REPLACE FEED Named AS RETURN \"{url}\" PUBLISH");
    two.apply(two.bert, &published).await.unwrap();
    assert_eq!(two.kept("Named"), [MASKED], "its owner has named it");
    two.house.engine.stop().await;
}

/// The matches of a query: the entries with their partners.
fn joined(two: &Two, query: &str) -> Vec<(i64, Option<i64>)> {
    let query = two.house.store.query(query).unwrap().unwrap();
    let found = two.house.store.query_entries(query.id, 0, 100).unwrap().entries;
    found.iter().map(|one| (one.entry.id.0, one.partner.map(|partner| partner.0))).collect()
}

/// Without this, an entry of a private feed was remembered by queries of others, although they did
/// not keep it.
#[tokio::test(flavor = "multi_thread")]
async fn no_query_of_others_joins_or_counts_an_entry_of_a_private_feed() {
    let one_story = |_: &str| {
        let item = "<item><guid>1</guid><link>http://story.test/</link></item>";
        let body = format!("<rss version='2.0'><channel><title>t</title>{item}</channel></rss>");
        Some(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    };
    let two = two_reading(Arc::new(one_story)).await;
    two.subscribe_without_poll(two.bert, SECRET, &[]);
    two.subscribe_without_poll(two.bert, "a.test/common", &[]);
    two.subscribe_without_poll(two.anna, "a.test/common", &[]);
    for text in [
        "CREATE FEED Mine AS RETURN ALL FEEDS",
        "CREATE FEED Shared AS RETURN FEED Mine",
        "CREATE FEED Joined AS RETURN ALL FEEDS JOIN ALL FEEDS ON LINK",
        "CREATE FEED Later AS RETURN ALL FEEDS JOIN ALL FEEDS ON LINK",
    ] {
        two.apply(two.bert, text).await.unwrap();
    }
    share(&two, "Shared", true, two.bert).await.unwrap();
    let both = "FEED Shared | ALL FEEDS";
    for text in [
        format!("CREATE FEED Annas AS RETURN {both} JOIN {both} ON LINK"),
        format!("CREATE FEED Once AS RETURN {both} DISTINCT ON LINK"),
        format!("CREATE FEED Hot AS RETURN {both} COUNT >= 2 WITHIN 1 DAY"),
    ] {
        two.apply(two.anna, &text).await.unwrap();
    }
    let poll = async |feed: &str| {
        two.house.act(Command::Poll { feeds: Some(vec![feed.to_owned()]) }).await;
    };
    poll("1").await;
    share(&two, "Later", true, two.bert).await.unwrap();
    poll("2").await;
    assert_eq!(joined(&two, "Mine"), [(1, None), (2, None)]);
    assert_eq!(joined(&two, "Joined"), [(2, Some(1))], "bert sees both");
    assert_eq!(joined(&two, "Annas"), []);
    assert_eq!(joined(&two, "Once"), [(2, None)], "anna does not know the first one");
    assert_eq!(joined(&two, "Hot"), []);
    assert_eq!(joined(&two, "Later"), [], "it forgot the private entry when it was shared");
    share(&two, "Joined", true, two.bert).await.unwrap();
    assert_eq!(joined(&two, "Joined"), [(2, None)], "others do not learn the number");
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_not_shared_any_more_is_read_by_nobody_else() {
    let two = two().await;
    two.apply(two.anna, "CREATE FEED Q AS RETURN ALL FEEDS").await.unwrap();
    share(&two, "Q", true, two.anna).await.unwrap();
    two.apply(two.bert, "CREATE FEED R AS RETURN FEED Q").await.unwrap();
    two.subscribe_without_poll(two.anna, "a.test/one", &[]);
    poll_all(&two).await;
    assert_eq!(two.kept("R"), ["one"]);
    share(&two, "Q", false, two.anna).await.unwrap();
    two.subscribe_without_poll(two.anna, "b.test/two", &[]);
    poll_all(&two).await;
    assert_eq!((two.kept("Q").len(), two.kept("R").len()), (2, 1));
    // The name may belong to another query later.
    two.apply(two.anna, "DROP FEED Q; CREATE FEED Q AS RETURN TAG \"x\"").await.unwrap();
    two.subscribe_without_poll(two.anna, "c.test/three", &["x"]);
    poll_all(&two).await;
    assert_eq!((two.kept("Q"), two.kept("R").len()), (vec!["three".to_owned()], 1));
    share(&two, "Q", true, two.anna).await.unwrap();
    two.subscribe_without_poll(two.anna, "a.test/four", &["x"]);
    poll_all(&two).await;
    assert_eq!(two.kept("R"), ["four", "one"], "it is shared again");
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_who_add_the_same_address_at_once_get_one_feed() {
    let two = two().await;
    let add = |account: AccountId, place: &str, force| Command::Add {
        urls: vec![two.house.url(place)],
        tags: Vec::new(),
        poll: true,
        force,
        account: Some(account.0),
    };
    let both = |place: &'static str, force| {
        let one = carry_out(&two.house.engine, add(two.anna, place, force), &|_, _| ());
        let other = carry_out(&two.house.engine, add(two.bert, place, force), &|_, _| ());
        async { tokio::join!(one, other) }
    };
    let done = both("a.test/common", false).await;
    assert!(done.0.is_ok() && done.1.is_ok(), "{done:?}");
    let store = &two.house.store;
    assert_eq!(store.feeds(&FeedFilter::default()).unwrap().len(), 1);
    for account in [two.anna, two.bert] {
        assert_eq!(store.subscriptions(account).unwrap().len(), 1);
    }
    assert_eq!(two.house.n_asked("a.test/common"), 1);
    // The first one finds out that the address is not a feed. It stays for the second one, who
    // wants it anyway.
    let (feed, url) = (feed::FeedId(2), feed::FeedUrl::parse(&two.house.url("b.test/x")).unwrap());
    let new = store::NewFeed { url, title: None, site: None, tags: Vec::new() };
    for account in [two.anna, two.bert] {
        store.subscribe(account, std::slice::from_ref(&new), two.house.clock.now()).unwrap();
    }
    assert!(!store.take_back(two.anna, feed).unwrap());
    assert_eq!(store.subscriptions(two.anna).unwrap().len(), 1);
    assert_eq!(store.subscriptions(two.bert).unwrap().len(), 2);
    assert!(store.take_back(two.bert, feed).unwrap(), "nobody else needs it");
    assert_eq!(store.feeds(&FeedFilter::default()).unwrap().len(), 1);
    two.house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_ends_the_sharing_of_any_query() {
    let two = two().await;
    let store = &two.house.store;
    store.set_role(two.bert, store::AccountRole::Reader).unwrap().unwrap();
    two.apply(two.bert, "CREATE FEED Berts AS RETURN ALL FEEDS").await.unwrap();
    two.apply(two.anna, "CREATE FEED Annas AS RETURN ALL FEEDS").await.unwrap();
    two.apply(AccountId::LOCAL, "CREATE FEED Common AS RETURN ALL FEEDS").await.unwrap();
    let seen = |account| -> Vec<String> {
        store.queries_of(account).unwrap().into_iter().map(|row| row.name).collect()
    };
    assert_eq!(seen(two.anna), ["Annas", "Common"], "and nothing of bert");
    assert!(share(&two, "Berts", false, two.anna).await.is_err(), "it is not shared");
    share(&two, "Berts", true, two.bert).await.unwrap();
    share(&two, "Annas", true, two.anna).await.unwrap();
    assert_eq!(seen(two.anna), ["Annas", "Berts", "Common"]);
    assert!(share(&two, "Annas", false, two.bert).await.is_err(), "bert is a reader");
    share(&two, "Berts", false, two.anna).await.unwrap();
    assert!(share(&two, "Berts", true, two.anna).await.is_err(), "only its owner shares it");
    assert_eq!(seen(two.anna), ["Annas", "Common"]);
    // The queries of the instance end by its own command.
    two.apply(AccountId::LOCAL, "DROP FEED Common").await.unwrap();
    assert_eq!(seen(two.anna), ["Annas"]);
    two.house.engine.stop().await;
}
