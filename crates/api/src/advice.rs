//! What a failing poll means for the person who reads the page, and what to do about it. The
//! error's own words are shown beside it; nothing is decided here.

use feed::Outcome;

/// One sentence of advice for a feed whose last poll ended so. `None` where nothing is wrong.
pub fn advice(outcome: Option<Outcome>, status: Option<u16>, error: &str) -> Option<&'static str> {
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
        (_, None) => Some(without_answer(&error.to_ascii_lowercase())),
    }
}

/// There was no answer: the words of the error say on which step.
fn without_answer(error: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|w| error.contains(w));
    if says(&["tls", "certificate", "site of this name"]) {
        "The secure connection failed, mostly for an expired certificate. The site must mend it."
    } else if says(&["not a public address"]) {
        "The address is not public. If it is yours, start with --allow-private."
    } else if says(&["no such host", "cannot be looked up"]) {
        "The name is not known now. Check its spelling; the site may be gone."
    } else if says(&["within"]) {
        "It did not answer in time. It is tried again, at growing intervals."
    } else if says(&["the limit for a feed"]) {
        "It sent more than we take. If you trust it, raise the limit in [limits]."
    } else {
        "It could not be reached. It is tried again, at growing intervals."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_trouble_gets_advice_and_success_gets_none() {
        for outcome in [Outcome::Gone, Outcome::Refused, Outcome::Failed, Outcome::Damaged] {
            for status in [None, Some(200), Some(304), Some(401), Some(404), Some(503), Some(599)] {
                assert!(advice(Some(outcome), status, "").is_some(), "{outcome} {status:?}");
            }
        }
        assert_eq!(advice(Some(Outcome::Unchanged), Some(304), ""), None);
        assert_eq!(advice(None, None, ""), None);
    }

    #[test]
    fn the_step_that_failed_decides_the_advice() {
        let say = |error| advice(Some(Outcome::Failed), None, error).unwrap_or_default();
        assert!(say("no such host: example.test").contains("spelling"));
        assert!(say("the server's certificate is for another name").contains("certificate"));
        assert!(say("no answer within 20 s").contains("in time"));
        assert!(say("10.0.0.1 is not a public address").contains("--allow-private"));
        assert!(say("connection reset").contains("reached"));
    }
}
