//! Receivers of deliveries as texts: the key under which they are stored, and the form that may be
//! shown. It delivers nothing.

use feed::FeedUrl;

use crate::Deliver;

impl Deliver {
    /// Returns the key of the receiver. It stays the same when its query is replaced.
    pub fn receiver_key(&self) -> String {
        match self {
            Deliver::Webhook { url, .. } => format!("webhook {}", url.as_str()),
            Deliver::File { path, .. } => format!("file {path}"),
            Deliver::Email { to, .. } => format!("email {to}"),
        }
    }
}

/// Returns a receiver for display: the address of a webhook without its secrets.
pub fn masked_receiver(key: &str) -> String {
    match key.strip_prefix("webhook ") {
        Some(url) => {
            let shown =
                FeedUrl::from_stored(url).map_or_else(|_| "***".to_owned(), |url| url.masked());
            format!("webhook {shown}")
        }
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_shown_without_its_secrets() {
        let shown = masked_receiver("webhook https://me:pw@a.org/hook?token=abc");
        assert!(shown.starts_with("webhook https://"), "{shown}");
        assert!(!shown.contains("pw") && !shown.contains("abc"), "{shown}");
        assert_eq!(masked_receiver("file out.jsonl"), "file out.jsonl");
        assert_eq!(masked_receiver("webhook nonsense"), "webhook ***");
    }
}
