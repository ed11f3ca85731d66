//! The grants of a budget's period: all of it, never more, and not all at once.

use std::time::Duration;

use feed::Time;
use polling::budget::allowance::{Allowance, Saving, SpendingGrant};

const CYCLE: Duration = Duration::from_secs(60);

/// Grants from minute to minute; `spend` takes a part of each.
fn days(budget: &str, minutes: u32, spend: impl Fn(u32, SpendingGrant) -> usize) -> Vec<usize> {
    let (budget, mut allowance) = (budget.parse().expect("a budget"), Allowance::default());
    let mut days = Vec::new();
    for minute in 0..minutes {
        let now = Time::from_secs(0) + CYCLE * minute;
        let granted = allowance.grant(now, &budget, CYCLE, Saving::WithinPeriod);
        let n = spend(minute, granted);
        assert!(n <= granted.polls && granted.expiring <= granted.polls);
        allowance.spend(n, 0.0);
        days.resize(minute as usize / 1440 + 1, 0);
        days[minute as usize / 1440] += n;
    }
    days
}

#[test]
fn a_day_is_spent_to_the_last_poll_early_or_late_and_never_more() {
    for n in [7, 36, 525, 1440, 100_003] {
        let budget = format!("{n}/1d");
        assert_eq!(days(&budget, 4320, |_, granted| granted.polls), [n; 3], "greedy");
        assert_eq!(days(&budget, 4320, |_, granted| granted.expiring), [n; 3], "lazy");
        let half_day = |minute: u32, granted: SpendingGrant| match minute % 1440 {
            0..720 => granted.expiring,
            _ => granted.polls,
        };
        assert_eq!(days(&budget, 4320, half_day), [n; 3], "after noon");
    }
    // No poll is wanted: nothing is saved for the next day.
    let third = |minute: u32, granted: SpendingGrant| if minute < 2880 { 0 } else { granted.polls };
    assert_eq!(days("525/1d", 4320, third), [0, 0, 525]);
}

#[test]
fn no_minute_spends_more_than_three_shares() {
    let most = std::cell::Cell::new(0);
    days("14400/1d", 2880, |minute, granted| {
        most.set(most.get().max(granted.polls));
        if minute < 1200 { 0 } else { granted.polls }
    });
    assert_eq!(most.get(), 30);
}

#[test]
fn a_clock_that_goes_back_earns_no_second_twice() {
    let (budget, mut allowance) = ("1440/1d".parse().expect("a budget"), Allowance::default());
    let mut spent = 0;
    for step in 0..4000_i64 {
        // Two minutes forward, one back.
        let minute = (step / 2 + 2 * (step % 2)).min(1439);
        let now = Time::from_secs(60 * minute);
        let granted = allowance.grant(now, &budget, CYCLE, Saving::WithinPeriod);
        allowance.spend(granted.polls, 0.0);
        spent += granted.polls;
    }
    assert_eq!(spent, 1440);
}

#[test]
fn spending_outside_the_plan_reduces_the_plan() {
    let (budget, mut allowance) = ("1440/1d".parse().expect("a budget"), Allowance::default());
    let left = |allowance: &mut Allowance, minute: i64| {
        let now = Time::from_secs(60 * minute);
        allowance.grant(now, &budget, CYCLE, Saving::WithinPeriod).left
    };
    assert_eq!(left(&mut allowance, 0), 1440);
    allowance.spend(1500, 0.0);
    assert_eq!(left(&mut allowance, 1), 0);
    // Two days later: the machine was off, and the second day pays the debt of the first.
    assert_eq!(left(&mut allowance, 2880), 1440);
}
