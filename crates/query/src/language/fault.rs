//! What is wrong with a statement: where, what was found, what was expected, what to do.

use std::fmt;

use crate::Position;

/// A statement that is refused. Shown as `LINE:COLUMN: message; advice`; whoever knows the file's
/// name writes it before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    pub at: Position,
    /// What is wrong: for syntax, what was found and what was expected.
    pub message: String,
    /// What could have stood there, where that is a list.
    pub expected: Vec<&'static str>,
    /// What was probably meant, or what to do instead.
    pub help: Option<String>,
}

impl Fault {
    pub(crate) fn new(at: Position, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), expected: Vec::new(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}
