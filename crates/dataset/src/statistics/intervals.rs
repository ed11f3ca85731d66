//! The intervals of the recording itself (003, section 3.5.4).

use super::PopulationBuilder;
use super::facts::{StatCurve, StatSection, number, share};

/// The upper ends of the bars in seconds, with their names.
const BARS: [(u32, &str); 12] = [
    (60, "1 min"),
    (120, "2 min"),
    (300, "5 min"),
    (600, "10 min"),
    (900, "15 min"),
    (1800, "30 min"),
    (3600, "1 h"),
    (7200, "2 h"),
    (10_800, "3 h"),
    (14_400, "4 h"),
    (18_000, "5 h"),
    (21_600, "6 h"),
];
const BETA: u32 = 21_600;

/// The intervals of one feed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IntervalTotals {
    pub n: u64,
    pub seconds: u64,
    pub longest: u32,
}

impl IntervalTotals {
    pub fn add(&mut self, seconds: u32) {
        self.n += 1;
        self.seconds += u64::from(seconds);
        self.longest = self.longest.max(seconds);
    }
}

/// The intervals of all feeds, in bars.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalCounts {
    bars: [u64; BARS.len() + 1],
    /// From half of β to β.
    spread_out: u64,
}

impl IntervalCounts {
    pub fn add(&mut self, seconds: u32) {
        let bar = BARS.iter().position(|(end, _)| seconds <= *end).unwrap_or(BARS.len());
        self.bars[bar] += 1;
        self.spread_out += u64::from((BETA / 2..=BETA).contains(&seconds));
    }
}

pub(super) fn intervals(all: &PopulationBuilder) -> StatSection {
    let IntervalCounts { bars, spread_out } = all.intervals.clone();
    let total: u64 = bars.iter().sum();
    // The first bar ends at α. The mean interval of a feed says where its rule put it.
    let at_alpha = bars[0];
    let is_slow = |of: &IntervalTotals| {
        let mean = of.seconds.checked_div(of.n);
        mean.is_some_and(|mean| (u64::from(BETA / 2)..=u64::from(BETA)).contains(&mean))
    };
    let polled_twice = all.n_feeds(|_, tally| tally.intervals.n > 0);
    let slow = all.n_feeds(|_, tally| is_slow(&tally.intervals));
    let longest = all.tallies.iter().filter(|t| t.intervals.n > 0).map(|t| t.intervals.longest);
    let longest = longest.max().map(f64::from);
    let polls: u64 = all.tallies.iter().map(|tally| tally.polls).sum();
    let per_feed = (all.n_all() > 0).then(|| polls as f64 / all.n_all() as f64);
    let minute = all.minutes.summary();
    let late = all.tallies.iter().fold((0, 0), |sum, t| (sum.0 + t.late.0, sum.1 + t.late.1));
    let lateness = (late.1 > 0).then(|| late.0 as f64 / late.1 as f64 / 1000.0);
    let facts = vec![
        share("intervals of 1 min or less (α)", at_alpha, total, None),
        share("intervals from 3 h to 6 h", spread_out, total, None),
        share("feeds from 3 h to 6 h", slow, polled_twice, Some("more than 90 %")),
        number("polls per feed", per_feed, "", Some("200")),
        number("polls per minute, mean", minute.map(|m| m.0), "", Some("about 1,000")),
        number("polls per minute, standard deviation", minute.map(|m| m.1), "", None),
        number("polls per minute, 99th percentile", minute.map(|m| m.2), "", None),
        number("mean delay of polls after their plan", lateness, "s", None),
        number("longest time without a poll", longest, "s", None),
    ];
    let names = BARS.iter().map(|(_, name)| *name).chain(["more"]);
    let bars = names.zip(bars).map(|(name, n)| (name.to_owned(), n as f64)).collect();
    StatSection::new("intervals", "Intervals between polls", "3.5.4", facts)
        .with_curve(StatCurve::bars("interval, at most", "intervals", bars))
}
