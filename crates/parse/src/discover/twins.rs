//! Finds addresses of the same feed: exact duplicates, addresses with session ids, and the same
//! feed in another format. Also finds addresses that another address extends by a format. It
//! compares addresses only and fetches nothing.

use std::fmt;

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

/// Stands for any format token. It cannot occur in a URL.
const TOKEN: char = '\u{0}';

struct ComparedAddress<'a> {
    url: &'a Url,
    /// The address with its format tokens replaced, if it has any.
    skeleton: Option<String>,
    atom: bool,
}

/// Returns every address in order, with the reason if it is left out.
pub fn deduplicate(urls: &[Url]) -> Vec<(Url, Option<Dropped>)> {
    let seen: Vec<ComparedAddress<'_>> = urls.iter().map(ComparedAddress::new).collect();
    let mut dropped: Vec<Option<Dropped>> = urls
        .iter()
        .enumerate()
        .map(|(i, url)| {
            if urls[..i].contains(url) {
                Some(Dropped::Duplicate)
            } else if has_session(url) {
                Some(Dropped::SessionId)
            } else {
                None
            }
        })
        .collect();
    for i in 0..seen.len() {
        if dropped[i].is_none() {
            dropped[i] = twin_of(i, &seen, &dropped);
        }
    }
    for i in 0..seen.len() {
        if dropped[i].is_none() {
            dropped[i] = continued_by(i, &seen, &dropped);
        }
    }
    urls.iter().cloned().zip(dropped).collect()
}

fn twin_of(i: usize, seen: &[ComparedAddress<'_>], dropped: &[Option<Dropped>]) -> Option<Dropped> {
    let own = seen[i].skeleton.as_ref()?;
    // Atom is preferred; between equals the first one stays.
    let better = |j: usize| (seen[j].atom, j < i) > (seen[i].atom, i < j);
    (0..seen.len())
        .filter(|j| *j != i && !is_out(&dropped[*j]) && seen[*j].skeleton.as_ref() == Some(own))
        .filter(|j| better(*j))
        .max_by_key(|j| (seen[*j].atom, seen.len() - j))
        .map(|j| Dropped::FormatTwin { kept: seen[j].url.clone() })
}

fn continued_by(
    i: usize,
    seen: &[ComparedAddress<'_>],
    dropped: &[Option<Dropped>],
) -> Option<Dropped> {
    let own = seen[i].url.as_str();
    (0..seen.len())
        .filter(|j| *j != i && dropped[*j].is_none() && seen[*j].skeleton.is_some())
        .find(|j| {
            let other = seen[*j].url;
            other.host() == seen[i].url.host()
                && other.as_str().len() > own.len()
                && other.as_str().starts_with(own)
        })
        .map(|j| Dropped::Prefix { kept: seen[j].url.clone() })
}

/// Duplicates and addresses with session ids do not affect other addresses.
fn is_out(dropped: &Option<Dropped>) -> bool {
    matches!(dropped, Some(Dropped::Duplicate | Dropped::SessionId))
}

fn has_session(url: &Url) -> bool {
    let text = url.as_str().to_ascii_lowercase();
    ["phpsessid", "sessionid", "jsessionid"].iter().any(|name| text.contains(name))
}

impl<'a> ComparedAddress<'a> {
    fn new(url: &'a Url) -> ComparedAddress<'a> {
        let text = url.as_str();
        let host_end = text.find("://").map_or(0, |at| {
            let start = at + 3;
            start + text[start..].find('/').unwrap_or(text.len() - start)
        });
        let (head, tail) = text.split_at(host_end);
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
        ComparedAddress { url, skeleton: found.then_some(skeleton), atom }
    }
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
}
