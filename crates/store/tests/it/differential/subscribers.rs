//! Calls about the subscriptions and tags of accounts, and changes of many feeds with their undo.

use std::time::Duration;

use feed::FeedId;
use store::{AccountId, BulkScope, FeedSelection, FeedState, FeedsChange, NewFeed, Store};

use super::people::account;
use super::step::{Act, Step};
use super::{Side, said, said_sorted};
use crate::sample::url;

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, who, feed, now) = (&side.store, account(step), step.feed(), step.now());
    let feeds = some_feeds(step);
    Some(match step.act {
        Act::Subscribe => {
            let new = [new_feed(step, step.feed), new_feed(step, step.feed + 1)];
            reader(store, step)
                .map_or_else(String::new, |who| said(store.subscribe(who, &new, now)))
        }
        Act::SubscribeTo => said(store.subscribe_to(who, feed, &tags(step), now)),
        Act::SubscribePrivately => {
            let url = url(&format!("https://me:{}@d1.example/own{}", step.feed, step.n % 2));
            let new = [NewFeed { url, ..new_feed(step, 0) }];
            reader(store, step)
                .map_or_else(String::new, |who| said(store.subscribe(who, &new, now)))
        }
        Act::Unsubscribe => said(store.unsubscribe(who, &[feed], now)),
        Act::TakeBack => said(store.take_back(who, feed)),
        Act::RestUnwanted => {
            let rested = said_sorted(store.rest_unwanted_feeds(now));
            rested + &said(store.unwanted_since(now + Duration::from_secs(86_400)))
        }
        Act::OwnFeed => said(store.own_feed(who, feed, now)),
        Act::TitleSubscription => said(store.title_subscription(who, feed, step.some_word())),
        Act::TagSubscription => {
            let (tag, other) = (vec![step.word()], tags(step));
            let (add, remove) = if step.flag { (&tag, &other) } else { (&other, &tag) };
            said(store.tag_subscriptions(who, &feeds, add, remove))
        }
        Act::OrderSubscriptions => said(store.order_subscriptions(who, &feeds)),
        Act::MakeTagOf => said(store.make_tag_of(who, step.word)),
        Act::RenameTagOf => {
            said(store.rename_tag_of(who, &format!("t{}", step.n % 3), step.some_word()))
        }
        Act::NoteReading => said(store.note_reading(who, now)),
        Act::CountReaders => said(store.count_readers(now - Duration::from_secs(20 * 86_400))),
        Act::ForgetReaders => said(store.forget_readers()),
        Act::ChangeFeeds => {
            let what = |n| format!("changed {n} feeds");
            said(store.change_feeds(scope(step), &selection(step), &change(step), what, now))
        }
        Act::RenameTagUndoably => {
            let tag = format!("t{}", step.n % 3);
            let what = |n| format!("renamed a tag of {n} feeds");
            said(store.rename_tag_undoably(scope(step), &tag, step.some_word(), what, now))
        }
        Act::OrderTags => {
            let order = ["t2".to_owned(), step.word(), "t0".to_owned()];
            said(store.order_tags(scope(step), &order, "ordered", now))
        }
        Act::UndoBulk => {
            let number = step.bit(7).then(|| step.small());
            said(store.undo_bulk(scope(step), number, now))
        }
        _ => return None,
    })
}

/// One of the accounts. For others, PostgreSQL would use up the number of a feed and undo its row.
fn reader(store: &Store, step: &Step) -> Option<AccountId> {
    let accounts = store.accounts().unwrap_or_default();
    accounts.get(step.n as usize % accounts.len().max(1)).map(|row| row.id)
}

fn new_feed(step: &Step, n: u32) -> NewFeed {
    let title = (!step.flag).then(|| step.word());
    let site = step.flag.then(|| format!("https://www.d{}.example/", n % 3));
    NewFeed { url: step.url(n), title, site, tags: tags(step) }
}

fn tags(step: &Step) -> Vec<String> {
    vec![format!("t{}", step.n % 3)]
}

fn some_feeds(step: &Step) -> Vec<FeedId> {
    (0..7).filter(|n| step.bit(*n)).map(|n| FeedId(n + 1)).collect()
}

fn scope(step: &Step) -> BulkScope {
    let owner = if step.bit(8) { AccountId::LOCAL } else { account(step) };
    BulkScope { actor: if step.bit(9) { AccountId::LOCAL } else { owner }, owner }
}

fn selection(step: &Step) -> FeedSelection {
    if step.bit(10) {
        return FeedSelection::Feeds(some_feeds(step));
    }
    FeedSelection::Matching {
        text: if step.bit(11) { step.word() } else { String::new() },
        tag: step.bit(12).then(|| format!("t{}", step.feed % 3)),
        state: step.bit(13).then_some(FeedState::Active),
    }
}

fn change(step: &Step) -> FeedsChange {
    match step.feed {
        0 => FeedsChange::Unsubscribe,
        1 | 2 => FeedsChange::Set {
            policy: step.bit(14).then(|| step.some_word().map(str::to_owned)),
            paused: step.bit(15).then_some(step.flag),
        },
        _ => FeedsChange::Tag { add: vec![step.word()], remove: tags(step) },
    }
}
