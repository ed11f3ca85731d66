//! The texts of a row, for callers that judge entries by what they say. The lab reads none of them.

use feed::Time;

use super::rows::CsvRow;
use super::{AddedEntry, FieldProblem, text};

/// The texts of one row. Missing columns are empty.
#[derive(Clone, Copy, Debug)]
pub struct RowText<'a> {
    /// The number of the feed in the world, and of the entry in its feed.
    pub place: (usize, usize),
    /// When the entry appeared.
    pub at: Time,
    pub published: Option<Time>,
    pub feed: &'a str,
    pub title: &'a str,
    pub summary: &'a str,
    pub content: &'a str,
    pub author: &'a str,
    /// Separated by `;`.
    pub categories: &'a str,
    pub link: &'a str,
    pub language: &'a str,
    /// The tags of the feed, separated by `;`.
    pub tags: &'a str,
}

/// Takes the texts of a row.
pub type RowVisitor<'v> = &'v mut dyn FnMut(RowText<'_>);

/// The columns with texts, in the order of [`NAMES`].
pub(super) struct TextColumns([Option<usize>; NAMES.len()]);

const NAMES: [&[u8]; 9] = [
    b"feed",
    b"title",
    b"summary",
    b"content",
    b"author",
    b"categories",
    b"link",
    b"language",
    b"tags",
];

impl TextColumns {
    pub(super) fn read(header: &CsvRow) -> TextColumns {
        let column = |name| (0..header.len()).find(|i| header.field(*i).trim_ascii() == name);
        TextColumns(NAMES.map(column))
    }

    /// Hands out the texts of a row.
    pub(super) fn visit(
        &self,
        row: &CsvRow,
        added: AddedEntry,
        visit: &mut RowVisitor<'_>,
    ) -> Result<(), FieldProblem> {
        let mut texts = [""; NAMES.len()];
        for (column, place) in self.0.iter().zip(&mut texts) {
            if let Some(i) = column {
                *place = text(row, *i)?;
            }
        }
        let [feed, title, summary, content, author, categories, link, language, tags] = texts;
        visit(RowText {
            place: (added.feed, added.entry),
            at: added.at,
            published: added.claim,
            feed,
            title,
            summary,
            content,
            author,
            categories,
            link,
            language,
            tags,
        });
        Ok(())
    }
}
