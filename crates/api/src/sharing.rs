//! Services to which people send entries: templates of links with `{url}` and `{title}`, and
//! webhooks. This module checks templates and fills them. It sends nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use feed::FeedUrl;
use store::{ShareKind, ShareTarget};
use url::Url;

/// Bytes of a template and letters of a name.
const TEMPLATE_BYTES_MAX: usize = 1000;
const NAME_CHARS_MAX: usize = 60;
/// A longer title is cut, because servers refuse long addresses.
const TITLE_CHARS_MAX: usize = 300;
/// A link that is longer than this is not passed on.
const LINK_BYTES_MAX: usize = 4000;

/// A service that is ready to use.
pub struct ReadyService {
    pub name: &'static str,
    /// `HOST` stands for the server of the person.
    pub template: &'static str,
}

impl ReadyService {
    /// Whether the person must name a server.
    pub fn needs_host(&self) -> bool {
        self.template.contains("HOST")
    }
}

/// The services that are ready to use.
pub const READY: [ReadyService; 6] = [
    ReadyService { name: "wallabag", template: "https://HOST/bookmarklet?url={url}" },
    ReadyService {
        name: "Linkding",
        template: "https://HOST/bookmarks/new?url={url}&title={title}&auto_close",
    },
    ReadyService { name: "Readeck", template: "https://HOST/bookmarks/unread?url={url}" },
    ReadyService {
        name: "Pinboard",
        template: "https://pinboard.in/add?next=same&url={url}&title={title}",
    },
    ReadyService {
        name: "Instapaper",
        template: "https://www.instapaper.com/hello2?url={url}&title={title}",
    },
    ReadyService { name: "Mastodon", template: "https://HOST/share?text={title}%20{url}" },
];

/// Checks what a person wrote. Returns the service with a fresh key.
pub fn checked(name: &str, kind: ShareKind, template: &str) -> Result<ShareTarget, String> {
    let (name, template) = (name.trim(), template.trim());
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control) {
        return Err(format!("the name must be one line of 1 to {NAME_CHARS_MAX} letters"));
    }
    if template.len() > TEMPLATE_BYTES_MAX {
        return Err(format!("the address has more than {TEMPLATE_BYTES_MAX} bytes"));
    }
    match kind {
        ShareKind::Webhook => {
            FeedUrl::parse(template).map_err(|error| error.to_string())?;
        }
        ShareKind::Link => check_template(template)?,
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| "cannot create a key now; try again".to_owned())?;
    Ok(ShareTarget {
        position: 0,
        name: name.to_owned(),
        kind,
        template: template.to_owned(),
        signing_key: format!("whsec_{}", STANDARD.encode(bytes)),
    })
}

/// Removes what only the owner may see, for a token that only reads.
pub fn without_secrets(target: ShareTarget) -> ShareTarget {
    let template = FeedUrl::mask(&target.template);
    ShareTarget { template, signing_key: String::new(), ..target }
}

fn check_template(template: &str) -> Result<(), String> {
    if !template.contains("{url}") {
        return Err("the address needs {url}, where the link of the entry goes".to_owned());
    }
    let url = Url::parse(&fill(template, "x", "x")).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the address must begin with https:// or http://".to_owned());
    }
    // The entry must not decide which server gets it.
    let authority = template.split("://").nth(1).unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains(['{', '}']) || authority.contains("HOST") {
        return Err("the address must name a server, such as https://example.org/".to_owned());
    }
    Ok(())
}

/// Fills a template. Both values are percent-encoded, so they cannot change the rest of it.
pub fn fill(template: &str, link: &str, title: &str) -> String {
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    let mut filled = String::with_capacity(template.len() + link.len() + title.len());
    let mut rest = template;
    // In one pass: a title with `{url}` in it stays a title.
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let (value, name) = match rest {
            _ if rest.starts_with("{url}") => (encoded(link), "{url}"),
            _ if rest.starts_with("{title}") => (encoded(&title), "{title}"),
            _ => ("%7B".to_owned(), "{"),
        };
        filled.push_str(&value);
        rest = &rest[name.len()..];
    }
    filled.push_str(rest);
    filled
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Returns whether the link of an entry can be passed on.
pub fn is_shareable(link: &str) -> bool {
    let scheme = Url::parse(link).map(|url| matches!(url.scheme(), "http" | "https"));
    link.len() <= LINK_BYTES_MAX && scheme.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_and_cannot_change_the_address() {
        let link = "https://e.org/a?b=1&c=ü#d";
        let filled = fill("https://s.example/?url={url}&title={title}", link, "A & B {url} \"<'");
        assert_eq!(
            filled,
            "https://s.example/?url=https%3A%2F%2Fe.org%2Fa%3Fb%3D1%26c%3D%C3%BC%23d\
             &title=A%20%26%20B%20%7Burl%7D%20%22%3C%27"
        );
        assert_eq!(fill("https://s.example/{x}?{url}", "l", ""), "https://s.example/%7Bx}?l");
    }

    #[test]
    fn only_templates_of_web_addresses_are_taken() {
        let link = |template: &str| checked("a", ShareKind::Link, template);
        assert!(link("https://s.example/?u={url}").is_ok());
        for wrong in [
            "javascript:alert('{url}')",
            "data:text/html,{url}",
            "{url}",
            "https://{url}/",
            "https://{title}.example/?{url}",
            "https://s.example/",
            "https://HOST/?{url}",
            "//s.example/{url}",
            "mailto:?body={url}",
        ] {
            assert!(link(wrong).is_err(), "{wrong}");
        }
        assert!(checked("", ShareKind::Link, "https://s.example/{url}").is_err());
        assert!(checked("a\nb", ShareKind::Link, "https://s.example/{url}").is_err());
        assert!(checked("a", ShareKind::Webhook, "ftp://s.example/").is_err());
        let hook = checked("a", ShareKind::Webhook, "https://s.example/in").unwrap();
        assert!(hook.signing_key.starts_with("whsec_"));
    }

    #[test]
    fn every_ready_service_is_a_valid_template() {
        for ready in READY {
            let template = ready.template.replace("HOST", "s.example");
            assert!(checked(ready.name, ShareKind::Link, &template).is_ok(), "{}", ready.name);
        }
        assert!(is_shareable("https://e.org/") && !is_shareable("javascript:x"));
    }
}
