//! Finds addresses of the same feed: exact duplicates, addresses with session ids, and the same
//! feed in another format. Also finds addresses that another address extends by a format. It
//! compares addresses only and fetches nothing.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

use url::Url;

/// The reason why an address is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dropped {
    Duplicate,
    SessionId,
    /// The address has the same feed in a less preferred format.
    FormatTwin {
        kept: Url,
    },
    /// The other address begins with this one and adds a format.
    Prefix {
        kept: Url,
    },
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dropped::Duplicate => f.write_str("already in the list"),
            Dropped::SessionId => f.write_str("carries a session id"),
            Dropped::FormatTwin { kept } => write!(f, "the same feed as {kept} in another format"),
            Dropped::Prefix { kept } => {
                write!(f, "the same feed as {kept}, which names its format")
            }
        }
    }
}

/// The longest come first, so that `atom10` is not read as `atom` and a rest.
const ATOM: [&str; 5] = ["atom_1.0", "atom1.0", "atom_10", "atom10", "atom"];
const RSS: [&str; 8] = ["rss_2.0", "rss_200", "rss2.0", "rss200", "rss_20", "rss20", "rss2", "rss"];
/// Parameters that name a format (`?alt=rss`).
const FORMAT_PARAMETERS: [&str; 4] = ["alt=", "format=", "type=", "feed="];
/// Endings of an address after its format.
const ENDINGS: [&str; 4] = ["/", ".xml", ".html", ".php"];

/// Stands for any format token. It cannot occur in a URL.
const TOKEN: char = '\u{0}';

/// The other address of the same feed, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatTwin {
    /// Both are equal without their format tokens.
    Token { kept: usize },
    /// The kept address is this one and a format.
    Prefix { kept: usize },
}

impl FormatTwin {
    pub const fn kept(self) -> usize {
        match self {
            FormatTwin::Token { kept } | FormatTwin::Prefix { kept } => kept,
        }
    }
}

/// Returns every address in order, with the reason if it is left out.
pub fn deduplicate(urls: &[Url]) -> Vec<(Url, Option<Dropped>)> {
    let mut seen = HashSet::new();
    let mut dropped: Vec<Option<Dropped>> = Vec::with_capacity(urls.len());
    for url in urls {
        let is_new = seen.insert(url.as_str());
        dropped.push(match () {
            () if !is_new => Some(Dropped::Duplicate),
            () if has_session_id(url.as_str()) => Some(Dropped::SessionId),
            () => None,
        });
    }
    let left: Vec<usize> = (0..urls.len()).filter(|i| dropped[*i].is_none()).collect();
    let texts: Vec<&str> = left.iter().map(|i| urls[*i].as_str()).collect();
    for (place, twin) in format_twins(&texts).into_iter().enumerate() {
        let kept = |place: usize| urls[left[place]].clone();
        dropped[left[place]] = twin.map(|twin| match twin {
            FormatTwin::Token { kept: other } => Dropped::FormatTwin { kept: kept(other) },
            FormatTwin::Prefix { kept: other } => Dropped::Prefix { kept: kept(other) },
        });
    }
    urls.iter().cloned().zip(dropped).collect()
}

/// Returns whether an address carries a session id.
pub fn has_session_id(url: &str) -> bool {
    let text = url.to_ascii_lowercase();
    ["phpsessid", "sessionid"].iter().any(|name| text.contains(name))
}

/// Finds format duplicates among different addresses, in linear time. Atom is preferred; between
/// equals the first one stays.
///
/// An address is also a duplicate of a longer one that adds only a format (`/feed` and
/// `/feed/atom/`). The printed rule drops every prefix, also `/feed` for `/feed/comments`:
/// [`n_prefixes`] counts those.
pub fn format_twins(urls: &[&str]) -> Vec<Option<FormatTwin>> {
    let compared: Vec<String> = urls.iter().map(|url| normalised(url)).collect();
    let mut twins: Vec<Option<FormatTwin>> = vec![None; urls.len()];
    // The best address of each skeleton, and whether it is Atom.
    let mut best: HashMap<String, (usize, bool)> = HashMap::new();
    let skeletons: Vec<Option<(String, bool)>> =
        compared.iter().map(|text| skeleton(text)).collect();
    for (i, (text, is_atom)) in skeletons.iter().enumerate().filter_map(with_place) {
        let best = best.entry(text.clone()).or_insert((i, *is_atom));
        if *is_atom && !best.1 {
            *best = (i, true);
        }
    }
    for (i, (text, _)) in skeletons.iter().enumerate().filter_map(with_place) {
        twins[i] = best.get(text).filter(|best| best.0 != i).map(|best| {
            let kept = best.0;
            FormatTwin::Token { kept }
        });
    }
    let places: HashMap<&str, usize> =
        compared.iter().enumerate().map(|(i, text)| (text.as_str(), i)).collect();
    let mut by_length: Vec<usize> = (0..urls.len()).collect();
    by_length.sort_by_key(|i| (std::cmp::Reverse(compared[*i].len()), *i));
    for longer in by_length {
        let kept = twins[longer].map_or(longer, FormatTwin::kept);
        for prefix in without_format(&compared[longer]) {
            if let Some(&shorter) = places.get(prefix)
                && shorter != kept
                && twins[shorter].is_none()
            {
                twins[shorter] = Some(FormatTwin::Prefix { kept });
            }
        }
    }
    twins
}

fn with_place<T>((i, found): (usize, &Option<T>)) -> Option<(usize, &T)> {
    found.as_ref().map(|found| (i, found))
}

/// Returns how many addresses are the beginning of another address of the list: the prefix rule as
/// printed.
pub fn n_prefixes(urls: &[&str]) -> usize {
    let mut sorted: Vec<String> = urls.iter().map(|url| normalised(url)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    // The addresses that begin with another one follow it at once.
    sorted.windows(2).filter(|pair| pair[1].starts_with(&pair[0])).count()
}

/// Returns an address with its percent-encoding in one form: letters and digits plain, the others
/// with capital digits. The host is in lower case already.
fn normalised(url: &str) -> String {
    let mut text = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        let digits = rest.get(at + 1..at + 3);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                text.push(char::from(byte));
            }
            Some(byte) => {
                // Writing to a string cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
            None => {
                text.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        }
        rest = &rest[at + 3..];
    }
    text.push_str(rest);
    text
}

/// Returns the addresses that this one extends by a format only.
fn without_format(text: &str) -> Vec<&str> {
    let tail = &text[host_end(text)..];
    let ending = ENDINGS.iter().find(|ending| tail.ends_with(**ending));
    let tail = ending.map_or(tail, |ending| &tail[..tail.len() - ending.len()]);
    let is_token = |token: &&&str| {
        tail.len() > token.len()
            && tail
                .get(tail.len() - token.len()..)
                .is_some_and(|end| end.eq_ignore_ascii_case(token))
            && !tail.as_bytes()[tail.len() - token.len() - 1].is_ascii_alphanumeric()
    };
    let Some(token) = ATOM.iter().chain(&RSS).find(is_token) else { return Vec::new() };
    let before = &text[..host_end(text) + tail.len() - token.len()];
    if let Some(folder) = before.strip_suffix('/') {
        return vec![before, folder];
    }
    let named = FORMAT_PARAMETERS.iter().find_map(|name| before.strip_suffix(name));
    let named = named.or(Some(before)).and_then(|before| before.strip_suffix(['?', '&']));
    named.into_iter().collect()
}

/// Returns where the path begins.
fn host_end(text: &str) -> usize {
    text.find("://").map_or(0, |at| {
        let start = at + 3;
        start + text[start..].find('/').unwrap_or(text.len() - start)
    })
}

/// Returns an address with its format tokens replaced, and whether one of them is Atom; `None` if
/// it has no token.
fn skeleton(text: &str) -> Option<(String, bool)> {
    let (head, tail) = text.split_at(host_end(text));
    let mut skeleton = head.to_owned();
    let (mut atom, mut found) = (false, false);
    let mut at = 0;
    while at < tail.len() {
        match token_at(tail, at) {
            Some((len, is_atom)) => {
                skeleton.push(TOKEN);
                (atom, found) = (atom || is_atom, true);
                at += len;
            }
            None => {
                let len = tail[at..].chars().next().map_or(1, char::len_utf8);
                skeleton.push_str(&tail[at..at + len]);
                at += len;
            }
        }
    }
    found.then_some((skeleton, atom))
}

/// Returns the length of the format token at `at` and whether it is Atom. A token touches no letter
/// or digit.
fn token_at(text: &str, at: usize) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    if at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let matches = |token: &&str| {
        let end = at + token.len();
        bytes.get(at..end).is_some_and(|part| part.eq_ignore_ascii_case(token.as_bytes()))
            && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
    };
    let atom = ATOM.iter().find(|t| matches(t)).map(|t| (t.len(), true));
    atom.or_else(|| RSS.iter().find(|t| matches(t)).map(|t| (t.len(), false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(urls: &[&str], kept: &[&str]) {
        let urls: Vec<Url> = urls
            .iter()
            .map(|u| Url::parse("http://example.org").unwrap().join(u).unwrap())
            .collect();
        let left: Vec<String> = deduplicate(&urls)
            .into_iter()
            .filter(|(_, dropped)| dropped.is_none())
            .map(|(url, _)| url.as_str().trim_start_matches("http://example.org").to_owned())
            .collect();
        assert_eq!(left, kept);
    }

    #[test]
    fn the_examples_of_the_specification() {
        check(&["/feed/rss.html", "/feed/atom.html"], &["/feed/atom.html"]);
        check(&["/?feed=atom", "/?feed=rss2"], &["/?feed=atom"]);
        check(&["/feed/", "/feed/atom/"], &["/feed/atom/"]);
        check(
            &["/feeds/posts/default", "/feeds/posts/default?alt=rss"],
            &["/feeds/posts/default?alt=rss"],
        );
        check(
            &["/x?rssType=rss20&url=rssExport.jsp", "/x?rssType=atom&url=rssExport.jsp"],
            &["/x?rssType=atom&url=rssExport.jsp"],
        );
    }

    #[test]
    fn duplicates_and_session_ids_go() {
        check(&["/a", "/a", "/b?PHPSESSID=1", "/c;sessionid=2"], &["/a"]);
    }

    #[test]
    fn tokens_touch_no_letter_or_digit_and_hosts_are_kept_apart() {
        check(&["/anatomy", "/anrssy"], &["/anatomy", "/anrssy"]);
        check(
            &["/rss.xml", "http://other.org/atom.xml"],
            &["/rss.xml", "http://other.org/atom.xml"],
        );
        check(&["/rss1/x", "/atom/x"], &["/rss1/x", "/atom/x"]);
        check(&["/rss2.0.xml", "/atom_1.0.xml", "/rss.xml"], &["/atom_1.0.xml"]);
    }

    #[test]
    fn among_twins_without_atom_the_first_stays() {
        check(&["/rss.xml", "/rss2.xml"], &["/rss.xml"]);
    }

    #[test]
    fn a_prefix_counts_only_if_a_format_follows() {
        check(&["/feed", "/feed/comments"], &["/feed", "/feed/comments"]);
        check(&["/rss", "/rss/sports"], &["/rss", "/rss/sports"]);
        check(&["/feed", "/feed/rss2/", "/feed/atom/"], &["/feed/atom/"]);
        check(&["/news", "/news?format=atom"], &["/news?format=atom"]);
        assert_eq!(n_prefixes(&["http://a/feed", "http://a/feed/comments", "http://a/x"]), 1);
    }

    #[test]
    fn percent_encoding_is_compared_in_one_form() {
        check(&["/%7efeeds/rss.xml", "/~feeds/atom.xml"], &["/~feeds/atom.xml"]);
        check(&["/a%2f/rss", "/a%2F/atom"], &["/a%2F/atom"]);
        assert_eq!(normalised("/100%"), "/100%");
    }

    /// The comparison of all pairs, as the definition says it. The tables must agree with it.
    #[test]
    fn tables_find_what_comparing_all_pairs_finds() {
        let parts = ["feed", "rss", "atom", "rss2", "news", "?feed=rss", "?alt=atom", "x.rss.xml"];
        let mut urls: Vec<String> = Vec::new();
        for a in parts {
            for b in parts {
                urls.push(format!("http://example.org/{a}/{b}"));
                urls.push(format!("http://example.org/{b}"));
            }
        }
        urls.sort();
        urls.dedup();
        let texts: Vec<&str> = urls.iter().map(String::as_str).collect();
        let found = format_twins(&texts);
        for (i, twin) in found.iter().enumerate() {
            let own = skeleton(texts[i]);
            let equal = (0..texts.len()).filter(|j| {
                own.is_some()
                    && skeleton(texts[*j]).map(|s| s.0) == own.as_ref().map(|s| s.0.clone())
            });
            let best = equal.min_by_key(|j| (!skeleton(texts[*j]).is_some_and(|s| s.1), *j));
            match twin {
                Some(FormatTwin::Token { kept }) => assert_eq!(Some(*kept), best, "{}", texts[i]),
                _ => assert!(best.is_none_or(|best| best == i), "{}", texts[i]),
            }
        }
    }
}
