//! Grants, gaps and the order of what is due, without a clock or a network.

mod grants;

use std::time::Duration;

use super::*;

const GAP: Duration = Duration::from_secs(2);
const EXCHANGE_MAX: Duration = Duration::from_secs(80);

fn at(s: i64) -> Time {
    Time::from_secs(s)
}

fn plan() -> Plan<&'static str> {
    Plan::new(Gaps { default: GAP, by_domain: HashMap::new() }, EXCHANGE_MAX, true)
}

fn domain(plan: &mut Plan<&'static str>, name: &str) -> u32 {
    plan.domain(&Domain::from_stored(name))
}

fn started(grants: &[Grant<&'static str>]) -> Vec<u32> {
    grants
        .iter()
        .filter_map(|g| if let Work::Start(feed) = g.work { Some(feed.0) } else { None })
        .collect()
}

#[test]
fn feeds_are_granted_when_their_time_comes_and_not_before() {
    let mut plan = plan();
    let (a, b) = (domain(&mut plan, "a"), domain(&mut plan, "b"));
    plan.schedule(FeedId(1), a, at(10), 0);
    plan.schedule(FeedId(2), b, at(20), 0);
    assert!(plan.grant(at(9), 10).is_empty());
    assert_eq!(plan.next_wake(10), Some(at(10)));
    assert_eq!(started(&plan.grant(at(10), 10)), [1]);
    assert_eq!(started(&plan.grant(at(20), 10)), [2]);
}

#[test]
fn a_domain_gets_one_request_at_a_time_and_a_gap_after_it() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    assert!(plan.grant(at(5), 10).is_empty(), "the first request is still under way");
    plan.exchanged(a, at(6));
    assert!(plan.grant(at(7), 10).is_empty(), "the gap is not over");
    assert_eq!(plan.next_wake(10), Some(at(8)));
    assert_eq!(started(&plan.grant(at(8), 10)), [2]);
}

#[test]
fn no_more_polls_are_under_way_than_allowed() {
    let mut plan = plan();
    for n in 1..=5 {
        let d = domain(&mut plan, &n.to_string());
        plan.schedule(FeedId(n), d, at(0), 0);
    }
    assert_eq!(plan.grant(at(0), 3).len(), 3);
    assert!(plan.grant(at(0), 3).is_empty());
    let d = domain(&mut plan, "1");
    plan.exchanged(d, at(1));
    plan.finished(FeedId(1), d, Some(at(100)), 1);
    assert_eq!(plan.grant(at(1), 3).len(), 1);
    assert_eq!(plan.in_flight(), 3);
}

#[test]
fn a_finished_feed_is_scheduled_for_its_next_time() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 7);
    let grants = plan.grant(at(0), 10);
    assert_eq!(grants[0].generation, 7);
    plan.exchanged(a, at(1));
    plan.finished(FeedId(1), a, Some(at(50)), 8);
    assert!(plan.grant(at(49), 10).is_empty());
    assert_eq!(plan.grant(at(50), 10)[0].generation, 8);
}

#[test]
fn retry_after_binds_the_whole_domain_and_answers_waiting_callers() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    plan.ask(FeedId(3), a, 0, at(0)).expect("nothing binds the domain yet");
    let pace = DomainPace { not_before: Some(at(100)), ..DomainPace::default() };
    let out = plan.block(a, pace, |feed| feed == FeedId(3));
    assert!(matches!(out[..], [Work::Start(FeedId(3))]), "the caller is answered");
    plan.exchanged(a, at(1));
    assert!(plan.grant(at(99), 10).is_empty());
    assert_eq!(plan.ask(FeedId(4), a, 0, at(50)), Err(at(100)));
    assert_eq!(started(&plan.grant(at(100), 10)), [2], "the scheduled poll stayed in the queue");
}

#[test]
fn a_hop_gives_its_place_back_while_it_waits_for_the_other_domain() {
    let mut plan = plan();
    let (a, b) = (domain(&mut plan, "a"), domain(&mut plan, "b"));
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.grant(at(0), 1);
    plan.exchanged(a, at(1));
    plan.hop(b, FeedId(1), "next", at(1)).expect("nothing binds the other domain");
    assert_eq!(plan.in_flight(), 0);
    let grants = plan.grant(at(1), 1);
    assert!(matches!(&grants[..], [Grant { work: Work::Hop(_, hop), .. }] if **hop == "next"));
    assert_eq!(plan.in_flight(), 1);
}

#[test]
fn asking_twice_for_one_feed_is_one_poll() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(1000), 0);
    plan.ask(FeedId(1), a, 0, at(0)).expect("free");
    plan.ask(FeedId(1), a, 0, at(0)).expect("free");
    assert_eq!(plan.grant(at(0), 10).len(), 1);
    plan.exchanged(a, at(0));
    plan.finished(FeedId(1), a, Some(at(2000)), 1);
    assert!(plan.grant(at(1999), 10).is_empty(), "the old time is stale");
    assert_eq!(plan.grant(at(2000), 10).len(), 1);
}

#[test]
fn a_forgotten_feed_is_no_longer_polled() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), a, at(0), 0);
    plan.grant(at(0), 10);
    plan.forget(FeedId(1));
    plan.forget(FeedId(2));
    plan.exchanged(a, at(1));
    plan.finished(FeedId(1), a, Some(at(5)), 1);
    assert!(plan.grant(at(100), 10).is_empty());
    assert_eq!((plan.in_flight(), plan.n_waiting()), (0, 0));
}

#[test]
fn a_plan_for_requested_polls_grants_nothing_by_itself() {
    let mut plan: Plan<&str> =
        Plan::new(Gaps { default: GAP, by_domain: HashMap::new() }, EXCHANGE_MAX, false);
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    assert!(plan.grant(at(100), 10).is_empty());
    plan.ask(FeedId(1), a, 0, at(100)).expect("free");
    assert_eq!(started(&plan.grant(at(100), 10)), [1]);
}

#[test]
fn a_refused_feed_keeps_its_scheduled_time() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(50), 0);
    plan.ask(FeedId(1), a, 0, at(0)).expect("free");
    plan.block(a, DomainPace::default(), |_| true);
    plan.schedule_again(FeedId(1));
    assert!(plan.grant(at(49), 10).is_empty());
    assert_eq!(started(&plan.grant(at(50), 10)), [1]);
}

#[test]
fn a_feed_under_the_budget_waits_until_the_strategy_queues_it() {
    let mut plan = plan();
    let d = domain(&mut plan, "example.org");
    plan.schedule(FeedId(1), d, UNTIL_PLANNED, 0);
    assert!(plan.grant(at(1_000_000_000), 9).is_empty());
    assert_eq!(plan.next_wake(9), None);
    assert!(plan.queue_planned(FeedId(1), at(5)));
    assert!(!plan.queue_planned(FeedId(1), at(5)), "it waits already");
    assert_eq!(started(&plan.grant(at(5), 9)), [1]);
    assert!(!plan.queue_planned(FeedId(1), at(5)), "it is under way");
    assert!(!plan.queue_planned(FeedId(2), at(5)), "the plan does not know it");
}

#[test]
fn a_refused_feed_under_the_budget_can_be_queued_again() {
    let mut plan = plan();
    let d = domain(&mut plan, "example.org");
    plan.schedule(FeedId(1), d, UNTIL_PLANNED, 0);
    assert_eq!(plan.ask(FeedId(1), d, 0, at(0)), Ok(()));
    let pace = DomainPace { not_before: Some(at(100)), ..DomainPace::default() };
    assert_eq!(plan.block(d, pace, |_| true).len(), 1);
    plan.schedule_again(FeedId(1));
    assert!(plan.queue_planned(FeedId(1), at(5)));
    assert!(plan.grant(at(99), 9).is_empty(), "its domain asked us to wait");
    assert_eq!(started(&plan.grant(at(100), 9)), [1]);
}

#[test]
fn an_errand_waits_for_its_domain_and_polls_wait_for_the_errand() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    let (turn, mut granted) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::BeforePolls, at(0));
    assert!(started(&plan.grant(at(0), 10)).is_empty(), "the errand was first");
    assert_eq!(granted.try_recv().map(|turn| turn.domain), Ok(a));
    plan.exchanged(a, at(1));
    assert!(started(&plan.grant(at(2), 10)).is_empty(), "the gap holds");
    assert_eq!(started(&plan.grant(at(3), 10)), [1]);
    let (turn, mut granted) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::BeforePolls, at(3));
    assert!(plan.grant(at(9), 10).is_empty(), "a poll is under way");
    let pace = DomainPace { not_before: Some(at(100)), ..DomainPace::default() };
    plan.block(a, pace, |_| false);
    assert!(granted.try_recv().is_err(), "a Retry-After drops the turn");
    assert_eq!(plan.n_waiting(), 0);
}

#[test]
fn errands_of_strangers_wait_behind_polls() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    let (turn, mut granted) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::AfterPolls, at(0));
    plan.exchanged(a, at(0));
    assert_eq!(started(&plan.grant(at(2), 10)), [2]);
    assert!(granted.try_recv().is_err());
    plan.exchanged(a, at(2));
    assert!(plan.grant(at(4), 10).is_empty());
    assert_eq!(granted.try_recv().map(|turn| turn.domain), Ok(a));
}

#[test]
fn a_webhook_waits_for_the_request_under_way_but_not_for_the_gap() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    let (turn, mut first) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::WithoutGap, at(0));
    let (turn, mut second) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::WithoutGap, at(0));
    assert!(first.try_recv().is_err(), "a poll is under way");
    plan.exchanged(a, at(1));
    assert_eq!(first.try_recv().map(|turn| turn.domain), Ok(a), "no gap");
    assert!(second.try_recv().is_err(), "one at a time");
    assert!(plan.grant(at(9), 10).is_empty(), "polls wait for it too");
    plan.not_sent(a, at(9));
    assert_eq!(second.try_recv().map(|turn| turn.domain), Ok(a));
    plan.not_sent(a, at(9));
    assert_eq!(started(&plan.grant(at(9), 10)), [2], "the gap counts from the last poll");
}

#[test]
fn an_errand_whose_caller_has_gone_does_not_delay_polls() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    let (turn, granted) = tokio::sync::oneshot::channel();
    plan.errand(a, turn, ErrandClass::BeforePolls, at(0));
    drop(granted);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
}

#[test]
fn a_requested_poll_goes_first_unless_a_retry_after_refuses_it() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    (1..=4).for_each(|n| plan.schedule(FeedId(n), a, at(0), 0));
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    plan.ask(FeedId(4), a, 0, at(0)).expect("nothing binds the domain yet");
    plan.exchanged(a, at(0));
    assert_eq!(started(&plan.grant(at(2), 10)), [4], "a caller waits for it");
    plan.exchanged(a, at(2));
    let pace = DomainPace { not_before: Some(at(9000)), ..DomainPace::default() };
    plan.block(a, pace, |_| false);
    assert_eq!(plan.ask(FeedId(2), a, 0, at(3)), Err(at(9000)), "callers do not wait for hours");
    assert_eq!(started(&plan.grant(at(9000), 10)), [2], "it stayed in the queue");
    plan.exchanged(a, at(9000));
    assert_eq!(started(&plan.grant(at(9002), 10)), [3]);
    plan.exchanged(a, at(9002));
    assert!(plan.grant(at(9999), 10).is_empty(), "each is polled once");
    assert_eq!(plan.n_waiting(), 0);
}

#[test]
fn a_feed_that_is_paused_and_resumed_during_its_poll_is_not_polled_twice() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    plan.forget(FeedId(1));
    plan.schedule(FeedId(1), a, at(0), 0);
    assert!(plan.grant(at(1), 10).is_empty(), "its domain is busy");
    plan.exchanged(a, at(1));
    plan.finished(FeedId(1), a, Some(at(500)), 1);
    assert!(plan.grant(at(499), 10).is_empty(), "its poll has just ended");
    assert_eq!(started(&plan.grant(at(500), 10)), [1]);
}

#[test]
fn a_generation_read_before_a_poll_ended_does_not_make_the_next_poll_stale() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 4);
    plan.grant(at(0), 10);
    plan.exchanged(a, at(0));
    plan.finished(FeedId(1), a, Some(at(100)), 5);
    plan.ask(FeedId(1), a, 4, at(10)).expect("free");
    assert_eq!(plan.grant(at(10), 10)[0].generation, 5, "it was asked for before that");
    plan.exchanged(a, at(10));
    plan.finished(FeedId(1), a, Some(at(200)), 6);
    plan.schedule(FeedId(1), a, at(50), 5);
    assert!(plan.grant(at(50), 10).is_empty(), "the poll since then decided otherwise");
    assert_eq!(plan.grant(at(200), 10)[0].generation, 6);
}

#[test]
fn a_time_decided_before_the_last_poll_is_ignored() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 0);
    assert_eq!(started(&plan.grant(at(0), 10)), [1]);
    plan.exchanged(a, at(0));
    plan.finished(FeedId(1), a, Some(at(9000)), 1);
    plan.schedule(FeedId(1), a, at(10), 0);
    assert!(plan.grant(at(10), 10).is_empty(), "it backs off");
    plan.schedule(FeedId(1), a, at(20), 1);
    assert_eq!(started(&plan.grant(at(20), 10)), [1]);
}

#[test]
fn a_slow_domain_has_a_longer_gap_unless_the_operator_sets_one() {
    let reddit = Domain::from_stored("reddit.com");
    let gaps = |default, own: &[(&str, Duration)]| Gaps {
        default,
        by_domain: own.iter().map(|(name, gap)| ((*name).to_owned(), *gap)).collect(),
    };
    let minute = Duration::from_secs(60);
    assert_eq!(gaps(GAP, &[]).of(&reddit), minute);
    assert_eq!(gaps(minute * 2, &[]).of(&reddit), minute * 2);
    assert_eq!(gaps(GAP, &[("reddit.com", GAP)]).of(&reddit), GAP);
    assert_eq!(gaps(GAP, &[]).of(&Domain::from_stored("example.org")), GAP);
}
