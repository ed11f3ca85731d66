//! Splits text into folded words in one pass, without copying the text. A word is valid only during
//! its visit.

use std::borrow::Cow;

use super::fold::{ASCII, Role, compose, role, spell};
use crate::limits::WORD_BYTES_MAX;

/// A word of a text, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldedWord<'a> {
    /// UTF-8, at most [`WORD_BYTES_MAX`] bytes.
    pub letters: &'a [u8],
    /// A character of a script without spaces, an emoji, or punctuation right after one. Adjacent
    /// ones form a sequence.
    pub unit: bool,
    /// The word was longer than the limit.
    pub cut: bool,
}

impl FoldedWord<'_> {
    /// Returns the letters as text. They are whole characters.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.letters)
    }
}

/// Visits every word of a text in order.
///
/// Apostrophes and hyphens end words, so that `islande` is found in `l'Islande`. `+` and `#` right
/// after a word are words of their own, so that `C++` is not `C`. Punctuation after a character of
/// a script without spaces counts as a word, so that a sequence ends with its sentence.
pub(crate) fn scan(text: &str, mut visit: impl FnMut(FoldedWord<'_>)) {
    let text = compose(text);
    let mut word = Word::default();
    let mut after = PrecedingText::Space;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 128 {
            let folded = ASCII[usize::from(byte)];
            at += 1;
            if folded != 0 {
                word.push(&[folded]);
                continue;
            }
            if word.finish(&mut visit) {
                after = PrecedingText::Word;
            }
            after = mark(char::from(byte), after, &mut word, &mut visit);
            continue;
        }
        // `at` is the start of a character, so the rest is not empty.
        let Some(c) = text[at..].chars().next() else { break };
        at += c.len_utf8();
        match role(c) {
            Role::Nothing => {}
            Role::Letter(letter) => word.push(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Role::Letters => word.push(spell(c).as_bytes()),
            Role::Unit(sign) => {
                word.finish(&mut visit);
                unit(sign, &mut visit);
                after = PrecedingText::Unit;
            }
            Role::Break => {
                if word.finish(&mut visit) {
                    after = PrecedingText::Word;
                }
                after = mark(c, after, &mut word, &mut visit);
            }
        }
    }
    word.finish(&mut visit);
}

/// The text right before a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingText {
    Space,
    Word,
    Unit,
}

/// Handles a character that ends words. Returns the preceding text for the next one.
fn mark(
    c: char,
    after: PrecedingText,
    word: &mut Word,
    visit: &mut impl FnMut(FoldedWord<'_>),
) -> PrecedingText {
    match after {
        PrecedingText::Word if c == '+' || c == '#' => {
            // Joining `++` into one word would need a look ahead; two words work as well.
            word.push(c.encode_utf8(&mut [0; 4]).as_bytes());
            word.finish(visit);
            PrecedingText::Word
        }
        PrecedingText::Unit if !c.is_whitespace() => {
            unit(c, visit);
            PrecedingText::Unit
        }
        PrecedingText::Unit => PrecedingText::Unit,
        _ => PrecedingText::Space,
    }
}

fn unit(c: char, visit: &mut impl FnMut(FoldedWord<'_>)) {
    let mut bytes = [0; 4];
    let letters = c.encode_utf8(&mut bytes).as_bytes();
    visit(FoldedWord { letters, unit: true, cut: false });
}

/// The word being read.
struct Word {
    letters: [u8; WORD_BYTES_MAX],
    len: usize,
    cut: bool,
}

impl Default for Word {
    fn default() -> Word {
        Word { letters: [0; WORD_BYTES_MAX], len: 0, cut: false }
    }
}

impl Word {
    #[inline]
    fn push(&mut self, letters: &[u8]) {
        let end = self.len + letters.len();
        if end > WORD_BYTES_MAX || self.cut {
            self.cut = true;
            return;
        }
        self.letters[self.len..end].copy_from_slice(letters);
        self.len = end;
    }

    /// Visits the word, if there is one, and starts the next.
    #[inline]
    fn finish(&mut self, visit: &mut impl FnMut(FoldedWord<'_>)) -> bool {
        if self.len == 0 {
            return false;
        }
        visit(FoldedWord { letters: &self.letters[..self.len], unit: false, cut: self.cut });
        (self.len, self.cut) = (0, false);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let mut words = Vec::new();
        scan(text, |t| words.push(t.text().into_owned()));
        assert_eq!(words.join(" "), expect, "{text}");
    }

    #[test]
    fn case_and_accents_are_folded() {
        check("Crème BRÛLÉE, Ærø & Łódź", "creme brulee aero lodz");
        check("Straße STRASSE", "strasse strasse");
        check("ΟΔΥΣΣΕΎΣ οδυσσεύς", "οδυσσευσ οδυσσευσ");
        check("İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul");
        check("e\u{301}te\u{301}", "ete");
    }

    #[test]
    fn cyrillic_keeps_its_letters_but_not_its_stress() {
        check("Ёлка ёлка за\u{301}мок мой мои", "елка елка замок мой мои");
        check("и\u{306}", "й");
    }

    #[test]
    fn arabic_and_hebrew_lose_their_points() {
        check("أَخْبَار الإمارات آثار", "اخبار الامارات اثار");
        check("مكتبة ـمـ ١٢٣", "مكتبه م 123");
        check("שָׁלוֹם", "שלום");
    }

    #[test]
    fn vowel_signs_and_voiced_kana_stay() {
        check("क्या हिन्दी", "क्या हिन्दी");
        check("がか", "が か");
        check("か\u{3099}", "が");
        check("\u{ff76}\u{ff9e}", "ガ");
        check("한국 \u{1112}\u{1161}\u{11ab}", "한국 한");
    }

    #[test]
    fn scripts_without_spaces_are_sequences_and_their_marks_separate() {
        check("火山灰。日本", "火 山 灰 。 日 本");
        check("AI技術", "ai 技 術");
        check("ภูเขา", "ภ ู เ ข า");
    }

    #[test]
    fn apostrophes_and_hyphens_end_words_and_plus_counts() {
        check("l'Islande d’Ásgeir", "l islande d asgeir");
        check("COVID-19 C++ C# #rust a + b", "covid 19 c + + c # rust a b");
    }

    #[test]
    fn invisible_characters_do_not_separate() {
        check("vol\u{ad}ca\u{200b}no\u{fe0f}", "volcano");
        check("🌋 up", "🌋 up");
    }

    #[test]
    fn long_words_are_cut_at_a_letter() {
        let mut seen = Vec::new();
        scan(&"é".repeat(200), |t| seen.push((t.letters.len(), t.cut)));
        assert_eq!(seen, [(64, true)]);
        scan(&"я".repeat(33), |t| seen.push((t.letters.len(), t.cut)));
        assert_eq!(seen[1], (64, true));
    }
}
