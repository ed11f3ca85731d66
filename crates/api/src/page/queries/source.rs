//! Checks statements against the stored queries, and marks the word at each fault in the text. The
//! page shows the messages below the text.

use query::{Catalog, Create, Fault, Statement};
use store::{AccountId, Store, StoreError};

/// A piece of the text. A marked piece is at a fault.
#[derive(Debug, PartialEq, Eq)]
pub struct SourcePiece {
    pub text: String,
    pub marked: bool,
}

/// The message of a fault, with its position.
#[derive(Debug, PartialEq, Eq)]
pub struct FaultMessage {
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub help: String,
}

/// Statements that fit the stored queries.
pub struct PreviewStatements {
    pub creates: Vec<Create>,
    /// The stored queries.
    pub existing: Vec<Create>,
}

/// Parses statements and checks them against the stored queries. Changes nothing.
pub fn check(
    store: &Store,
    account: AccountId,
    text: &str,
) -> Result<Result<PreviewStatements, Vec<Fault>>, StoreError> {
    let statements = match query::parse(text) {
        Ok(statements) => statements,
        Err(faults) => return Ok(Err(faults)),
    };
    let (mut catalog, mut existing) = (Catalog::new(), Vec::new());
    for row in store.queries_of(account)? {
        if let Some(create) = query::parse_create(&row.text) {
            catalog.insert(&row.name, &create.query);
            existing.push(create);
        }
    }
    if let Err(faults) = catalog.check(&statements) {
        return Ok(Err(faults));
    }
    let creates = statements.into_iter().filter_map(|statement| match statement {
        Statement::Create(create) => Some(*create),
        Statement::Drop(_) => None,
    });
    Ok(Ok(PreviewStatements { creates: creates.collect(), existing }))
}

/// Returns the text with marks at its faults, and the messages.
pub fn marked_faults(text: &str, faults: &[Fault]) -> (Vec<SourcePiece>, Vec<FaultMessage>) {
    (pieces(text, faults), fault_messages(faults))
}

fn fault_messages(faults: &[Fault]) -> Vec<FaultMessage> {
    let each = faults.iter().map(|fault| FaultMessage {
        line: fault.at.line,
        column: fault.at.column,
        message: fault.message.clone(),
        help: fault.help.clone().unwrap_or_default(),
    });
    each.collect()
}

/// Splits the text into pieces and marks the word at each fault.
fn pieces(text: &str, faults: &[Fault]) -> Vec<SourcePiece> {
    let mut starts: Vec<usize> =
        faults.iter().map(|fault| offset(text, fault.at.line, fault.at.column)).collect();
    starts.sort_unstable();
    starts.dedup();
    let (mut pieces, mut done) = (Vec::new(), 0);
    let mut put = |text: &str, marked| {
        if !text.is_empty() {
            pieces.push(SourcePiece { text: text.to_owned(), marked });
        }
    };
    for start in starts {
        if start < done {
            continue;
        }
        let end = start + word_len(&text[start..]);
        put(&text[done..start], false);
        // At a text that ends too early there is no word, so a space at the end is marked.
        put(if start == end { " " } else { &text[start..end] }, true);
        done = end;
    }
    put(&text[done..], false);
    pieces
}

/// Returns the byte offset of a line and a column, both counted from one.
fn offset(text: &str, line: u32, column: u32) -> usize {
    let before = line.saturating_sub(1) as usize;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let rest = &text[start..];
    let line = rest.split('\n').next().unwrap_or("");
    let within = line.char_indices().nth(column.saturating_sub(1) as usize);
    start + within.map_or(line.len(), |(at, _)| at)
}

/// Returns the length of the first token: a word, a quoted text, or one character.
fn word_len(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if first == '"' {
        let line = text.split('\n').next().unwrap_or(text);
        return line[1..].find('"').map_or(line.len(), |at| at + 2);
    }
    if !is_part(first) {
        return if first == '\n' { 0 } else { first.len_utf8() };
    }
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<String> {
        let faults = query::parse(text).unwrap_err();
        let pieces = pieces(text, &faults);
        let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert!(whole.trim_end() == text.trim_end(), "nothing of the text is lost: {whole}");
        pieces.into_iter().filter(|piece| piece.marked).map(|piece| piece.text).collect()
    }

    #[test]
    fn the_word_at_a_fault_is_marked() {
        assert_eq!(marked("CREATE FEED A AS\nRETRUN ALL FEEDS"), ["RETRUN"]);
        assert_eq!(
            marked("CREATE FEED A AS RETURN ALL FEEDS\nWHERE TITEL CONTAINS \"ü\""),
            ["TITEL"]
        );
    }

    #[test]
    fn a_text_that_ends_too_early_is_marked_at_its_end() {
        assert_eq!(marked("CREATE FEED"), [" "]);
    }

    #[test]
    fn a_text_with_long_characters_is_cut_between_them() {
        for (text, expect) in [
            ("é", "é"),
            ("\"ä", "\"ä"),
            ("CREATE\r\nFEED é", "é"),
            ("CREATE FEED é AS \"日本\" x", "é"),
            ("CREATE FEED A AS RETURN \"日本\" ü", "\"日本\""),
        ] {
            // `marked` also checks that the pieces make up the whole text.
            assert_eq!(marked(text), [expect], "{text}");
        }
    }
}
