//! Masks the secrets in an address before it is shown: user and password, and the values of
//! parameters that grant access. Input is a URL, or a text that was meant as one; output is the
//! same text with `***` in place of each secret. The output cannot be used to log in, and
//! everything else stays readable.

use std::borrow::Cow;

use url::{Url, form_urlencoded};

/// The replacement of a secret.
const MASK: &str = "***";
/// The most characters shown of a text that is not a URL. Error messages quote it.
const TEXT_CHARS_MAX: usize = 200;
/// The deepest nesting of addresses within addresses. Real ones are nested once; deeper ones are
/// masked entirely.
const NESTED_MAX: u32 = 3;

/// A parameter is secret if one of these is a part of its name: `access_token`, `X-Amz-Signature`,
/// `authToken`.
const WORDS: [&str; 25] = [
    "key",
    "token",
    "auth",
    "oauth",
    "authorization",
    "authentication",
    "sig",
    "signature",
    "hmac",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "jwt",
    "bearer",
    "otp",
    "session",
    "sess",
    "sessid",
    "credential",
    "credentials",
];

/// A part that ends in one of these is secret too: `authtoken`, `PHPSESSID`, `clientsecret`.
const ENDINGS: [&str; 10] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "signature",
    "credential",
    "credentials",
    "sessid",
    "sessionid",
];

/// `key` at the end of a word is secret behind one of these only: `monkey` is not.
const KEY_OWNERS: [&str; 20] = [
    "access", "account", "api", "app", "auth", "client", "feed", "license", "login", "my", "pass",
    "private", "rss", "secret", "security", "session", "shared", "signing", "sub", "user",
];

/// Names that are mostly harmless (WordPress: `feed=rss2`) and sometimes hold a secret (Reddit:
/// `feed=` and 40 digits). The value decides.
const BY_VALUE: [&str; 3] = ["feed", "hash", "sid"];
/// Shorter numbers are identifiers.
const RANDOM_BYTES_MIN: usize = 16;

/// Returns a URL for display: `user:password@` and secret values become `***`.
pub fn mask_secrets(url: &Url) -> String {
    masked(url, 0)
}

/// Returns the same for an address that a publisher wrote. A text that is not a URL stays as it is.
pub fn mask_address(address: &str) -> String {
    Url::parse(address).map_or_else(|_| address.to_owned(), |url| mask_secrets(&url))
}

/// Returns the same for a text that may not be a URL, shortened for a quotation.
pub fn mask_text(text: &str) -> String {
    let shown = match Url::parse(text) {
        Ok(url) if url.has_host() => mask_secrets(&url),
        _ => {
            let (place, rest) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
            let place = match (place.split_once("://"), place.rsplit_once('@')) {
                (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{MASK}@{host}"),
                (None, Some((_, host))) => format!("{MASK}@{host}"),
                (_, None) => place.to_owned(),
            };
            format!("{place}{}", in_pairs(rest, &['?', '#', '&'], 0))
        }
    };
    shown.chars().take(TEXT_CHARS_MAX).collect()
}

fn masked(url: &Url, depth: u32) -> String {
    let path = in_pairs(url.path(), &['/', ';'], depth);
    let query = url.query().map(|query| in_pairs(query, &['&'], depth));
    let fragment = url.fragment().map(|fragment| in_pairs(fragment, &['&'], depth));
    let has_user = !url.username().is_empty() || url.password().is_some();
    let changed = [Some(&path), query.as_ref(), fragment.as_ref()];
    if !has_user && changed.into_iter().flatten().all(|part| matches!(part, Cow::Borrowed(_))) {
        return url.as_str().to_owned();
    }
    let mut shown = url.clone();
    if has_user {
        // Both fail only for URLs that cannot have a user, which this one has.
        let _ = shown.set_username(MASK);
        let _ = shown.set_password(None);
    }
    if matches!(path, Cow::Owned(_)) {
        shown.set_path(&path);
    }
    shown.set_query(query.as_deref());
    shown.set_fragment(fragment.as_deref());
    shown.into()
}

/// Masks secret values of `name=value` in a text. The result is borrowed if there are none.
fn in_pairs<'a>(text: &'a str, separators: &[char], depth: u32) -> Cow<'a, str> {
    let mut shown = String::new();
    let mut changed = false;
    for pair in text.split_inclusive(separators) {
        let end = pair.trim_end_matches(separators).len();
        let (pair, separator) = pair.split_at(end);
        match in_pair(pair, depth) {
            Some(masked) => {
                changed = true;
                shown.push_str(&masked);
            }
            None => shown.push_str(pair),
        }
        shown.push_str(separator);
    }
    if changed { Cow::Owned(shown) } else { Cow::Borrowed(text) }
}

/// Returns a pair with its value masked; `None` if nothing is secret.
fn in_pair(pair: &str, depth: u32) -> Option<String> {
    let Some((written, _)) = pair.split_once('=') else { return in_segment(pair) };
    let (name, value) = form_urlencoded::parse(pair.as_bytes()).next()?;
    if value.is_empty() {
        return None;
    }
    if is_secret(&name, &value) {
        return Some(format!("{written}={MASK}"));
    }
    let inner = Url::parse(&value).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    if depth >= NESTED_MAX {
        return Some(format!("{written}={MASK}"));
    }
    let shown = masked(&inner, depth + 1);
    let encoded = || form_urlencoded::byte_serialize(shown.as_bytes()).collect::<String>();
    (shown != inner.as_str()).then(|| format!("{written}={}", encoded()))
}

/// Masks a part of a path that is secret: `secret:…` (Pinboard), `private-` and digits (Google
/// Calendar).
fn in_segment(segment: &str) -> Option<String> {
    let is_private = |rest: &&str| is_random(rest);
    let private = segment.strip_prefix("private-").filter(is_private).map(|_| "private-");
    let secret = segment.strip_prefix("secret:").filter(|rest| !rest.is_empty());
    private.or(secret.map(|_| "secret:")).map(|start| format!("{start}{MASK}"))
}

fn is_secret(name: &str, value: &str) -> bool {
    let parts = parts(name);
    let whole = parts.concat();
    parts.iter().chain([&whole]).any(|part| is_secret_part(part))
        || (BY_VALUE.contains(&whole.as_str()) && is_random(value))
}

fn is_secret_part(part: &str) -> bool {
    WORDS.contains(&part)
        || ENDINGS.iter().any(|ending| part.ends_with(ending))
        || part.strip_suffix("key").is_some_and(|owner| KEY_OWNERS.contains(&owner))
}

/// Returns the words of a name in lower case: `X-Amz-Signature`, `auth_token` and `authToken` have
/// several.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(last) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    parts
}

/// Returns whether a value looks like the hexadecimal digits of a random number.
fn is_random(value: &str) -> bool {
    value.len() >= RANDOM_BYTES_MIN
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        mask_secrets(&Url::parse(text).unwrap())
    }

    #[test]
    fn secrets_are_masked_and_the_rest_is_kept() {
        assert_eq!(shown("https://me:pw@example.org/f"), "https://***@example.org/f");
        assert_eq!(
            shown("https://example.org/f?a=1&token=abc&API_KEY=x"),
            "https://example.org/f?a=1&token=***&API_KEY=***"
        );
    }

    #[test]
    fn every_name_that_grants_access_is_masked_in_any_case() {
        for name in [
            "key token auth sig password passwd pwd secret jwt session authtoken userkey",
            "X-Amz-Signature X-Amz-Security-Token X-Amz-Credential X-Goog-Signature AWSAccessKeyId",
            "access_token api_key apikey apiKey APIKey auth_token authToken client_secret pass",
            "clientSecret user_credentials PHPSESSID JSESSIONID sessionid session_id id_token",
            "private_token rsskey passkey torrent_pass rss_token oauth_signature feedtoken sess",
            "Signature signature Password PASSWD Pwd Secret JWT accesskey secretkey private-key",
        ]
        .iter()
        .flat_map(|line| line.split(' '))
        {
            let address = format!("https://example.org/f?a=1&{name}=v4lue&b=2");
            let expect = format!("https://example.org/f?a=1&{name}=***&b=2");
            assert_eq!(shown(&address), expect, "{name}");
        }
    }

    #[test]
    fn ordinary_parameters_stay_readable() {
        for query in [
            "page=2&id=17&q=token&format=rss&type=atom&tag=security&user=anna&lang=de",
            "feed=rss2&monkey=1&hash=top&sid=12&author=7&authuser=0&keyword=key&keys=a",
            "channel_id=UC0123456789abcdef&signal=1&design=2&passage=3&compass=4&tokens=5",
            "feed=1234567890123456&playlist_id=PLabc&turkey=1&hotkey=2&u=https://a.org/f?id=1",
            "secret=&token",
        ] {
            let address = format!("https://example.org/f?{query}");
            assert_eq!(shown(&address), address);
        }
    }

    #[test]
    fn an_ambiguous_name_is_masked_where_its_value_is_random() {
        let value = "0123456789abcdef0123456789abcdef01234567";
        let reddit = format!("https://www.reddit.com/.rss?feed={value}&user=anna");
        assert_eq!(shown(&reddit), "https://www.reddit.com/.rss?feed=***&user=anna");
        let forum = "https://forum.example/feed.php?f=3&sid=a1b2c3d4e5f60718293a4b5c6d7e8f90";
        assert_eq!(shown(forum), "https://forum.example/feed.php?f=3&sid=***");
    }

    #[test]
    fn secrets_hide_in_paths_fragments_encoded_names_and_inner_addresses() {
        for (address, expect) in [
            ("https://a.org/f;jsessionid=1A2B/x?y=1", "https://a.org/f;jsessionid=***/x?y=1"),
            (
                "https://feeds.pin.example/rss/secret:a1b2/u:me/",
                "https://feeds.pin.example/rss/secret:***/u:me/",
            ),
            ("https://a.org/private-0123456789abcdef01/basic", "https://a.org/private-***/basic"),
            ("https://a.org/private-equity/feed", "https://a.org/private-equity/feed"),
            ("https://a.org/f#access_token=abc&x=1", "https://a.org/f#access_token=***&x=1"),
            ("https://a.org/f?to%6ben=abc&x=%20", "https://a.org/f?to%6ben=***&x=%20"),
            (
                "https://bridge.org/?u=https%3A%2F%2Fme%3Apw%40a.org%2Ff%3Ftoken%3Dabc&x=1",
                "https://bridge.org/?u=https%3A%2F%2F***%40a.org%2Ff%3Ftoken%3D***&x=1",
            ),
        ] {
            assert_eq!(shown(address), expect);
        }
        let deep = "https://a/?u=https://b/?u=https://c/?u=https://d/?u=https://e/?token=abc";
        assert!(!shown(deep).contains("abc"), "{}", shown(deep));
    }

    #[test]
    fn a_text_that_is_not_a_url_is_masked_and_cut() {
        assert_eq!(mask_text("me:pw@example.org/f?a=1&token=x"), "***@example.org/f?a=1&token=***");
        assert_eq!(mask_text("http://me:pw@exa mple/f"), "http://***@exa mple/f");
        assert_eq!(mask_text("//example.org/f?password=x"), "//example.org/f?password=***");
        assert_eq!(mask_text("not a url"), "not a url");
        assert_eq!(mask_text(&"ä".repeat(500)).chars().count(), TEXT_CHARS_MAX);
    }
}
