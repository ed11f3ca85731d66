//! The regular expression of `MATCHES`: linear time, bounded size. It sees the text with its markup
//! removed, but not folded.

use regex::{Regex, RegexBuilder};

use crate::limits::{PATTERN_BYTES_MAX, PATTERN_COMPILED_BYTES_MAX};

/// A regular expression. Clones share the compiled form.
#[derive(Clone, Debug)]
pub struct RegexPattern {
    written: String,
    ignore_case: bool,
    compiled: Regex,
}

impl RegexPattern {
    /// `written` is the text between the slashes, `flags` the letters after them. The error is a
    /// message for people.
    pub(crate) fn new(written: &str, flags: &str) -> Result<RegexPattern, String> {
        let ignore_case = match flags {
            "" => false,
            "i" | "I" => true,
            other => {
                return Err(format!(
                    "`{other}` is not a flag of an expression; the only flag is `i`"
                ));
            }
        };
        if written.is_empty() {
            return Err(
                "an empty expression matches everything; write what to search for".to_owned()
            );
        }
        if written.len() > PATTERN_BYTES_MAX {
            let n = written.len();
            return Err(format!("the expression has {n} bytes; the limit is {PATTERN_BYTES_MAX}"));
        }
        let compiled = RegexBuilder::new(written)
            .case_insensitive(ignore_case)
            .size_limit(PATTERN_COMPILED_BYTES_MAX)
            .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX)
            // Nobody writes more brackets by hand.
            .nest_limit(50)
            .build()
            .map_err(|error| reason(&error))?;
        Ok(RegexPattern { written: written.to_owned(), ignore_case, compiled })
    }

    pub fn written(&self) -> &str {
        &self.written
    }

    pub fn ignores_case(&self) -> bool {
        self.ignore_case
    }

    pub(crate) fn is_found_in(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &RegexPattern) -> bool {
        self.written == other.written && self.ignore_case == other.ignore_case
    }
}

impl Eq for RegexPattern {}

/// The last line of the library's error gives the reason; the lines before it show the position.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("the expression takes more than {limit} bytes once compiled")
        }
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or("").trim().trim_start_matches("error: ");
            format!("the expression cannot be parsed: {last}")
        }
    }
}
