//! The reason why a poll brought no document, as a value with a stable code. The code is stored
//! with the feed; the places that show it tell what to do.

use serde::{Deserialize, Serialize};

/// The step at which a poll failed or was refused. The status of an answer says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// The host name does not exist.
    NoSuchHost,
    /// The name could not be looked up now.
    Lookup,
    /// No connection.
    Connect,
    /// No secure connection.
    Tls,
    /// No answer in time.
    Timeout,
    /// The server answered with a status that brings no document.
    Status,
    /// The answer exceeds our size limit.
    TooLarge,
    /// The body is not encoded as the server says.
    Encoding,
    /// The answer is not HTTP, or it was cut off.
    Protocol,
    /// A redirect without a valid target, or too many of them.
    Redirect,
    /// The address is not public.
    NotPublic,
    /// The server asked us to wait.
    Waiting,
    /// The answer is not a feed.
    NotAFeed,
    /// An error inside this program.
    Internal,
    /// The feed's settings for requests cannot be used.
    Settings,
}

impl Trouble {
    const ALL: [Trouble; 15] = [
        Trouble::NoSuchHost,
        Trouble::Lookup,
        Trouble::Connect,
        Trouble::Tls,
        Trouble::Timeout,
        Trouble::Status,
        Trouble::TooLarge,
        Trouble::Encoding,
        Trouble::Protocol,
        Trouble::Redirect,
        Trouble::NotPublic,
        Trouble::Waiting,
        Trouble::NotAFeed,
        Trouble::Internal,
        Trouble::Settings,
    ];

    /// Returns the stored code, which never changes.
    pub const fn code(self) -> &'static str {
        match self {
            Trouble::NoSuchHost => "no-such-host",
            Trouble::Lookup => "lookup",
            Trouble::Connect => "connect",
            Trouble::Tls => "tls",
            Trouble::Timeout => "timeout",
            Trouble::Status => "status",
            Trouble::TooLarge => "too-large",
            Trouble::Encoding => "encoding",
            Trouble::Protocol => "protocol",
            Trouble::Redirect => "redirect",
            Trouble::NotPublic => "not-public",
            Trouble::Waiting => "waiting",
            Trouble::NotAFeed => "not-a-feed",
            Trouble::Internal => "internal",
            Trouble::Settings => "settings",
        }
    }

    /// Returns `None` for a code of a newer program.
    pub fn from_code(code: &str) -> Option<Trouble> {
        Trouble::ALL.into_iter().find(|trouble| trouble.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_comes_back_from_a_code_of_its_own() {
        for trouble in Trouble::ALL {
            assert_eq!(Trouble::from_code(trouble.code()), Some(trouble));
        }
        assert_eq!(Trouble::from_code("of next year"), None);
    }
}
