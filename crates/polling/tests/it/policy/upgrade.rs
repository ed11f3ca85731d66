//! Learned state of an older version is read, used, and written in the new layout.

use std::time::Duration;

use feed::{Observation, Time};
use polling::{Bounds, Learned, Policy};

const DAY: i64 = 86_400;

fn observed<'a>(at: i64, new: &'a [Time]) -> Observation<'a> {
    Observation::first(Time::from_secs(at), new)
}

/// The header of version 1: kind, whether there was an entry, the first poll.
fn version_1(kind: u8, first: i64) -> Vec<u8> {
    let mut bytes = vec![1, kind, 1];
    bytes.extend((first * 1000).to_le_bytes());
    bytes
}

#[test]
fn version_1_of_lihz_kept_its_counts_in_bytes() {
    let policy: Policy = "lihz:0.5".parse().unwrap();
    let mut live = policy.start();
    let mut old = version_1(7, 0);
    // Daily polls from a Thursday on; the feed changed on Tuesdays.
    for day in 0..30 {
        let tuesday = [Time::from_secs(day * DAY)];
        let new = if (day + 3) % 7 == 1 { &tuesday[..] } else { &[] };
        policy.learn(&mut live, &observed(day * DAY, new));
    }
    // 29 days were counted: Friday is the first.
    old.extend([4_u8, 4, 4, 4, 5, 4, 4]);
    old.extend([0_u8, 4, 0, 0, 0, 0, 0]);
    old.extend(0_i32.to_le_bytes());
    old.extend(29_i64.to_le_bytes());
    old.push(0);
    let upgraded = Learned::decode(&policy, &old);
    assert_eq!(upgraded.encode()[0], 2, "it is written in the present version");
    let o = observed(30 * DAY, &[]);
    assert_eq!(
        policy.wish(&upgraded, &o, &Bounds::EVALUATION).at,
        policy.wish(&live, &o, &Bounds::EVALUATION).at
    );
    assert_eq!(Learned::decode(&policy, &upgraded.encode()), upgraded);
    assert_eq!(upgraded.encode(), live.encode());
}

#[test]
fn version_1_of_recent_entries_did_not_know_what_was_cut() {
    let policy: Policy = "entry-frequency".parse().unwrap();
    let mut live = policy.start();
    let times: Vec<Time> = (0..5).map(|i| Time::from_secs(i * 1000)).collect();
    policy.learn(&mut live, &observed(5000, &times));
    let mut old = version_1(11, 5000);
    old.extend(5_u16.to_le_bytes());
    old.extend(0_i64.to_le_bytes());
    // 1000 seconds in groups of seven bits.
    (0..4).for_each(|_| old.extend([0xe8_u8, 0x07]));
    let upgraded = Learned::decode(&policy, &old);
    assert_eq!(upgraded, live);
    assert_eq!(upgraded.encode(), live.encode());
}

#[test]
fn a_version_to_come_is_a_fresh_start_and_not_a_guess() {
    let policy: Policy = "lru-2".parse().unwrap();
    let mut live = policy.start();
    let times = [Time::from_secs(0), Time::from_secs(60)];
    policy.learn(&mut live, &observed(100, &times));
    let mut bytes = live.encode();
    assert_ne!(Learned::decode(&policy, &bytes), policy.start());
    bytes[0] = 3;
    assert_eq!(Learned::decode(&policy, &bytes), policy.start());
}

/// The first successful poll survives a change of policy; η by cause depends on it.
#[test]
fn another_policy_keeps_when_the_feed_was_first_seen() {
    let (old, new): (Policy, Policy) = ("lihz:1".parse().unwrap(), "mavsync".parse().unwrap());
    let mut learned = old.start();
    old.learn(&mut learned, &observed(0, &[]));
    let changed = Learned::decode(&new, &learned.encode());
    assert_eq!(changed.first_seen_at(), Some(Time::from_secs(0)));
    let bounds = Bounds::EVALUATION.by_cause();
    let o = observed(8 * DAY, &[]);
    let wish = new.wish(&changed, &o, &bounds);
    assert_eq!(wish.at.since(o.at), Duration::from_secs(7 * 86_400), "never an entry, for a week");
}
