//! Suspected misses (003, section 3.7.8, figure 3.13), and failed polls (sections 3.5.6 and 3.6).

use std::collections::BTreeMap;

use super::PopulationBuilder;
use super::facts::{StatCurve, StatSection, number, share};

/// Numbers of misses with a row of their own.
const MISSES_MAX: u64 = 5;
/// One miss a day for four weeks, more or less.
const DAILY: std::ops::RangeInclusive<u64> = 26..=30;
/// A feed with more failures than this many times its successes counts as broken.
const BROKEN_RATIO: u64 = 10;

pub(super) fn misses(all: &PopulationBuilder) -> StatSection {
    let polls: u64 = all.tallies.iter().map(|tally| tally.polls).sum();
    let total: u64 = all.tallies.iter().map(|tally| tally.misses).sum();
    let exactly = |k: u64| all.n_feeds(|_, tally| tally.misses == k);
    let mut facts = vec![
        share("no suspected miss", exactly(0), all.n_all(), Some("94 %")),
        share("exactly one", exactly(1), all.n_all(), Some("2 %")),
        share("exactly two", exactly(2), all.n_all(), Some("1 %")),
    ];
    for k in 1..=MISSES_MAX {
        let n = all.n_feeds(|_, tally| tally.misses <= k);
        let published = (k == 2).then_some("97 %");
        facts.push(share(format!("at most {k}"), n, all.n_all(), published));
    }
    let daily = all.n_feeds(|_, tally| DAILY.contains(&tally.misses));
    let published = Some("a step of about 150 feeds (four weeks)");
    facts.push(share("26 to 30: one a day for four weeks", daily, all.n_all(), published));
    let by_code = all.n_feeds(|_, tally| tally.misses_by_code == 0);
    facts.push(share("no miss by the rule of the code", by_code, all.n_all(), None));
    let rate = (polls > 0).then(|| 1000.0 * total as f64 / polls as f64);
    facts.push(number("misses per 1,000 polls", rate, "", None));
    let mut by_pattern: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_window: BTreeMap<&str, u64> = BTreeMap::new();
    for (feed, tally) in all.feeds.iter().zip(&all.tallies).filter(|(_, t)| t.misses > 0) {
        let pattern = feed.pattern.as_deref().unwrap_or("unknown");
        *by_pattern.entry(pattern).or_default() += tally.misses;
        *by_window.entry(window_class(feed.window)).or_default() += tally.misses;
    }
    for (class, n) in by_pattern.into_iter().chain(by_window) {
        facts.push(share(format!("misses: {class}"), n, total, None));
    }
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    all.tallies.iter().for_each(|tally| *counts.entry(tally.misses).or_default() += 1);
    let mut at_most = 0;
    let points = counts.iter().map(|(k, n)| {
        at_most += n;
        (*k as f64, at_most as f64 / all.n_all().max(1) as f64)
    });
    let points = points.collect();
    StatSection::new("misses", "Suspected misses", "3.7.8, figure 3.13", facts)
        .with_curve(StatCurve::line("suspected misses, at most", "share of feeds", points))
        .with_remark(
            "A miss is counted where two successive windows that are not empty share no \
            entry. It may stand for no lost entry at all. The code behind the dissertation counts \
            every later document in which all entries are new.",
        )
}

const fn window_class(window: Option<u64>) -> &'static str {
    match window {
        None => "unknown window",
        Some(0 | 1) => "window of 0 or 1",
        Some(2..=10) => "window of 2 to 10",
        Some(11..=25) => "window of 11 to 25",
        Some(_) => "window over 25",
    }
}

pub(super) fn errors(all: &PopulationBuilder) -> StatSection {
    let sum = |of: fn(&super::tally::PollTally) -> u64| all.tallies.iter().map(of).sum::<u64>();
    let (polls, failed) = (sum(|tally| tally.polls), sum(|tally| tally.failed));
    let unparsable = sum(|tally| tally.unparsable);
    let broken = all.n_feeds(|_, tally| tally.failed > BROKEN_RATIO * tally.succeeded);
    let with_news = sum(|tally| tally.with_news);
    let later = all.n_feeds(|_, tally| tally.later_news > 0);
    let never = all.n_feeds(|_, tally| tally.succeeded == 0);
    let blocked = all.n_feeds(|_, tally| tally.blocked > 0);
    let elapsed = sum(|tally| tally.elapsed_ms);
    let mean = (polls > 0).then(|| elapsed as f64 / polls as f64 / 1000.0);
    let mut facts = vec![
        share("polls that brought a feed or 304", polls - failed, polls, Some("99.6 %")),
        share("polls that failed", failed - unparsable, polls, Some("0.6 %")),
        share("polls whose document could not be read", unparsable, polls, Some("about 0.7 %")),
        share("polls with news", with_news, polls, Some("15 %")),
        share("feeds with news after the first poll", later, all.n_all(), Some("about 40 %")),
        share("feeds that the rule 10 : 1 would drop", broken, all.n_all(), Some("almost 0.5 %")),
        share("feeds never reached", never, all.n_all(), Some("405 (0.2 %)")),
        share("feeds that answered 429", blocked, all.n_all(), Some("about 0.04 % (blocked)")),
        number("mean duration of a poll", mean, "s", Some("1 s")),
    ];
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, n) in all.tallies.iter().flat_map(|tally| &tally.errors) {
        *classes.entry(class).or_default() += n;
    }
    for (class, n) in classes {
        facts.push(share(format!("failed: {class}"), n, failed, None));
    }
    StatSection::new("errors", "Errors", "3.5.6 and 3.6", facts).with_remark(
        "The published shares of failed polls do not add up: 0.6 % failed, yet 99.6 % were a feed \
         or a 304.",
    )
}
