//! `tide` under a budget, day by day. Each UTC period gets its full budget, neither its beginning
//! nor a restart causes a burst, and the price continues across midnight.

use std::time::Duration;

use feed::Time;
use polling::budget::{PlanCase, Planner, Strategy, Tracked};
use polling::model::{HourlyRates, Model};

use crate::support::chance::Chance;

const CYCLE: Duration = Duration::from_secs(60);
/// A Monday, at midnight.
const START: Time = Time::from_secs(1_699_833_600);
const DAY: u32 = 1440;

/// A feed that posts in some hours of the day, and a fifth as much on Saturdays and Sundays.
fn feed(chance: &mut Chance) -> Tracked {
    let per_day = 0.2 * 100_f64.powf(chance.unit());
    let (from, busy) = (12 + chance.below(6) as usize, 8 + chance.below(8) as usize);
    let rate = |hour: usize| {
        // Hours are counted from a Thursday.
        let weekend = (2..4).contains(&(hour / 24));
        let awake = (hour + 24 - from) % 24 < busy;
        let share = if weekend { 0.2 } else { 1.0 } * if awake { 1.0 } else { 0.02 };
        per_day * share / (3600.0 * busy as f64)
    };
    let model = Model::Frozen(HourlyRates { hours: (0..168).map(rate).collect(), zone_secs: 0 });
    Tracked { last: Some(START), ..Tracked::new(model) }
}

fn planner(budget: &str, n_feeds: usize) -> Planner {
    let (mut planner, mut chance) = (Planner::new(Strategy::Tide, CYCLE), Chance::new(5));
    planner.set_budget(Some(budget.parse().expect("a budget")));
    (0..n_feeds).for_each(|_| _ = planner.track(feed(&mut chance)));
    planner
}

/// The polls of every minute, each answered at once.
fn live(planner: &mut Planner, minutes: std::ops::Range<u32>) -> Vec<u32> {
    let minute = |minute: u32| {
        let now = START + CYCLE * minute;
        let polls = planner.spend(now);
        for feed in &polls {
            let seen = Tracked { last: Some(now), ..planner.feeds()[*feed].clone() };
            planner.renew(*feed, seen, now);
        }
        polls.len() as u32
    };
    minutes.map(minute).collect()
}

fn sums(polls: &[u32], minutes: u32) -> Vec<u32> {
    polls.chunks(minutes as usize).map(|chunk| chunk.iter().sum()).collect()
}

/// Returns the price of a poll of a feed.
fn price(planner: &Planner, at: Time) -> f64 {
    match planner.why(0, at).map(|why| why.case) {
        Some(PlanCase::Waiting { price, .. }) => price.as_secs_f64(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_day_of_a_fortnight_spends_its_budget_and_follows_its_rhythm() {
    for (budget, minutes, n) in [("200/1d", DAY, 200), ("60/6h", 360, 60)] {
        let polls = live(&mut planner(budget, 30), 0..14 * DAY);
        for (period, spent) in sums(&polls, minutes).into_iter().enumerate() {
            // Never more; and at most 2 % less.
            assert!(spent <= n && spent * 50 >= n * 49, "{budget}, period {period}: {spent}");
        }
    }
    // Six quiet hours of a day get far less than six busy ones.
    let quarters = sums(&live(&mut planner("200/1d", 30), 0..7 * DAY), 360);
    assert!(quarters.chunks(4).all(|day| day[1] * 3 < day[3]), "{quarters:?}");
}

#[test]
fn midnight_is_neither_a_burst_nor_a_gap_and_the_price_is_steady_within_a_day() {
    let mut planner = planner("2880/1d", 300);
    let (mut polls, mut prices) = (Vec::new(), Vec::new());
    for hour in 0..14 * 24 {
        polls.extend(live(&mut planner, 60 * hour..60 * (hour + 1)));
        prices.push(price(&planner, START + CYCLE * 60 * hour));
    }
    // Three even shares of a minute.
    assert!(polls.iter().all(|n| *n <= 6), "{polls:?}");
    let quarters = sums(&polls, 15);
    for day in 1..14 {
        // Thirty would be even. From Friday to Saturday the price falls to a fifth, slowly. From
        // Sunday to Monday it rises, and no feed is due at once.
        let (before, after) = quarters[day * 96 - 4..day * 96 + 4].split_at(4);
        assert!(before.iter().all(|n| (15..=90).contains(n)), "day {day}: {before:?}");
        assert!(after.iter().sum::<u32>() >= 60, "day {day}: {after:?}");
    }
    for day in prices.chunks(24).skip(1) {
        let (least, most) = day[4..23].iter().fold((f64::MAX, 0.0_f64), |(least, most), price| {
            (least.min(*price), most.max(*price))
        });
        assert!(most < 1.25 * least, "{day:?}");
    }
}

#[test]
fn restarting_often_neither_spends_more_nor_less() {
    let (budget, n_feeds) = ("720/1d", 60);
    let mut planner = planner(budget, n_feeds);
    let mut polls = Vec::new();
    let mut chance = Chance::new(1);
    let mut minute = 0;
    while minute < 3 * DAY {
        let until = (minute + 1 + chance.below(90) as u32).min(3 * DAY);
        polls.extend(live(&mut planner, minute..until));
        minute = until;
        let mut again = Planner::new(Strategy::Tide, CYCLE);
        again.set_budget(Some(budget.parse().expect("a budget")));
        again.resume(&planner.progress());
        planner.feeds().iter().for_each(|feed| _ = again.track(feed.clone()));
        planner = again;
    }
    for (day, spent) in sums(&polls, DAY).into_iter().enumerate() {
        assert!((706..=720).contains(&spent), "day {day}: {spent}");
    }
    assert!(polls.iter().all(|n| *n <= 2), "three even shares of a minute: {polls:?}");
}

/// A machine that was off for half a day does not catch up, and makes no burst.
#[test]
fn a_sleep_takes_its_share_of_the_day() {
    let mut planner = planner("1440/1d", 200);
    live(&mut planner, 0..DAY + 360);
    let polls = live(&mut planner, DAY + 1080..2 * DAY);
    let spent: u32 = polls.iter().sum();
    assert!((352..=900).contains(&spent), "{spent}");
    assert!(polls.iter().all(|n| *n <= 3), "{polls:?}");
    let next: u32 = live(&mut planner, 2 * DAY..3 * DAY).iter().sum();
    assert!((1411..=1440).contains(&next), "{next}");
}
