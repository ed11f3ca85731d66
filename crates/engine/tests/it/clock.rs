//! A clock that is set, as clocks are: by NTP after the start, by hand, by a battery that died.

use std::sync::Arc;
use std::time::Duration;

use dispatch::command::Command;
use engine::Settings;
use feed::Time;

use crate::scripted::{House, document};

const YEAR: Duration = Duration::from_secs(366 * 86_400);

/// A feed on each of two domains. The second domain asks for an hour.
async fn polled(budget: Option<&str>) -> House {
    let answer = |place: &str| match place {
        "b.test/feed" => {
            Some("HTTP/1.1 503 No\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n".to_owned())
        }
        _ => Some(document(&["1"])),
    };
    let budget = budget.map(|rule| rule.parse().unwrap());
    let house = House::new(Settings { budget, ..Settings::new() }, Arc::new(answer)).await;
    for place in ["a.test/feed", "b.test/feed"] {
        let urls = vec![house.url(place)];
        house
            .act(Command::Add { urls, tags: Vec::new(), poll: true, force: true, account: None })
            .await;
    }
    house.rest().await;
    house
}

fn n_asked(house: &House) -> (usize, usize) {
    (house.n_asked("a.test/feed"), house.n_asked("b.test/feed"))
}

#[tokio::test(flavor = "multi_thread")]
async fn planned_polls_follow_a_clock_that_is_set_back() {
    let house = polled(None).await;
    let before = n_asked(&house);
    house.clock.set(house.clock.now() - YEAR);
    house.pass(50).await;
    assert_eq!(n_asked(&house).1, before.1, "what a domain was promised is kept");
    house.pass(60 * 25).await;
    let after = n_asked(&house);
    assert!(after.0 > before.0 && after.1 > before.1, "{before:?} {after:?}");
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_set_back_before_the_start_delays_no_feed() {
    let mut house = polled(None).await;
    let before = n_asked(&house);
    house.engine.stop().await;
    house.clock.set(house.clock.now() - YEAR);
    house.restart().await;
    house.pass(60 * 25).await;
    let after = n_asked(&house);
    assert!(after.0 > before.0 && after.1 > before.1, "{before:?} {after:?}");
    house.engine.stop().await;
}

/// When the first feed is polled next, as everybody is shown it.
fn shown(house: &House) -> Time {
    house.store.feed(feed::FeedId(1)).unwrap().schedule.next_at.unwrap()
}

/// Whether the stored plan has followed a clock that was set back by a year. It does so last.
fn follows(house: &House) -> bool {
    shown(house) < house.clock.now() + YEAR / 2
}

/// Everybody reads the stored time of the next poll: list, page and APIs.
#[tokio::test(flavor = "multi_thread")]
async fn the_shown_next_poll_follows_a_clock_that_is_set_back() {
    for restarts in [false, true] {
        let mut house = polled(None).await;
        let ahead = shown(&house).since(house.clock.now());
        if restarts {
            house.engine.stop().await;
        }
        house.clock.set(house.clock.now() - YEAR);
        if restarts {
            house.restart().await;
        }
        assert!(house.until(follows).await, "{restarts}: the plan as shown is a year ahead");
        assert_eq!(shown(&house).since(house.clock.now()), ahead, "{restarts}");
        let (before, at) = (n_asked(&house).0, shown(&house));
        house.clock.set(at - Duration::from_secs(1));
        house.rest().await;
        assert_eq!(n_asked(&house).0, before, "{restarts}: polled before the shown time");
        house.clock.set(at);
        house.rest().await;
        assert_eq!(n_asked(&house).0, before + 1, "{restarts}: not polled at the shown time");
        house.engine.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spending_continues_after_the_clock_is_set_back() {
    for restarts in [false, true] {
        let mut house = polled(Some("60/1h uniform periodic")).await;
        let before = n_asked(&house);
        house.clock.set(house.clock.now() - YEAR);
        if restarts {
            house.restart().await;
        }
        assert!(house.until(follows).await, "{restarts}: the plan is a year ahead");
        house.pass(90).await;
        let after = n_asked(&house);
        assert!(after.0 > before.0 && after.1 > before.1, "{restarts} {before:?} {after:?}");
        house.engine.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_does_not_renew_the_budget() {
    let house = polled(Some("12/1d tide tide")).await;
    let day = house.clock.now().secs().div_euclid(86_400);
    house.clock.set(Time::from_secs((day + 1) * 86_400));
    let n_polled = || n_asked(&house).0 + n_asked(&house).1;
    let before = n_polled();
    house.pass(60 * 24 - 2).await;
    let spent = n_polled() - before;
    assert!(spent > 8, "{spent}");
    house.clock.set(house.clock.now() - Duration::from_secs(20 * 3600));
    house.pass(60 * 20).await;
    let spent = n_polled() - before;
    assert!(spent <= 12, "{spent} of 12 in one day");
    house.engine.stop().await;
}
