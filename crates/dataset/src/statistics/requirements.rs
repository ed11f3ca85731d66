//! The subset for evaluations (003, section 4.3.2), and the four requirements on a data set
//! (sections 3.1 and 3.8, table 3.1).

use feed::Time;

use super::PopulationBuilder;
use super::facts::{StatSection, share, words};
use super::tally::PollTally;

const BROKEN_RATIO: u64 = 10;

/// The simulation of the evaluation begins a day after the first poll.
const START: std::time::Duration = std::time::Duration::from_secs(86_400);

/// Why a feed is not part of the subset; `None`: it is.
fn excluded(tally: &PollTally, start: Option<Time>) -> Option<&'static str> {
    if tally.failed > BROKEN_RATIO * tally.succeeded {
        Some(BROKEN)
    } else if start.is_some_and(|start| tally.first_success.is_none_or(|at| at > start)) {
        Some(NO_DATA)
    } else if tally.entries > 0 && tally.undated == tally.entries {
        Some(UNDATED)
    } else {
        None
    }
}

const BROKEN: &str = "excluded: broken";
const NO_DATA: &str = "excluded: no data at the start";
const UNDATED: &str = "excluded: never dated";

pub(super) fn subset(all: &PopulationBuilder) -> StatSection {
    let first = all.feeds.iter().filter_map(|feed| feed.first_poll).min();
    let start = first.map(|first| first + START);
    let of = |why| all.n_feeds(|_, tally| excluded(tally, start) == why);
    let left = all.tallies.iter().filter(|tally| excluded(tally, start).is_none());
    let entries = left.map(|tally| tally.entries).sum();
    let facts = vec![
        share(BROKEN, of(Some(BROKEN)), all.n_all(), Some("almost 0.5 %")),
        share(NO_DATA, of(Some(NO_DATA)), all.n_all(), Some("almost 200 feeds")),
        share(UNDATED, of(Some(UNDATED)), all.n_all(), Some("almost 11 %")),
        share("left, feeds", of(None), all.n_all(), Some("89 % (179,000)")),
        share("left, entries", entries, all.entries.n, Some("almost 33 of 54 million")),
    ];
    StatSection::new("subset", "Subset for evaluations", "4.3.2", facts)
        .with_remark("The simulation begins a day after the first poll of the recording.")
}

/// Table 3.1: the data sets that the dissertation looked at.
const OTHERS: [(&str, &str); 6] = [
    ("Syndic8", "real: yes; broad: partly; complete: no; reusable: yes"),
    ("Blogs06", "real: yes; broad: no; complete: no; reusable: yes"),
    ("Blogs08", "real: yes; broad: no; complete: no; reusable: yes"),
    ("ClueWeb09", "real: yes; broad: yes; complete: no; reusable: yes"),
    ("20 Newsgroups", "real: yes; broad: no; complete: no; reusable: yes"),
    ("Reuters RCV1", "real: yes; broad: yes; complete: no; reusable: yes"),
];

pub(super) fn requirements(all: &PopulationBuilder) -> StatSection {
    let without = all.n_feeds(|_, tally| tally.misses == 0);
    let answered = all.n_feeds(|_, tally| tally.succeeded > 0);
    let mut languages: Vec<&str> =
        all.feeds.iter().filter_map(|feed| feed.language.as_deref()).collect();
    languages.sort_unstable();
    languages.dedup();
    let mut hosts: Vec<&str> = all.feeds.iter().map(|feed| host(&feed.url)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut facts = vec![
        words(
            "real",
            format!("{answered} feeds answered; {} entries were seen", all.entries.n),
            Some("200,000 feeds, 54 million entries"),
        ),
        words(
            "broad",
            format!("{} hosts, {} declared languages", hosts.len(), languages.len()),
            None,
        ),
        share("complete: feeds without a suspected miss", without, all.n_all(), Some("94 %")),
        words(
            "reusable",
            "CSV and WARC with a described schema; every gap is marked in the table of misses"
                .to_owned(),
            Some("tables free, documents on request"),
        ),
    ];
    for (name, met) in OTHERS {
        facts.push(words(format!("for comparison: {name}"), String::new(), Some(met)));
    }
    StatSection::new("requirements", "Real, broad, complete, reusable", "3.8, table 3.1", facts)
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
