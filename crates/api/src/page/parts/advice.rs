//! Advice for a person whose feed fails: the meaning of the error and what to do. Pages show it
//! after the error message.

use feed::{Outcome, Trouble};

/// Returns advice for a feed by the result of its last poll. `None` if nothing is wrong.
pub fn advice(
    outcome: Option<Outcome>,
    status: Option<u16>,
    trouble: Option<Trouble>,
) -> Option<&'static str> {
    match (outcome?, status) {
        (Outcome::Seen | Outcome::Unchanged, _) => None,
        (Outcome::Gone, _) => {
            Some("The publisher ended this feed. It is not polled any more. Its entries are kept.")
        }
        (Outcome::Damaged, _) => Some(
            "The server answers, but the document is broken. The publisher must repair it. The \
             entries are kept, and we try again at growing intervals.",
        ),
        (_, Some(401)) => {
            Some("The feed needs a login. Put user and password into its address, or remove it.")
        }
        (_, Some(403)) => {
            Some("The server refuses us. Open the address in a browser: it may need a login now.")
        }
        (_, Some(404)) => Some(
            "There is nothing at this address now. If this lasts, add the feed again by the \
             address of its site: we look for the new address there.",
        ),
        (_, Some(429 | 503)) => {
            Some("The server asked us to wait. We do not ask this site before that time.")
        }
        (_, Some(451)) => Some("The server does not show this feed here, for legal reasons."),
        (_, Some(500..)) => {
            Some("The server has an error of its own. We try again at growing intervals.")
        }
        (_, Some(200..300)) => Some(
            "The server answers, but not with a feed. Add the feed again by the address of its \
             site: we look for the right address there.",
        ),
        (_, Some(_)) => {
            Some("The server gave an unusual answer. We try again at growing intervals.")
        }
        (_, None) => Some(without_answer(trouble)),
    }
}

/// Returns advice for a poll without an HTTP answer, by the step that failed.
fn without_answer(trouble: Option<Trouble>) -> &'static str {
    match trouble {
        Some(Trouble::Tls) => {
            "The secure connection failed, often because a certificate has expired. The site must \
             fix it."
        }
        Some(Trouble::NotPublic) => {
            "The address is not public. If it is yours, start with --allow-private."
        }
        Some(Trouble::NoSuchHost | Trouble::Lookup) => {
            "The host name is not known now. Check the spelling; the site may be gone."
        }
        Some(Trouble::Timeout) => {
            "The server did not answer in time. We try again at growing intervals."
        }
        Some(Trouble::TooLarge) => {
            "The server sent more than the limit. If you trust it, raise the limit in [limits]."
        }
        Some(Trouble::Waiting) => {
            "The server asked us to wait. We do not ask this site before that time."
        }
        Some(Trouble::Settings) => {
            "No request was sent. Repair the key file, or set the values under “How it is fetched” \
             again."
        }
        Some(Trouble::Internal) => {
            "This program failed, not the site. The log says more. Please report it."
        }
        _ => "The server could not be reached. We try again at growing intervals.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_gets_advice_and_success_gets_none() {
        for outcome in [Outcome::Gone, Outcome::Refused, Outcome::Failed, Outcome::Damaged] {
            for status in [None, Some(200), Some(304), Some(401), Some(404), Some(503), Some(599)] {
                assert!(advice(Some(outcome), status, None).is_some(), "{outcome} {status:?}");
            }
        }
        assert_eq!(advice(Some(Outcome::Unchanged), Some(304), None), None);
        assert_eq!(advice(None, None, None), None);
    }

    #[test]
    fn the_step_that_failed_decides_the_advice() {
        let say = |kind| advice(Some(Outcome::Failed), None, Some(kind)).unwrap_or_default();
        assert!(say(Trouble::NoSuchHost).contains("spelling"));
        assert!(say(Trouble::Tls).contains("certificate"));
        assert!(say(Trouble::Timeout).contains("in time"));
        assert!(say(Trouble::NotPublic).contains("--allow-private"));
        assert!(say(Trouble::Connect).contains("reached"));
    }
}
