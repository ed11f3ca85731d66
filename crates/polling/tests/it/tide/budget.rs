//! `tide` under a budget: what it spends, on which feeds, and the effect of more.

use std::time::Duration;

use feed::Time;
use polling::budget::{Miss, Planner, Strategy, Tracked};
use polling::model::{HourlyRates, Model};

use crate::support::chance::Chance;

const CYCLE: Duration = Duration::from_secs(60);
/// A Monday, at midnight.
const START: Time = Time::from_secs(1_699_833_600);
const DAY: u32 = 1440;

/// A feed with known rates: `per_day` entries a day, all of them within some hours.
fn known(per_day: f64, from: usize, hours: usize) -> Tracked {
    let busy = |hour: usize| (hour + 24 - from) % 24 < hours;
    let rate = |hour: usize| if busy(hour) { per_day / (3600.0 * hours as f64) } else { 0.0 };
    let model = Model::Frozen(HourlyRates { hours: (0..24).map(rate).collect(), zone_secs: 0 });
    Tracked { last: Some(START), ..Tracked::new(model) }
}

fn population(seed: u64, n: usize) -> Vec<Tracked> {
    let mut chance = Chance::new(seed);
    let mut one = || {
        let per_day = 0.1 * 200_f64.powf(chance.unit());
        known(per_day, chance.below(24) as usize, 6 + chance.below(19) as usize)
    };
    (0..n).map(|_| one()).collect()
}

fn planner(budget: &str, feeds: &[Tracked]) -> Planner {
    let mut planner = Planner::new(Strategy::Tide, CYCLE);
    planner.set_budget(Some(budget.parse().expect("a budget")));
    feeds.iter().for_each(|feed| _ = planner.track(feed.clone()));
    planner
}

/// Plans minute by minute and answers each poll at once. Calls `each` with the minute, the feed's
/// number, and the feed before its poll.
fn live(
    planner: &mut Planner,
    minutes: std::ops::Range<u32>,
    mut each: impl FnMut(u32, usize, &Tracked),
) {
    for minute in minutes {
        let now = START + CYCLE * minute;
        for feed in planner.spend(now) {
            let before = planner.feeds()[feed].clone();
            each(minute, feed, &before);
            planner.renew(feed, Tracked { last: Some(now), ..before }, now);
        }
    }
}

/// Returns the expected waiting, in entry-seconds, that the polls from the third day on end.
fn waiting(budget: &str, feeds: &[Tracked], days: u32) -> f64 {
    let mut sum = 0.0;
    live(&mut planner(budget, feeds), 0..days * DAY, |minute, _, feed| {
        let (now, last) = (START + CYCLE * minute, feed.last.unwrap_or(START));
        if minute >= 2 * DAY {
            let secs = now.since(last).as_secs_f64();
            sum += secs * feed.model.expect(last, now) - feed.model.utility(last, now);
        }
    });
    sum
}

#[test]
fn more_budget_never_means_more_expected_delay() {
    for seed in 0..4 {
        let feeds = population(seed, 40);
        let mut before = f64::INFINITY;
        for polls in [40, 55, 80, 160, 480] {
            let now = waiting(&format!("{polls}/1d"), &feeds, 9);
            assert!(now > 0.0 && now < before, "{seed}, {polls} a day: {now} after {before}");
            before = now;
        }
    }
}

#[test]
fn an_hourly_budget_is_spent_within_two_percent_of_every_day() {
    let feeds = population(9, 60);
    let mut days = [0; 8];
    let mut planner = planner("40/1h", &feeds);
    live(&mut planner, 0..8 * DAY, |minute, _, _| days[(minute / DAY) as usize] += 1);
    for (day, polls) in days.iter().enumerate() {
        assert!((941..=980).contains(polls), "day {day}: {days:?}");
    }
    // Ten times as much, from one minute to the next, and back.
    for (day, budget, range) in [(8, "400/1h", 9400..=9800), (9, "40/1h", 941..=980)] {
        planner.set_budget(Some(budget.parse().expect("a budget")));
        let mut polls = 0;
        live(&mut planner, day * DAY..(day + 1) * DAY, |_, _, _| polls += 1);
        assert!(range.contains(&polls), "{budget}: {polls}");
    }
}

#[test]
fn a_restart_after_a_night_is_not_a_burst() {
    let feeds = population(3, 300);
    let mut before = planner("60/1h", &feeds);
    live(&mut before, 0..2 * DAY, |_, _, _| ());
    let mut after = planner("60/1h", before.feeds());
    after.resume(&before.progress());
    let mut minutes = [0; 60];
    let from = 2 * DAY + 9 * 60;
    live(&mut after, from..from + 60, |minute, _, _| minutes[(minute - from) as usize] += 1);
    assert!(minutes.iter().all(|n| *n <= 3), "{minutes:?}");
    assert!((50..=62).contains(&minutes.iter().sum::<i32>()), "{minutes:?}");
}

#[test]
fn a_feed_with_four_times_the_weight_is_polled_twice_as_often() {
    let mut feeds = vec![known(4.0, 0, 24); 20];
    feeds[7].weight = 4.0;
    let mut polls = [0.0; 20];
    live(&mut planner("10/1h", &feeds), 0..6 * DAY, |_, feed, _| polls[feed] += 1.0);
    let others = (polls.iter().sum::<f64>() - polls[7]) / 19.0;
    assert!((1.8..2.2).contains(&(polls[7] / others)), "{polls:?}");
}

/// A domain that allows a request every ten minutes has more feeds than all others together. The
/// polls that it cannot use stay with the others, and it loses few of those that it can.
#[test]
fn a_domain_with_a_wide_gap_does_not_soak_up_the_budget() {
    let feeds = vec![known(4.0, 0, 24); 120];
    let mut planner = planner("30/1h", &feeds);
    (0..100).for_each(|feed| planner.set_pace(feed, 1, Duration::from_secs(600)));
    (100..120).for_each(|feed| planner.set_pace(feed, feed as u32, Duration::from_secs(2)));
    let mut polls = [0, 0];
    live(&mut planner, 0..DAY, |_, _, _| ());
    live(&mut planner, DAY..3 * DAY, |_, feed, _| polls[usize::from(feed >= 100)] += 1);
    assert!((200..=290).contains(&polls[0]), "six an hour, no more: {polls:?}");
    assert!(polls[0] + polls[1] >= 1380, "the rest goes to the others: {polls:?}");
}

/// Half of the feeds have documents ten times as large.
#[test]
fn large_documents_are_polled_less_if_bytes_are_scarce() {
    let mut feeds = vec![known(4.0, 0, 24); 40];
    feeds.iter_mut().enumerate().for_each(|(i, f)| f.cost = if i < 20 { 1e4 } else { 1e5 });
    let (mut polls, mut bytes) = ([0.0, 0.0], 0.0);
    let mut planner = planner("60/1h,1MB", &feeds);
    live(&mut planner, 0..8 * DAY, |minute, feed, tracked| {
        if minute >= 4 * DAY {
            polls[feed / 20] += 1.0;
            bytes += tracked.cost;
        }
    });
    assert!((90e6..=97e6).contains(&bytes), "{bytes} of 96 MB");
    // √10 times as often, by the square-root rule.
    assert!((2.4..4.2).contains(&(polls[0] / polls[1])), "{polls:?}");
}

/// A hundred feeds are overdue and polls are scarce: the one whose window fills comes first, though
/// it is overdue for the shortest time.
#[test]
fn a_window_that_fills_goes_first_where_polls_are_short() {
    let mut feeds = vec![known(0.3, 0, 24); 100];
    let hours = |n: u64| START - Duration::from_secs(3600 * n);
    feeds.iter_mut().enumerate().for_each(|(i, feed)| feed.last = Some(hours(300 + i as u64)));
    feeds[17] = Tracked { last: Some(hours(8)), ..known(48.0, 0, 24) };
    let mut first = None;
    live(&mut planner("24/1d", &feeds), 0..60, |_, feed, _| first = first.or(Some(feed)));
    assert_eq!(first, Some(17));
}

#[test]
fn a_higher_price_of_a_miss_polls_feeds_with_full_windows_more() {
    // One feed fills its window in four hours; three post once a day, and polls are few.
    let mut feeds = vec![known(120.0, 0, 24)];
    feeds.extend((0..3).map(|_| known(1.0, 0, 24)));
    let polls = |miss: Option<Duration>| {
        let (mut planner, mut n) = (planner("12/1d", &feeds), [0; 4]);
        miss.into_iter().for_each(|miss| planner.set_miss(Miss(miss)));
        live(&mut planner, 0..8 * DAY, |_, feed, _| n[feed] += 1);
        let why = planner.why(0, START + CYCLE * (8 * DAY)).map(|why| why.words());
        (n[0], why.unwrap_or_default())
    };
    let (mindful, usual) = polls(None);
    let (careless, said) = polls(Some(Duration::from_secs(1)));
    assert!(mindful > careless + 4, "{mindful} {careless}");
    assert!(!usual.contains("lost") && said.contains("lost entry costs as much as 1 s"), "{said}");
}
