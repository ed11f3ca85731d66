//! `tide` with entries that become visible later than their date, or have no date.

use feed::{Observation, Time};
use polling::model::tide::Visibility;
use polling::model::{Model, ModelKind};
use polling::{Bounds, Policy};

use crate::support::chance::Chance;

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
/// A Monday, at midnight.
const MONDAY: i64 = 1_699_833_600;

/// Entries as date and time of becoming visible, in the order of the latter: forty days, two an
/// hour.
fn world(seed: u64, visible: impl Fn(i64) -> i64) -> Vec<(Time, Time)> {
    let mut chance = Chance::new(seed);
    let minutes = (MONDAY / MINUTE)..(MONDAY + 40 * DAY) / MINUTE;
    let dates = minutes.filter(|_| chance.unit() < 2.0 / 60.0).map(|minute| minute * MINUTE + 31);
    let both = dates.map(|date| (Time::from_secs(date), Time::from_secs(visible(date))));
    let mut entries: Vec<(Time, Time)> = both.collect();
    entries.sort_unstable_by_key(|entry| entry.1);
    entries
}

/// The polls of a feed, as the engine observes them.
struct Looks<'a> {
    entries: &'a [(Time, Time)],
    n_known: usize,
    last: Option<Time>,
    new: Vec<Time>,
    late: Vec<Time>,
}

impl<'a> Looks<'a> {
    fn at(entries: &'a [(Time, Time)]) -> Looks<'a> {
        Looks { entries, n_known: 0, last: None, new: Vec::new(), late: Vec::new() }
    }

    fn look(&mut self, at: Time) -> (Observation<'_>, &'a [(Time, Time)]) {
        let end = self.entries.partition_point(|entry| entry.1 <= at);
        let found = &self.entries[self.n_known..end];
        let is_late = |date: Time| self.last.is_some_and(|last| date < last);
        self.late = found.iter().map(|e| e.0).filter(|date| is_late(*date)).collect();
        self.new = found.iter().map(|e| if is_late(e.0) { at } else { e.0 }).collect();
        self.late.sort_unstable();
        self.new.sort_unstable();
        (self.n_known, self.last) = (end, Some(at));
        let seen = crate::support::vectors::seen(at, &self.new);
        (Observation { overlap: 1, late: &self.late, ..seen }, found)
    }
}

/// Runs a feed for forty days. Returns the mean delay of entries visible after day twenty, in
/// seconds, and the number of polls since. `claims` says whether the dates of late entries are
/// known.
fn live(policy: &Policy, entries: &[(Time, Time)], claims: bool) -> (f64, usize) {
    let (mut learned, mut polls) = (policy.start(), Looks::at(entries));
    let (counted, end) = (MONDAY + 20 * DAY, MONDAY + 40 * DAY);
    let (mut delays, mut n_polls) = (Vec::new(), 0);
    let mut at = Time::from_secs(MONDAY + DAY);
    while at.secs() < end {
        let (o, found) = polls.look(at);
        let o = if claims { o } else { Observation { late: &[], ..o } };
        if at.secs() > counted {
            n_polls += 1;
            delays.extend(found.iter().map(|e| at.since(e.1).as_secs_f64()));
        }
        policy.learn(&mut learned, &o);
        at = policy.wish(&learned, &o, &Bounds::EVALUATION).at;
    }
    (delays.iter().sum::<f64>() / delays.len() as f64, n_polls)
}

/// Returns the model learned by polls every seven minutes, and its explanation.
fn watched(entries: &[(Time, Time)]) -> (Model, String) {
    let (mut model, mut polls) = (ModelKind::Tide.start(), Looks::at(entries));
    for poll in 0..3000 {
        model.learn(&polls.look(Time::from_secs(MONDAY + DAY + poll * 7 * MINUTE)).0);
    }
    let policy: Policy = "tide:20m".parse().expect("a policy");
    let o = crate::support::vectors::seen(Time::from_secs(MONDAY + 20 * DAY), &[]);
    let wish = policy.wish(&policy.start_on(model.clone()), &o, &Bounds::EVALUATION);
    (model, wish.why.words())
}

/// The next tick of a generator that runs at seven past every half hour.
fn tick(date: i64) -> i64 {
    (date - 7 * MINUTE).div_euclid(1800) * 1800 + 1800 + 7 * MINUTE + 12
}

#[test]
fn entries_that_a_generator_shows_by_its_timer_are_met_after_the_tick() {
    let policy: Policy = "tide:20m".parse().unwrap();
    let entries = world(1, tick);
    let (told, n_told) = live(&policy, &entries, true);
    let (untold, n_untold) = live(&policy, &entries, false);
    assert!(told < 0.5 * untold, "{told} {untold}");
    assert!(n_told < n_untold + n_untold / 5, "{n_told} {n_untold}");
}

#[test]
fn why_says_how_entries_show_up() {
    let (model, words) = watched(&world(1, tick));
    assert_eq!(shown(&model), Visibility::OnClock { period: 30, minute: 7 });
    assert!(words.contains("Its entries appear every 30 min, first at 7 past"), "{words}");
    let daily = |date: i64| (date - 5 * 3600).div_euclid(DAY) * DAY + DAY + 5 * 3600 + 777;
    let (model, words) = watched(&world(4, daily));
    assert!(
        matches!(shown(&model), Visibility::OnClock { period: 1440, minute: 311..=315 }),
        "{words}"
    );
    assert!(words.contains("Its entries appear at about 05:1"), "{words}");
    let (model, words) = watched(&world(2, |date| date + 40 * MINUTE));
    let Visibility::After { minutes } = shown(&model) else { panic!("{words}") };
    assert!((39..=41).contains(&minutes), "{minutes}");
    assert!(words.contains(&format!("appear about {minutes} min after their date")), "{words}");
}

#[test]
fn lateness_without_a_rule_is_not_taken_for_one() {
    // From a minute to half a day, every lag as likely as one twice as long.
    let late = |date: i64| {
        let mixed = (date.wrapping_mul(2_654_435_761) >> 7).rem_euclid(1000) as f64 / 1000.0;
        (60.0 * 720_f64.powf(mixed)) as i64
    };
    let (model, words) = watched(&world(3, |date| date + late(date)));
    assert_eq!(shown(&model), Visibility::Irregular);
    assert!(!words.contains("appear"), "{words}");
}

/// Returns the rule learned from entries that are each `late` minutes late, polled every seven
/// minutes.
fn believed(late: impl Fn(i64) -> i64) -> Model {
    let mut model = ModelKind::Tide.start();
    for poll in 0..400 {
        let at = Time::from_secs(poll * 7 * MINUTE);
        let date = at.shifted(-(late(poll) * MINUTE + poll % 5 * 60) * 1000);
        let is_late = date < at.shifted(-7 * MINUTE * 1000);
        let new = [if is_late { at } else { date }];
        let dates = [date];
        let late = if is_late { &dates[..] } else { &[] };
        let o = crate::support::vectors::seen(at, if poll % 4 == 0 { &new } else { &[] });
        model.learn(&Observation { overlap: 1, late: if poll % 4 == 0 { late } else { &[] }, ..o });
    }
    model
}

fn shown(model: &Model) -> Visibility {
    let Model::Tide(tide) = model else { panic!("another model") };
    tide.posting_times().visibility
}

#[test]
fn one_late_entry_among_many_is_an_exception() {
    assert_eq!(shown(&believed(|_| 0)), Visibility::AtOnce);
    assert_eq!(shown(&believed(|poll| if poll % 60 == 0 { 300 } else { 0 })), Visibility::AtOnce);
    assert_ne!(shown(&believed(|_| 30)), Visibility::AtOnce);
}

#[test]
fn a_feed_that_changes_its_ways_is_believed_after_two_dozen_entries() {
    let model = believed(|poll| if poll < 200 { 30 } else { 0 });
    assert_eq!(shown(&model), Visibility::AtOnce);
}

#[test]
fn earlier_layouts_of_stored_bytes_knew_no_bursts_and_no_late_entries() {
    let model = believed(|_| 30);
    let bytes = model.encode();
    assert!(bytes.len() <= 1024, "{}", bytes.len());
    assert_eq!(Model::decode(&bytes).as_ref(), Some(&model));
    // Four bytes for each of ten numbers of change detection, of five kinds of bursts and of all
    // entries; kind 7 instead of 8.
    let mut old = bytes[..bytes.len() - 64].to_vec();
    old[1] = 7;
    let upgraded = Model::decode(&old).expect("an old state");
    assert_eq!(shown(&upgraded), shown(&model));
    assert_eq!(upgraded.encode().len(), bytes.len(), "it is written in the present layout");
    // Two bytes of counts, six for each of 24 bounds and nine of daylight saving; kind 6.
    old.truncate(old.len() - 155);
    old[1] = 6;
    let upgraded = Model::decode(&old).expect("an older state");
    assert_eq!(shown(&upgraded), Visibility::AtOnce);
    assert_eq!(upgraded.mean_rate(), model.mean_rate());
    assert_eq!(upgraded.encode().len(), bytes.len(), "it is written in the present layout");
    // A bound that ends before it begins is never written.
    let mut damaged = bytes;
    let at = damaged.len() - 64 - 13;
    damaged[at..at + 4].copy_from_slice(&[9, 0, 3, 0]);
    assert_eq!(Model::decode(&damaged), None);
}
