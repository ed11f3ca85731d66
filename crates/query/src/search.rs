//! Search in stored entries. Input: the text of a search field. Output: an expression for a
//! full-text index, and an exact test for the entries that the index finds. This module does not
//! hold an index.
//!
//! The expression is about the words of [`index_words`] in the columns title and body. The index
//! finds every entry that fits and perhaps others. It does not know dates, regular expressions or
//! which words are an author; the exact test does.

use std::time::Duration;

use feed::{SearchColumn, SearchExpression, Time};

use crate::language::ast::{Comparison, Condition, Date, Field, Query, QuerySource, Test};
use crate::language::parser;
use crate::text::{Phrase, PhraseWord, folded, scan};
use crate::{Entry, Fault, Matcher, QueryId, Scratch, States, matcher};

/// A search, ready to test entries.
pub struct Search {
    expression: Option<SearchExpression>,
    matcher: Matcher,
    states: States,
    scratch: Scratch,
}

impl Search {
    /// Reads the text of a search field. `PUBLISHED WITHIN` counts back from `now`.
    ///
    /// ```
    /// use feed::Time;
    /// let now = Time::from_secs(0);
    /// let search = query::Search::read("volcano \"ash cloud\" -sport", now).unwrap();
    /// let word = |words: &str| feed::SearchExpression::phrase(None, [words], false).unwrap();
    /// let needed = feed::SearchExpression::all(vec![word("volcano"), word("ash cloud")]);
    /// assert_eq!(search.expression(), needed.as_ref());
    /// let fault = query::Search::read("volcano AND", now).err().unwrap();
    /// assert!(fault.message.starts_with("found the end"), "{fault}");
    /// ```
    pub fn read(text: &str, now: Time) -> Result<Search, Fault> {
        let mut condition = parser::search(text)?;
        count_back(&mut condition, now);
        let expression = needed(&condition);
        include_articles(&mut condition);
        let query = Query::plain(vec![QuerySource::AllFeeds], Some(condition));
        let mut matcher = Matcher::new();
        matcher.insert(QueryId(1), "search", &query);
        let (states, scratch) = (States::default(), Scratch::new());
        Ok(Search { expression, matcher, states, scratch })
    }

    /// Returns the expression for the index; `None` if words alone cannot narrow the search.
    pub fn expression(&self) -> Option<&SearchExpression> {
        self.expression.as_ref()
    }

    /// Returns whether an entry fits the search.
    pub fn fits(&mut self, entry: &Entry<'_>) -> bool {
        !self.matcher.matches(entry, &mut self.states, &mut self.scratch).is_empty()
    }
}

/// Returns the words of an entry for an index: those of its title, and those of all other text. The
/// words are folded and separated by spaces.
pub fn index_words(entry: &Entry<'_>) -> (String, String) {
    let (mut title, mut body) = (String::new(), String::new());
    matcher::for_each_text(entry, |is_title, text| {
        let out = if is_title { &mut title } else { &mut body };
        scan(text, |token| {
            out.push_str(&token.text());
            out.push(' ');
        });
    });
    (title, body)
}

/// In a search, `WITHIN` counts back from now, not from the time at which an entry was seen.
fn count_back(condition: &mut Condition, now: Time) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter_mut().for_each(|part| count_back(part, now));
        }
        Condition::Not(inner) => count_back(inner, now),
        Condition::Test(Test::Recent(within)) => {
            let start = now - *within;
            let date =
                Date { written: start.to_string(), start, end: start + Duration::from_secs(1) };
            let comparison = Comparison::Since;
            *condition = Condition::Test(Test::Published { comparison, date });
        }
        Condition::Test(_) => {}
    }
}

/// In a search, the words of an entry include those of the page behind it. The index does the same.
fn include_articles(condition: &mut Condition) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter_mut().for_each(include_articles);
        }
        Condition::Not(inner) => include_articles(inner),
        Condition::Test(test) => {
            let mut of_article = test.clone();
            match &mut of_article {
                Test::Contains { field, .. } | Test::Near { field, .. }
                    if *field == Field::Item =>
                {
                    *field = Field::Article;
                }
                _ => return,
            }
            let own = Condition::Test(test.clone());
            *condition = Condition::Any(vec![own, Condition::Test(of_article)]);
        }
    }
}

/// Returns an expression that every matching entry fits; `None` if any words may match.
fn needed(condition: &Condition) -> Option<SearchExpression> {
    match condition {
        Condition::All(parts) => SearchExpression::all(parts.iter().filter_map(needed).collect()),
        Condition::Any(parts) => {
            let parts: Option<Vec<SearchExpression>> = parts.iter().map(needed).collect();
            parts.and_then(SearchExpression::any)
        }
        // A word that the index lacks may be in another column or beyond the size limit.
        Condition::Not(_) => None,
        Condition::Test(test) => words_of(test),
    }
}

fn words_of(test: &Test) -> Option<SearchExpression> {
    match test {
        Test::Contains { field, phrase } => column(*field)?.expression(phrase.words()),
        Test::Near { field, first, second, .. } => {
            let column = column(*field)?;
            let sides = [first, second].map(|side: &Phrase| column.expression(side.words()));
            SearchExpression::all(sides.into_iter().flatten().collect())
        }
        Test::Equals { field: field @ (Field::Title | Field::Author | Field::Category), value } => {
            let words = folded(value);
            let words = words.split(' ').map(|word| PhraseWord {
                letters: word.to_owned(),
                prefix: false,
                unit: false,
            });
            column(*field)?.expression(&words.collect::<Vec<_>>())
        }
        _ => None,
    }
}

/// The column that holds a field; `None` for a field of both.
struct IndexedIn(Option<SearchColumn>);

/// Returns the column that holds a field; `None` for fields that are not indexed.
fn column(field: Field) -> Option<IndexedIn> {
    match field {
        Field::Item => Some(IndexedIn(None)),
        Field::Title => Some(IndexedIn(Some(SearchColumn::Title))),
        Field::Summary | Field::Content | Field::Author | Field::Category => {
            Some(IndexedIn(Some(SearchColumn::Body)))
        }
        Field::Article => Some(IndexedIn(Some(SearchColumn::Body))),
        Field::Link | Field::Language | Field::Feed | Field::Topic => None,
    }
}

impl IndexedIn {
    /// Returns an expression for words that follow each other. The index knows a prefix only as the
    /// last word of a phrase, so a phrase with a prefix inside becomes several.
    fn expression(&self, words: &[PhraseWord]) -> Option<SearchExpression> {
        let phrases = words.split_inclusive(|word| word.prefix).filter_map(|phrase| {
            let is_prefix = phrase.last().is_some_and(|word| word.prefix);
            let letters = phrase.iter().map(|word| word.letters.as_str());
            SearchExpression::phrase(self.0, letters, is_prefix)
        });
        SearchExpression::all(phrases.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an expression as people would.
    fn shown(expression: &SearchExpression) -> String {
        let joined = |parts: &[SearchExpression], sign: &str| {
            format!("({})", parts.iter().map(shown).collect::<Vec<_>>().join(sign))
        };
        match expression {
            SearchExpression::All(parts) => joined(parts, " AND "),
            SearchExpression::Any(parts) => joined(parts, " OR "),
            SearchExpression::Phrase(phrase) => {
                let column = match phrase.column() {
                    None => "",
                    Some(SearchColumn::Title) => "title : ",
                    Some(SearchColumn::Body) => "body : ",
                };
                let star = if phrase.is_prefix() { " *" } else { "" };
                format!("{column}\"{}\"{star}", phrase.words().join(" "))
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let search = Search::read(text, Time::from_secs(1_700_000_000));
        let search = search.map_err(|fault| fault.to_string()).unwrap();
        assert_eq!(search.expression().map(shown).as_deref(), expect, "{text}");
    }

    #[test]
    fn what_words_must_be_there() {
        check("Volcano", Some("\"volcano\""));
        check("volcano iceland", Some("(\"volcano\" AND \"iceland\")"));
        check("ash OR TITLE CONTAINS \"Big Ash*\"", Some("(\"ash\" OR title : \"big ash\" *)"));
        check("\"er* again\"", Some("(\"er\" * AND \"again\")"));
        check("a NEAR b", Some("(\"a\" AND \"b\")"));
        check("AUTHOR = \"Jane O'Neill\"", Some("body : \"jane o neill\""));
        check("火山 C++", Some("(\"火 山\" AND \"c\")"));
    }

    #[test]
    fn what_words_cannot_tell_is_left_to_the_judgement() {
        check("NOT ash", None);
        check("ash OR PUBLISHED > 2020", None);
        check("ash PUBLISHED > 2020 FEED TAGGED news", Some("\"ash\""));
        check("TITLE MATCHES /a.c/", None);
        check("PUBLISHED WITHIN 2 DAYS", None);
    }
}
