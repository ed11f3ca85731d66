//! Formats, window sizes and document sizes (003, sections 3.7.1 to 3.7.3).

use std::collections::BTreeMap;

use super::PopulationBuilder;
use super::facts::{StatCurve, StatSection, number, share};
use super::spread::spread;
use super::tally::WindowChange;

/// Published shares of formats; every other one has 0.5 % at most.
const FORMATS: [(&str, &str); 6] = [
    ("rss-2.0", "75 %"),
    ("atom-1.0", "21 %"),
    ("rss-1.0", "< 4 %"),
    ("rss-0.9x", "≤ 0.5 %"),
    ("atom-0.3", "≤ 0.5 %"),
    ("json-feed-1", "– (younger)"),
];

/// The largest window with a bar of its own in figure 3.7.
const WINDOW_BARS: u64 = 25;
/// The sizes at which the published figure has a peak.
const WINDOW_PEAKS: [(u64, &str); 7] = [
    (10, "the highest peak"),
    (15, "a peak"),
    (20, "a peak"),
    (25, "a peak"),
    (50, "a peak"),
    (100, "a peak"),
    (1000, "a peak"),
];
/// Bars of document sizes: steps of 5 kB to 100 kB.
const SIZE_STEP: u64 = 5000;
const SIZE_BARS: u64 = 20;

pub(super) fn formats(all: &PopulationBuilder) -> StatSection {
    let mut facts = Vec::new();
    for (format, published) in FORMATS {
        let n = all.n_feeds(|feed, _| feed.format.as_deref() == Some(format));
        facts.push(share(format, n, all.n_all(), Some(published)));
    }
    let is_other = |format: &str| FORMATS.iter().all(|known| known.0 != format);
    let other = all.n_feeds(|feed, _| feed.format.as_deref().is_some_and(is_other));
    facts.push(share("other", other, all.n_all(), Some("≤ 0.5 %")));
    let unknown = all.n_feeds(|feed, _| feed.format.is_none());
    facts.push(share("undetermined", unknown, all.n_all(), Some("43 feeds (0.02 %)")));
    let bars = facts.iter().map(|fact| (fact.name.clone(), fact.value.number().unwrap_or(0.0)));
    let bars = bars.collect();
    let family = |name: &str| {
        let is_one = |format: &str| format.starts_with(name);
        all.n_feeds(|feed, _| feed.format.as_deref().is_some_and(is_one))
    };
    let known = all.n_all() - unknown;
    facts.push(share("RSS, all versions", family("rss"), known, Some("98 % in 2005 (2.7.1)")));
    facts.push(share("Atom, all versions", family("atom"), known, Some("2 % in 2005 (2.7.1)")));
    StatSection::new("formats", "Formats and versions", "3.7.1, figure 3.6", facts)
        .with_curve(StatCurve::bars("format", "share of feeds", bars))
        .with_remark(
            "If format duplicates were removed in favour of Atom, the share of Atom is a little \
             higher than on the web.",
        )
}

pub(super) fn windows(all: &PopulationBuilder) -> StatSection {
    let sizes: Vec<u64> = all.feeds.iter().filter_map(|feed| feed.window).collect();
    let n_known = sizes.len() as u64;
    let mut bars: BTreeMap<u64, u64> = (0..=WINDOW_BARS + 1).map(|size| (size, 0)).collect();
    for size in &sizes {
        *bars.entry((*size).min(WINDOW_BARS + 1)).or_default() += 1;
    }
    let found = spread(sizes.clone());
    let n_small = sizes.iter().filter(|size| **size <= 1).count() as u64;
    let changed = |change| all.n_feeds(|_, tally| tally.windows.change() == Some(change));
    let varying = all.n_feeds(|_, tally| tally.windows.changes > 0);
    let with_news = all.n_feeds(|_, tally| tally.later_news > 0);
    let mut facts = vec![
        number("mean", found.map(|f| f.0), "entries", Some("17")),
        number("median", found.map(|f| f.1 as f64), "entries", Some("10")),
        number("maximum", found.map(|f| f.2 as f64), "entries", Some("4,564")),
        share("0 or 1 entries", n_small, n_known, Some("18 %")),
        share("varying", varying, all.n_all(), Some("about 10 %")),
        share("varying, of feeds with news", varying, with_news, Some("a quarter")),
    ];
    for change in [WindowChange::Growing, WindowChange::Alternating, WindowChange::Swinging] {
        facts.push(share(format!("varying: {}", change.word()), changed(change), varying, None));
    }
    facts.push(share("unknown", all.n_all() - n_known, all.n_all(), None));
    for (peak, published) in WINDOW_PEAKS {
        let n = sizes.iter().filter(|size| **size == peak).count() as u64;
        facts.push(share(format!("exactly {peak}"), n, n_known, Some(published)));
    }
    let name = |size: u64| {
        if size > WINDOW_BARS { format!("> {WINDOW_BARS}") } else { size.to_string() }
    };
    let bars = bars.into_iter().map(|(size, n)| (name(size), n as f64)).collect();
    StatSection::new("windows", "Window sizes", "3.7.2, figure 3.7", facts)
        .with_curve(StatCurve::bars("entries in the last window", "feeds", bars))
}

pub(super) fn sizes(all: &PopulationBuilder) -> StatSection {
    let sizes: Vec<u64> = all.feeds.iter().filter_map(|feed| feed.document_bytes).collect();
    let n = sizes.len() as u64;
    let found = spread(sizes.clone());
    let count = |is: fn(u64) -> bool| sizes.iter().filter(|size| is(**size)).count() as u64;
    let heads: Vec<u64> = all.tallies.iter().filter_map(|tally| tally.head_bytes).collect();
    let n_long = heads.iter().filter(|head| **head > 700).count() as u64;
    let n_heads = heads.len() as u64;
    let least = sizes.iter().copied().min();
    let facts = vec![
        number("smallest", least.map(|s| s as f64), "B", Some("40 bytes")),
        number("largest", found.map(|f| f.2 as f64), "B", Some("3 MB")),
        number("median", found.map(|f| f.1 as f64), "B", Some("17 kB (5.8 kB in 2005)")),
        number("mean", found.map(|f| f.0), "B", Some("43 kB (10 kB in 2005)")),
        share("5 kB or less", count(|size| size <= 5000), n, Some("almost a quarter")),
        share("under 10 kB", count(|size| size < 10_000), n, Some("over 80 % in 2005")),
        share("over 100 kB", count(|size| size > 100_000), n, Some("about 11 % (0.1 % in 2005)")),
        share("unknown", all.n_all() - n, all.n_all(), None),
        number("mean head", spread(heads).map(|f| f.0), "B", Some("369 bytes")),
        share("heads over 700 bytes", n_long, n_heads, Some("rarely")),
    ];
    let mut bars = vec![0_u64; SIZE_BARS as usize + 1];
    for size in &sizes {
        bars[(size.saturating_sub(1) / SIZE_STEP).min(SIZE_BARS) as usize] += 1;
    }
    let name = |i: usize| match i as u64 {
        SIZE_BARS => "> 100".to_owned(),
        i => ((i + 1) * SIZE_STEP / 1000).to_string(),
    };
    let bars = bars.iter().enumerate().map(|(i, n)| (name(i), *n as f64)).collect();
    StatSection::new("sizes", "Document sizes", "3.7.3, figure 3.8", facts)
        .with_curve(StatCurve::bars("size of the last document in kB", "feeds", bars))
        .with_remark("Bodies over the limit of the recording are not read and are unknown here.")
}
