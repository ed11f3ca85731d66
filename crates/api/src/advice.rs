//! What a failing poll means for the person who reads the page, and what to do about it. The
//! error's own words are shown beside it; nothing is decided here.

use feed::{Outcome, Trouble};

/// One sentence of advice for a feed whose last poll ended so. `None` where nothing is wrong.
pub fn advice(
    outcome: Option<Outcome>,
    status: Option<u16>,
    trouble: Option<Trouble>,
) -> Option<&'static str> {
    match (outcome?, status) {
        (Outcome::Seen | Outcome::Unchanged, _) => None,
        (Outcome::Gone, _) => Some(
            "The publisher ended this feed. Nothing is polled any more; what was seen is kept.",
        ),
        (Outcome::Damaged, _) => Some(
            "The feed answers, but its document is broken. Its publisher must repair it. What was \
             seen is kept, and the feed is tried again at growing intervals.",
        ),
        (_, Some(401)) => {
            Some("It asks for a login. Add it with user and password in its address, or remove it.")
        }
        (_, Some(403)) => {
            Some("The server refuses us. Open the address in a browser; it may want a login now.")
        }
        (_, Some(404)) => Some(
            "Nothing is at this address now. If it stays so, look for the new one on the site: \
             tidings discover SITE.",
        ),
        (_, Some(429 | 503)) => {
            Some("The server asks for patience. The whole domain is left alone as long as it said.")
        }
        (_, Some(451)) => Some("The server may not answer here for legal reasons."),
        (_, Some(500..)) => {
            Some("The server has trouble of its own. It is tried again, at growing intervals.")
        }
        (_, Some(200..300)) => Some(
            "Something answers, but it is not a feed. Look for the right address: \
             tidings discover SITE.",
        ),
        (_, Some(_)) => Some("An unusual answer. It is tried again, at growing intervals."),
        (_, None) => Some(without_answer(trouble)),
    }
}

/// There was no answer: the kind of trouble says on which step.
fn without_answer(trouble: Option<Trouble>) -> &'static str {
    match trouble {
        Some(Trouble::Tls) => {
            "The secure connection failed, mostly for an expired certificate. The site must mend \
             it."
        }
        Some(Trouble::NotPublic) => {
            "The address is not public. If it is yours, start with --allow-private."
        }
        Some(Trouble::NoSuchHost | Trouble::Lookup) => {
            "The name is not known now. Check its spelling; the site may be gone."
        }
        Some(Trouble::Timeout) => {
            "It did not answer in time. It is tried again, at growing intervals."
        }
        Some(Trouble::TooLarge) => {
            "It sent more than we take. If you trust it, raise the limit in [limits]."
        }
        Some(Trouble::Waiting) => {
            "The server asks for patience. The whole domain is left alone as long as it said."
        }
        Some(Trouble::Internal) => {
            "This program failed, not the site. The log says more; please report it."
        }
        _ => "It could not be reached. It is tried again, at growing intervals.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_trouble_gets_advice_and_success_gets_none() {
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
