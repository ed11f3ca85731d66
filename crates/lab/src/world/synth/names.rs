//! Names for synthetic feeds: two plain words, and a number if the name is taken. Their domains end
//! in `.test`, so they belong to nobody.

use crate::Chance;

const FIRST: [&str; 32] = [
    "amber", "birch", "cedar", "cobalt", "copper", "coral", "dawn", "delta", "ember", "fern",
    "flint", "granite", "harbour", "hazel", "heron", "indigo", "ivory", "juniper", "lantern",
    "maple", "meadow", "morning", "north", "orchard", "pebble", "quiet", "river", "saffron",
    "silver", "summit", "timber", "willow",
];

const SECOND: [&str; 32] = [
    "almanac",
    "archive",
    "atlas",
    "bulletin",
    "chronicle",
    "courier",
    "diary",
    "digest",
    "dispatch",
    "echo",
    "field-notes",
    "gazette",
    "herald",
    "journal",
    "kitchen",
    "ledger",
    "letters",
    "magazine",
    "mirror",
    "monitor",
    "notebook",
    "observer",
    "paper",
    "post",
    "quarterly",
    "record",
    "review",
    "sketches",
    "telegraph",
    "times",
    "voice",
    "weekly",
];

/// Returns a name that is valid in a host name. Every 1024 feeds use each pair once, so names are
/// unique without a list.
pub fn name(number: usize, chance: &mut Chance) -> String {
    let pairs = FIRST.len() * SECOND.len();
    // 389 is coprime to the number of pairs, so every pair comes once before any repeats.
    let place = (number * 389 + 7) % pairs;
    let name = format!("{}-{}", FIRST[place % FIRST.len()], SECOND[place / FIRST.len()]);
    match number / pairs {
        0 => name,
        // A number like a year reads better than a counter; the round keeps it unique.
        round => format!("{name}-{}", round * 100 + chance.below(100)),
    }
}

/// Returns the title: `amber-gazette` becomes `Amber Gazette`.
pub fn title(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<String>>().join(" ")
}
