//! A fault in a statement: its position, the reason, and advice.

use std::fmt;

use crate::Position;

/// A statement that is refused. Shown as `LINE:COLUMN: message; advice`. The caller adds the name
/// of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    pub at: Position,
    /// The reason. For syntax: the token that was found, and those that were expected.
    pub message: String,
    /// The tokens that were expected, if there is a list of them.
    pub expected: Vec<&'static str>,
    /// Advice: the probable intention, or another way.
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
