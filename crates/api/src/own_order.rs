//! The feeds and tags of a person in their own order, for lists that others read: OPML, and the
//! numbers by which reader apps sort.

use std::collections::HashMap;

use feed::FeedId;
use parse::opml::{self, Outline};
use store::{AccountId, FeedRow, NumberedTag, QUERY_TAG, Store, StoreError};

/// The name of an exported list.
const TITLE: &str = "Tidings subscriptions";

/// Writes the feeds of an account as OPML. Secrets in addresses are masked, unless they are wanted.
pub fn written_opml(
    store: &Store,
    account: AccountId,
    with_secrets: bool,
) -> Result<String, StoreError> {
    let feeds = store.feeds_in_own_order(account, None)?;
    let mut outlines: Vec<Outline> = feeds
        .iter()
        .map(|feed| Outline {
            url: match with_secrets {
                true => feed.location.url.as_str().to_owned(),
                false => feed.location.url.masked(),
            },
            title: feed.shown_title().map(str::to_owned),
            site: feed.facts.site.clone(),
            tags: feed.tags.clone(),
        })
        .collect();
    if account == AccountId::LOCAL {
        return Ok(opml::write(TITLE, &outlines));
    }
    let tags = store.tags_of(account)?;
    let places: HashMap<&str, usize> =
        tags.iter().enumerate().map(|(place, tag)| (tag.tag.as_str(), place)).collect();
    for outline in &mut outlines {
        outline.tags.sort_by_key(|tag| places.get(tag.as_str()).copied());
    }
    outlines.sort_by_key(|one| one.tags.first().and_then(|tag| places.get(tag.as_str()).copied()));
    Ok(opml::write_in_order(TITLE, &outlines))
}

/// Returns the sort id of a feed for reader apps.
pub fn feed_sort_id(feed: FeedId) -> String {
    format!("{:08x}", feed.0)
}

/// Returns the sort id of a tag. It differs from those of all feeds.
pub fn tag_sort_id(number: i64) -> String {
    format!("{:08x}", 0x8000_0000 | number)
}

/// Returns the order of the folders and of their feeds, as reader apps read it: for each folder its
/// tag, and the sort ids one after the other. The first one has no tag. It holds the folders and
/// the feeds without any.
pub fn sort_ids(
    store: &Store,
    account: AccountId,
) -> Result<Vec<(Option<String>, String)>, StoreError> {
    let is_shown = |tag: &NumberedTag| tag.n_feeds > 0 && !tag.tag.starts_with(QUERY_TAG);
    let mut tags = store.tags_of(account)?;
    tags.retain(|tag| tag.number != NumberedTag::UNTAGGED && is_shown(tag));
    let feeds = store.feeds_in_own_order(account, None)?;
    let ids = |is_meant: &dyn Fn(&FeedRow) -> bool| -> String {
        feeds.iter().filter(|feed| is_meant(feed)).map(|feed| feed_sort_id(feed.id)).collect()
    };
    let folders: String = tags.iter().map(|tag| tag_sort_id(tag.number)).collect();
    let mut orders = vec![(None, folders + &ids(&|feed| feed.tags.is_empty()))];
    for tag in tags {
        let of_tag = ids(&|feed| feed.tags.contains(&tag.tag));
        orders.push((Some(tag.tag), of_tag));
    }
    Ok(orders)
}
