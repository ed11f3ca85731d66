//! The eight update patterns as lanes of entries (003, section 3.7.5, figure 3.10): one feed of
//! this data set for each pattern.

use std::collections::HashMap;

use feed::Time;

use super::PopulationBuilder;
use super::facts::{StatCurve, StatSection, words};
use super::patterns;
use crate::tables::{FeedLine, StreamLine};

/// The span of the drawing in days. A zombie is silent for eight weeks.
const DAYS: f64 = 84.0;
/// The newest entries of an example that are kept.
const ENTRIES_MAX: usize = 2000;

/// The first feed of each pattern, with its entries.
#[derive(Default)]
pub(crate) struct ExampleFeeds {
    by_pattern: HashMap<String, ExampleFeed>,
}

struct ExampleFeed {
    feed: u64,
    last_poll: Time,
    /// The newest ones; they come in order.
    published: Vec<Time>,
}

impl ExampleFeeds {
    pub fn feed(&mut self, feed: &FeedLine) {
        if let (Some(pattern), Some(last_poll)) = (&feed.pattern, feed.last_poll) {
            let example = || ExampleFeed { feed: feed.feed, last_poll, published: Vec::new() };
            self.by_pattern.entry(pattern.clone()).or_insert_with(example);
        }
    }

    pub fn entry(&mut self, entry: &StreamLine) {
        for example in self.by_pattern.values_mut().filter(|one| one.feed == entry.feed) {
            if example.published.len() >= 2 * ENTRIES_MAX {
                example.published.drain(..ENTRIES_MAX);
            }
            example.published.push(entry.published);
        }
    }
}

impl ExampleFeed {
    /// Returns days before the last poll, as negative numbers.
    fn days(&self) -> Vec<f64> {
        let newest = self.published.iter().rev().take(ENTRIES_MAX).rev();
        newest
            .map(|at| at.millis_since(self.last_poll) as f64 / 86_400_000.0)
            .filter(|days| (-DAYS..=0.0).contains(days))
            .collect()
    }
}

pub(super) fn timelines(all: &PopulationBuilder) -> StatSection {
    let mut facts = Vec::new();
    let mut lanes = Vec::new();
    for pattern in patterns::ALL {
        let example = all.examples.by_pattern.get(pattern.word());
        let named = example.map_or("–".to_owned(), |one| format!("feed {}", one.feed));
        facts.push(words(pattern.word(), named, Some(RULES[lanes.len()])));
        let marks = example.map(ExampleFeed::days).unwrap_or_default();
        lanes.push((pattern.word().to_owned(), marks));
    }
    StatSection::new("timelines", "Examples of update patterns", "3.7.5, figure 3.10", facts)
        .with_curve(StatCurve::lanes("days before the last poll", "pattern", &lanes))
        .with_remark(
            "The first feed of each pattern. A mark is the time of an entry within twelve weeks \
             before the last poll.",
        )
}

/// The rule of each pattern in the text of the dissertation, in the order of [`patterns::ALL`].
const RULES: [&str; patterns::ALL.len()] = [
    "no entry",
    "one entry",
    "median gap 0, newest entry at most 1 s from Date",
    "all entries of a window have one time",
    "newest entry at least 8 weeks and 8 median gaps old",
    "gaps vary, median a day or more",
    "no gap over 2 hours",
    "busy and quiet times of day",
];
