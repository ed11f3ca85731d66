//! Attributes of documents, ttl values, charsets and time zones (003, section 3.7.7).

use std::collections::BTreeMap;

use super::PopulationBuilder;
use super::facts::{StatCurve, StatFact, StatSection, share};
use crate::tables::FeedLine;

/// An attribute: its name, the feeds that have it, and the published shares of feeds and of their
/// entries (5.2.1: 179,000 feeds with 33 million entries).
type Attribute = (&'static str, fn(&FeedLine) -> bool, Option<&'static str>, Option<&'static str>);

const ATTRIBUTES: [Attribute; 12] = [
    ("identifier in the first entry", |f| f.identifiers == Some(true), Some("80 %"), None),
    (
        "no identifier in the first entry",
        |f| f.identifiers == Some(false),
        Some("a good 11 %"),
        None,
    ),
    ("no readable date", |f| f.dates == Some(false), Some("almost 11 %"), None),
    ("ttl", |f| f.ttl.is_some(), Some("11 %"), Some("almost a third")),
    ("cloud", |f| f.cloud.is_some(), Some("about 3.7 %"), Some("0.5 %")),
    ("hub", |f| f.hub.is_some(), Some("almost 7 %"), None),
    ("skipHours", |f| f.skip_hours == Some(true), Some("0.05 %"), Some("< 0.1 %")),
    ("skipDays", |f| f.skip_days == Some(true), Some("0.04 %"), Some("< 0.1 %")),
    ("sy: (update period)", |f| f.update_period.is_some(), None, None),
    ("enclosures", |f| f.enclosures == Some(true), None, None),
    ("categories", |f| f.categories == Some(true), None, None),
    ("full content", |f| f.full_content == Some(true), None, None),
];

/// The names of [`ATTRIBUTES`] under the bars.
const SHORT_NAMES: [&str; ATTRIBUTES.len()] = [
    "id",
    "no id",
    "no date",
    "ttl",
    "cloud",
    "hub",
    "skipHours",
    "skipDays",
    "sy:",
    "file",
    "category",
    "content",
];

pub(super) fn attributes(all: &PopulationBuilder) -> StatSection {
    let n_entries = all.entries.n;
    let entries_of = |has: fn(&FeedLine) -> bool| {
        let with = all.feeds.iter().zip(&all.tallies).filter(|(feed, _)| has(feed));
        with.map(|(_, tally)| tally.entries).sum::<u64>()
    };
    let mut facts = Vec::new();
    let mut bars = Vec::new();
    for (name, has, of_feeds, of_entries) in ATTRIBUTES {
        let n = all.n_feeds(|feed, _| has(feed));
        facts.push(share(name, n, all.n_all(), of_feeds));
        facts.push(share(format!("{name}, entries"), entries_of(has), n_entries, of_entries));
        bars.push(n as f64 / all.n_all().max(1) as f64);
    }
    let bars = SHORT_NAMES.iter().map(|name| (*name).to_owned()).zip(bars).collect();
    let untold = all.n_feeds(|feed, _| feed.identifiers.is_none());
    facts.push(share("identifier: cannot be told", untold, all.n_all(), Some("almost 9 %")));
    let undated = share("undated entries", all.entries.undated, n_entries, Some("about 40 %"));
    facts.push(undated);
    StatSection::new("attributes", "Attributes", "3.7.7", facts)
        .with_curve(StatCurve::bars("attribute", "share of feeds", bars))
        .with_remark(
            "An attribute says nothing about whether it works: a named cloud or hub may be dead.",
        )
}

/// The published values in minutes; the others are multiples of an hour or rare.
const TTL_MINUTES: [(u64, Option<&str>); 8] = [
    (10, Some("7 %; almost 2/3 of those that have one")),
    (15, None),
    (30, None),
    (60, Some("1.4 %; an eighth of those that have one")),
    (120, None),
    (360, None),
    (720, None),
    (1440, Some("a peak")),
];

pub(super) fn ttl(all: &PopulationBuilder) -> StatSection {
    let with = all.n_feeds(|feed, _| feed.ttl.is_some());
    let absent = all.n_all() - with;
    let mut facts = vec![share("absent", absent, all.n_all(), Some("89 %"))];
    let mut bars = Vec::new();
    let mut named = 0;
    for (minutes, published) in TTL_MINUTES {
        let n = all.n_feeds(|feed, _| feed.ttl == Some(minutes * 60));
        named += n;
        facts.push(share(format!("{minutes} min"), n, all.n_all(), published));
        facts.push(share(format!("{minutes} min, of those that have one"), n, with, None));
        bars.push((minutes.to_string(), n as f64));
    }
    facts.push(share("other", with - named, all.n_all(), None));
    bars.push(("other".to_owned(), (with - named) as f64));
    StatSection::new("ttl", "Values of ttl", "3.7.7, figure 3.12", facts)
        .with_curve(StatCurve::bars("minutes", "feeds", bars))
}

/// Reads a text of a feed.
type FeedText = fn(&FeedLine) -> Option<&str>;

/// Languages, charsets and time zones with a row of their own.
const VALUES_MAX: usize = 12;

pub(super) fn texts(all: &PopulationBuilder) -> StatSection {
    let mut facts = Vec::new();
    let values: [(&str, FeedText); 3] = [
        ("charset", |feed| feed.charset.as_deref()),
        ("time zone", |feed| feed.time_zone.as_deref()),
        ("language", |feed| feed.language.as_deref()),
    ];
    for (name, value) in values {
        facts.extend(most_common(all, name, value));
    }
    let broken = all.n_feeds(|feed, _| feed.well_formed == Some(false));
    facts.push(share("not well-formed", broken, all.n_all(), None));
    let warned = all.n_feeds(|_, tally| tally.warned > 0);
    facts.push(share("feeds with a warning of our parser", warned, all.n_all(), None));
    StatSection::new("texts", "Charsets, time zones and languages", "not published", facts)
}

fn most_common(all: &PopulationBuilder, name: &str, value: FeedText) -> Vec<StatFact> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for feed in &all.feeds {
        let value = value(feed).map_or("not stated".to_owned(), str::to_ascii_lowercase);
        *counts.entry(value).or_default() += 1;
    }
    let mut sorted: Vec<(String, u64)> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest: u64 = sorted.iter().skip(VALUES_MAX).map(|(_, n)| n).sum();
    sorted.truncate(VALUES_MAX);
    if rest > 0 {
        sorted.push(("other".to_owned(), rest));
    }
    let fact = |(value, n)| share(format!("{name}: {value}"), n, all.n_all(), None);
    sorted.into_iter().map(fact).collect()
}
