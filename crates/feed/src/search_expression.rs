//! A search in the index of words: which words an entry must have. It does not know any database.
//!
//! The index holds folded words in two columns, the title and the rest of the entry (the body).

/// A condition on the words of an entry.
///
/// The constructors never make an expression without words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchExpression {
    Phrase(SearchPhrase),
    /// Every part must fit. There is at least one.
    All(Vec<SearchExpression>),
    /// One part must fit. There is at least one.
    Any(Vec<SearchExpression>),
}

/// Words that follow each other in one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPhrase {
    column: Option<SearchColumn>,
    words: Vec<String>,
    is_prefix: bool,
}

/// A column of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchColumn {
    Title,
    Body,
}

impl SearchExpression {
    /// Makes a phrase of words, which are split as in the index. Returns `None` if nothing of them
    /// is indexed. `None` as the column means either column. With `is_prefix`, the last word may be
    /// the start of a longer one.
    ///
    /// ```
    /// use feed::SearchExpression;
    /// assert!(SearchExpression::phrase(None, ["ash", "cloud"], false).is_some());
    /// assert!(SearchExpression::phrase(None, ["+", "#"], false).is_none());
    /// ```
    pub fn phrase<'a>(
        column: Option<SearchColumn>,
        words: impl IntoIterator<Item = &'a str>,
        is_prefix: bool,
    ) -> Option<SearchExpression> {
        let words = words.into_iter().flat_map(split_words).map(str::to_ascii_lowercase);
        let words: Vec<String> = words.collect();
        let phrase = SearchPhrase { column, words, is_prefix };
        (!phrase.words.is_empty()).then_some(SearchExpression::Phrase(phrase))
    }

    /// Joins parts of which all must fit. Returns `None` if there are no parts.
    pub fn all(mut parts: Vec<SearchExpression>) -> Option<SearchExpression> {
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(SearchExpression::All(parts)),
        }
    }

    /// Joins parts of which one must fit. Returns `None` if there are no parts.
    pub fn any(mut parts: Vec<SearchExpression>) -> Option<SearchExpression> {
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(SearchExpression::Any(parts)),
        }
    }
}

impl SearchPhrase {
    /// Returns the column that must have the words; `None` for either.
    pub fn column(&self) -> Option<SearchColumn> {
        self.column
    }

    /// Returns the words: ASCII letters in lower case, digits, and any other characters beyond
    /// ASCII. There is at least one.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns whether the last word may be the start of a longer one.
    pub fn is_prefix(&self) -> bool {
        self.is_prefix
    }
}

/// Splits folded text into the words of the index. Every ASCII character that is not a letter or a
/// digit ends a word, and no other character does. SQLite's `ascii` tokenizer has the same rule.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_ascii_punctuation_only() {
        let words: Vec<&str> = split_words("a + b.c 火 。 山\0x\u{3000}y").collect();
        assert_eq!(words, ["a", "b", "c", "火", "。", "山", "x\u{3000}y"]);
    }

    #[test]
    fn one_part_stays_as_it_is() {
        let word = || SearchExpression::phrase(Some(SearchColumn::Title), ["A-b"], true);
        let Some(SearchExpression::Phrase(phrase)) = word() else { panic!() };
        assert_eq!(phrase.words(), ["a", "b"]);
        assert_eq!(SearchExpression::all(word().into_iter().collect()), word());
        assert_eq!(SearchExpression::any(Vec::new()), None);
    }
}
