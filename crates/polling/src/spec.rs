//! Parses the parameters after the colon of a specification, and reports errors in it. Policies and
//! strategies take the parameters that they need, in order.
//!
//! ```
//! use polling::Policy;
//!
//! let error = "indhist-ttl:0.7,0.1".parse::<Policy>().unwrap_err().to_string();
//! assert!(error.ends_with("write it as `indhist-ttl:0.7,0.1,1h,2`"));
//! ```

use std::time::Duration;

use crate::{Bounds, Decimal, DecimalError, DurationError, parse_duration};

/// An error in a specification.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("unknown {what} `{name}`; did you mean `{nearest}`? Known: {known}")]
    Unknown { what: &'static str, name: String, nearest: &'static str, known: String },
    #[error("`{text}`: {name} needs {needs}; write it as `{example}`")]
    Parameters { text: String, name: &'static str, needs: &'static str, example: &'static str },
    #[error("`{text}`: {source}")]
    Duration { text: String, source: DurationError },
    #[error("`{text}`: {source}")]
    Decimal { text: String, source: DecimalError },
    #[error("`{text}`: bounds are written as @1m..1d, the shorter first, from 1 s on")]
    Bounds { text: String },
}

/// The parameters of one specification, taken one after the other.
pub(crate) struct Parameters<'a> {
    text: &'a str,
    name: &'static str,
    example: &'static str,
    needs: &'static str,
    rest: Option<&'a str>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(text: &'a str, known: &KnownName, rest: Option<&'a str>) -> Parameters<'a> {
        Parameters { text, name: known.name, example: known.example, needs: known.needs, rest }
    }

    pub(crate) fn refuse(&self) -> SpecError {
        let (name, needs, example) = (self.name, self.needs, self.example);
        SpecError::Parameters { text: shortened(self.text), name, needs, example }
    }

    pub(crate) fn take(&mut self) -> Option<&'a str> {
        let rest = self.rest.take()?;
        let (first, rest) = match rest.split_once(',') {
            Some((first, rest)) => (first, Some(rest)),
            None => (rest, None),
        };
        self.rest = rest;
        Some(first)
    }

    /// Checks that no parameter is left.
    pub(crate) fn end<T>(self, value: T) -> Result<T, SpecError> {
        if self.rest.is_some() { Err(self.refuse()) } else { Ok(value) }
    }

    pub(crate) fn duration(&mut self) -> Result<Duration, SpecError> {
        let text = self.take().ok_or_else(|| self.refuse())?;
        let refuse = |source| SpecError::Duration { text: shortened(self.text), source };
        let duration = parse_duration(text).map_err(refuse)?;
        if duration < Bounds::ALPHA_MIN { Err(self.refuse()) } else { Ok(duration) }
    }

    pub(crate) fn duration_or(&mut self, default: Duration) -> Result<Duration, SpecError> {
        if self.rest.is_none() { Ok(default) } else { self.duration() }
    }

    /// Takes a number above zero.
    pub(crate) fn decimal(&mut self) -> Result<Decimal, SpecError> {
        let text = self.take().ok_or_else(|| self.refuse())?;
        let refuse = |source| SpecError::Decimal { text: shortened(self.text), source };
        let decimal: Decimal = text.parse().map_err(refuse)?;
        if decimal.is_zero() { Err(self.refuse()) } else { Ok(decimal) }
    }

    pub(crate) fn decimal_or(&mut self, default: Decimal) -> Result<Decimal, SpecError> {
        if self.rest.is_none() { Ok(default) } else { self.decimal() }
    }

    pub(crate) fn kappa(&mut self) -> Result<Duration, SpecError> {
        let Some(text) = self.take() else { return Ok(Duration::ZERO) };
        let text = text.strip_prefix("kappa=").ok_or_else(|| self.refuse())?;
        let refuse = |source| SpecError::Duration { text: shortened(self.text), source };
        parse_duration(text).map_err(refuse)
    }
}

/// One name of a closed list, with an example and its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownName {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) needs: &'static str,
}

/// Shortens a text, so that no error message is longer than a screen.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Returns the error for a name that is not in the list, with the nearest known one.
pub(crate) fn unknown(what: &'static str, name: &str, known: &[KnownName]) -> SpecError {
    let name = shortened(name);
    let nearest = known.iter().map(|k| k.name).min_by_key(|k| distance(&name, k)).unwrap_or("fix");
    let examples: Vec<&str> = known.iter().map(|k| k.example).collect();
    SpecError::Unknown { what, nearest, known: examples.join(", "), name }
}

/// Returns the number of letters to insert, drop or change to make `a` from `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
