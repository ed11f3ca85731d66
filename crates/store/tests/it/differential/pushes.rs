//! Calls about pushes of hubs, and notices of clouds.

use std::time::Duration;

use store::{
    CloudCandidate, EntryChanges, HubVerification, NewEntry, NextPoll, PushCandidate, PushRecord,
    PushTrust, PushTrustChange,
};

use super::step::{Act, Step};
use super::{Side, said};
use crate::sample::item;

const HUB: &str = "https://hub.example/";

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, feed, now) = (&side.store, step.feed(), step.now());
    let topic = step.url(step.feed).as_str().to_owned();
    let token = format!("token {feed}");
    let later = now + Duration::from_secs(u64::from(step.n % 9000));
    let error = step.some_word().map(str::to_owned);
    Some(match step.act {
        Act::BeginPush => {
            let candidate = PushCandidate { feed, hub: HUB.to_owned(), topic };
            side.wait(store.begin_push(candidate, token, "secret".to_owned(), now))
        }
        Act::AskHub => side.wait(store.note_hub_asked(step.small(), now, step.n % 4, later, error)),
        Act::ConfirmPush => {
            let lease = Duration::from_secs(u64::from(step.n % 900_000));
            let asks = match step.flag {
                true => HubVerification::Subscribe { lease },
                false => HubVerification::Unsubscribe,
            };
            said(store.confirm_push(&token, &topic, &asks, now))
        }
        Act::DenyPush => said(store.deny_push(&token, &topic, step.word, later)),
        Act::ReceivePush => {
            let body = vec![0; (step.n % 3000) as usize];
            said(store.receive_push(&token, error, step.flag.then(|| step.word()), body, now))
        }
        Act::RecordPush => push(side, step),
        Act::DropPush => side.wait(store.drop_push(step.small())),
        Act::DetachPushes => side.wait(store.detach_pushes(now)),
        Act::EndPush => side.wait(store.end_push(step.small())),
        Act::BeginCloud => {
            let cloud = "http://cloud.example:80/notify http-post".to_owned();
            let candidate = CloudCandidate { feed, cloud, url: step.url(step.feed) };
            side.wait(store.begin_cloud(candidate, format!("cloud {feed}"), later, error))
        }
        Act::AskCloud => {
            let asked_at = step.flag.then_some(now);
            side.wait(store.note_cloud_asked(feed, asked_at, step.n % 4, later, error))
        }
        Act::HearCloud => said(store.hear_cloud(&format!("cloud {feed}"), &topic, step.flag, now)),
        Act::TakeCloudNotices => side.wait(store.take_cloud_notices()),
        Act::EndClouds if step.n.is_multiple_of(3) => side.wait(store.end_clouds()),
        Act::EndClouds => said(store.cloud(feed)),
        Act::NoteHubRefused => side.wait(store.note_hub_refused(step.small(), later, step.word())),
        Act::TakeRefusedPushes => side.wait(store.take_refused_pushes()),
        _ => return None,
    })
}

/// Records the next push of the inbox.
fn push(side: &Side, step: &Step) -> String {
    let waiting = match side.store.next_push(0) {
        Ok(Some(push)) => push,
        other => return format!("{:?}", other.map(|push| push.is_some()).map_err(|e| e.kind())),
    };
    let Some(feed) = waiting.feed else { return format!("{} has no feed", waiting.id) };
    let input = match side.store.poll_input(feed) {
        Ok(input) => input,
        Err(error) => return said::<()>(Err(error)),
    };
    let keyed = feed::identify(
        vec![item(&format!("pushed {}", step.n % 5), &format!("Alpha {}", step.word))],
        &input.document.window,
    );
    let new = keyed.iter().filter_map(|keyed| {
        let item = keyed.item.clone()?;
        let published = feed::Published { claim: None, at: waiting.at };
        Some(NewEntry {
            key: keyed.key,
            item,
            published,
            content: u64::from(step.n % 7),
            facts: store::EntryFacts::default(),
        })
    });
    let record = PushRecord {
        feed,
        generation: input.generation,
        at: waiting.at,
        parcel: waiting.id,
        trust: PushTrustChange {
            subscription: waiting.subscription,
            trust: PushTrust { n_proofs: step.n % 9, n_misses: step.n % 2 },
        },
        entries: EntryChanges { new: new.collect(), ..EntryChanges::default() },
        next: NextPoll::at(step.now()),
    };
    side.wait(side.store.record_push(record))
}
