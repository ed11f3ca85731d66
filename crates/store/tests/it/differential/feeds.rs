//! Calls about feeds, tags, settings and the schedule.

use std::time::Duration;

use feed::{Domain, FetchSetting};
use store::{
    ExpectedPoll, ExpectedPolls, FetchSettingRow, NewFeed, Replan, SettingsChange, StoredPace,
};

use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, feed, now) = (&side.store, step.feed(), step.now());
    Some(match step.act {
        Act::AddFeed => said(store.add_feed(&new_feed(step, step.feed), now)),
        Act::AddFeeds => {
            let new: Vec<NewFeed> = (0..4).map(|n| new_feed(step, step.n % 8 + n)).collect();
            said(store.add_feeds(&new, now))
        }
        // Seldom, so that histories have feeds.
        Act::RemoveFeed if !step.n.is_multiple_of(3) => said(store.feed(feed)),
        Act::RemoveFeed => said(store.remove_feed(feed)),
        Act::TitleFeed => said(store.title_feed(feed, step.some_word())),
        Act::TagFeed => {
            let (tag, other) = (vec![step.word()], vec![format!("t{}", step.n % 3)]);
            let (add, remove) = if step.flag { (&tag, &other) } else { (&other, &tag) };
            said(store.tag_feed(feed, add, remove))
        }
        Act::RenameTag => said(store.rename_tag(&format!("t{}", step.n % 3), step.some_word())),
        Act::MoveFeed => said(store.move_feed(feed, &step.url(step.n), now)),
        Act::SetFeed => said(store.set_feed(feed, &change(step))),
        Act::SetTag => said(store.set_tag(&format!("t{}", step.n % 3), &change(step))),
        Act::MakeTag => said(store.make_tag(step.word)),
        Act::SetSetting => said(store.set_setting(&format!("k{}", step.n % 3), step.some_word())),
        Act::StorePace => side.wait(store.store_pace(StoredPace {
            domain: Domain::from_stored(&format!("d{}.example", step.n % 3)),
            last_request_at: step.flag.then_some(now),
            not_before: Some(now + Duration::from_secs(60)),
            reason: step.some_word().map(str::to_owned),
        })),
        Act::Replan => said(store.replan(vec![(feed, replan(side, step))])),
        Act::Forgive => side.wait(store.forgive(&[feed], now, step.word)),
        Act::SetBack => {
            let by = step.flag.then(|| Duration::from_secs(u64::from(step.n % 9000)));
            said(store.set_back(by, now))
        }
        Act::ExpectPolls => side.wait(store.store_expected_polls(ExpectedPolls {
            feeds: vec![ExpectedPoll {
                feed,
                generation: step.n % 4,
                at: step.flag.then_some(now),
                reason: step.word(),
                cause: "plan".to_owned(),
            }],
            progress: step.n.to_le_bytes().to_vec(),
        })),
        _ => return requests(side, step),
    })
}

/// Calls about the requests of a feed, and about single settings.
fn requests(side: &Side, step: &Step) -> Option<String> {
    let (store, feed, now) = (&side.store, step.feed(), step.now());
    let region = step.flag.then(|| ["north", "south"][(step.n % 2) as usize]);
    Some(match step.act {
        Act::StoreKnownPace => side.wait(store.store_known_pace(StoredPace {
            domain: Domain::from_stored(&format!("d{}.example", step.n % 4)),
            last_request_at: Some(now),
            not_before: step.flag.then_some(now),
            reason: step.some_word().map(str::to_owned),
        })),
        Act::SetFetchSettings => {
            let kinds = [FetchSetting::Cookie, FetchSetting::Header("x-a".to_owned())];
            let n_set = (step.n % 3) as usize;
            let remove = if step.flag { vec![kinds[0].clone()] } else { Vec::new() };
            let set = kinds.iter().take(n_set).map(|setting| FetchSettingRow {
                feed,
                setting: setting.clone(),
                origin: step.word(),
                shown: step.some_word().map(str::to_owned),
                sealed: (!step.flag).then(|| vec![0, 255, 10]),
            });
            said(store.set_fetch_settings(feed, set.collect(), remove, now))
        }
        Act::SetFeedRegion => said(store.set_feed_region(feed, region)),
        Act::SetTagRegion => said(store.set_tag_region(&format!("t{}", step.n % 3), region)),
        Act::SetOwnSetting => said(store.set_own_setting("k2", step.some_word())),
        Act::SharedSetting => said(store.shared_setting("k3", step.word)),
        Act::TryWriting => said(store.try_writing(now)),
        _ => return None,
    })
}

fn new_feed(step: &Step, n: u32) -> NewFeed {
    let tags = if step.flag { vec![format!("t{}", step.n % 3), step.word()] } else { Vec::new() };
    NewFeed {
        url: step.url(n),
        title: (!step.flag).then(|| step.word()),
        site: step.flag.then(|| format!("https://d{}.example/", n % 3)),
        tags: tags.into_iter().filter(|tag| !tag.is_empty()).collect(),
    }
}

fn change(step: &Step) -> SettingsChange {
    let some = |bit: u32| step.n >> bit & 1 == 1;
    SettingsChange {
        policy: some(0).then(|| step.some_word().map(str::to_owned)),
        alpha: some(1).then(|| step.flag.then_some(Duration::from_secs(90))),
        weight: some(2).then(|| step.flag.then(|| f64::from(step.n % 100) / 7.0)),
        max_delay: some(3).then(|| step.flag.then_some(Duration::from_secs(600))),
        paused: some(4).then(|| some(5).then_some(step.flag)),
        ..SettingsChange::default()
    }
}

fn replan(side: &Side, step: &Step) -> Replan {
    let generation = side.store.poll_input(step.feed()).map_or(0, |input| input.generation);
    Replan {
        generation: if step.n.is_multiple_of(4) { generation + 1 } else { generation },
        wanted_at: step.now(),
        next_at: step.now() + Duration::from_secs(u64::from(step.n % 5000)),
        reason: step.word(),
        cause: "command".to_owned(),
        held: step.some_word().map(str::to_owned),
    }
}
