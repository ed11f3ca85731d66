//! Made-up words of real alphabets, and entries and queries made of them. The same in every run.

use std::collections::HashSet;

const WORDS: usize = 60_000;
const ENTRY_BYTES: usize = 1500;

/// Xorshift: the same words and entries in every run.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A rank after Zipf: the share of rank r falls with 1/r.
    fn rank(&mut self, n: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((n as f64).powf(unit) - 1.0) as usize
    }
}

/// A language: its syllables, and how large its share of the entries is.
const LANGUAGES: [(&[&str], usize); 4] = [
    (
        &[
            "an", "ber", "ca", "de", "er", "fo", "gra", "ha", "ing", "ja", "ko", "li", "mo", "ne",
            "or", "pla", "qui", "re", "st", "tion", "um", "ver", "wa", "xy", "yo", "ze",
        ],
        50,
    ),
    (
        &[
            "é", "à", "tion", "ment", "ç", "aï", "que", "eur", "ñ", "ó", "gen", "ü", "ber", "ö",
            "ß", "ä", "la", "le", "re", "st", "mi", "ø", "å", "ł", "ž", "ček",
        ],
        25,
    ),
    (&["ва", "го", "ен", "ие", "ка", "ло", "не", "ост", "пр", "сто", "ть", "ё", "й", "щи"], 15),
    (&["αι", "ος", "ερ", "τη", "κα", "λό", "γο", "ις", "πο", "ρά", "σμ", "ού", "ών", "θε"], 10),
];

/// The words of each language, common ones first and short.
pub fn vocabulary(chance: &mut Chance) -> Vec<Vec<String>> {
    let mut known = HashSet::new();
    LANGUAGES
        .iter()
        .map(|(syllables, share)| {
            let mut words = Vec::new();
            while words.len() < WORDS * share / 100 {
                let n = 1 + (words.len() + 20).ilog10() as usize / 2 + chance.below(4);
                let word: String =
                    (0..n).map(|_| syllables[chance.below(syllables.len())]).collect();
                if known.insert(word.clone()) {
                    words.push(word);
                }
            }
            words
        })
        .collect()
}

fn language(chance: &mut Chance) -> usize {
    let mut left = chance.below(100);
    LANGUAGES
        .iter()
        .position(|(_, share)| {
            let here = left < *share;
            left = left.wrapping_sub(*share);
            here
        })
        .unwrap_or(0)
}

pub fn entry_text(words: &[Vec<String>], chance: &mut Chance) -> String {
    let words = &words[language(chance)];
    let mut text = String::from("<p>");
    while text.len() < ENTRY_BYTES {
        let word = &words[chance.rank(words.len())];
        match chance.below(12) {
            0 => text.extend(word.chars().flat_map(char::to_uppercase)),
            1 => {
                let mut letters = word.chars();
                text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                text.push_str(letters.as_str());
            }
            _ => text.push_str(word),
        }
        text.push_str(match chance.below(14) {
            0 => ". ",
            1 => ", ",
            2 => "</p>\n<p>",
            _ => " ",
        });
    }
    text
}

/// Three words, of which one is rarely among the most common.
pub fn statement(n: usize, words: &[Vec<String>], chance: &mut Chance) -> String {
    let words = &words[language(chance)];
    let mut word = || {
        let common = 20;
        &words[common + chance.rank(words.len() - common)]
    };
    let (a, b, c) = (word(), word(), word());
    format!(
        "CREATE FEED q{n} AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"{a}\" AND \"{b}\" AND \"{c}\""
    )
}
