//! Topics for a synthetic population: every feed prefers one, and every entry has a title made of
//! words of its topic. Queries find the entries by these words.
//!
//! Three kinds of feeds are drawn: specialised ones keep to their topic, magazines mostly do, and
//! general ones write about everything. The shares are ours; no source publishes them. Times,
//! windows and names of the population stay as drawn.

use std::io::{self, Write};

use super::{Population, SynthFeed};
use crate::Chance;

/// A stream of chance of its own, so that topics change nothing else.
const STREAM: u64 = 0x7461_6c6b;
/// The share of entries about the own topic, in percent, and how often it is drawn.
const FOCUS: [(f64, u32); 3] = [(95.0, 40), (60.0, 40), (10.0, 20)];
/// Words of a title.
const WORDS_MIN: usize = 4;
const WORDS_RANGE: usize = 4;
/// One word in so many is not of the topic.
const PLAIN_PERCENT: f64 = 35.0;

/// A topic, how often entries are about it, and its words.
type TopicWords = (&'static str, u32, [&'static str; 10]);

const TOPICS: [TopicWords; 12] = [
    (
        "politics",
        18,
        [
            "election",
            "minister",
            "parliament",
            "treaty",
            "senate",
            "vote",
            "reform",
            "coalition",
            "embassy",
            "budget",
        ],
    ),
    (
        "sport",
        17,
        [
            "match", "striker", "league", "marathon", "coach", "medal", "stadium", "penalty",
            "transfer", "referee",
        ],
    ),
    (
        "economy",
        15,
        [
            "market",
            "inflation",
            "bank",
            "tariff",
            "shares",
            "exports",
            "payroll",
            "currency",
            "merger",
            "bond",
        ],
    ),
    (
        "technology",
        14,
        [
            "compiler", "database", "kernel", "browser", "chip", "network", "release", "patch",
            "server", "protocol",
        ],
    ),
    (
        "culture",
        9,
        [
            "novel",
            "gallery",
            "opera",
            "film",
            "poet",
            "festival",
            "sculpture",
            "orchestra",
            "museum",
            "theatre",
        ],
    ),
    (
        "health",
        8,
        [
            "vaccine", "hospital", "therapy", "nurse", "diet", "clinic", "virus", "surgery",
            "insomnia", "allergy",
        ],
    ),
    (
        "food",
        6,
        [
            "recipe", "bread", "vineyard", "soup", "cheese", "bakery", "harvest", "spice",
            "noodles", "orchard",
        ],
    ),
    (
        "science",
        5,
        [
            "telescope",
            "genome",
            "fossil",
            "particle",
            "glacier",
            "comet",
            "enzyme",
            "laser",
            "crater",
            "neuron",
        ],
    ),
    (
        "travel",
        4,
        [
            "ferry",
            "itinerary",
            "railway",
            "hostel",
            "island",
            "passport",
            "trail",
            "harbour",
            "airport",
            "tram",
        ],
    ),
    (
        "weather",
        2,
        [
            "storm", "frost", "drought", "rainfall", "heatwave", "blizzard", "fog", "hail",
            "monsoon", "thaw",
        ],
    ),
    (
        "disaster",
        1,
        [
            "volcano",
            "earthquake",
            "eruption",
            "ash",
            "landslide",
            "flood",
            "wildfire",
            "tsunami",
            "evacuation",
            "rescue",
        ],
    ),
    (
        "chess",
        1,
        [
            "gambit",
            "checkmate",
            "rook",
            "endgame",
            "bishop",
            "castling",
            "pawn",
            "stalemate",
            "blitz",
            "grandmaster",
        ],
    ),
];

const PLAIN: [&str; 16] = [
    "new", "after", "report", "week", "first", "plan", "why", "how", "city", "year", "open",
    "people", "near", "again", "future", "small",
];

/// The title and the topic of every entry of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTopics {
    /// By feed, in the order of its times.
    feeds: Vec<Vec<(&'static str, String)>>,
}

impl EntryTopics {
    /// Draws topics. The same seed and population give the same topics on every machine.
    pub fn draw(population: &Population, seed: u64) -> EntryTopics {
        let of_feed = |(number, feed): (usize, &SynthFeed)| {
            let mut chance = Chance::new(seed ^ STREAM, number as u64);
            let focus = chance.weighted(&FOCUS).unwrap_or(50.0);
            let own = topic(&mut chance);
            let entries = feed.times.iter().map(|_| {
                let about = if chance.percent(focus) { own } else { topic(&mut chance) };
                let (name, _, words) = &TOPICS[about];
                (*name, title(words, &mut chance))
            });
            entries.collect()
        };
        EntryTopics { feeds: population.feeds.iter().enumerate().map(of_feed).collect() }
    }

    /// Returns the topic and the title of every entry of a feed.
    pub fn of(&self, feed: usize) -> &[(&'static str, String)] {
        self.feeds.get(feed).map_or(&[], Vec::as_slice)
    }

    /// Writes the population as a trace with the titles and topics (`categories`) of its entries.
    pub fn write_csv(&self, population: &Population, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "feed,published,visible,window,bytes,ttl,domain,title,categories")?;
        for (number, f) in population.feeds.iter().enumerate() {
            let ttl = f.ttl.map_or(String::new(), |t| t.as_secs().to_string());
            let rest = format!("{},{},{ttl},{}", f.window, f.bytes, f.domain);
            for (i, (time, (topic, title))) in f.times.iter().zip(self.of(number)).enumerate() {
                let claim = f.claims.as_ref().map_or(*time, |claims| claims[i]);
                writeln!(out, "{},{claim},{time},{rest},{title},{topic}", f.name)?;
            }
        }
        Ok(())
    }
}

fn topic(chance: &mut Chance) -> usize {
    let numbered: [(usize, u32); TOPICS.len()] = std::array::from_fn(|i| (i, TOPICS[i].1));
    chance.weighted(&numbered).unwrap_or(0)
}

fn title(words: &[&'static str; 10], chance: &mut Chance) -> String {
    let n_words = WORDS_MIN + chance.below(WORDS_RANGE);
    let drawn: Vec<&str> = (0..n_words)
        .map(|place| match place > 0 && chance.percent(PLAIN_PERCENT) {
            true => PLAIN[chance.below(PLAIN.len())],
            false => words[chance.below(words.len())],
        })
        .collect();
    drawn.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::PopulationSpec;
    use super::*;
    use feed::Time;

    #[test]
    fn topics_have_their_shares_and_feeds_their_preferences() {
        let spec = PopulationSpec { seed: 3, feeds: 3000, start: Time::from_secs(0), days: 14 };
        let population = Population::draw(&spec);
        let topics = EntryTopics::draw(&population, 3);
        assert_eq!(topics, EntryTopics::draw(&population, 3));
        assert_ne!(topics, EntryTopics::draw(&population, 4));
        let mut focused = 0;
        let busy: Vec<usize> =
            (0..3000).filter(|feed| population.feeds[*feed].times.len() >= 50).collect();
        for feed in &busy {
            let entries = topics.of(*feed);
            assert_eq!(entries.len(), population.feeds[*feed].times.len());
            let most = TOPICS
                .iter()
                .map(|(name, ..)| entries.iter().filter(|(topic, _)| topic == name).count());
            focused += usize::from(most.max().unwrap_or(0) * 10 >= entries.len() * 8);
        }
        let share = focused as f64 / busy.len() as f64;
        assert!((0.3..0.55).contains(&share), "{share} of {} are specialised", busy.len());
        let text = topics.of(busy[0])[0].1.clone();
        assert!(text.split(' ').count() >= WORDS_MIN && !text.contains(','), "{text}");
    }

    #[test]
    fn the_trace_is_read_back_with_its_titles() {
        let spec = PopulationSpec { seed: 5, feeds: 40, start: Time::from_secs(0), days: 7 };
        let population = Population::draw(&spec);
        let topics = EntryTopics::draw(&population, 5);
        let mut csv = Vec::new();
        topics.write_csv(&population, &mut csv).unwrap();
        let mut builder = crate::WorldBuilder::default();
        let mut titles = Vec::new();
        let mut visit = |row: crate::world::trace::RowText<'_>| {
            titles.push((row.title.to_owned(), row.categories.to_owned()));
        };
        let read = crate::world::trace::read_judged("x", &csv[..], &mut builder, Some(&mut visit));
        let written: Vec<(String, String)> = (0..40)
            .flat_map(|feed| topics.of(feed))
            .map(|(topic, title)| (title.clone(), (*topic).to_owned()))
            .collect();
        assert_eq!((read.unwrap() as usize, &titles), (written.len(), &written));
    }
}
