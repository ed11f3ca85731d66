//! Positions in a text, as editors count them: lines and columns from one.

use std::cell::Cell;
use std::fmt;

/// A line and a column, both from one. Columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Converts byte offsets of one text into positions.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The last offset converted, and its column from zero. Offsets come in order, and a whole file
    /// may be one line.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Lines<'a> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(ends).collect(), last: Cell::new((0, 0)) }
    }

    pub(crate) fn position(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let (start, column) = match self.last.get() {
            (last, column) if (self.starts[line]..=at).contains(&last) => (last, column),
            _ => (self.starts[line], 0),
        };
        let column = column + self.text.get(start..at).unwrap_or("").chars().count();
        self.last.set((at, column));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line + 1), column: count(column + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::of("aé\nвx");
        let shown = |at| lines.position(at).to_string();
        assert_eq!([shown(0), shown(3), shown(4), shown(6)], ["1:1", "1:3", "2:1", "2:2"]);
        assert_eq!([shown(6), shown(1), shown(3), shown(0)], ["2:2", "1:2", "1:3", "1:1"]);
    }
}
