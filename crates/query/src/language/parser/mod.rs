//! Parses tokens into statements. The parser reads every statement of a file, so that one call
//! reports all faults; a file with a fault returns no statements. The catalog checks whether names
//! exist.

mod condition;
mod cursor;
mod delivery;
mod rule;
mod search;
mod source;
mod statement;
mod test;
mod value;

use crate::language::ast::{Create, Statement};
use crate::language::lexer::Token;
use crate::limits::{FAULTS_MAX, FILE_BYTES_MAX, STATEMENT_BYTES_MAX};
use crate::{Fault, Position};

use cursor::TokenCursor;

pub use rule::{label_name, parse_rule};
pub(crate) use search::search;

/// Parses a stored `create query` statement; `None` if this version cannot read it.
pub fn parse_create(text: &str) -> Option<Create> {
    match parse(text).ok()?.pop()? {
        Statement::Create(create) => Some(*create),
        Statement::Drop(_) => None,
    }
}

/// Reads a file of statements.
///
/// ```
/// let file = r#"CREATE FEED IcelandVolcano AS
/// RETURN "http://feeds.guardian.co.uk/theguardian/rss"
/// WHERE ITEM CONTAIN "iceland" OR "volcano""#;
/// let faults = query::parse(file).unwrap_err();
/// assert!(faults[0].to_string().starts_with("3:12: found `CONTAIN`, expected CONTAINS"));
/// assert!(faults[0].to_string().ends_with("did you mean CONTAINS?"));
/// ```
pub fn parse(text: &str) -> Result<Vec<Statement>, Vec<Fault>> {
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes; the limit is {FILE_BYTES_MAX}", text.len());
        let at = Position { line: 1, column: 1 };
        return Err(vec![Fault::new(at, message).help("split it")]);
    }
    let mut cursor = TokenCursor::new(text);
    let (mut statements, mut faults) = (Vec::new(), Vec::new());
    while !cursor.is_at_end() && faults.len() < FAULTS_MAX {
        if cursor.accept_sign(";") {
            continue;
        }
        match one(&mut cursor) {
            Ok(statement) => statements.push(statement),
            Err(fault) => {
                faults.push(fault);
                cursor.skip_statement();
            }
        }
    }
    if faults.is_empty() { Ok(statements) } else { Err(faults) }
}

fn one(cursor: &mut TokenCursor<'_>) -> Result<Statement, Fault> {
    let bytes = cursor.statement_bytes();
    if bytes > STATEMENT_BYTES_MAX {
        let message =
            format!("the statement has {bytes} bytes; the limit is {STATEMENT_BYTES_MAX}");
        return Err(cursor.fault(message).help("split it into queries that read each other"));
    }
    cursor.start_statement();
    let statement = statement::statement(cursor)?;
    match cursor.token() {
        Token::End => Ok(statement),
        _ => {
            // The parser of a statement stops only before `;` or the end.
            cursor.expect_sign(";")?;
            Ok(statement)
        }
    }
}
