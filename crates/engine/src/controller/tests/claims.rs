//! Results that claim too much, come too early, twice, or while the store does not answer.

use dispatch::machine::Verdict;
use dispatch::{ReadDocument, SoFar};
use feed::{EntryKey, Item, KeyedItem, identify};

use super::*;
use crate::confirmation::{Confirmation, Confirmations};

type VerdictReceiver = mpsc::UnboundedReceiver<(String, GrantId, Verdict)>;

/// The duty to confirm a result of a terminal on another machine, and its answers.
fn duty(grant: GrantId) -> (Confirmation, VerdictReceiver) {
    let (answers, said) = mpsc::unbounded_channel();
    let confirmation = Confirmations::new(answers, Arc::default()).take(grant, "inbox");
    (confirmation.expect("the first one"), said)
}

fn document(grant: GrantId, feed: FeedId, generation: u32) -> PollResult {
    let item = Item { title: Some("news".to_owned()), ..Item::default() };
    let key = EntryKey::from_bytes([7; 16]);
    let items = vec![KeyedItem { key, content: 1, link: 1, item: Some(item) }];
    let document = ReadDocument { items, ..ReadDocument::default() };
    let reading = PollReading::Document(Box::new(document));
    PollResult::bare(grant, feed, generation, SoFar::default(), reading)
}

/// Waits for the next event and handles it.
async fn handle_next(scene: &mut Scene) {
    let event = scene.controller.channels.events.recv();
    let event = tokio::time::timeout(Duration::from_secs(120), event).await;
    let event = event.expect("an event in time").expect("an event");
    scene.controller.handle(Message::Event(event));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_figures_of_a_result_cannot_stop_the_loop() {
    let mut scene = Scene::new();
    let grant = scene.granted();
    scene.depart_for(&grant, scene.home.clone()).await;
    assert!(has_job(&scene.worker).await);
    let to = url::Url::parse("http://target.example/feed").expect("a URL");
    let reading = PollReading::Moved { to, permanent: true };
    let so_far = SoFar { n_hops: u32::MAX, bytes: 5, ..SoFar::default() };
    let bare = PollResult::bare(grant.id, scene.feed, 0, so_far, reading);
    let result = PollResult { elapsed: Duration::MAX, held: Duration::MAX, ..bare };
    scene.controller.result(result, Some(duty(grant.id).0));
    let hop = scene.controller.plan.grant(NOW + GAP, 4).pop().expect("the redirect is followed");
    let Work::Hop(_, poll) = hop.work else { panic!("it is the same poll") };
    assert_eq!((poll.so_far.n_hops, poll.so_far.bytes), (1, 5), "the controller counts redirects");
}

#[tokio::test]
async fn a_result_before_its_job_has_left_closes_nothing() {
    let mut scene = Scene::new();
    let grant = scene.granted();
    let (confirmation, _said) = duty(grant.id);
    let guessed = document(grant.id, scene.feed, 0);
    scene.controller.result(guessed, Some(confirmation));
    assert!(scene.controller.plan.close(grant.id).is_some(), "its domain would stay busy for good");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_result_does_not_delay_its_feed() {
    let mut scene = Scene::new();
    let (answers, mut answered) = mpsc::unbounded_channel();
    let home = scene.home.clone();
    let asked = ScheduledFeed {
        feed: scene.feed,
        domain: home,
        next_at: NOW,
        generation: 0,
        budgeted: None,
    };
    scene.controller.ask(vec![asked], &answers);
    let (confirmation, mut said) = duty(GrantId(77));
    scene.controller.result(document(GrantId(77), scene.feed, 9), Some(confirmation));
    assert!(scene.controller.plan.is_under_way(scene.feed));
    handle_next(&mut scene).await;
    assert!(matches!(said.try_recv(), Ok((_, GrantId(77), Verdict::Stale))));
    assert!(answered.try_recv().is_err(), "the caller waits for the poll");
    assert_eq!(scene.granted().id, GrantId(1), "it is polled at once");
    assert_eq!(scene.controller.plan.in_flight(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_the_store_could_not_compare_is_not_confirmed() {
    let mut scene = Scene::new();
    let grant = scene.granted();
    scene.depart_for(&grant, scene.home.clone()).await;
    assert!(has_job(&scene.worker).await);
    let place = testing::location(scene.folder.path());
    testing::execute(&place, "alter table entry_keys rename to entry_keys_away");
    testing::execute(&place, "alter table feed_state rename to feed_state_away");
    let (confirmation, mut said) = duty(grant.id);
    scene.controller.result(document(grant.id, scene.feed, 0), Some(confirmation));
    handle_next(&mut scene).await;
    let said = said.recv().await;
    assert!(said.is_none(), "the terminal keeps the document and sends it again: {said:?}");
    testing::execute(&place, "alter table entry_keys_away rename to entry_keys");
    testing::execute(&place, "alter table feed_state_away rename to feed_state");
    let (confirmation, mut said) = duty(grant.id);
    scene.controller.result(document(grant.id, scene.feed, 0), Some(confirmation));
    let confirmed = tokio::time::timeout(Duration::from_secs(120), said.recv()).await;
    assert!(matches!(confirmed, Ok(Some((_, _, Verdict::Recorded)))), "{confirmed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_the_store_will_never_take_is_not_sent_again() {
    let mut scene = Scene::new();
    let grant = scene.granted();
    scene.depart_for(&grant, scene.home.clone()).await;
    assert!(has_job(&scene.worker).await);
    let rule = match testing::is_postgres() {
        true => "alter table entries add constraint refused check (false) not valid",
        false => {
            "create trigger refused before insert on entries \
             begin select raise(abort, 'refused'); end"
        }
    };
    testing::execute(&testing::location(scene.folder.path()), rule);
    let (confirmation, mut said) = duty(grant.id);
    scene.controller.result(document(grant.id, scene.feed, 0), Some(confirmation));
    handle_next(&mut scene).await;
    let said = said.recv().await;
    assert!(matches!(said, Some((_, _, Verdict::Refused { .. }))), "{said:?}");
}

/// The result of a terminal that does not know the window of the feed.
fn without_window(grant: GrantId, feed: FeedId, generation: u32, links: &[&str]) -> PollResult {
    let of_link = |link: &&str| Item {
        id: Some("one id".to_owned()),
        link: Some(format!("http://home.example/{link}")),
        ..Item::default()
    };
    let items = identify(links.iter().map(of_link).collect(), &Window::default());
    let document = ReadDocument { items, ..ReadDocument::default() };
    let reading = PollReading::Document(Box::new(document));
    PollResult::bare(grant, feed, generation, SoFar::default(), reading)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_without_the_window_brings_no_entry_twice() {
    let mut scene = Scene::new();
    let polls: [(&[&str], usize); 3] = [(&["a", "b"], 2), (&["b"], 0), (&["b", "c"], 1)];
    for (generation, (links, n_new)) in (0..).zip(polls) {
        scene.controller.plan.schedule(scene.feed, 0, NOW, generation);
        let later = NOW + GAP * (generation + 1);
        let grant = scene.controller.plan.grant(later, 4).pop().expect("the feed is due");
        scene.depart_for(&grant, scene.home.clone()).await;
        assert!(has_job(&scene.worker).await);
        let result = without_window(grant.id, scene.feed, generation, links);
        scene.controller.result(result, None);
        let event = scene.controller.channels.events.recv().await.expect("the poll ends");
        let Event::Finished { answer, .. } = &event else { panic!("another event") };
        assert_eq!(answer.n_new, n_new, "{links:?}");
        scene.controller.handle(Message::Event(event));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_result_counts_for_its_own_domain_only() {
    let mut scene = Scene::new();
    let elsewhere = Domain::from_stored("elsewhere.example");
    scene.note_earlier(GrantId(77), &elsewhere);
    let (confirmation, mut said) = duty(GrantId(77));
    scene.controller.result(document(GrantId(77), scene.feed, 0), Some(confirmation));
    assert!(matches!(said.try_recv(), Ok((_, GrantId(77), Verdict::Stale))));
    assert!(!scene.controller.plan.is_under_way(scene.feed));
    let refused = scene.refusal(GrantId(77), Some(Duration::from_secs(600)));
    scene.controller.result(refused, Some(duty(GrantId(77)).0));
    assert_eq!(scene.blocked_until(&scene.home.clone()), None, "it may not block another domain");
    let unknown = scene.controller.plan.known_domain(&elsewhere);
    assert_eq!(unknown.map(|_| ()), None, "no result makes a domain known");
}

#[test]
fn a_late_result_was_not_sent_before_its_grant() {
    let life = Duration::from_secs(90);
    let hour = Duration::from_secs(3600);
    let sent_at = |ago: Duration, held: Duration| {
        let so_far = SoFar { first_sent_at: Some(NOW - ago), ..SoFar::default() };
        record::believed(so_far, NOW, held + life).first_sent_at
    };
    assert_eq!(sent_at(hour, Duration::ZERO), Some(NOW - life));
    assert_eq!(sent_at(hour, hour), Some(NOW - hour), "its terminal kept it for an hour");
    assert_eq!(sent_at(life, Duration::ZERO), Some(NOW - life));
}
