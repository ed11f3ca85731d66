//! Tests our `/v1` with `miniflux_api`, the library of News Flash.

use clients::desk;
use miniflux_api::MinifluxApi;
use miniflux_api::models::{
    EntryFilter, EntryID, EntryStatus, FeedID, FeedModification, OrderBy, OrderDirection,
};
use reqwest::Client;

#[tokio::test(flavor = "multi_thread")]
async fn miniflux_api_reads_marks_and_subscribes() {
    let desk = desk();
    let client = Client::new();
    let wrong = MinifluxApi::new(&desk.url, "anna".to_owned(), "wrong".to_owned());
    assert!(wrong.get_current_user(&client).await.is_err());
    let by_password = MinifluxApi::new(&desk.url, "anna".to_owned(), "correct horse".to_owned());
    assert_eq!(by_password.get_current_user(&client).await.unwrap().username, "anna");
    let api = MinifluxApi::new_from_token(&desk.url, desk.token.clone()).unwrap();
    assert!(!api.get_version(&client).await.unwrap().version.is_empty());
    assert!(!api.has_integrations(&client).await.unwrap());

    let categories = api.get_categories(&client).await.unwrap();
    let titles: Vec<&str> = categories.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles, ["All", "News"]);
    let news = categories[1].id;
    let feeds = api.get_feeds(&client).await.unwrap();
    assert_eq!((feeds[0].title.as_str(), feeds[0].category.id), ("Feed one", news));
    assert_eq!(api.get_feed(feeds[1].id, &client).await.unwrap(), feeds[1]);
    assert!(api.get_feed_icon(feeds[0].id, &client).await.is_err());
    assert_eq!(api.get_category_feeds(news, &client).await.unwrap().len(), 1);

    let newest = EntryFilter::default().order(OrderBy::PublishedAt).direction(OrderDirection::Desc);
    let batch = api.get_entry_batch(&newest.clone().limit(2), &client).await.unwrap();
    assert_eq!((batch.total, batch.entries.len()), (5, 2));
    let entry = &batch.entries[0];
    assert_eq!(entry.title, "Item 2 of one");
    assert_eq!(entry.content, "<p>Text of item 2.</p>");
    assert_eq!((entry.status, entry.feed.id), (EntryStatus::Unread, feeds[0].id));
    assert_eq!(entry.enclosures[0].url, "http://example.org/2.mp3");
    assert_eq!(&api.get_entry(entry.id, &client).await.unwrap(), entry);
    assert_eq!(api.get_feed_entries(feeds[1].id, &newest, &client).await.unwrap().len(), 2);
    assert_eq!(api.get_category_entries(news, &newest, &client).await.unwrap().len(), 3);

    let ids: Vec<_> = batch.entries.iter().map(|entry| entry.id).collect();
    api.update_entries_status(ids.clone(), EntryStatus::Read, &client).await.unwrap();
    let unread = newest.clone().status(EntryStatus::Unread);
    assert_eq!(api.get_entry_batch(&unread, &client).await.unwrap().total, 3);
    api.toggle_bookmark(ids[0], &client).await.unwrap();
    let starred = api.get_entries(&newest.clone().starred(true), &client).await.unwrap();
    assert_eq!(starred.iter().map(|entry| entry.id).collect::<Vec<_>>(), [ids[0]]);
    let counters = api.get_feed_counters(&client).await.unwrap();
    assert_eq!(counters.unreads.values().sum::<i64>(), 3);
    api.mark_feed_as_read(feeds[0].id, &client).await.unwrap();
    api.mark_category_as_read(categories[0].id, &client).await.unwrap();
    assert_eq!(api.get_entry_batch(&unread, &client).await.unwrap().total, 0);

    let found = api.discover_subscription(desk.new_feed.clone(), &client).await.unwrap();
    let url = found[0].url.parse().unwrap();
    let made = api.create_category("Mine", &client).await.unwrap();
    let feed = api.create_feed(&url, made.id, &client).await.unwrap();
    let change = FeedModification { title: Some("My own".to_owned()), ..Default::default() };
    let changed = api.update_feed(feed, &change, &client).await.unwrap();
    assert_eq!((changed.title.as_str(), changed.category.title.as_str()), ("My own", "Mine"));
    assert_eq!(api.update_category(made.id, "Ours", &client).await.unwrap().id, made.id);
    assert_eq!(api.get_feed(feed, &client).await.unwrap().category.title, "Ours");
    api.refresh_feed_synchronous(feed, &client).await.unwrap();

    loads_a_whole_text(&api, feed, &client).await;
    let list = api.export_opml(&client).await.unwrap();
    api.delete_feed(feed, &client).await.unwrap();
    assert_eq!(api.get_feeds(&client).await.unwrap().len(), 2);
    api.import_opml(&list, &client).await.unwrap();
    assert_eq!(api.get_feeds(&client).await.unwrap().len(), 3);
    api.delete_category(made.id, &client).await.unwrap();
    assert_eq!(api.get_categories(&client).await.unwrap().len(), 2);
}

/// Loads the page behind the entry of a feed.
async fn loads_a_whole_text(api: &MinifluxApi, feed: FeedID, client: &Client) {
    let entries = api.get_feed_entries(feed, &EntryFilter::default(), client).await.unwrap();
    let short = &entries[0];
    let whole = api.fetch_entry_content(short.id, false, client).await.unwrap();
    assert!(whole.content.contains("The river rose") && whole.reading_time >= 1, "{whole:?}");
    assert!(!whole.content.contains("steal") && !whole.content.contains("Home"), "{whole:?}");
    let stored = api.get_entry(short.id, client).await.unwrap();
    assert_eq!(stored.content, short.content, "the text of the feed stays");
    let lost = api.fetch_entry_content(EntryID::from(999), false, client).await.unwrap_err();
    assert!(lost.is_not_found(), "{lost:?}");
}
