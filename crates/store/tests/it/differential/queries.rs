//! Calls about queries, deliveries, relevance, and subscribers of the hub.

use std::time::Duration;

use feed::{Domain, QueryId};
use store::{
    AccountId, DeadLetter, DeliveryId, NewQuery, QueryChange, QueryScope, SubscriberProtocol,
    SubscriberRequest, SubscriberRequestKind,
};

use super::people::{account, known_account};
use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, now, id) = (&side.store, step.now(), step.small());
    let later = now + Duration::from_secs(u64::from(step.n % 9000));
    let position = i64::from(step.n % 6);
    Some(match step.act {
        Act::PutQuery => {
            let past = step.flag.then(|| now - Duration::from_secs(20 * 86_400));
            said(store.change_queries(vec![QueryChange::Put(query(step))], past, now))
        }
        Act::PutQueryOf => {
            let query = query_of(account(step), step);
            known_account(store, account(step), || said(store.change_queries(query, None, now)))
        }
        Act::ShareQuery => said(store.share_query(&name(step), step.flag)),
        Act::HandOverQueries => said(store.hand_over_queries()),
        Act::DropAbandonedQueries => said(store.drop_abandoned_queries(now)),
        Act::DeliverLetter => side.wait(store.letter_delivered(DeliveryId(id), position, now)),
        Act::RefuseLetter => {
            side.wait(store.letter_refused(DeliveryId(id), position, step.word(), now))
        }
        Act::DropQuery => {
            said(store.change_queries(vec![QueryChange::Drop(name(step))], None, now))
        }
        Act::Deliver => {
            let from = store.deliveries(None).unwrap_or_default();
            let from = from.iter().find(|row| row.id.0 == id).map_or(0, |row| row.position);
            let next_at = step.flag.then_some(later);
            side.wait(store.delivered(DeliveryId(id), from, from + position, next_at, now))
        }
        Act::PostponeDelivery => {
            let error = step.some_word().map(str::to_owned);
            side.wait(store.postpone_delivery(DeliveryId(id), step.n % 9, later, error))
        }
        Act::AddDeadLetter => {
            let from = store.deliveries(None).unwrap_or_default();
            let from = from.iter().find(|row| row.id.0 == id).map_or(0, |row| row.position);
            let letter = DeadLetter {
                delivery: DeliveryId(id),
                position: from + 1,
                entry: step.entry(),
                at: now,
                attempts: step.n % 9,
                error: step.word(),
                to_replay: false,
            };
            side.wait(store.add_dead_letter(letter, from))
        }
        Act::ReplayDeadLetters => said(store.replay_dead_letters(QueryId(1 + step.n % 3))),
        Act::NoteRelevance => said(store.note_relevance(step.entry(), step.flag, now)),
        Act::JumpBack => said(store.end_waits_after_clock_jump(Duration::from_secs(60), now)),
        Act::RequestHub => said(store.add_hub_request(&request(step), now)),
        Act::ConfirmHubRequest => side.wait(store.confirm_hub_request(id, kind(step), now)),
        Act::RetryHubRequest => side.wait(store.retry_hub_request(id, step.n % 9, later)),
        Act::RefuseHubRequest => side.wait(store.refuse_hub_request(id)),
        Act::NoteHubPush => {
            let (to, next_at) = (step.flag.then_some(position), step.flag.then_some(later));
            side.wait(store.note_hub_push(id, to, step.n % 9, next_at))
        }
        Act::EndLeases => side.wait(store.end_leases(now)),
        Act::RemoveSubscriber => side.wait(store.remove_hub_subscriber(id)),
        _ => return None,
    })
}

fn name(step: &Step) -> String {
    ["Q", "q", "Ü"][(step.n % 3) as usize].to_owned()
}

fn query(step: &Step) -> NewQuery {
    NewQuery {
        name: name(step),
        text: ["Alpha", "a", "Alpha 3"][(step.feed % 3) as usize].to_owned(),
        urls: if step.flag { vec![step.url(step.n), step.url(step.feed)] } else { Vec::new() },
        receivers: vec!["file got".to_owned(), format!("webhook https://r{}.example/", step.feed)],
        scope: QueryScope::default(),
        link_key: step.word(),
        signing_key: "signs".to_owned(),
    }
}

fn query_of(owner: AccountId, step: &Step) -> Vec<QueryChange> {
    let scope = QueryScope { owner: Some(owner), shared: step.bit(4) };
    vec![QueryChange::Put(NewQuery { scope, urls: Vec::new(), ..query(step) })]
}

fn kind(step: &Step) -> SubscriberRequestKind {
    let lease = Duration::from_secs(u64::from(step.n % 900_000));
    match step.flag {
        true => SubscriberRequestKind::Subscribe { secret: Some(step.word()), lease },
        false => SubscriberRequestKind::Unsubscribe,
    }
}

fn request(step: &Step) -> SubscriberRequest {
    SubscriberRequest {
        query: QueryId(1 + step.n % 3),
        topic: format!("http://localhost/feeds/{}.atom", name(step)),
        callback: format!("https://reader.example/{}", step.feed),
        domain: Domain::from_stored("reader.example"),
        from: "192.0.2.1".to_owned(),
        kind: kind(step),
        protocol: SubscriberProtocol::WebSub,
    }
}
