//! Counts the repairs of a document by kind, so that a thousand defects make one warning. It
//! repairs nothing: the code that repairs a defect also counts it.

/// All defects that the parser repairs. Their number bounds the number of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
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

impl Defect {
    /// Whether the defect shows that the markup itself is broken. Careless texts, dates and hints
    /// do not.
    fn is_damage(self) -> bool {
        matches!(
            self,
            Defect::StrayAngle
                | Defect::BadCharacter
                | Defect::MissingEnd
                | Defect::StrayEnd
                | Defect::UnclosedTag
                | Defect::UnclosedCdata
                | Defect::UnclosedComment
                | Defect::CutOff
                | Defect::TooDeep
                | Defect::BadItem
        )
    }

    fn words(self) -> &'static str {
        match self {
            Defect::StrayAngle => "`<` that does not open a tag, read as text",
            Defect::StrayAmpersand => "`&` that does not begin an entity, read as text",
            Defect::UnknownEntity => "undefined entity, left as written",
            Defect::BadCharacter => "character that XML forbids, removed",
            Defect::MissingEnd => "missing end tag, supplied",
            Defect::StrayEnd => "end tag without a start, ignored",
            Defect::UnclosedTag => "tag without its `>`, closed",
            Defect::UnclosedCdata => "CDATA section without its end, closed",
            Defect::UnclosedComment => "comment without its end, skipped to the next `>`",
            Defect::CutOff => "the document is cut off; the part before the cut was read",
            Defect::JunkBefore => "text before the document, skipped",
            Defect::UnknownDate => "date that is not understood, left out",
            Defect::UnknownHint => "polling hint that is not understood, left out",
            Defect::RssCloud => {
                "rssCloud notices by a protocol other than http-post; the feed is polled"
            }
            Defect::BadBase64 => "base64 text that cannot be decoded, left as written",
            Defect::FieldTooLong => "field longer than the limit, cut",
            Defect::ItemTooLong => {
                "items too long for the size of the document; their texts were left out"
            }
            Defect::TooManyBytes => {
                "items too long for the size of the document; the rest was not read"
            }
            Defect::TooDeep => "element nested deeper than the limit, left out",
            Defect::TooManyItems => "item beyond the limit; the rest was not read",
            Defect::BadItem => "item that is not an object, left out",
            Defect::Encoding => "encoding",
        }
    }
}

#[derive(Debug)]
struct DefectCount {
    trouble: Defect,
    n: usize,
    first: usize,
    detail: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    rows: Vec<DefectCount>,
}

/// The characters of an offending text that a warning quotes.
const DETAIL_CHARS_MAX: usize = 60;

impl Warnings {
    pub(crate) fn note(&mut self, trouble: Defect, offset: usize) {
        self.note_about(trouble, offset, None);
    }

    /// Counts a defect and quotes the text the first time it occurs.
    pub(crate) fn note_about(&mut self, trouble: Defect, offset: usize, about: Option<&str>) {
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
                self.rows.push(DefectCount { trouble, n: 1, first: offset, detail });
            }
        }
    }

    /// Adds a defect of the whole document, in a sentence of its own.
    pub(crate) fn note_whole(&mut self, trouble: Defect, sentence: &str) {
        self.rows.push(DefectCount { trouble, n: 1, first: 0, detail: Some(sentence.to_owned()) });
    }

    /// Whether any defect shows that the document is broken.
    pub(crate) fn tell_damage(&self) -> bool {
        self.rows.iter().any(|row| row.trouble.is_damage())
    }

    /// Returns one sentence for each kind of defect, in the order of appearance.
    pub(crate) fn sentences(mut self, text: &str) -> Vec<String> {
        self.rows.sort_by_key(|r| r.first);
        let mut lines = LineCounter { text, at: 0, line: 1 };
        self.rows
            .iter()
            .map(|row| {
                let line = lines.line_of(row.first);
                if row.trouble == Defect::Encoding {
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
