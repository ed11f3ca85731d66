//! Changes of the schedule that are not polls.

use feed::{FeedId, Outcome};
use store::{ExpectedPoll, ExpectedPolls, NewFeed, PollRecord, Replan, StoreError};

use crate::sample::{T0, add, at, fresh, new_feed, poll};

#[test]
fn a_feed_is_put_to_another_time_with_its_reason() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(0));
    let replan = Replan {
        generation: 1,
        wanted_at: at(50),
        next_at: at(60),
        reason: "fix: every minute".to_owned(),
        cause: "fix u=60s".to_owned(),
        held: None,
    };
    assert_eq!(f.store.replan(vec![(id, replan.clone())]).unwrap(), []);
    let input = f.store.poll_input(id).unwrap();
    assert_eq!((input.schedule.wanted_at, input.schedule.next_at), (Some(at(50)), Some(at(60))));
    assert_eq!(input.schedule.why.cause.as_deref(), Some("fix u=60s"));
    assert_eq!(input.generation, 1, "a poll under way is not overtaken by it");
    let other = Replan { next_at: at(99), ..replan.clone() };
    let nobody = f.store.replan(vec![(id, other), (FeedId(9), replan)]);
    assert!(matches!(nobody, Err(StoreError::NoFeed(FeedId(9)))));
    assert_eq!(
        f.store.poll_input(id).unwrap().schedule.next_at,
        Some(at(60)),
        "all of them or none"
    );
}

#[tokio::test]
async fn what_a_strategy_expects_is_kept_unless_a_poll_came_between() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(0));
    let expect = |generation, at| ExpectedPolls {
        feeds: vec![ExpectedPoll {
            feed: id,
            generation,
            at,
            reason: "two-steps: it waits".to_owned(),
            cause: "two-steps div=1".to_owned(),
        }],
        progress: vec![0, 15, 255],
    };
    f.store.store_expected_polls(expect(1, Some(at(50)))).await.unwrap();
    let input = f.store.poll_input(id).unwrap();
    assert_eq!(
        (input.schedule.next_at, input.schedule.why.cause.as_deref()),
        (Some(at(50)), Some("two-steps div=1"))
    );
    f.store.store_expected_polls(expect(0, Some(at(70)))).await.unwrap();
    assert_eq!(
        f.store.poll_input(id).unwrap().schedule.next_at,
        Some(at(50)),
        "said of an older poll"
    );
    f.store.store_expected_polls(expect(1, None)).await.unwrap();
    assert_eq!(f.store.poll_input(id).unwrap().schedule.next_at, Some(at(50)), "it cannot be told");
    assert_eq!(f.store.strategy_progress().unwrap(), [0, 15, 255]);
}

#[tokio::test]
async fn blame_is_taken_back_once_and_only_where_there_was_some() {
    let f = fresh();
    let (failed, fine) = (add(&f.store, "https://a.example/"), add(&f.store, "https://b.example/"));
    let mut record = PollRecord::empty(failed, 0, at(0), Outcome::Failed, at(900));
    record.decision.failures = 1;
    f.store.record(record).await.unwrap();
    let forgiven = f.store.forgive(&[failed, fine], at(60), "our network").await.unwrap();
    assert_eq!(forgiven, [failed]);
    let input = f.store.poll_input(failed).unwrap();
    assert_eq!((input.history.failures, input.schedule.next_at), (0, Some(at(60))));
    assert!(f.store.forgive(&[failed], at(70), "again").await.unwrap().is_empty());
    assert_eq!(f.store.poll_input(failed).unwrap().schedule.next_at, Some(at(60)));
}

#[test]
fn feeds_are_named_by_tag_and_the_longest_overdue_comes_first() {
    let f = fresh();
    let tagged = NewFeed { tags: vec!["news".to_owned()], ..new_feed("https://a.example/") };
    let tagged = f.store.add_feed(&tagged, T0).unwrap().id;
    let plain = add(&f.store, "https://b.example/");
    assert_eq!(f.store.feed_ids(Some("news")).unwrap(), [tagged]);
    assert_eq!(f.store.feed_ids(None).unwrap(), [tagged, plain]);
    assert_eq!(f.store.last_poll_at().unwrap(), None);
    poll(&f.store, tagged, &["1"], at(10));
    poll(&f.store, plain, &["1"], at(5));
    assert_eq!(f.store.last_poll_at().unwrap(), Some(at(10)));
    assert!(f.store.due_feeds(at(3604)).unwrap().is_empty());
    assert_eq!(f.store.due_feeds(at(3605)).unwrap(), [plain]);
    assert_eq!(f.store.due_feeds(at(3610)).unwrap(), [plain, tagged]);
    assert_eq!(f.store.due_feeds(at(-9_000_000)).unwrap(), [plain, tagged], "a clock set back");
}

/// A poll that ends while settings change has set a backoff. A decision from before that poll must
/// not undo it.
#[test]
fn what_was_decided_before_the_last_poll_changes_nothing() {
    let f = fresh();
    let (polled, other) =
        (add(&f.store, "https://a.example/"), add(&f.store, "https://b.example/"));
    let before = |next_at| Replan {
        generation: 0,
        wanted_at: next_at,
        next_at,
        reason: "tide".to_owned(),
        cause: "tide".to_owned(),
        held: None,
    };
    let mut record = PollRecord::empty(polled, 0, at(0), Outcome::Failed, at(9000));
    (record.decision.failures, record.decision.next.why.held) =
        (1, Some("it failed once".to_owned()));
    f.store.record_blocking(record).unwrap();
    let stale = f.store.replan(vec![(polled, before(at(5))), (other, before(at(6)))]).unwrap();
    assert_eq!(stale, [polled]);
    let input = f.store.poll_input(polled).unwrap();
    assert_eq!(
        (input.schedule.next_at, input.schedule.why.held.as_deref()),
        (Some(at(9000)), Some("it failed once"))
    );
    assert_eq!(f.store.poll_input(other).unwrap().schedule.next_at, Some(at(6)));
}

#[test]
fn the_stored_plan_follows_a_clock_that_is_set_back_once() {
    let f = fresh();
    let (late, early) = (add(&f.store, "https://a.example/"), add(&f.store, "https://b.example/"));
    let add_poll = |feed, polled_at, next_at| {
        let record = PollRecord::empty(feed, 0, polled_at, Outcome::Failed, next_at);
        f.store.record_blocking(record).unwrap();
    };
    add_poll(early, at(100), at(20_000));
    add_poll(late, at(10_000), at(13_600));
    let next = |feed| f.store.feed(feed).unwrap().schedule.next_at;
    // Between two starts only the last poll shows the size of the jump.
    for _ in 0..2 {
        f.store.set_back(None, at(1000)).unwrap();
        assert_eq!((next(late), next(early)), (Some(at(4600)), Some(at(20_000))));
    }
    f.store.set_back(Some(std::time::Duration::from_secs(500)), at(500)).unwrap();
    assert_eq!((next(late), next(early)), (Some(at(4100)), Some(at(19_500))));
    assert_eq!(f.store.last_poll_at().unwrap(), Some(at(500)));
    assert_eq!(f.store.latest_poll_at().unwrap(), Some(at(10_000)), "what was recorded stays");
}
