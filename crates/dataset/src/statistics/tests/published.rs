//! Every figure and every value that section 3.7 of the dissertation prints has its place.

use super::population;

/// The figures of the dissertation's section 3.7 and of table 3.1, each with its section here.
const FIGURES: [(&str, &str); 9] = [
    ("formats", "figure 3.6"),
    ("windows", "figure 3.7"),
    ("sizes", "figure 3.8"),
    ("entries", "figure 3.9"),
    ("timelines", "figure 3.10"),
    ("patterns", "figure 3.11"),
    ("ttl", "figure 3.12"),
    ("misses", "figure 3.13"),
    ("requirements", "table 3.1"),
];

/// Values that the text of section 3.7 prints: section, name and a part of what was published.
const PRINTED: [(&str, &str, &str); 58] = [
    ("overview", "feeds", "200,000"),
    ("overview", "polls", "40 million"),
    ("overview", "polls with news", "6 million"),
    ("overview", "entries", "54 million"),
    ("overview", "length", "28 days"),
    ("overview", "all first polls within", "hour"),
    ("overview", "bytes on the wire of polls with news", "400 GB"),
    ("formats", "rss-2.0", "75 %"),
    ("formats", "atom-1.0", "21 %"),
    ("formats", "rss-1.0", "< 4 %"),
    ("formats", "undetermined", "43"),
    ("windows", "mean", "17"),
    ("windows", "median", "10"),
    ("windows", "maximum", "4,564"),
    ("windows", "0 or 1 entries", "18 %"),
    ("windows", "varying", "10 %"),
    ("windows", "varying, of feeds with news", "quarter"),
    ("sizes", "smallest", "40"),
    ("sizes", "largest", "3 MB"),
    ("sizes", "median", "17 kB"),
    ("sizes", "mean", "43 kB"),
    ("sizes", "5 kB or less", "quarter"),
    ("sizes", "over 100 kB", "11 %"),
    ("sizes", "mean head", "369"),
    ("sizes", "heads over 700 bytes", "rarely"),
    ("validators", "answers 304", "44 %"),
    ("entries", "mean", "289"),
    ("entries", "median", "12"),
    ("entries", "maximum", "12 million"),
    ("entries", "feeds with no entry ever", "17,040"),
    ("entries", "feeds never reached", "405"),
    ("entries", "power law, least squares", "677"),
    ("entries", "exponent, least squares", "−0.74"),
    ("entries", "power law of 10,000 feeds (2007)", "376"),
    ("patterns", "spontaneous", "third"),
    ("patterns", "zombie", "quarter"),
    ("patterns", "sliced", "18 %"),
    ("patterns", "single entry", "9.5 %"),
    ("patterns", "empty", "8.5 %"),
    ("patterns", "constant", "low"),
    ("patterns", "chunked", "low"),
    ("patterns", "on-the-fly", "rare"),
    ("patterns", "unknown", "0.2 %"),
    ("attributes", "identifier in the first entry", "80 %"),
    ("attributes", "no identifier in the first entry", "11 %"),
    ("attributes", "no readable date", "11 %"),
    ("attributes", "undated entries", "40 %"),
    ("attributes", "cloud", "3.7 %"),
    ("attributes", "hub", "7 %"),
    ("attributes", "skipHours", "0.05 %"),
    ("attributes", "skipDays", "0.04 %"),
    ("ttl", "absent", "89 %"),
    ("ttl", "10 min", "7 %"),
    ("ttl", "60 min", "1.4 %"),
    ("misses", "no suspected miss", "94 %"),
    ("misses", "exactly one", "2 %"),
    ("misses", "exactly two", "1 %"),
    ("misses", "at most 2", "97 %"),
];

#[test]
fn every_published_figure_has_its_place() {
    let found = population();
    for (name, figure) in FIGURES {
        let section = found.sections.iter().find(|s| s.name == name).unwrap();
        let named: Vec<&str> = section.source.split(", ").collect();
        assert!(named.contains(&figure), "{name}: {named:?}");
        assert!(figure.starts_with("table") || section.curve.is_some(), "{name}");
    }
    for (section, name, expect) in PRINTED {
        let fact = found.fact(section, name).unwrap_or_else(|| panic!("{section}: {name}"));
        let published = fact.published.unwrap_or_default();
        assert!(published.contains(expect), "{section}: {name}: {published}");
    }
}
