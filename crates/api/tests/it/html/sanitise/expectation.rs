//! The `Expect:` comments of the corpus, of the form `not bozo and PATH == 'VALUE'`.

/// A field, and feedparser's value of it.
pub struct Expectation {
    path: String,
    pub value: String,
}

impl Expectation {
    pub fn read(document: &str) -> Option<Expectation> {
        let line = document.lines().find_map(|l| l.trim().strip_prefix("Expect:"))?;
        let (path, literal) = line.trim().strip_prefix("not bozo and ")?.split_once(" == ")?;
        Some(Expectation { path: path.trim().to_owned(), value: unquoted(literal.trim())? })
    }

    /// Returns the same field of a parsed document; `None` for fields that the page never shows.
    pub fn field(&self, document: &parse::Document) -> Option<String> {
        let first = document.items.first();
        match self.path.as_str() {
            "entries[0]['title']" => first?.title.clone(),
            // feedparser uses the content as the description if there is none.
            "entries[0]['description']" | "entries[0]['summary']" => {
                first?.summary.clone().or(first?.content.clone())
            }
            "entries[0]['content'][0]['value']" => first?.content.clone(),
            "feed['title']" => document.title.clone(),
            _ => None,
        }
    }
}

/// Parses a Python string literal.
fn unquoted(literal: &str) -> Option<String> {
    let body = literal.trim_start_matches(['u', 'r']);
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let quote = quotes.into_iter().find(|q| body.starts_with(q))?;
    // Long values are sums of literals, because `--` would end the comment.
    let joint = format!("{quote} + {quote}");
    let body = body.strip_prefix(quote)?.strip_suffix(quote)?.replace(&joint, "");
    let mut value = String::new();
    let mut letters = body.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        match letters.next()? {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            code @ ('x' | 'u') => {
                let digits: String =
                    letters.by_ref().take(if code == 'x' { 2 } else { 4 }).collect();
                value.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            other => value.push(other),
        }
    }
    Some(value)
}
