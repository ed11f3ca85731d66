//! When an opened entry asks for its page: settings of the feed, of its tags and for all feeds.

use std::sync::Arc;

use api::{ServerContext, router};
use feed::{ArticleMode, EntryId, FeedId};
use store::{AccountId, ArticleState, BulkScope, SettingsChange};

use crate::articles::shelf;
use crate::fixture::{T0, live};
use crate::get;

#[tokio::test]
async fn an_opened_entry_asks_for_its_page_if_a_setting_says_so() {
    let shelf = shelf();
    let opens = async |usual: ArticleMode, entry: i64| {
        let now = Arc::new(|| T0);
        let context = ServerContext::new(shelf.store.clone(), now, Arc::new(live), "1").unwrap();
        let router = router(ServerContext { article_mode: usual, ..context });
        get(&router, &format!("/entry/{entry}"), &[]).await;
        shelf.store.article_state(EntryId(entry)).unwrap() != ArticleState::NotAsked
    };
    assert!(!opens(ArticleMode::Never, 1).await);
    assert!(opens(ArticleMode::Opened, 1).await, "the configuration holds for all feeds");
    assert!(opens(ArticleMode::Every, 2).await, "its page may be older than the setting");
    let change = SettingsChange { articles: Some(Some(ArticleMode::Never)), ..Default::default() };
    shelf.store.set_feed(FeedId(1), &change).unwrap();
    assert!(!opens(ArticleMode::Opened, 3).await, "the feed's own setting wins");
}

#[tokio::test]
async fn the_first_tag_by_name_says_whether_a_page_is_asked_for() {
    let shelf = shelf();
    for (tag, mode) in [("zebra", ArticleMode::Opened), ("alpha", ArticleMode::Never)] {
        shelf.store.tag_feed(FeedId(1), &[tag.to_owned()], &[]).unwrap();
        let change = SettingsChange { articles: Some(Some(mode)), ..Default::default() };
        shelf.store.set_tag(tag, &change).unwrap();
    }
    let order = ["zebra", "alpha"].map(str::to_owned);
    let scope = BulkScope { owner: AccountId::LOCAL, actor: AccountId::LOCAL };
    shelf.store.order_tags(scope, &order, "ordered", T0).unwrap();
    get(&shelf.router, "/entry/1", &[]).await;
    let state = shelf.store.article_state(EntryId(1)).unwrap();
    assert_eq!(state, ArticleState::NotAsked, "as the engine decides");
}
