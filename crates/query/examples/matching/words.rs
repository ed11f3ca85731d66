//! Words, and entries and queries made of them, from syllables of real alphabets or from a folder.
//! Every run gets the same.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

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

    /// Returns a rank by Zipf's law: the share of rank r is proportional to 1/r.
    fn rank(&mut self, n: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((n as f64).powf(unit) - 1.0) as usize
    }
}

/// A language: its syllables, and its share of the entries.
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

/// Returns the words of each language; common words come first and are short.
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

/// Returns three words; one is rarely among the most common.
pub fn statement(n: usize, words: &[Vec<String>], chance: &mut Chance) -> String {
    let words = &words[language(chance) % words.len()];
    let mut word = || {
        let common = 20;
        &words[common + chance.rank(words.len() - common)]
    };
    let (a, b, c) = (word(), word(), word());
    format!(
        "CREATE FEED q{n} AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"{a}\" AND \"{b}\" AND \"{c}\""
    )
}

/// Reads the texts of a folder: its words, common ones first, and passages of the size of an entry.
pub fn from_folder(folder: &Path, n_entries: usize) -> (Vec<Vec<String>>, Vec<String>) {
    const BYTES_MAX: usize = 64 << 20;
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        let list = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = list.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if text.len() < BYTES_MAX
                && let Ok(file) = std::fs::read_to_string(path)
            {
                without_tags(&file, &mut text);
            }
        }
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1) {
        *counts.entry(word).or_insert(0) += 1;
    }
    let mut words: Vec<(&str, usize)> =
        counts.into_iter().filter(|(word, _)| word.len() <= 40).collect();
    words.sort_by_key(|(word, n)| (std::cmp::Reverse(*n), *word));
    let words = words.into_iter().map(|(word, _)| word.to_owned()).collect();
    let step = (text.len() / n_entries.max(1)).max(1);
    let passage = |at: usize| {
        let start = text.floor_char_boundary(at);
        let end = text.floor_char_boundary((start + ENTRY_BYTES).min(text.len()));
        text[start..end].to_owned()
    };
    (vec![words], (0..n_entries).map(|i| passage(i * step)).collect())
}

/// Appends the text of a document, with single spaces.
fn without_tags(document: &str, text: &mut String) {
    let markup = document.replace("&lt;", "<").replace("&gt;", ">");
    for piece in markup.split('<') {
        let piece = piece.split_once('>').map_or(piece, |(_, text)| text);
        for word in piece.split_whitespace() {
            text.push_str(word);
            text.push(' ');
        }
    }
}
