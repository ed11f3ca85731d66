//! Headers of answers, and how servers handle conditional requests (003, section 3.7.3; most of it
//! was stored there and not published).

use super::PopulationBuilder;
use super::facts::{StatSection, number, share};
use super::spread::spread;
use super::tally::HEADERS;

pub(super) fn headers(all: &PopulationBuilder) -> StatSection {
    let answered: u64 = all.tallies.iter().map(|tally| tally.answered).sum();
    let reached = all.n_feeds(|_, tally| tally.answered > 0);
    let mut facts = Vec::new();
    for (i, name) in HEADERS.iter().enumerate() {
        let feeds = all.n_feeds(|_, tally| tally.headers[i] > 0);
        let answers: u64 = all.tallies.iter().map(|tally| tally.headers[i]).sum();
        facts.push(share(format!("{name}, feeds"), feeds, reached, None));
        facts.push(share(format!("{name}, answers"), answers, answered, None));
    }
    let differences: Vec<u64> = all
        .tallies
        .iter()
        .filter_map(|tally| tally.clock_difference)
        .map(i64::unsigned_abs)
        .collect();
    let median = spread(differences).map(|found| found.1 as f64 / 1000.0);
    facts.push(number("median clock difference", median, "s", None));
    StatSection::new("headers", "Headers", "3.7.3", facts)
}

pub(super) fn validators(all: &PopulationBuilder) -> StatSection {
    let sum = |of: fn(&super::tally::PollTally) -> u64| all.tallies.iter().map(of).sum::<u64>();
    let reached = all.n_feeds(|_, tally| tally.answered > 0);
    let validated = all.n_feeds(|_, tally| tally.headers[0] > 0 || tally.headers[2] > 0);
    let ever = all.n_feeds(|_, tally| tally.not_modified > 0);
    let never = all.n_feeds(|_, tally| {
        (tally.headers[0] > 0 || tally.headers[2] > 0)
            && tally.conditional > 0
            && tally.not_modified == 0
    });
    let same = all.n_feeds(|_, tally| tally.same_with_200 > 0);
    let wrong = all.n_feeds(|_, tally| tally.wrong_304 > 0);
    let empty = all.n_feeds(|_, tally| tally.empty_changes > 0);
    let renewed = all.n_feeds(|_, tally| tally.new_validator > 0);
    let answered = sum(|tally| tally.answered);
    let facts = vec![
        share("answers 304", sum(|tally| tally.not_modified), answered, Some("44 %")),
        share("feeds with a validator", validated, reached, None),
        share("feeds that ever answered 304", ever, reached, None),
        share("feeds with a validator and never 304", never, validated, None),
        share("feeds that answered 200 with the same document", same, reached, None),
        share("feeds that renewed the validator of the same document", renewed, reached, None),
        share("feeds that sent another document without a new entry", empty, reached, None),
        share("feeds that answered 304 wrongly", wrong, reached, None),
        share("answers 200 with the same document", sum(|t| t.same_with_200), answered, None),
        share("answers that renewed a validator", sum(|t| t.new_validator), answered, None),
        share("answers 304 that were wrong", sum(|t| t.wrong_304), answered, None),
    ];
    StatSection::new("validators", "Support of 304 (not modified)", "3.7.3", facts).with_remark(
        "304 counts as wrong if the next poll found news under the same validator. A server \
             that always answers 304 is not seen here: no request goes without the validator.",
    )
}
