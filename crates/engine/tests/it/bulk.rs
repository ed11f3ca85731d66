//! Changes of many feeds on a running engine: polls stop and begin again, also after an undo.

use std::sync::Arc;

use dispatch::command::{BulkChange, BulkCommand, Command, CommandResult, FeedChoice};
use engine::Settings;
use engine::command::carry_out;
use feed::FeedId;
use store::{AccountId, FeedFilter};

use crate::scripted::{House, document};

async fn house(places: &[&str]) -> House {
    let house = House::new(Settings::new(), Arc::new(|_: &str| Some(document(&["1"])))).await;
    for place in places {
        let (urls, tags) = (vec![house.url(place)], vec!["old".to_owned()]);
        let command = Command::Add { urls, tags, poll: false, force: true, account: None };
        house.act(command).await;
    }
    assert!(house.until(|house| places.iter().all(|place| house.n_asked(place) == 1)).await);
    house.rest().await;
    house
}

async fn bulk(house: &House, account: Option<i64>, wish: BulkCommand) -> Result<String, String> {
    let command = Command::Bulk { wish, account, everyone: false };
    match carry_out(&house.engine, command, &|_, _| ()).await {
        Ok(CommandResult::Changed { what, .. }) => Ok(what),
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert!(error.is_input(), "{error}");
            Err(error.to_string())
        }
    }
}

fn every(change: BulkChange) -> BulkCommand {
    let choice = FeedChoice::Matching { text: String::new(), tag: None, state: None };
    BulkCommand::Change { choice, change }
}

const UNDO: BulkCommand = BulkCommand::Undo { number: None };

#[tokio::test(flavor = "multi_thread")]
async fn paused_and_abandoned_feeds_are_not_polled_until_it_is_undone() {
    let places = ["a.test/one", "b.test/two"];
    let house = house(&places).await;
    for (change, what) in [
        (BulkChange::Pause, "paused 2 feeds"),
        (BulkChange::Unsubscribe, "unsubscribed from 2 feeds"),
    ] {
        let asked = places.map(|place| house.n_asked(place));
        assert_eq!(bulk(&house, None, every(change)).await.as_deref(), Ok(what));
        house.pass(60 * 23).await;
        assert_eq!(places.map(|place| house.n_asked(place)), asked, "{what}");
        assert_eq!(bulk(&house, None, UNDO).await.as_deref(), Ok(what));
        house.pass(60 * 25).await;
        let again = places.iter().zip(asked).all(|(place, n)| house.n_asked(place) > n);
        assert!(again, "they are polled again after {what}");
    }
    assert!(bulk(&house, None, UNDO).await.unwrap_err().contains("nothing to undo"));
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_and_a_tag_with_settings_hold_for_all_chosen_feeds() {
    let house = house(&["a.test/one", "b.test/two"]).await;
    let policy = |spec: &str| every(BulkChange::Policy { policy: Some(spec.to_owned()) });
    let refused = bulk(&house, None, policy("no such policy")).await.unwrap_err();
    assert!(refused.contains("--policy"), "{refused}");
    bulk(&house, None, policy("fix:3h")).await.unwrap();
    let polices = |house: &House| -> Vec<Option<String>> {
        let rows = house.store.feeds(&FeedFilter::default()).unwrap();
        rows.into_iter().map(|row| row.settings.policy).collect()
    };
    assert_eq!(polices(&house), [Some("fix:3h".to_owned()), Some("fix:3h".to_owned())]);
    bulk(&house, None, UNDO).await.unwrap();
    assert_eq!(polices(&house), [None, None]);
    for (tags, said) in [(vec![], "name a tag"), (vec!["query:x".to_owned()], "query:")] {
        let change = BulkChange::Tag { add: tags, remove: Vec::new() };
        let refused = bulk(&house, None, every(change)).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
    let rename = BulkCommand::RenameTag { tag: "old".to_owned(), to: Some("new".to_owned()) };
    let said = bulk(&house, None, rename.clone()).await.unwrap();
    assert_eq!(said, "renamed the tag “old” of 2 feeds to “new”");
    assert!(bulk(&house, None, rename).await.unwrap_err().contains("the tag “old” does not exist"));
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_reaches_only_its_own_feeds() {
    let house = house(&["a.test/one"]).await;
    let now = house.clock.now();
    let anna = house.store.add_account("anna", "x", now).unwrap().unwrap();
    let bert = house.store.add_account("bert", "x", now).unwrap().unwrap();
    let tag = |tag: &str| BulkChange::Tag { add: vec![tag.to_owned()], remove: Vec::new() };
    let choice = FeedChoice::Feeds(vec![1]);
    let wish = BulkCommand::Change { choice, change: tag("mine") };
    let refused = bulk(&house, Some(bert.0), wish.clone()).await.unwrap_err();
    assert!(refused.contains("feed 1 does not exist"), "{refused}");
    assert_eq!(
        bulk(&house, Some(bert.0), every(tag("x"))).await.unwrap(),
        "tagged 0 feeds with “x”"
    );
    bulk(&house, Some(anna.0), wish).await.unwrap();
    let tags = |account: AccountId| house.store.feed_of(account, FeedId(1)).unwrap().tags;
    assert_eq!(tags(anna), ["mine", "old"]);
    assert_eq!(house.store.feed(FeedId(1)).unwrap().tags, ["old"], "the instance keeps its tags");
    assert!(bulk(&house, Some(bert.0), UNDO).await.is_err(), "nobody undoes what others did");
    bulk(&house, Some(anna.0), UNDO).await.unwrap();
    assert_eq!(tags(anna), ["old"]);
    house.engine.stop().await;
}
