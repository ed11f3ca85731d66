//! Calls about what people open, popular feeds, suggestions, and entries that tell the same.

use std::time::Duration;

use feed::{FeedId, StoryKeys};
use store::{FeedNeighbour, FeedNeighbours, LinkedSite, SiteFeed, StoryRecord};

use super::people::account;
use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, who, now) = (&side.store, account(step), step.now());
    let since = now - Duration::from_secs(20 * 86_400);
    let site = format!("s{}.example", step.n % 3);
    let url = step.url(step.n);
    Some(match step.act {
        Act::OpenEntries => said(store.open_entries(who, &step.entries(), now)),
        Act::ForgetOpenings => said(store.forget_openings(since)),
        Act::CountPopularity => said(store.count_popularity(since)),
        Act::PutNeighbours => said(store.put_neighbours(neighbours(step))),
        Act::NoteSites => said(store.note_feed_sites()),
        Act::RecordSiteLook => {
            let found = |n: u32| SiteFeed {
                site: site.clone(),
                url: step.url(step.n + n).as_str().to_owned(),
                title: step.some_word().map(str::to_owned),
            };
            said(store.record_site_look(&site, (0..step.n % 3).map(found).collect(), now))
        }
        Act::ForgetLinks => said(store.forget_links(since)),
        Act::DismissFeed => said(store.dismiss_feed(who, url.as_str(), now)),
        Act::ForgetDismissed => said(store.forget_dismissed_feeds(who)),
        Act::TakeStaleFigures => said(store.take_stale_figures()),
        Act::RecordStories => stories(side, step),
        _ => return None,
    })
}

fn neighbours(step: &Step) -> FeedNeighbours {
    let of = |feed: u32| {
        let other = |n: u32| FeedNeighbour {
            other: FeedId((feed + n) % 6 + 1),
            people: u64::from(step.n % 5 + n),
            similarity: f64::from(step.n % 100 + n) / 128.0,
        };
        (FeedId(feed), (1..=step.n % 4).map(other).collect())
    };
    (1..=step.feed).map(of).collect()
}

/// Follows the stream as the engine does. Entries with equal numbers in their titles tell the same.
fn stories(side: &Side, step: &Step) -> String {
    let store = &side.store;
    let next = match store.next_for_stories(1 + step.n % 12) {
        Ok(next) => next,
        Err(error) => return said::<()>(Err(error)),
    };
    let mut told = format!("{next:?}");
    let mut records = Vec::new();
    for entry in next {
        let keys = StoryKeys::of(entry.title.as_deref(), entry.link.as_deref(), &[]);
        let all: Vec<i64> = keys.pages.iter().chain(&keys.titles).copied().collect();
        let mut candidates = store.story_candidates(&all).unwrap_or_default();
        candidates.sort_by_key(|one| (one.key, one.entry));
        told.push_str(&format!("{candidates:?}"));
        let site = format!("s{}.example", entry.id.0 % 3);
        let origin = format!("https://www.{site}");
        let sites = if step.flag { vec![LinkedSite { site, origin }] } else { Vec::new() };
        let same_as = candidates.first().map(|one| one.entry);
        let published_at = entry.published_at;
        records.push(StoryRecord { entry: entry.id, published_at, keys, same_as, sites });
    }
    told + &side.wait(store.record_stories(records, step.now()))
}
