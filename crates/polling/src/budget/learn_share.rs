//! The share of a budget that goes to learning polls, as people write it: `10%`, `auto`, `off`
//! (Horincar, Amann and Artières 2012, section 6.3, "separating the bandwidth resources needed for
//! the two processes"; source 000).
//!
//! ```
//! use polling::budget::LearnShare;
//!
//! assert_eq!("10%".parse(), Ok(LearnShare::Percent(10)));
//! assert_eq!("0%".parse(), Ok(LearnShare::Off));
//! assert_eq!(LearnShare::Auto.to_string(), "auto");
//! ```

use std::fmt;
use std::str::FromStr;

/// Precedes the share in the text of a budget: `1000/1h tide tide learn=10%`.
const PREFIX: &str = "learn=";

/// More than half of the polls would teach what is never used.
pub const PERCENT_MAX: u8 = 50;

/// The share of the polls that go where knowing more lowers the expected waiting most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LearnShare {
    #[default]
    Off,
    /// From 1 to 50.
    Percent(u8),
    /// The share of the expected waiting that comes from not knowing the rates.
    Auto,
}

/// A text that is not a share.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a learning share; write a percentage from 0% to 50%, or auto")]
pub struct LearnShareError(String);

impl LearnShare {
    /// Splits the text of a budget into the part before the share, and the text of the share.
    ///
    /// ```
    /// use polling::budget::LearnShare;
    ///
    /// assert_eq!(LearnShare::split("60/1h tide learn=10%"), ("60/1h tide", Some("10%")));
    /// assert_eq!(LearnShare::split("60/1h"), ("60/1h", None));
    /// ```
    pub fn split(budget: &str) -> (&str, Option<&str>) {
        match budget.trim().rsplit_once(PREFIX) {
            Some((budget, share)) => (budget.trim_end(), Some(share)),
            None => (budget.trim(), None),
        }
    }

    /// Joins what [`split`](LearnShare::split) separates. An empty share is left out.
    pub fn join(budget: &str, share: &str) -> String {
        if share.is_empty() { budget.to_owned() } else { format!("{budget} {PREFIX}{share}") }
    }
}

impl fmt::Display for LearnShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnShare::Off => f.write_str("0%"),
            LearnShare::Percent(percent) => write!(f, "{percent}%"),
            LearnShare::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for LearnShare {
    type Err = LearnShareError;

    fn from_str(text: &str) -> Result<LearnShare, LearnShareError> {
        let percent = text.strip_suffix('%').unwrap_or(text);
        match (text, percent.parse::<u8>()) {
            ("auto", _) => Ok(LearnShare::Auto),
            ("off", _) | (_, Ok(0)) => Ok(LearnShare::Off),
            (_, Ok(percent)) if percent <= PERCENT_MAX => Ok(LearnShare::Percent(percent)),
            _ => Err(LearnShareError(text.chars().take(40).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_shown_and_others_refused() {
        for text in ["0%", "1%", "50%", "auto"] {
            assert_eq!(text.parse::<LearnShare>().map(|s| s.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("10".parse(), Ok(LearnShare::Percent(10)));
        for text in ["", "51%", "-1%", "1.5%", "much", "%"] {
            assert!(text.parse::<LearnShare>().is_err(), "{text}");
        }
    }
}
