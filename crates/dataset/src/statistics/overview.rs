//! The data set at a glance (003, sections 3.5 to 3.7): its size and its period.

use super::PopulationBuilder;
use super::facts::{StatSection, number, words};

pub(super) fn overview(all: &PopulationBuilder) -> StatSection {
    let sum = |of: fn(&super::tally::PollTally) -> u64| all.tallies.iter().map(of).sum::<u64>();
    let first = all.tallies.iter().filter_map(|tally| tally.first_at);
    let (begin, begun) = (first.clone().min(), first.max());
    let end = all.tallies.iter().filter_map(|tally| tally.last_at).max();
    let days = begin.zip(end).map(|(begin, end)| end.since(begin).as_secs_f64() / 86_400.0);
    let first_polls = begin.zip(begun).map(|(begin, all)| all.since(begin).as_secs_f64() / 60.0);
    let period = match begin.zip(end) {
        Some((begin, end)) => format!("{begin} to {end}"),
        None => "–".to_owned(),
    };
    let whole = |n: u64| Some(n as f64);
    let facts = vec![
        number("feeds", whole(all.n_all()), "", Some("200,000 (of 994,413 found)")),
        words("period", period, Some("2011-07-08 to 2011-08-05")),
        number("length", days, "days", Some("28 days")),
        number("all first polls within", first_polls, "min", Some("a good hour")),
        number("polls", whole(sum(|tally| tally.polls)), "", Some("about 40 million")),
        number(
            "polls with news",
            whole(sum(|tally| tally.with_news)),
            "",
            Some("more than 6 million"),
        ),
        number("entries", whole(all.entries.n), "", Some("about 54 million")),
        number("bytes on the wire", whole(sum(|tally| tally.bytes)), "B", None),
        number(
            "bytes on the wire of polls with news",
            whole(sum(|tally| tally.bytes_with_news)),
            "B",
            Some("about 400 GB, decompressed"),
        ),
    ];
    StatSection::new("overview", "At a glance", "3.5 to 3.7", facts)
}
