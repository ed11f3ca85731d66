//! A search as a `tsquery` of PostgreSQL.

use feed::{SearchColumn, SearchExpression, SearchPhrase};

use super::tsvector::{HUGE, lexeme};

/// A search for PostgreSQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WordQuery {
    /// Entries have all words, in any order. Long entries are checked by this alone.
    pub loose: String,
    /// The words of a phrase follow each other. `None` if there is no phrase.
    pub exact: Option<String>,
}

impl WordQuery {
    pub fn new(expression: &SearchExpression) -> WordQuery {
        let loose = format!("{} | {HUGE}", written(expression, " & "));
        let exact = has_phrase(expression).then(|| written(expression, " <-> "));
        WordQuery { loose, exact }
    }
}

fn has_phrase(expression: &SearchExpression) -> bool {
    match expression {
        SearchExpression::All(parts) | SearchExpression::Any(parts) => parts.iter().any(has_phrase),
        SearchExpression::Phrase(phrase) => phrase.words().len() > 1,
    }
}

/// Writes an expression with an operator between the words of a phrase.
fn written(expression: &SearchExpression, between: &str) -> String {
    let joined = |parts: &[SearchExpression], sign: &str| {
        let parts: Vec<String> = parts.iter().map(|part| written(part, between)).collect();
        format!("({})", parts.join(sign))
    };
    match expression {
        SearchExpression::All(parts) => joined(parts, " & "),
        SearchExpression::Any(parts) => joined(parts, " | "),
        SearchExpression::Phrase(phrase) => format!("({})", phrase_written(phrase, between)),
    }
}

fn phrase_written(phrase: &SearchPhrase, between: &str) -> String {
    let weight = match phrase.column() {
        None => "",
        Some(SearchColumn::Title) => "A",
        Some(SearchColumn::Body) => "B",
    };
    let last = phrase.words().len() - 1;
    let words = phrase.words().iter().enumerate().map(|(number, word)| {
        let star = if phrase.is_prefix() && number == last { "*" } else { "" };
        let colon = if star.is_empty() && weight.is_empty() { "" } else { ":" };
        // No word has a quote or a backslash: they end words.
        format!("'{}'{colon}{star}{weight}", lexeme(word))
    });
    words.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(column: Option<SearchColumn>, words: &[&str], is_prefix: bool) -> SearchExpression {
        SearchExpression::phrase(column, words.iter().copied(), is_prefix).unwrap()
    }

    #[test]
    fn expressions_become_tsquery() {
        let title = phrase(Some(SearchColumn::Title), &["big", "ash"], true);
        let either = SearchExpression::any(vec![phrase(None, &["火"], true), title]).unwrap();
        let body = phrase(Some(SearchColumn::Body), &["x"], false);
        let query = WordQuery::new(&SearchExpression::all(vec![either, body]).unwrap());
        assert_eq!(query.loose, "((('火':*) | ('big':A & 'ash':*A)) & ('x':B)) | ' '");
        let exact = "((('火':*) | ('big':A <-> 'ash':*A)) & ('x':B))";
        assert_eq!(query.exact.as_deref(), Some(exact));
    }

    #[test]
    fn single_words_need_no_second_look() {
        let query = WordQuery::new(&phrase(None, &["ash"], false));
        assert_eq!(query, WordQuery { loose: "('ash') | ' '".to_owned(), exact: None });
    }
}
