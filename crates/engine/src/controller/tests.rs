//! Steps of the controller that a whole engine hardly ever takes: a feed that moved after it was
//! planned, a store that does not answer, results that come late.

mod claims;

use std::sync::RwLock;

use dispatch::{LocalForm, PollReading, SoFar, WorkerEnd};
use feed::{Domain, ExchangeFacts, RetryAfter};
use store::{NewFeed, OpenMode, PollRecord, Store, testing};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::event::WaitWish;
use crate::plan::Gaps;
use crate::terminals::{GrantedRequest, LocalTerminal, PickedTerminal};

const NOW: Time = Time::from_secs(1_700_000_000);
const GAP: Duration = Duration::from_secs(2);
/// The longest exchange; a grant lives ten seconds longer.
const EXCHANGE: Duration = Duration::from_secs(80);

/// A controller with one feed, whose loop does not run.
struct Scene {
    folder: TempDir,
    controller: Controller,
    worker: WorkerEnd,
    feed: FeedId,
    home: Domain,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let place = testing::location(folder.path());
        let store = Store::open(place, OpenMode::ReadWrite).expect("a store");
        let url = feed::FeedUrl::parse("http://home.example/feed").expect("a URL");
        let home = Domain::of(url.url());
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let feed = store.add_feed(&new, NOW).expect("a feed").id;
        let (events, receiver) = mpsc::unbounded_channel();
        let settings = fetch::Settings::new("https://example.org/");
        let context = Context {
            store,
            fetcher: Arc::new(fetch::Fetcher::new(settings).expect("a fetcher")),
            clock: crate::Clock::manual(NOW),
            settings: crate::Settings::new(),
            events,
            budget: RwLock::new(None),
            trouble: Default::default(),
            notifications: Notify::new(),
            deliveries: Notify::new(),
            clusters: crate::clusters::Clusters::default(),
            grants: None,
            errands: None,
            machine: String::new(),
            regions: RwLock::default(),
            fetch_book: Default::default(),
            tally: Arc::default(),
            articles: Default::default(),
        };
        let (local, results, worker) = dispatch::local(4, LocalForm::Values);
        let roads = Roads { local, bus: None, stopwatch: Stopwatch::start() };
        let channels = Channels { roads, results, events: receiver };
        let terminal = LocalTerminal { room: 4, ..LocalTerminal::default() };
        let terminals = Arc::new(Terminals::new(Some(terminal), NOW));
        let gaps = Gaps { default: GAP, by_domain: HashMap::new() };
        let mut plan = Plan::new(gaps, EXCHANGE, true);
        let domain = plan.domain(&home);
        plan.schedule(feed, domain, NOW, 0);
        let (counters, loaded) = (Arc::default(), (plan, None));
        let context = Arc::new(context);
        let controller =
            Controller::new(context, channels, terminals, counters, loaded, Watch::All);
        Scene { folder, controller, worker, feed, home }
    }

    /// Grants the poll of the feed.
    fn granted(&mut self) -> Grant<PollUnderWay> {
        self.controller.plan.grant(NOW, 4).pop().expect("the feed is due")
    }

    /// Sends the first request of a poll, which was granted for this domain.
    async fn depart_for(&self, grant: &Grant<PollUnderWay>, domain: Domain) {
        let Grant { id, generation, send_by, .. } = *grant;
        let departure = Departure {
            grant: id,
            feed: self.feed,
            domain,
            generation,
            send_by,
            cause: None,
            terminal: PickedTerminal { name: "".into(), remote: None },
            hop: None,
        };
        let Controller { context, polls, channels, .. } = &self.controller;
        let (context, polls) = (Arc::clone(context), Arc::clone(polls));
        depart(context, vec![departure], polls, channels.roads.clone()).await;
    }

    /// Notes that an earlier process granted a request.
    fn note_earlier(&self, grant: GrantId, domain: &Domain) {
        let (terminal, domain, feed) = ("t".into(), domain.clone(), None);
        let request = GrantedRequest { terminal, domain, feed };
        self.controller.terminals.note_earlier([(grant, request)].into_iter());
    }

    /// Handles the events so far. Returns what they were about, in a word.
    fn handle_events(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Ok(event) = self.controller.channels.events.try_recv() {
            words.push(match &event {
                Event::NotPrepared { why, .. } => why.clone(),
                Event::Finished { answer, .. } => answer.detail.clone(),
                _ => "another event".to_owned(),
            });
            self.controller.handle(Message::Event(event));
        }
        words
    }

    /// The answer 429 to a request of the feed.
    fn refusal(&self, grant: GrantId, retry_after: Option<Duration>) -> PollResult {
        let reading = PollReading::Refused { status: 429 };
        let retry_after = retry_after.map(RetryAfter::After);
        let facts = ExchangeFacts { status: Some(429), retry_after, ..ExchangeFacts::default() };
        let bare = PollResult::bare(grant, self.feed, 0, SoFar::default(), reading);
        PollResult { facts, ..bare }
    }

    fn blocked_until(&mut self, domain: &Domain) -> Option<Time> {
        let domain = self.controller.plan.domain(domain);
        self.controller.plan.pace(domain).not_before
    }
}

async fn has_job(worker: &WorkerEnd) -> bool {
    tokio::time::timeout(Duration::from_millis(50), worker.next()).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_leaves_for_its_granted_domain_only() {
    let mut scene = Scene::new();
    let grant = scene.granted();
    scene.depart_for(&grant, Domain::from_stored("elsewhere.example")).await;
    assert!(!has_job(&scene.worker).await, "no turn was granted at the home of the feed");
    let mut said = scene.handle_events();
    // The end of the poll repeats the reason, sooner or later than this test looks.
    said.dedup();
    let expected = "the request is for home.example, but elsewhere.example was granted";
    assert_eq!(said, [expected]);
    assert!(scene.controller.plan.close(grant.id).is_none(), "the grant is closed");
    let home = scene.home.clone();
    scene.depart_for(&grant, home).await;
    assert!(has_job(&scene.worker).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_stays_in_the_plan_if_the_store_does_not_answer() {
    let mut scene = Scene::new();
    scene.controller.plan.schedule(scene.feed, 0, NOW, 7);
    let grant = scene.granted();
    scene.controller.plan.close(grant.id);
    scene.controller.plan.not_sent(grant.domain, NOW);
    let place = testing::location(scene.folder.path());
    testing::execute(&place, "alter table feeds rename to feeds_away");
    let wait = Duration::from_secs(60);
    record::abandon(&scene.controller.context, scene.feed, "not sent".to_owned(), wait);
    assert_eq!(scene.handle_events(), ["not sent"]);
    let plan = &mut scene.controller.plan;
    assert!(plan.grant(NOW + Duration::from_secs(59), 4).is_empty());
    let again = plan.grant(NOW + wait, 4);
    assert_eq!((again.len(), again[0].generation), (1, 7), "it is polled again");
    assert_eq!(plan.domain_name(again[0].domain), &scene.home);
}

/// A time of before the poll, with the generation of after it, would bring another poll at once.
#[test]
fn the_stored_time_of_a_feed_comes_with_its_generation() {
    let scene = Scene::new();
    let context = &scene.controller.context;
    let stored = || {
        let scheduled = context.scheduled_as_stored(scene.feed).expect("an answer");
        scheduled.map(|feed| (feed.next_at, feed.generation))
    };
    assert_eq!(stored(), Some((NOW, 0)), "it is new");
    let later = NOW + Duration::from_secs(3600);
    let record = PollRecord::empty(scene.feed, 0, NOW, Outcome::Seen, later);
    context.store.record_blocking(record).expect("a record");
    assert_eq!(stored(), Some((later, 1)));
}

#[tokio::test]
async fn a_panic_at_the_end_of_a_poll_takes_the_feed_out_of_flight() {
    let mut scene = Scene::new();
    let ending = async { panic!("an unforeseen end") };
    record::end_contained(&scene.controller.context, scene.feed, ending).await;
    let Ok(Event::Finished { finished, answer }) = scene.controller.channels.events.try_recv()
    else {
        panic!("the loop did not hear that the poll is over")
    };
    assert_eq!((finished.feed, answer.outcome), (scene.feed, Outcome::Failed));
}

#[tokio::test]
async fn a_wish_to_wait_holds_even_if_it_comes_after_its_grant_ended() {
    let mut scene = Scene::new();
    let (grant, home) = (scene.granted(), scene.home.clone());
    scene.note_earlier(grant.id, &home);
    assert_eq!(scene.controller.plan.expire(EXCHANGE * 2, NOW).len(), 1);
    let minute = Duration::from_secs(60);
    let late = PollResult { held: minute, ..scene.refusal(grant.id, Some(minute * 10)) };
    scene.controller.result(late, None);
    assert_eq!(scene.blocked_until(&home), Some(NOW + minute * 9), "a minute ago it said ten");
    // A redirect of the same feed led to another domain.
    let target = Domain::from_stored("target.example");
    scene.controller.plan.domain(&target);
    scene.note_earlier(GrantId(77), &target);
    let again = scene.refusal(GrantId(77), None);
    scene.controller.result(again.clone(), None);
    let until = scene.blocked_until(&target).expect("it is blocked");
    scene.controller.result(again, None);
    assert_eq!(scene.blocked_until(&target), Some(until), "the same answer counts once");
    assert_eq!(scene.blocked_until(&home), Some(NOW + minute * 9));
}

#[tokio::test]
async fn a_wish_to_wait_holds_if_another_process_sent_the_request() {
    let mut scene = Scene::new();
    let hub = Domain::from_stored("hub.example");
    let domain = scene.controller.plan.domain(&hub);
    scene.controller.plan.hold(domain, GrantId(5), Duration::from_secs(90));
    let wish = WaitWish { retry_after: Some(RetryAfter::After(Duration::from_secs(600))) };
    scene.controller.late_errand(GrantId(5), Some(wish));
    assert_eq!(scene.blocked_until(&hub), Some(NOW + Duration::from_secs(600)));
    // A number that nobody holds says nothing.
    scene.controller.late_errand(GrantId(6), Some(wish));
    assert_eq!(scene.blocked_until(&scene.home.clone()), None);
}
