//! The operand of `CONTAINS`: a word, a phrase or a prefix, split into words like the text.

use std::fmt;

use super::scan::scan;
use crate::limits::{PHRASE_WORDS_MAX, PREFIX_LETTERS_MIN, WORD_BYTES_MAX};

/// A word, or several that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The text between the quotes, as written.
    written: String,
    words: Vec<PhraseWord>,
}

/// One word of a phrase, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseWord {
    pub letters: String,
    /// Written with a `*`: any word with this start.
    pub prefix: bool,
    /// A character of a script without spaces.
    pub unit: bool,
}

/// The reason why a text cannot be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhraseFault {
    NoWord,
    LongWord,
    ManyWords,
    ShortPrefix,
    StarInside,
}

impl Phrase {
    pub(crate) fn new(written: &str) -> Result<Phrase, PhraseFault> {
        let mut words = Vec::new();
        let mut pieces = written.split('*').peekable();
        while let Some(piece) = pieces.next() {
            let starred = pieces.peek().is_some();
            let before = words.len();
            append(piece, &mut words)?;
            if !starred {
                continue;
            }
            // The star belongs to the word before it and ends it.
            let attached = words.len() > before && !piece.ends_with(char::is_whitespace);
            let followed = pieces
                .peek()
                .is_some_and(|next| next.starts_with(|c: char| c.is_alphanumeric() || c == '*'));
            match words.last_mut().filter(|_| attached && !followed) {
                // A sequence of characters matches inside longer ones anyway.
                Some(last) => last.prefix = !last.unit,
                None => return Err(PhraseFault::StarInside),
            }
        }
        // Punctuation after the last character does not count.
        while words.last().is_some_and(|w| w.unit && !is_sign(&w.letters)) {
            words.pop();
        }
        Phrase::checked(written, words)
    }

    fn checked(written: &str, words: Vec<PhraseWord>) -> Result<Phrase, PhraseFault> {
        let is_short = |w: &PhraseWord| w.prefix && w.letters.chars().count() < PREFIX_LETTERS_MIN;
        match words.len() {
            0 => Err(PhraseFault::NoWord),
            n if n > PHRASE_WORDS_MAX => Err(PhraseFault::ManyWords),
            _ if words.iter().any(is_short) => Err(PhraseFault::ShortPrefix),
            _ => Ok(Phrase { written: written.to_owned(), words }),
        }
    }

    pub fn written(&self) -> &str {
        &self.written
    }

    pub fn words(&self) -> &[PhraseWord] {
        &self.words
    }
}

fn append(piece: &str, words: &mut Vec<PhraseWord>) -> Result<(), PhraseFault> {
    let mut long = false;
    scan(piece, |token| {
        long |= token.cut;
        words.push(PhraseWord {
            letters: token.text().into_owned(),
            prefix: false,
            unit: token.unit,
        });
    });
    if long { Err(PhraseFault::LongWord) } else { Ok(()) }
}

/// Returns whether this is a character or an emoji, and not punctuation after one.
fn is_sign(letters: &str) -> bool {
    let mut signs = 0;
    scan(letters, |_| signs += 1);
    signs > 0
}

impl PhraseFault {
    /// Returns the message and the advice.
    pub(crate) fn advice(self) -> (String, String) {
        match self {
            PhraseFault::NoWord => (
                "the text contains no word to search for".to_owned(),
                "write a word, or use MATCHES for punctuation".to_owned(),
            ),
            PhraseFault::LongWord => (
                format!("a word can have at most {WORD_BYTES_MAX} bytes"),
                "use the start of the word with a `*`, or MATCHES".to_owned(),
            ),
            PhraseFault::ManyWords => (
                format!("a phrase can have at most {PHRASE_WORDS_MAX} words"),
                "combine shorter phrases with AND".to_owned(),
            ),
            PhraseFault::ShortPrefix => (
                format!("a prefix needs {PREFIX_LETTERS_MIN} letters before its `*`"),
                "write more of the word".to_owned(),
            ),
            PhraseFault::StarInside => (
                "a `*` is allowed only at the end of a word".to_owned(),
                "use MATCHES for other patterns".to_owned(),
            ),
        }
    }
}

impl fmt::Display for PhraseWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letters, if self.prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expect: &str) {
        let words = Phrase::new(written).map(|p| p.words);
        let shown = words.map(|w| w.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        let shown = shown.unwrap_or_else(|why| format!("{why:?}"));
        assert_eq!(shown, expect, "{written}");
    }

    #[test]
    fn phrases_are_cut_as_texts_are() {
        check("Volcanic  Ash", "volcanic ash");
        check("volcan*", "volcan*");
        check("volcanic er* again", "volcanic er* again");
        check("l'Islande", "l islande");
        check("火山*", "火 山");
        check("火山。", "火 山");
        check("C++", "c + +");
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused() {
        check("", "NoWord");
        check("…!", "NoWord");
        check("*", "StarInside");
        check("*cano", "StarInside");
        check("vol*cano", "StarInside");
        check("vol *", "StarInside");
        check("v*", "ShortPrefix");
        check(&"x".repeat(65), "LongWord");
        check(&"a ".repeat(33), "ManyWords");
    }
}
