//! Entries per feed, gaps, rates and update patterns (003, sections 3.7.4 to 3.7.6).

use super::PopulationBuilder;
use super::facts::{StatCurve, StatSection, number, share, words};
use super::patterns;
use super::spread::spread;
use super::tally::PollTally;
use crate::power_law::{PowerLawFit, frequencies, least_squares, maximum_likelihood, tail};
use crate::tables::FeedLine;

/// The published law, and that of an older data set of 10,000 feeds.
const PUBLISHED: (f64, f64) = (677.0, -0.74);
const OLDER: (f64, f64) = (376.0, -0.78);
/// Feeds without news have as many entries as their window, so these sizes stand out.
const OUTLIERS: [u64; 5] = [1, 10, 25, 50, 100];

pub(super) fn per_feed(all: &PopulationBuilder) -> StatSection {
    let counts: Vec<u64> = all.tallies.iter().map(|tally| tally.entries).collect();
    let with_entries: Vec<u64> = counts.iter().copied().filter(|n| *n > 0).collect();
    let found = spread(with_entries.clone());
    let none = all.n_feeds(|_, tally| tally.entries == 0 && tally.succeeded > 0);
    let never = all.n_feeds(|_, tally| tally.succeeded == 0);
    let frequencies = frequencies(with_entries.iter().copied());
    let (line, likely) = (least_squares(&frequencies), maximum_likelihood(&frequencies, 1));
    let tail = tail(&frequencies);
    let law = |fit: Option<PowerLawFit>| match fit {
        Some(PowerLawFit { a, b }) => format!("y = {a:.1}·x^{b:.3}"),
        None => "–".to_owned(),
    };
    let mut facts = vec![
        number("mean", found.map(|f| f.0), "entries", Some("289")),
        number("median", found.map(|f| f.1 as f64), "entries", Some("12")),
        number("maximum", found.map(|f| f.2 as f64), "entries", Some("more than 12 million")),
        share("feeds with no entry ever", none, all.n_all(), Some("17,040 (8.5 %)")),
        share("feeds never reached", never, all.n_all(), Some("405 (0.2 %)")),
        words("power law, least squares", law(line), Some("a ≈ 677, b ≈ −0.74")),
        number("exponent, least squares", line.map(|fit| fit.b), "", Some("−0.74")),
        words(
            "power law of 10,000 feeds (2007)",
            law(Some(law_of(OLDER))),
            Some("a ≈ 376, b ≈ −0.78"),
        ),
        words("power law, maximum likelihood", law(likely), None),
        number("exponent, maximum likelihood", likely.map(|fit| fit.b), "", None),
        words("power law of the tail", law(tail.map(|(_, fit)| fit)), None),
        number("the tail begins at", tail.map(|(x_min, _)| x_min as f64), "entries", None),
    ];
    for x in OUTLIERS {
        let n = frequencies.get(&x).copied().unwrap_or(0);
        let name = format!("feeds with exactly {x}");
        facts.push(share(name, n, all.n_all(), Some("above the law")));
    }
    let points = frequencies.iter().map(|(x, y)| (*x as f64, *y as f64)).collect();
    let mut curve = StatCurve::line("entries", "feeds", points);
    curve.log = true;
    curve.laws.extend(line.map(|fit| ("least squares", fit.a, fit.b)));
    curve.laws.extend(likely.map(|fit| ("maximum likelihood", fit.a, fit.b)));
    curve.laws.push(("published", PUBLISHED.0, PUBLISHED.1));
    curve.laws.push(("10,000 feeds (2007)", OLDER.0, OLDER.1));
    StatSection::new("entries", "Entries per feed", "3.7.4, figure 3.9", facts)
        .with_curve(curve)
        .with_remark(
            "The dissertation does not say how it fitted its law. Least squares over the \
             logarithms is unweighted and biased; maximum likelihood is not. The tail is fitted by \
             maximum likelihood too; it begins where the law fits best (Kolmogorov–Smirnov).",
        )
}

const fn law_of((a, b): (f64, f64)) -> PowerLawFit {
    PowerLawFit { a, b }
}

/// The upper ends of the bars of gaps in seconds, with their names.
const GAP_BARS: [(f64, &str); 10] = [
    (0.0, "0"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (7200.0, "2 h"),
    (21_600.0, "6 h"),
    (86_400.0, "1 day"),
    (604_800.0, "1 week"),
    (2_419_200.0, "4 weeks"),
    (4_838_400.0, "8 weeks"),
];

/// Returns the entries a day of a feed: of all its entries, from the oldest to the newest.
fn per_day(tally: &PollTally) -> Option<f64> {
    let (oldest, newest) = tally.published?;
    let days = (newest.millis_since(oldest) / 86_400_000).max(1);
    Some(tally.entries as f64 / days as f64)
}

pub(super) fn gaps(all: &PopulationBuilder) -> StatSection {
    let gaps = &all.entries.gaps;
    let days = |tally: &PollTally| tally.intervals.seconds as f64 / 86_400.0;
    let rates = all.tallies.iter().filter(|tally| days(tally) > 0.0);
    // The first window is older than the recording.
    let rates: Vec<f64> = rates.map(|tally| tally.later_news as f64 / days(tally)).collect();
    let mean_rate = (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64);
    let ages = all.tallies.iter().filter_map(|tally| {
        let seconds = tally.last_at?.millis_since(tally.published?.1) / 1000;
        Some(seconds.max(0).unsigned_abs())
    });
    let age = spread(ages.collect()).map(|found| found.1 as f64);
    let mut daily: Vec<f64> = all.tallies.iter().filter_map(per_day).collect();
    daily.sort_by(f64::total_cmp);
    let median_daily = daily.get(daily.len().saturating_sub(1) / 2).copied();
    let facts = vec![
        number("mean gap", gaps.mean(), "s", None),
        number("median gap", gaps.quantile(0.5), "s", None),
        number("standard deviation of the gaps", gaps.deviation(), "s", None),
        number("90 % of the gaps are shorter than", gaps.quantile(0.9), "s", None),
        number("longest gap", gaps.max(), "s", None),
        number("gaps", Some(gaps.n() as f64), "", None),
        number("age of the newest entry at the last poll, median", age, "s", None),
        number("entries a day of a feed, median", median_daily, "", None),
        number("polls with news per feed and day", mean_rate, "", None),
    ];
    let ends = GAP_BARS.map(|(end, _)| end);
    let names = GAP_BARS.iter().map(|(_, name)| *name).chain(["more"]);
    let bars = names.zip(gaps.bars(&ends)).map(|(name, n)| (name.to_owned(), n as f64)).collect();
    StatSection::new("gaps", "Gaps and rates", "3.7.5", facts).with_curve(StatCurve::bars(
        "gap between two entries, at most",
        "gaps",
        bars,
    ))
}

/// Published shares of the patterns.
const PATTERNS: [&str; 8] = [
    "nearly as many as single entry (8.5 %)",
    "nearly as many as empty (9.5 %)",
    "very rare",
    "rather low",
    "a quarter",
    "a third",
    "rather low",
    "18 %",
];

pub(super) fn patterns(all: &PopulationBuilder) -> StatSection {
    let mut facts = Vec::new();
    let mut bars = Vec::new();
    for (pattern, published) in patterns::ALL.into_iter().zip(PATTERNS) {
        let word = pattern.word();
        let text = all.n_feeds(|feed, _| feed.pattern.as_deref() == Some(word));
        let code = all.n_feeds(|feed, _| feed.pattern_by_code.as_deref() == Some(word));
        facts.push(share(word, text, all.n_all(), Some(published)));
        facts.push(share(format!("{word}, by the code"), code, all.n_all(), None));
        bars.push((word.to_owned(), text as f64 / all.n_all().max(1) as f64));
    }
    let unknown = all.n_feeds(|feed, _| feed.pattern.is_none());
    facts.push(share("unknown", unknown, all.n_all(), Some("0.2 %")));
    let is_zombie = |feed: &FeedLine| feed.pattern.as_deref() == Some("zombie");
    let zombies = all.n_feeds(|feed, _| is_zombie(feed));
    let woken = all.n_feeds(|feed, tally| is_zombie(feed) && tally.later_news > 0);
    facts.push(share("zombies with news after their first poll", woken, zombies, Some("none")));
    StatSection::new("patterns", "Update patterns", "3.7.6, figure 3.11", facts)
        .with_curve(StatCurve::bars("pattern", "share of feeds", bars))
}
