//! Feeds that change their behaviour: how soon `tide` adapts, the cost of a silence, and state of
//! versions without change detection.

use feed::Time;
use polling::Policy;
use polling::model::{Model, ModelKind};

use crate::support::chance::Chance;
use crate::tide::behaviour::{DAY, MONDAY, live};

const HOUR: i64 = 3600;
/// Feeds of each kind, and the days before and after their change.
const FEEDS: u64 = 12;
const BEFORE: i64 = 60;
const AFTER: i64 = 60;

/// Random entries from four weeks before Monday on, at a rate for each day and hour.
fn entries(seed: u64, rate: impl Fn(i64, i64) -> f64) -> Vec<Time> {
    let mut chance = Chance::new(seed);
    let minutes = -28 * 1440..(BEFORE + AFTER) * 1440;
    let per_minute = |m: i64| rate(m.div_euclid(1440), m.rem_euclid(1440) / 60) / 60.0;
    let posts = minutes.filter(|m| chance.unit() < per_minute(*m));
    posts.map(|m| Time::from_secs(MONDAY + m * 60 + 17)).collect()
}

/// Ten entries a day, nearly all of them from six to eighteen.
fn by_day(hour: i64) -> f64 {
    if (6..18).contains(&hour) { 0.8 } else { 0.03 }
}

/// The results of `tide` on a few feeds, day by day from the change on.
struct Lived {
    polls: Vec<f64>,
    waited: Vec<f64>,
    found: Vec<f64>,
}

impl Lived {
    fn of(rate: impl Fn(i64, i64) -> f64) -> Lived {
        let days = vec![0.0; AFTER as usize];
        let mut lived = Lived { polls: days.clone(), waited: days.clone(), found: days };
        let day = |t: &Time| usize::try_from((t.secs() - MONDAY).div_euclid(DAY) - BEFORE).ok();
        let policy: Policy = "tide".parse().expect("a policy");
        for seed in 0..FEEDS {
            let entries = entries(seed, &rate);
            let (polls, _) = live(&policy, &entries, BEFORE + AFTER);
            for poll in &polls {
                day(poll).into_iter().for_each(|d| lived.polls[d] += 1.0);
            }
            for entry in &entries {
                let found = polls.get(polls.partition_point(|p| p < entry));
                if let (Some(found), Some(d)) = (found, day(entry)) {
                    lived.waited[d] += found.since(*entry).as_secs_f64();
                    lived.found[d] += 1.0;
                }
            }
        }
        lived
    }

    fn polls(&self, days: std::ops::Range<usize>) -> f64 {
        let n = days.len() as f64 * FEEDS as f64;
        self.polls[days].iter().sum::<f64>() / n
    }

    fn delay(&self, days: std::ops::Range<usize>) -> f64 {
        self.waited[days.clone()].iter().sum::<f64>() / self.found[days].iter().sum::<f64>()
    }
}

#[test]
fn polls_follow_a_rate_that_falls_or_rises_tenfold_within_days() {
    let slower = Lived::of(|day, hour| by_day(hour) * if day < BEFORE { 1.0 } else { 0.1 });
    let ratio = slower.polls(7..14) / slower.polls(40..60);
    assert!(ratio < 1.35, "{ratio} in the second week");
    let faster = Lived::of(|day, hour| by_day(hour) * if day < BEFORE { 0.1 } else { 1.0 });
    let ratio = faster.polls(5..9) / faster.polls(40..60);
    assert!(ratio > 0.85, "{ratio} after five days");
}

#[test]
fn hours_that_change_are_learned_within_a_week() {
    let turned = Lived::of(|day, hour| by_day(if day < BEFORE { hour } else { hour + 12 } % 24));
    let ratio = turned.delay(7..14) / turned.delay(40..60);
    assert!(ratio < 1.2, "{ratio} in the second week");
}

#[test]
fn a_silence_costs_few_polls_and_who_comes_back_is_found() {
    let silent = 0..AFTER - 10;
    let rate = |day: i64, hour| if silent.contains(&(day - BEFORE)) { 0.0 } else { by_day(hour) };
    let woken = Lived::of(rate);
    let (last, back) = (woken.polls(20..50), woken.delay(50..51) / HOUR as f64);
    assert!(last < 2.5, "{last} polls a day in the silence");
    assert!(back < 6.0, "{back} hours on the first day");
}

#[test]
fn the_second_layout_of_stored_bytes_has_no_changes_and_no_bursts() {
    let entries = entries(3, |_, hour| by_day(hour));
    let mut model = ModelKind::Tide.start();
    for poll in 0..200 {
        let at = |poll: i64| Time::from_secs(MONDAY + poll * 3 * HOUR);
        let until = |time: Time| entries.partition_point(|t| *t <= time);
        let new = &entries[until(at(poll - 1))..until(at(poll))];
        model.learn(&crate::support::vectors::seen(at(poll), new));
    }
    let bytes = model.encode();
    assert!(bytes.len() <= 1024, "{}", bytes.len());
    assert_eq!(Model::decode(&bytes).as_ref(), Some(&model));
    // Six numbers of two runs, two of bursts in the rate, two of the hours, six of window bursts;
    // kind 7, not 8.
    let mut old = bytes[..bytes.len() - 64].to_vec();
    old[1] = 7;
    let upgraded = Model::decode(&old).expect("an older state");
    let (from, to) = (Time::from_secs(MONDAY + 30 * DAY), Time::from_secs(MONDAY + 31 * DAY));
    assert_eq!(upgraded.expect(from, to), model.expect(from, to));
    assert_ne!(upgraded, model, "the doubt is gone");
    assert_eq!(upgraded.encode().len(), bytes.len(), "it is written in the present layout");
    // Evidence is never negative, and NaN is never written.
    for damage in [-1.0_f32, f32::NAN] {
        let mut damaged = bytes.clone();
        let at = damaged.len() - 64;
        damaged[at..at + 4].copy_from_slice(&damage.to_le_bytes());
        assert_eq!(Model::decode(&damaged), None);
    }
}
