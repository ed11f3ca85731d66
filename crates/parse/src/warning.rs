//! What had to be repaired, counted by kind, so that a thousand faults make one line.
//! Decides nothing: whoever repairs also notes.

/// The closed set of faults that are repaired. Its size bounds the number of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    StrayAngle,
    StrayAmpersand,
    UnknownEntity,
    BadCharacter,
    MissingEnd,
    StrayEnd,
    UnclosedTag,
    UnclosedCdata,
    UnclosedComment,
    CutOff,
    JunkBefore,
    UnknownDate,
    UnknownHint,
    RssCloud,
    BadBase64,
    FieldTooLong,
    ItemTooLong,
    TooDeep,
    TooManyItems,
    TooManyBytes,
    BadItem,
    Encoding,
}

impl Trouble {
    /// Whether it shows that the markup itself is broken. Sloppy texts, dates and hints do not.
    fn is_damage(self) -> bool {
        matches!(
            self,
            Trouble::StrayAngle
                | Trouble::BadCharacter
                | Trouble::MissingEnd
                | Trouble::StrayEnd
                | Trouble::UnclosedTag
                | Trouble::UnclosedCdata
                | Trouble::UnclosedComment
                | Trouble::CutOff
                | Trouble::TooDeep
                | Trouble::BadItem
        )
    }

    fn words(self) -> &'static str {
        match self {
            Trouble::StrayAngle => "`<` that opens no tag, read as text",
            Trouble::StrayAmpersand => "`&` that begins no entity, read as text",
            Trouble::UnknownEntity => "undefined entity, left as written",
            Trouble::BadCharacter => "character that XML forbids, removed",
            Trouble::MissingEnd => "missing end tag, supplied",
            Trouble::StrayEnd => "end tag without a start, ignored",
            Trouble::UnclosedTag => "tag without its `>`, closed",
            Trouble::UnclosedCdata => "CDATA section without its end, closed",
            Trouble::UnclosedComment => "comment without its end, skipped to the next `>`",
            Trouble::CutOff => "the document breaks off; what came before was read",
            Trouble::JunkBefore => "text before the document, skipped",
            Trouble::UnknownDate => "date that is not understood, left out",
            Trouble::UnknownHint => "polling hint that is not understood, left out",
            Trouble::RssCloud => {
                "rssCloud notices are offered; they are not spoken, so it is polled"
            }
            Trouble::BadBase64 => "base64 text that cannot be decoded, left as written",
            Trouble::FieldTooLong => "field longer than the limit, cut",
            Trouble::ItemTooLong => {
                "items longer than the document allows for; their texts were left out"
            }
            Trouble::TooManyBytes => {
                "items longer than the document allows for; the rest was not read"
            }
            Trouble::TooDeep => "element nested deeper than the limit, left out",
            Trouble::TooManyItems => "item beyond the limit; the rest was not read",
            Trouble::BadItem => "item that is not an object, left out",
            Trouble::Encoding => "encoding",
        }
    }
}

#[derive(Debug)]
struct Row {
    trouble: Trouble,
    n: usize,
    first: usize,
    detail: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    rows: Vec<Row>,
}

/// How much of an offending text a warning quotes.
const DETAIL_CHARS_MAX: usize = 60;

impl Warnings {
    pub(crate) fn note(&mut self, trouble: Trouble, offset: usize) {
        self.note_about(trouble, offset, None);
    }

    /// Notes a fault and quotes the text, the first time it occurs.
    pub(crate) fn note_about(&mut self, trouble: Trouble, offset: usize, about: Option<&str>) {
        match self.rows.iter_mut().find(|r| r.trouble == trouble) {
            Some(row) => row.n += 1,
            None => {
                let detail = about.map(|t| {
                    let t = t.trim();
                    let mut quoted: String = t.chars().take(DETAIL_CHARS_MAX).collect();
                    if quoted.len() < t.len() {
                        quoted.push('…');
                    }
                    quoted
                });
                self.rows.push(Row { trouble, n: 1, first: offset, detail });
            }
        }
    }

    /// Notes a fault of the whole document, in a sentence of its own.
    pub(crate) fn note_whole(&mut self, trouble: Trouble, sentence: &str) {
        self.rows.push(Row { trouble, n: 1, first: 0, detail: Some(sentence.to_owned()) });
    }

    /// Whether any of these shows that the document is broken.
    pub(crate) fn tell_damage(&self) -> bool {
        self.rows.iter().any(|row| row.trouble.is_damage())
    }

    /// One sentence for each kind of fault, in the order of appearance.
    pub(crate) fn sentences(mut self, text: &str) -> Vec<String> {
        self.rows.sort_by_key(|r| r.first);
        let mut lines = LineCounter { text, at: 0, line: 1 };
        self.rows
            .iter()
            .map(|row| {
                let line = lines.line_of(row.first);
                if row.trouble == Trouble::Encoding {
                    return row.detail.clone().unwrap_or_default();
                }
                let what = match &row.detail {
                    Some(detail) => format!("{} (`{detail}`)", row.trouble.words()),
                    None => row.trouble.words().to_owned(),
                };
                if row.n == 1 {
                    format!("line {line}: {what}")
                } else {
                    format!("line {line} and {} more: {what}", row.n - 1)
                }
            })
            .collect()
    }
}

struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_of(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        if offset > self.at {
            self.line +=
                self.text.as_bytes()[self.at..offset].iter().filter(|b| **b == b'\n').count();
            self.at = offset;
        }
        self.line
    }
}
