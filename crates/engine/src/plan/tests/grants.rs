//! Deadlines of grants: lost jobs and late results.

use super::*;

/// The time by the stopwatch after which a grant of time zero is over.
const GRANT_OVER: Duration = Duration::from_secs(90);

#[test]
fn a_lost_job_frees_its_domain_and_its_place_in_flight_at_its_deadline() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 4);
    plan.schedule(FeedId(2), a, at(0), 0);
    let lost = plan.grant(at(0), 1).remove(0);
    assert_eq!(lost.send_by, Duration::from_secs(5));
    assert_eq!(plan.next_deadline(), Some(GRANT_OVER), "the controller wakes up for it");
    assert!(plan.expire(GRANT_OVER - Duration::from_millis(1), at(89)).is_empty());
    assert!(plan.grant(at(89), 1).is_empty(), "it may still be under way");
    let expired = plan.expire(GRANT_OVER, at(90));
    let open = OpenGrant { domain: a, feed: FeedId(1), generation: 4 };
    assert_eq!(expired, [(lost.id, open)]);
    plan.finished(FeedId(1), a, Some(at(150)), 4);
    assert_eq!(plan.in_flight(), 0);
    assert!(plan.grant(at(91), 1).is_empty(), "the gap counts from the deadline");
    assert_eq!(started(&plan.grant(at(92), 1)), [2]);
    assert_eq!(plan.close(lost.id), None, "a late result is stale");
    assert!(plan.grant(at(150), 2).is_empty(), "it did not free the other request's domain");
    plan.exchanged(a, at(150));
    let retried = plan.grant(at(152), 2);
    assert_eq!((started(&retried), retried[0].generation), (vec![1], 4));
}

#[test]
fn a_redirected_poll_that_is_lost_goes_back_to_the_domain_of_its_feed() {
    let mut plan = plan();
    let (a, b) = (domain(&mut plan, "a"), domain(&mut plan, "b"));
    plan.schedule(FeedId(1), a, at(0), 4);
    let first = plan.grant(at(0), 1).remove(0);
    plan.close(first.id);
    plan.exchanged(a, at(1));
    plan.hop(b, FeedId(1), "b/", at(1)).expect("b is free");
    let lost = plan.grant(at(1), 1).remove(0);
    assert_eq!(lost.domain, b);
    let expired = plan.expire(GRANT_OVER, at(90));
    assert_eq!(expired[0].1.domain, b, "the domain that is free again");
    let (home, generation) = plan.planned(FeedId(1));
    assert_eq!((home, generation), (a, 4));
    plan.finished(FeedId(1), home, Some(at(91)), generation);
    let again = plan.grant(at(91), 1).remove(0);
    assert_eq!((again.domain, again.generation), (a, 4));
}

#[test]
fn a_result_closes_its_own_grant_and_only_once() {
    let mut plan = plan();
    let (a, b) = (domain(&mut plan, "a"), domain(&mut plan, "b"));
    plan.schedule(FeedId(1), a, at(0), 0);
    plan.schedule(FeedId(2), b, at(0), 0);
    let grants = plan.grant(at(0), 9);
    let feed_of = |plan: &mut Plan<&str>, n: usize| plan.close(grants[n].id).map(|open| open.feed);
    assert_ne!(grants[0].id, grants[1].id);
    let first = feed_of(&mut plan, 0);
    assert!(first.is_some());
    assert_eq!(feed_of(&mut plan, 0), None, "its result came already");
    assert_ne!(feed_of(&mut plan, 1), first);
    assert_eq!(plan.next_deadline(), None, "no grant is open");
    assert!(plan.expire(GRANT_OVER * 2, at(9)).is_empty());
}

#[test]
fn a_late_result_puts_only_a_known_feed_under_way() {
    let mut plan = plan();
    let a = domain(&mut plan, "a");
    plan.schedule(FeedId(1), a, at(0), 4);
    assert!(!plan.adopt(FeedId(u32::MAX), 4), "another machine names the feed");
    assert!(plan.slots.len() < 10);
    assert!(!plan.adopt(FeedId(1), 3), "a later poll has ended");
    assert!(plan.adopt(FeedId(1), 4));
    assert!(!plan.adopt(FeedId(1), 4), "it is under way");
    assert_eq!(plan.in_flight(), 1);
}

proptest::proptest! {
    /// Jobs are lost and results come late or never. No domain has two requests at once. After the
    /// deadlines no domain is busy and no poll is in flight.
    #[test]
    fn lost_jobs_leave_nothing_behind(fates in proptest::collection::vec(0..4_u8, 1..200)) {
        let (mut plan, mut open, mut seconds) = (plan(), Vec::new(), 0_u32);
        for feed in 1..=6 {
            let domain = domain(&mut plan, &(feed % 3).to_string());
            plan.schedule(FeedId(feed), domain, at(0), 0);
        }
        for fate in fates {
            seconds += 20;
            let (now, watch) = (at(i64::from(seconds)), Duration::from_secs(seconds.into()));
            for (_, OpenGrant { feed, domain, generation }) in plan.expire(watch, now) {
                plan.finished(feed, domain, Some(now), generation);
            }
            open.extend(plan.grant(now, 4).into_iter().map(|grant| grant.id));
            let n_in_flight = plan.in_flight();
            proptest::prop_assert!(n_in_flight <= 3, "one for each domain: {n_in_flight}");
            // 0: the oldest answers, perhaps too late; 1: the newest does; else nobody does.
            let answered = match fate {
                0 if !open.is_empty() => Some(open.remove(0)),
                1 => open.pop(),
                _ => None,
            };
            if let Some(OpenGrant { domain, feed, generation }) =
                answered.and_then(|grant| plan.close(grant))
            {
                plan.exchanged(domain, now);
                plan.finished(feed, domain, Some(now), generation);
            }
        }
        let end = at(i64::from(seconds) + 1000);
        let watch = Duration::from_secs(u64::from(seconds) + 1000);
        for (_, OpenGrant { feed, domain, generation }) in plan.expire(watch, end) {
            plan.finished(feed, domain, Some(end), generation);
        }
        proptest::prop_assert_eq!(plan.in_flight(), 0);
        let n_granted = plan.grant(end + GAP, 9).len();
        proptest::prop_assert_eq!(n_granted, 3, "every domain is free");
    }
}
