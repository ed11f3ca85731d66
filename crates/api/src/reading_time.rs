//! The time that a text takes to read.

/// Words that an adult reads in a minute. Studies say 238 for English prose.
const WORDS_A_MINUTE: usize = 230;
/// Characters of Chinese, Japanese and Korean texts, which do not separate words by spaces.
const CHARS_A_MINUTE: usize = 500;

/// Returns the minutes, rounded up; 0 for an empty text.
pub fn minutes(text: &str) -> usize {
    let (words, characters) = counted(text);
    (words * CHARS_A_MINUTE + characters * WORDS_A_MINUTE).div_ceil(WORDS_A_MINUTE * CHARS_A_MINUTE)
}

/// Returns the number of words. A character of a script without spaces counts as half a word.
pub fn n_words(text: &str) -> usize {
    let (words, characters) = counted(text);
    words + characters.div_ceil(2)
}

fn counted(text: &str) -> (usize, usize) {
    let characters = text.chars().filter(|c| is_ideograph(*c)).count();
    let has_letters = |word: &&str| word.chars().any(|c| c.is_alphanumeric() && !is_ideograph(c));
    let words = text.split(|c: char| c.is_whitespace() || is_ideograph(c)).filter(has_letters);
    (words.count(), characters)
}

const fn is_ideograph(c: char) -> bool {
    matches!(c as u32, 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af
        | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_characters_take_their_time() {
        assert_eq!(minutes(""), 0);
        assert_eq!(minutes("one – two"), 1);
        assert_eq!(minutes(&"word ".repeat(231)), 2);
        assert_eq!(minutes(&"字".repeat(1000)), 2);
        assert_eq!(n_words("two words 字字"), 3);
        assert_eq!(n_words("- – —"), 0);
    }
}
