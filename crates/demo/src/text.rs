//! Titles and texts of made-up entries. A hash of the feed and the entry's number chooses the
//! words, so that an entry has the same text at every poll.

use crate::hash::hash;

const OPENINGS: [&str; 16] = [
    "A walk along",
    "Notes on",
    "Lessons from",
    "The case for",
    "Five questions about",
    "Looking back at",
    "How to repair",
    "A short history of",
    "Why we still love",
    "Against",
    "The week in",
    "Two views of",
    "First impressions of",
    "In praise of",
    "An evening with",
    "The trouble with",
];

const SUBJECTS: [&str; 24] = [
    "the old harbour",
    "slow trains",
    "winter vegetables",
    "small libraries",
    "paper maps",
    "the night bus",
    "public benches",
    "bicycle bells",
    "letterpress",
    "mountain huts",
    "the tide tables",
    "community gardens",
    "bread and salt",
    "forgotten bridges",
    "radio plays",
    "honest prices",
    "the northern lights",
    "street names",
    "school orchestras",
    "rain barrels",
    "wooden boats",
    "the corner shop",
    "migrating birds",
    "hand-drawn charts",
];

const SENTENCES: [&str; 14] = [
    "It began with a question that nobody could answer.",
    "The numbers are smaller than expected, and that is good news.",
    "Readers sent more than forty letters, most of them kind.",
    "We went there on a Tuesday, when it is quiet.",
    "Much has been written about this; little of it is true.",
    "The best tool turned out to be a pencil.",
    "There are three ways to do it, and two of them work.",
    "Nothing is hurried here, and nothing is late.",
    "The details matter more than the plan.",
    "Ask the people who do it every day.",
    "Some of it is luck, the rest is patience.",
    "We measured it twice and wrote it down.",
    "It costs less than a cup of coffee.",
    "More about that next week.",
];

const AUTHORS: [&str; 10] = [
    "Ada Brook",
    "Ben Hollis",
    "Clara Vane",
    "Dan Ostrow",
    "Edith Marsh",
    "Farid Nouri",
    "Greta Lind",
    "Hugo Tamm",
    "Ines Calder",
    "Jun Mori",
];

pub fn title(feed: &str, number: usize) -> String {
    format!("{} {}", pick(&OPENINGS, feed, number, 1), pick(&SUBJECTS, feed, number, 2))
}

pub fn author(feed: &str, number: usize) -> String {
    // A feed has two authors, not ten.
    (*pick(&AUTHORS, feed, number % 2, 3)).to_owned()
}

/// Returns one to three paragraphs of HTML.
pub fn summary(feed: &str, number: usize) -> String {
    let paragraphs = 1 + draw(feed, number, 4) % 3;
    let paragraph = |p: u64| {
        let sentences = (0..3).map(|s| *pick(&SENTENCES, feed, number, 10 + 3 * p + s));
        format!("<p>{}</p>", sentences.collect::<Vec<&str>>().join(" "))
    };
    (0..paragraphs).map(paragraph).collect()
}

fn pick<'a, T>(choices: &'a [T], feed: &str, number: usize, salt: u64) -> &'a T {
    // The remainder is below the length, so it fits any width of pointer.
    &choices[(draw(feed, number, salt) % choices.len() as u64) as usize]
}

fn draw(feed: &str, number: usize, salt: u64) -> u64 {
    hash(&[feed.as_bytes(), &number.to_le_bytes(), &salt.to_le_bytes()]) >> 7
}
