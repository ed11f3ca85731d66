//! Cursors: positions from which a client continues to read. Clients treat them as opaque.

use std::fmt;
use std::str::FromStr;

use feed::EntryId;

use crate::QueryId;

/// A position in the stream of all entries, or in the matches of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCursor {
    Stream(EntryId),
    Query(QueryId, i64),
}

/// A cursor starts with a letter, so that nobody mistakes it for a number.
impl fmt::Display for StreamCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamCursor::Stream(entry) => write!(f, "e{entry}"),
            StreamCursor::Query(query, position) => write!(f, "q{}-{position}", query.0),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a cursor; use the cursor of an entry")]
pub struct InvalidCursor;

impl FromStr for StreamCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<StreamCursor, InvalidCursor> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|n| *n >= 0).ok_or(InvalidCursor);
        if let Some(entry) = text.strip_prefix('e') {
            return number(entry).map(|n| StreamCursor::Stream(EntryId(n)));
        }
        let rest = text.strip_prefix('q').ok_or(InvalidCursor)?;
        let (query, position) = rest.split_once('-').ok_or(InvalidCursor)?;
        let query = query.parse().map_err(|_| InvalidCursor)?;
        Ok(StreamCursor::Query(QueryId(query), number(position)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        for cursor in [StreamCursor::Stream(EntryId(7)), StreamCursor::Query(QueryId(3), 0)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in ["", "7", "e", "e-1", "q3", "q-1", "q3--1", "x3", "e7x"] {
            assert_eq!(text.parse::<StreamCursor>(), Err(InvalidCursor), "{text}");
        }
    }
}
