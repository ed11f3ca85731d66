//! Tests our Fever API with `fever_api`, the library of News Flash.

use clients::desk;
use fever_api::FeverApi;
use fever_api::models::ItemStatus;
use reqwest::Client;

#[tokio::test(flavor = "multi_thread")]
async fn fever_api_reads_and_marks() {
    let desk = desk();
    let client = Client::new();
    let url = desk.url.join("fever/").unwrap();
    let wrong = FeverApi::new(&url, "anna", "wrong");
    assert!(!wrong.valid_credentials(&client).await.unwrap());
    let api = FeverApi::new(&url, "anna", &desk.token);
    assert!(api.valid_credentials(&client).await.unwrap());
    assert_eq!(api.get_api_version(&client).await.unwrap(), 3);
    let groups = api.get_groups(&client).await.unwrap();
    assert_eq!(groups.groups[0].title, "News");
    assert_eq!(groups.feeds_groups[0].feed_ids, [1]);
    let feeds = api.get_feeds(&client).await.unwrap().feeds;
    let titles: Vec<&str> = feeds.iter().map(|feed| feed.title.as_str()).collect();
    assert_eq!(titles, ["Feed one", "Feed two"]);
    assert!(api.get_favicons(&client).await.unwrap().favicons.is_empty());
    assert!(api.get_links(&client).await.unwrap().links.is_empty());

    let items = api.get_items(&client).await.unwrap();
    assert_eq!((items.total_items, items.items.len()), (5, 5));
    assert!(items.items.iter().any(|item| item.html == "<p>Text of item 2.</p>"));
    let since = api.get_items_since(3, &client).await.unwrap().items;
    assert_eq!(since.iter().map(|item| item.id).collect::<Vec<_>>(), [4, 5]);
    let before = api.get_items_max(3, &client).await.unwrap().items;
    assert_eq!(before.iter().map(|item| item.id).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(api.get_items_with(vec![2, 5], &client).await.unwrap().items.len(), 2);

    let unread = async || {
        let mut ids = api.get_unread_items(&client).await.unwrap().unread_item_ids;
        ids.sort_unstable();
        ids
    };
    assert_eq!(unread().await, [1, 2, 3, 4, 5]);
    api.mark_item(ItemStatus::Read, 4, &client).await.unwrap();
    assert_eq!(unread().await, [1, 2, 3, 5]);
    api.mark_item(ItemStatus::Saved, 5, &client).await.unwrap();
    assert_eq!(api.get_saved_items(&client).await.unwrap().saved_item_ids, [5]);
    let group = i64::try_from(groups.groups[0].id).unwrap();
    let now = chrono::Utc::now().timestamp();
    api.mark_group(ItemStatus::Read, group, now, &client).await.unwrap();
    assert_eq!(unread().await, [5]);
    api.mark_item(ItemStatus::Unsaved, 5, &client).await.unwrap();
    api.mark_feed(ItemStatus::Read, 2, now, &client).await.unwrap();
    assert!(unread().await.is_empty());
    assert!(api.get_saved_items(&client).await.unwrap().saved_item_ids.is_empty());
}
