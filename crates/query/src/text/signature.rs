//! A signature of a title, by which it is recognised when another feed words it differently.
//!
//! Two titles are similar if they share at least half of all their different words (Jaccard index
//! of at least ½) and have the same numbers. So `Release 1.2` differs from `Release 1.3`. Titles of
//! one or two words must be equal. Characters of scripts without spaces count in pairs.

use super::scan::scan;
use crate::hash::hash;

/// Words of a title that count; longer titles are sentences.
const WORDS_MAX: usize = 32;

/// The words of a title as sorted hashes. They are stored, so the hash may change only with the
/// version of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) numbers: u32,
    pub(crate) words: Vec<u32>,
}

impl Signature {
    /// Returns `None` for a title without a word.
    pub(crate) fn of(title: &str) -> Option<Signature> {
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        let mut sign: Option<(Vec<u8>, bool)> = None;
        scan(title, |token| {
            if !token.unit {
                flush(sign.take(), &mut words);
                let into = if is_number(token.letters) { &mut numbers } else { &mut words };
                into.push(hash(0, token.letters) as u32);
                return;
            }
            if let Some((before, _)) = &sign {
                words.push(hash(0, &[before, token.letters].concat()) as u32);
            }
            sign = Some((token.letters.to_vec(), sign.is_some()));
        });
        flush(sign, &mut words);
        words.truncate(WORDS_MAX);
        for list in [&mut words, &mut numbers] {
            list.sort_unstable();
            list.dedup();
        }
        let numbers = numbers.iter().flat_map(|n: &u32| n.to_le_bytes()).collect::<Vec<u8>>();
        let signature = Signature { numbers: hash(1, &numbers) as u32, words };
        (!signature.words.is_empty()).then_some(signature)
    }

    /// Returns hashes; similar titles share at least one. If two sets share half of the larger one,
    /// then any subset that leaves out less than half meets the other.
    pub(crate) fn probes(&self) -> &[u32] {
        let half = self.words.len().div_ceil(2);
        &self.words[..self.words.len() - half + 1]
    }

    pub(crate) fn is_similar(&self, other: &Signature) -> bool {
        let (a, b) = (self.words.len(), other.words.len());
        if self.numbers != other.numbers {
            return false;
        }
        if a.min(b) < 3 {
            return self.words == other.words;
        }
        let shared = self.words.iter().filter(|w| other.words.binary_search(w).is_ok()).count();
        2 * shared >= a + b - shared
    }
}

/// A single character is a word.
fn flush(sign: Option<(Vec<u8>, bool)>, words: &mut Vec<u32>) {
    if let Some((sign, false)) = sign {
        words.push(hash(0, &sign) as u32);
    }
}

fn is_number(letters: &[u8]) -> bool {
    letters.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expect: bool) {
        let (a_signature, b_signature) = (Signature::of(a).unwrap(), Signature::of(b).unwrap());
        assert_eq!(a_signature.is_similar(&b_signature), expect, "{a} / {b}");
        assert_eq!(b_signature.is_similar(&a_signature), expect, "{b} / {a}");
        let met = a_signature.probes().iter().any(|p| b_signature.probes().contains(p));
        assert!(met || !expect, "{a} / {b} share no probe");
    }

    #[test]
    fn a_story_is_known_again() {
        check("Volcano erupts in Iceland", "VOLCANO ERUPTS IN ICELAND | The Guardian", true);
        check("Volcano in Iceland erupts again", "Iceland: volcano erupts again, flights on", true);
        check("Извержение вулкана в Исландии", "Вулкан: извержение вулкана в Исландии", true);
        check("冰岛火山再次喷发", "冰岛火山再次喷发了", true);
        check("Élections", "elections", true);
    }

    #[test]
    fn other_stories_stay_apart() {
        check("Volcano erupts in Iceland", "Volcano erupts in Hawaii after quake", false);
        check("Daily briefing, 12 March", "Daily briefing, 13 March", false);
        check("Release 1.2", "Release 1.3", false);
        check("Elections", "Elections today", false);
        check("冰岛火山再次喷发", "日本地震后的海啸", false);
    }

    #[test]
    fn nothing_is_similar_to_nothing() {
        assert_eq!(Signature::of("…"), None);
        assert_eq!(Signature::of("2024"), None);
    }
}
