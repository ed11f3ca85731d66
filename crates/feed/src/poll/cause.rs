//! The cause of a poll: a value with a stable code that is stored and compared. Each place that
//! shows it has its own words.

use std::fmt;

use crate::Time;

/// The cause of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The feed was never polled.
    First,
    /// A person requested the poll.
    Asked,
    /// The longest delay promised for the feed is over.
    PromisedDelay,
    /// The feed's hub pushes it; the poll checks whether entries were left out.
    PushCheck,
    /// The poll before failed because our own network was down.
    NetworkWasDown,
    /// The feed failed this many times in a row.
    Retry(u32),
    /// The server asked us to wait until this time.
    RetryAfter(Time),
    /// The publisher's own hint, in words.
    Hint(String),
    /// The figures of a policy or strategy, or words of an older version.
    Rule(String),
}

impl Cause {
    /// Returns the stored code, which never changes.
    pub fn code(&self) -> String {
        match self {
            Cause::First => "first".to_owned(),
            Cause::Asked => "asked".to_owned(),
            Cause::PromisedDelay => "promised-delay".to_owned(),
            Cause::PushCheck => "push-check".to_owned(),
            Cause::NetworkWasDown => "network-was-down".to_owned(),
            Cause::Retry(failures) => format!("retry:{failures}"),
            Cause::RetryAfter(until) => format!("retry-after:{until}"),
            Cause::Hint(hint) => format!("hint:{hint}"),
            Cause::Rule(figures) => figures.clone(),
        }
    }

    /// Returns the cause of a code. Any other text is a rule's own figures.
    pub fn from_code(code: &str) -> Cause {
        let rule = || Cause::Rule(code.to_owned());
        match code.split_once(':') {
            None => match code {
                "first" => Cause::First,
                "asked" => Cause::Asked,
                "promised-delay" => Cause::PromisedDelay,
                "push-check" => Cause::PushCheck,
                "network-was-down" => Cause::NetworkWasDown,
                _ => rule(),
            },
            Some(("retry", n)) => n.parse().map_or_else(|_| rule(), Cause::Retry),
            Some(("retry-after", at)) => at.parse().map_or_else(|_| rule(), Cause::RetryAfter),
            // Older versions wrote words, with a space after the colon.
            Some(("hint", hint)) => Cause::Hint(hint.trim_start().to_owned()),
            Some(_) => rule(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::First => f.write_str("first poll"),
            Cause::Asked => f.write_str("asked for"),
            Cause::PromisedDelay => f.write_str("promised delay"),
            Cause::PushCheck => f.write_str("check on the hub that pushes it"),
            Cause::NetworkWasDown => f.write_str("our network was down"),
            Cause::Retry(1) => f.write_str("retry after 1 failure"),
            Cause::Retry(failures) => write!(f, "retry after {failures} failures"),
            Cause::RetryAfter(until) => write!(f, "after Retry-After until {until}"),
            Cause::Hint(hint) => write!(f, "hint: {hint}"),
            Cause::Rule(figures) => f.write_str(figures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_comes_back_from_its_code() {
        let causes = [
            Cause::First,
            Cause::Asked,
            Cause::PromisedDelay,
            Cause::PushCheck,
            Cause::NetworkWasDown,
            Cause::Retry(3),
            Cause::RetryAfter(Time::from_secs(1_700_000_000)),
            Cause::Hint("ttl of 1 h".to_owned()),
            Cause::Rule("fix u=3600s".to_owned()),
        ];
        for cause in causes {
            assert_eq!(Cause::from_code(&cause.code()), cause);
            assert!(!cause.to_string().is_empty());
        }
        let old = "retry after 3 failures";
        assert_eq!(Cause::from_code(old).to_string(), old, "words of an older version stay");
    }
}
