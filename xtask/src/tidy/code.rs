//! Blanks everything in Rust source that is not code, so that braces and words can be counted.
//!
//! It is not a parser: it knows only comments, strings and character literals.

/// Returns the source with comments, strings and character literals replaced by spaces. Lines and
/// columns stay the same.
pub fn only_code(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_non_code(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The end of the comment or literal that starts at `at`; `at` itself if none starts there.
fn end_of_non_code(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    let after_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if next == '/' => find(chars, at, |c| c == '\n'),
        '/' if next == '*' => end_of_block_comment(chars, at),
        '"' => end_of_string(chars, at + 1),
        'r' | 'b' | 'c' if !after_word => end_of_prefixed(chars, at),
        '\'' => end_of_char(chars, at),
        _ => at,
    }
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|i| wanted(chars[*i])).unwrap_or(chars.len())
}

fn end_of_block_comment(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut i = at;
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], mut i: usize) -> usize {
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 2,
            '"' => return i + 1,
            _ => i += 1,
        }
    }
    chars.len()
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `c"…"`, `b'…'`; raw identifiers are left alone.
fn end_of_prefixed(chars: &[char], at: usize) -> usize {
    let quote = find(chars, at, |c| !matches!(c, 'r' | 'b' | 'c'));
    let prefix: String = chars[at..quote].iter().collect();
    let hashes = find(chars, quote, |c| c != '#') - quote;
    let opening = chars.get(quote + hashes).copied().unwrap_or(' ');
    match (prefix.as_str(), opening) {
        ("b", '\'') if hashes == 0 => end_of_char(chars, quote),
        ("b" | "c", '"') if hashes == 0 => end_of_string(chars, quote + 1),
        ("r" | "br" | "cr", '"') => {
            let closing: Vec<char> =
                std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let body = quote + hashes + 1;
            let len = closing.len();
            (body..chars.len())
                .find(|i| chars[*i..].starts_with(&closing))
                .map_or(chars.len(), |i| i + len)
        }
        _ => at,
    }
}

/// A character literal, or `at` if it is a lifetime.
fn end_of_char(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), Some(_)) => find(chars, at + 3, |c| c == '\'') + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

/// A function: its name, its first line and its number of lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// Every function with a body, from code as [`only_code`] gives it.
pub fn functions(code: &str) -> Vec<Function> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') {
            continue;
        }
        let rest = code[at + 3..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(end) = end_of_body(bytes, at).filter(|_| !name.is_empty()) else { continue };
        let line = 1 + count_lines(&bytes[..at]);
        found.push(Function { name, line, lines: 1 + count_lines(&bytes[at..end]) });
    }
    found
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b == b'\n').count()
}

/// The closing brace of the body; none for a declaration that ends in `;`.
fn end_of_body(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut braces, mut brackets) = (0_i32, 0_i32);
    for (i, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets -= 1,
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 {
                    return Some(i);
                }
            }
            b';' if braces == 0 && brackets == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expect: &str) {
        assert_eq!(only_code(source).split_whitespace().collect::<Vec<_>>().join(" "), expect);
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check("a // {\nb", "a b");
        check("a /* { /* } */ { */ b", "a b");
        check(r#"a "{ \" }" b"#, "a b");
        check(r##"a r#"{ " }"# b"##, "a b");
        check("a '{' b '\\'' c b'{' d", "a b c d");
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        check("fn f<'a>(x: &'a str) { r#fn }", "fn f<'a>(x: &'a str) { r#fn }");
    }

    #[test]
    fn functions_are_measured_to_their_closing_brace() {
        let code = only_code("trait T { fn a(x: [u8; 2]); }\nfn b() {\n  if x { \"}\"; }\n}\n");
        let expect = Function { name: "b".to_owned(), line: 2, lines: 3 };
        assert_eq!(functions(&code), [expect]);
    }
}
