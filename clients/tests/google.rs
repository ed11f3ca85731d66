//! Tests our Google Reader API with `greader_api`, the library of News Flash.

use clients::{Desk, desk};
use greader_api::models::{AuthInput, GoogleAuthInput, State, StreamQuery, StreamType};
use greader_api::{AuthData, GReaderApi};
use reqwest::Client;

#[tokio::test(flavor = "multi_thread")]
async fn greader_api_reads_marks_and_subscribes() {
    let desk = desk();
    let (api, client) = (GReaderApi::new(desk.url.clone(), AuthData::Uninitialized), Client::new());
    let login = |password: &str| {
        let (username, password) = ("anna".to_owned(), password.to_owned());
        AuthInput::Google(GoogleAuthInput { username, password })
    };
    assert!(api.login(&login("wrong"), &client).await.is_err());
    api.login(&login("correct horse"), &client).await.unwrap();
    assert_eq!(api.user_info(&client).await.unwrap().user_name, "anna");
    let feeds = api.subscription_list(&client).await.unwrap().subscriptions;
    let titles: Vec<&str> = feeds.iter().map(|feed| feed.title.as_str()).collect();
    assert_eq!(titles, ["Feed one", "Feed two"]);
    assert_eq!(feeds[0].categories[0].label, "News");
    assert_eq!(feeds[0].html_url.as_deref(), Some("http://example.org/one"));
    assert_eq!(api.unread_count(&client).await.unwrap().max, 5);

    let all = StreamQuery { stream_id: Some(State::All.as_str()), ..StreamQuery::default() };
    let page = StreamQuery { amount: Some(2), ..all.clone() };
    let first = api.stream_contents(&page, &client).await.unwrap();
    assert_eq!(first.items.len(), 2);
    let next = StreamQuery { continuation: first.continuation.as_deref(), ..page };
    let next = api.stream_contents(&next, &client).await.unwrap();
    assert!(next.items.iter().all(|item| first.items.iter().all(|one| one.id != item.id)));
    let item = &first.items[0];
    assert_eq!(item.title.as_deref(), Some("Item 2 of one"));
    assert_eq!(item.content.as_ref().unwrap().content, "<p>Text of item 2.</p>");
    assert_eq!(item.published, Some(1_704_240_000));
    assert_eq!(item.origin.stream_id, feeds[0].id);
    assert_eq!(item.enclosure.as_ref().unwrap()[0].href, "http://example.org/2.mp3");

    let (read, starred) = (State::Read.as_str(), State::Starred.as_str());
    let ids: Vec<&str> = first.items.iter().map(|item| item.id.as_str()).collect();
    api.tag_edit(&ids, &[read, starred], &[], &client).await.unwrap();
    let unread = StreamQuery { exclude_stream: Some(read), ..all.clone() };
    let refs = api.items_ids(&unread, &client).await.unwrap().item_refs.unwrap();
    assert_eq!(refs.len(), 3);
    let stars = StreamQuery { stream_id: Some(starred), ..StreamQuery::default() };
    let stars = api.items_ids(&stars, &client).await.unwrap().item_refs.unwrap();
    let numbers: Vec<&str> = stars.iter().map(|item| item.id.as_str()).collect();
    let found = api.items_contents(&numbers, &client).await.unwrap().items;
    assert_eq!(found.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ids);
    assert!(found[0].categories.iter().any(|category| category == read));
    assert_eq!(api.items_count("feed/1", false, &client).await.unwrap().count, 3);
    api.mark_all_as_read("feed/1", Some(chrono::Utc::now()), &client).await.unwrap();
    // One of the two that were read belongs to the other feed.
    assert_eq!(api.unread_count(&client).await.unwrap().max, 1);
    let later = StreamQuery { newer_than: Some(chrono::Utc::now()), ..all };
    assert_eq!(api.items_ids(&later, &client).await.unwrap().item_refs.unwrap().len(), 5);
    changes_feeds(&desk, &api, &client).await;
}

async fn changes_feeds(desk: &Desk, api: &GReaderApi, client: &Client) {
    api.tag_rename(StreamType::Stream, "user/-/label/News", "user/-/label/Olds", client)
        .await
        .unwrap();
    let tags = api.tag_list(client).await.unwrap().tags;
    assert!(tags.iter().any(|tag| tag.id == "user/-/label/Olds"));
    let added = api.subscription_quickadd(&desk.new_feed, client).await.unwrap();
    assert_eq!(added.stream_id, "feed/3");
    assert_eq!(added.stream_name.as_deref(), Some("Feed three"));
    let label = Some("user/-/label/Mine");
    api.subscription_edit("feed/3", Some("My own"), None, label, client).await.unwrap();
    let feeds = api.subscription_list(client).await.unwrap().subscriptions;
    let third = &feeds[2];
    assert_eq!((third.title.as_str(), third.categories[0].label.as_str()), ("My own", "Mine"));
    assert!(api.subscribed("feed/3", client).await.unwrap());
    let list = api.export(client).await.unwrap();
    api.subscription_delete("feed/3", client).await.unwrap();
    assert!(!api.subscribed("feed/3", client).await.unwrap());
    assert_eq!(api.import(&list, client).await.unwrap(), Some(1));
    api.tag_delete(StreamType::Category, "Mine", client).await.unwrap();
    // The feeds without a tag are in the order of the root, under their sort ids.
    let orders = api.preference_stream_list(client).await.unwrap().streamprefs;
    let root = &orders["user/-/state/com.google/root"][0];
    assert_eq!(root.id, "subscription-ordering");
    let feeds = api.subscription_list(client).await.unwrap().subscriptions;
    let loose: Vec<_> = feeds.iter().filter(|feed| feed.categories.is_empty()).collect();
    assert!(!loose.is_empty());
    let is_listed = |id: &Option<String>| root.value.contains(id.as_deref().unwrap());
    assert!(loose.iter().all(|feed| is_listed(&feed.sortid)), "{}", root.value);
}
