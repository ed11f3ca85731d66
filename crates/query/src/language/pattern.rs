//! The expression of `MATCHES`: searched in linear time, of bounded size. It sees the text as
//! written, markup reduced but nothing folded.

use regex::{Regex, RegexBuilder};

use crate::limits::{PATTERN_BYTES_MAX, PATTERN_COMPILED_BYTES_MAX};

/// A regular expression. Cloning shares what was compiled.
#[derive(Clone, Debug)]
pub struct RegexPattern {
    written: String,
    ignore_case: bool,
    compiled: Regex,
}

impl RegexPattern {
    /// `written` stands between the slashes, `flags` behind. Errors are for people.
    pub(crate) fn new(written: &str, flags: &str) -> Result<RegexPattern, String> {
        let ignore_case = match flags {
            "" => false,
            "i" | "I" => true,
            other => return Err(format!("`{other}` is no flag of an expression; only `i` is")),
        };
        if written.is_empty() {
            return Err("an empty expression matches everything; write what to look for".to_owned());
        }
        if written.len() > PATTERN_BYTES_MAX {
            let n = written.len();
            return Err(format!("the expression has {n} bytes; the limit is {PATTERN_BYTES_MAX}"));
        }
        let compiled = RegexBuilder::new(written)
            .case_insensitive(ignore_case)
            .size_limit(PATTERN_COMPILED_BYTES_MAX)
            .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX)
            // Deeper brackets are no expression that somebody wrote by hand.
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

/// The library's last line says what is wrong; those before draw where.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("the expression takes more than {limit} bytes once compiled")
        }
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or("").trim().trim_start_matches("error: ");
            format!("the expression cannot be read: {last}")
        }
    }
}
