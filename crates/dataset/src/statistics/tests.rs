//! A synthetic population with known shares: the statistics give them back.

mod published;

use super::*;
use crate::statistics::facts::FactValue;

const HOUR: i64 = 3600;

/// 1,000 feeds whose attributes follow from their number.
fn population() -> PopulationStats {
    let mut builder = PopulationBuilder::default();
    add_feeds(&mut builder);
    add_polls(&mut builder);
    add_entries(&mut builder);
    builder.finish()
}

fn add_feeds(builder: &mut PopulationBuilder) {
    for n in 0..1000_u64 {
        let format = match n % 20 {
            0..15 => "rss-2.0",
            15..19 => "atom-1.0",
            _ => "rss-1.0",
        };
        builder.feed(FeedLine {
            feed: n + 1,
            url: format!("http://{}.example/feed", n % 250),
            format: (n != 999).then(|| format.to_owned()),
            language: Some(["en", "de", "fr"][(n % 3) as usize].to_owned()),
            window: Some(if n % 10 == 0 { 0 } else { 10 }),
            ttl: (n % 10 == 1).then_some(if n % 20 == 1 { 600 } else { 3600 }),
            pattern: Some(if n % 4 == 0 { "zombie" } else { "sliced" }.to_owned()),
            pattern_by_code: Some("sliced".to_owned()),
            identifiers: Some(n % 8 != 0),
            dates: Some(true),
            hub: (n % 16 == 0).then(|| "http://hub.example/".to_owned()),
            document_bytes: Some(1000 * (n + 1)),
            ..FeedLine::default()
        });
    }
}

fn add_polls(builder: &mut PopulationBuilder) {
    for n in 0..1000_u64 {
        // Four polls: the first brings the window, the second is a 304, the third brings one
        // entry for two of five feeds, and the fourth fails for every hundredth feed.
        for k in 0..4_i64 {
            let news = if k == 0 { 10 } else { u64::from(k == 2 && n % 5 < 2) };
            let fails = k == 3 && n % 100 == 0;
            builder.poll(&PollLine {
                feed: n + 1,
                at: Time::from_secs(1_600_000_000 + n as i64 % 60 + k * 4 * HOUR),
                status: Some(if k == 1 {
                    304
                } else if fails {
                    500
                } else {
                    200
                }),
                outcome: if fails {
                    "failed"
                } else if k == 1 {
                    "unchanged"
                } else {
                    "seen"
                }
                .to_owned(),
                items: (!fails && k != 1).then_some(10),
                new: Some(news),
                etag: Some(format!("\"{}\"", if k == 2 && n % 50 == 0 { 1 } else { k })),
                conditional: Some(k > 0),
                elapsed_ms: 500,
                head_bytes: Some(369),
                ..PollLine::default()
            });
        }
    }
}

fn add_entries(builder: &mut PopulationBuilder) {
    for n in 0..1000_u64 {
        for k in 0..10 {
            let at = Time::from_secs(1_500_000_000 + k * 600);
            builder.entry(&StreamLine {
                feed: n + 1,
                published: at,
                claimed: (n % 5 != 0).then_some(at),
                ..StreamLine::default()
            });
        }
        for _ in 0..n.saturating_sub(940) / 20 {
            builder.miss(&MissLine { feed: n + 1, ..MissLine::default() });
        }
    }
}

#[track_caller]
fn check(population: &PopulationStats, section: &str, name: &str, expect: (u64, u64)) {
    let fact = population.fact(section, name).unwrap_or_else(|| panic!("{section}: {name}"));
    let FactValue::Share { n, of } = fact.value else { panic!("{fact:?}") };
    assert_eq!((n, of), expect, "{section}: {name}");
}

#[test]
fn statistics_give_back_the_shares_of_the_population() {
    let found = population();
    assert_eq!((found.feeds, found.polls, found.entries), (1000, 4000, 10_000));
    check(&found, "formats", "rss-2.0", (750, 1000));
    check(&found, "formats", "atom-1.0", (200, 1000));
    check(&found, "formats", "undetermined", (1, 1000));
    check(&found, "windows", "0 or 1 entries", (100, 1000));
    check(&found, "sizes", "5 kB or less", (5, 1000));
    check(&found, "sizes", "over 100 kB", (900, 1000));
    check(&found, "validators", "answers 304", (1000, 4000));
    check(&found, "validators", "feeds that ever answered 304", (1000, 1000));
    check(&found, "patterns", "zombie", (250, 1000));
    check(&found, "patterns", "sliced, by the code", (1000, 1000));
    check(&found, "attributes", "no identifier in the first entry", (125, 1000));
    check(&found, "attributes", "hub", (63, 1000));
    check(&found, "attributes", "ttl, entries", (1000, 10_000));
    check(&found, "attributes", "undated entries", (2000, 10_000));
    check(&found, "ttl", "10 min, of those that have one", (50, 100));
    check(&found, "ttl", "absent", (900, 1000));
    check(&found, "texts", "language: en", (334, 1000));
    check(&found, "errors", "polls that failed", (10, 4000));
    check(&found, "errors", "feeds with news after the first poll", (400, 1000));
    check(&found, "errors", "polls with news", (1400, 4000));
    check(&found, "intervals", "intervals from 3 h to 6 h", (3000, 3000));
    check(&found, "subset", "excluded: never dated", (200, 1000));
    let number = |section, name| found.fact(section, name).and_then(|fact| fact.value.number());
    assert_eq!(number("gaps", "mean gap"), Some(600.0));
    assert_eq!(number("sizes", "median"), Some(500_000.0));
    assert_eq!(number("sizes", "mean head"), Some(369.0));
    assert_eq!(number("entries", "median"), Some(10.0));
}

#[test]
fn misses_are_cumulative() {
    let found = population();
    // Feeds 960 to 979 have one miss, 980 to 999 two.
    check(&found, "misses", "no suspected miss", (960, 1000));
    check(&found, "misses", "exactly one", (20, 1000));
    check(&found, "misses", "at most 2", (1000, 1000));
    let section = found.sections.iter().find(|s| s.name == "misses").unwrap();
    let points = &section.curve.as_ref().unwrap().points;
    assert_eq!(points, &[(0.0, 0.96), (1.0, 0.98), (2.0, 1.0)]);
}

/// The 304 of the second poll was wrong if the third found news under its validator.
#[test]
fn wrong_answers_to_conditional_requests_are_seen() {
    let found = population();
    check(&found, "validators", "feeds that answered 304 wrongly", (20, 1000));
    check(&found, "validators", "feeds with a validator and never 304", (0, 1000));
}

#[test]
fn windows_that_vary_have_a_class() {
    use super::tally::{WindowChange, WindowSizes};
    let class = |sizes: &[(u64, u64)]| {
        let mut windows = WindowSizes::default();
        sizes.iter().for_each(|(size, new)| windows.add(*size, *new));
        windows.change()
    };
    assert_eq!(class(&[(10, 10), (10, 0), (10, 3)]), None);
    assert_eq!(class(&[(10, 10), (11, 1), (14, 3)]), Some(WindowChange::Growing));
    assert_eq!(class(&[(10, 10), (1, 0), (10, 2), (1, 0)]), Some(WindowChange::Alternating));
    assert_eq!(class(&[(10, 10), (7, 2), (12, 9)]), Some(WindowChange::Swinging));
}

/// Every section that the dissertation draws has its drawing here.
#[test]
fn every_figure_is_drawn() {
    let found = population();
    for section in found.sections.iter().filter(|s| s.source.contains("figure")) {
        assert!(section.curve.is_some(), "{}", section.name);
    }
}

#[test]
fn duplicates_are_counted_by_their_kind() {
    let mut builder = PopulationBuilder::default();
    let urls = ["http://a.example/rss.xml", "http://a.example/atom.xml", "http://b.example/"];
    for (n, url) in urls.iter().chain(&["http://c.example/", "http://www.c.example/"]).enumerate() {
        let feed = n as u64 + 1;
        builder.feed(FeedLine { feed, url: (*url).to_owned(), ..FeedLine::default() });
    }
    for feed in [2, 3] {
        for k in 0..9_u64 {
            let key = format!("{:032x}", k * 0x1234_5678_9abc_def1);
            builder.entry(&StreamLine { feed, key, ..StreamLine::default() });
        }
    }
    let found = builder.finish();
    check(&found, "duplicates", "duplicates", (3, 5));
    check(&found, "duplicates", "is the same feed in another format", (1, 5));
    check(&found, "duplicates", "differs only in http/https or www", (1, 5));
    let entries = "has the same entries, so it is probably the same feed";
    check(&found, "duplicates", entries, (1, 5));
}

/// A population that is drawn from parameters: the statistics find them within four standard
/// deviations of the draw.
#[test]
fn statistics_find_the_parameters_of_a_drawn_population() {
    const FEEDS: u64 = 4000;
    let (atom, with_ttl, modified, exponent) = (0.21, 0.11, 0.56, 1.74);
    let mut chance = lab::Chance::new(2011, 0);
    // The sums of x^−exponent: a draw below the first one is 1, and so on.
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=500_i32)
        .map(|x| {
            total += f64::from(x).powf(-exponent);
            total
        })
        .collect();
    let mut builder = PopulationBuilder::default();
    for feed in 1..=FEEDS {
        let format = if chance.unit() < atom { "atom-1.0" } else { "rss-2.0" };
        builder.feed(FeedLine {
            feed,
            url: format!("http://{feed}.example/"),
            format: Some(format.to_owned()),
            ttl: (chance.unit() < with_ttl).then_some(600),
            ..FeedLine::default()
        });
        for k in 0..10 {
            let is_modified = k == 0 || chance.unit() < modified;
            builder.poll(&PollLine {
                feed,
                at: Time::from_secs(1_600_000_000 + k * 4 * HOUR),
                status: Some(if is_modified { 200 } else { 304 }),
                outcome: if is_modified { "seen" } else { "unchanged" }.to_owned(),
                ..PollLine::default()
            });
        }
        let place = chance.unit() * total;
        let n = sums.partition_point(|sum| *sum < place) as i64 + 1;
        for k in 0..n {
            let at = Time::from_secs(1_500_000_000 + k * 900);
            let key = format!("{feed:08x}{k:08x}{:016x}", (feed << 20) + k as u64);
            let published = at;
            builder.entry(&StreamLine { feed, published, key, ..StreamLine::default() });
        }
    }
    let found = builder.finish();
    let near = |section, name, expect: f64, n: f64| {
        let number = found.fact(section, name).and_then(|fact| fact.value.number()).unwrap();
        let allowed = 4.0 * (expect.abs() * (1.0 - expect).abs() / n).sqrt();
        assert!((number - expect).abs() < allowed, "{name}: {number} and {expect}");
    };
    near("formats", "atom-1.0", atom, FEEDS as f64);
    near("attributes", "ttl", with_ttl, FEEDS as f64);
    let polls = 9.0 * FEEDS as f64;
    near("validators", "answers 304", 0.9 * (1.0 - modified), polls);
    let number = |section, name| found.fact(section, name).and_then(|fact| fact.value.number());
    assert_eq!(number("gaps", "mean gap"), Some(900.0));
    let likely = number("entries", "exponent, maximum likelihood").unwrap();
    assert!((likely + exponent).abs() < 0.06, "{likely}");
    check(&found, "duplicates", "duplicates", (0, FEEDS));
}

/// Feed 1 renews the validator of the same document. Feed 2 answers 304 and then shows news under
/// the same validator. Feed 3 changes its bytes only, and feed 4 does everything right.
#[test]
fn servers_that_handle_validators_wrongly_are_told_apart() {
    let mut builder = PopulationBuilder::default();
    (1..=4).for_each(|feed| builder.feed(FeedLine { feed, ..FeedLine::default() }));
    // Status, validator, document, new entries.
    let polls: [[(u16, &str, &str, u64); 3]; 4] = [
        [(200, "a", "x", 5), (200, "b", "x", 0), (200, "c", "x", 0)],
        [(200, "a", "x", 5), (304, "a", "x", 0), (200, "a", "y", 2)],
        [(200, "a", "x", 5), (200, "b", "y", 0), (304, "b", "y", 0)],
        [(200, "a", "x", 5), (304, "a", "x", 0), (200, "b", "y", 2)],
    ];
    for (feed, polls) in polls.iter().enumerate() {
        for (k, (status, etag, document, new)) in polls.iter().enumerate() {
            builder.poll(&PollLine {
                feed: feed as u64 + 1,
                at: Time::from_secs(1_600_000_000 + k as i64 * HOUR),
                status: Some(*status),
                outcome: if *new > 0 || feed == 2 && k == 1 { "seen" } else { "unchanged" }.into(),
                new: Some(*new),
                etag: Some((*etag).to_owned()),
                document_sha256: Some((*document).to_owned()),
                conditional: Some(k > 0),
                ..PollLine::default()
            });
        }
    }
    let found = builder.finish();
    let feeds = |name, n| check(&found, "validators", name, (n, 4));
    feeds("feeds that ever answered 304", 3);
    feeds("feeds with a validator and never 304", 1);
    feeds("feeds that answered 200 with the same document", 1);
    feeds("feeds that renewed the validator of the same document", 1);
    feeds("feeds that sent another document without a new entry", 1);
    feeds("feeds that answered 304 wrongly", 1);
    check(&found, "validators", "answers that renewed a validator", (2, 12));
    check(&found, "validators", "answers 304 that were wrong", (1, 12));
}

#[test]
fn every_pattern_has_an_example_with_its_entries() {
    let mut builder = PopulationBuilder::default();
    let last = Time::from_secs(1_600_000_000);
    for (n, pattern) in patterns::ALL.iter().chain(&patterns::ALL).enumerate() {
        builder.feed(FeedLine {
            feed: n as u64 + 1,
            pattern: Some(pattern.word().to_owned()),
            last_poll: Some(last),
            ..FeedLine::default()
        });
    }
    // The second entry is older than the drawing, and feed 13 is not the first zombie.
    for (feed, days) in [(5, 70), (5, 100), (6, 3), (13, 60)] {
        let published = last - std::time::Duration::from_secs(days * 86_400);
        builder.entry(&StreamLine { feed, published, ..StreamLine::default() });
    }
    let found = builder.finish();
    let section = found.sections.iter().find(|s| s.name == "timelines").unwrap();
    let curve = section.curve.as_ref().unwrap();
    assert_eq!(curve.points, [(-70.0, 4.0), (-3.0, 5.0)]);
    assert_eq!(curve.names.len(), patterns::ALL.len());
    assert_eq!(section.facts[4].value, FactValue::Words { words: "feed 5".to_owned() });
}
