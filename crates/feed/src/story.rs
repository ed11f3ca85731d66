//! Recognises entries of several feeds that tell the same story: they have the same page, one links
//! to the page of the other, or their titles are similar. The input is one entry, the output are
//! keys by which a store finds candidates, and a comparison of titles. Nothing here stores or
//! fetches anything.

use std::collections::BTreeSet;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use url::Url;

/// Entries that are further apart do not tell the same story.
pub const STORY_SPAN: Duration = Duration::from_secs(3 * 86_400);
/// A text with more links is a list of links and tells no single story.
const LINKED_MAX: usize = 3;
/// Titles with fewer words are too general: "Weekly notes".
const TITLE_WORDS_MIN: usize = 4;
/// Shorter words are mostly articles and prepositions, which all titles share.
const WORD_CHARS_MIN: usize = 4;
/// Longer titles are cut.
const TITLE_WORDS_MAX: usize = 40;
/// The least share of common words among all words of two titles (Jaccard's index).
const SIMILARITY_MIN: f64 = 0.6;
/// Groups of hash functions. Two titles become candidates if all functions of one group agree: 93 %
/// of the pairs with a similarity of 0.6, and 8 % of those with 0.12.
const BANDS: u64 = 6;
const FUNCTIONS_PER_BAND: u64 = 2;
/// Parameters that say how a reader came to a page, and not which page it is.
const TRACKING: [&str; 16] = [
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "ref",
    "ref_src",
    "cmpid",
    "cmp",
    "xtor",
    "smid",
    "ncid",
    "at_medium",
];
/// Names of hosts that show the same pages in another form.
const HOST_PREFIXES: [&str; 4] = ["www.", "m.", "amp.", "mobile."];
/// Ends of paths that do not change the page.
const PATH_ENDS: [&str; 5] = ["/amp", "/amp.html", "/index.html", "/index.htm", "/index.php"];

/// The keys under which an entry is found by others that tell the same story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoryKeys {
    /// The page of the entry, and pages that its text links to. One common key is enough.
    pub pages: Vec<i64>,
    /// Candidates for a similar title. They must be confirmed by [`TitleWords::is_similar`].
    pub titles: Vec<i64>,
}

impl StoryKeys {
    /// Returns the keys of an entry. `linked` are the addresses in its text.
    pub fn of(title: Option<&str>, link: Option<&str>, linked: &[String]) -> StoryKeys {
        let own = link.and_then(page_key);
        let others: BTreeSet<i64> = linked.iter().filter_map(|link| page_key(link)).collect();
        let others = if others.len() > LINKED_MAX { BTreeSet::new() } else { others };
        let pages: BTreeSet<i64> = own.into_iter().chain(others).collect();
        let words = title.map(title_words).unwrap_or_default();
        StoryKeys { pages: pages.into_iter().collect(), titles: title_keys(&words) }
    }
}

/// Returns the number of a page, or `None` for addresses that are not one page: the start page of a
/// site, or something else than a web address. Scheme, tracking parameters and the order of
/// parameters do not matter.
pub fn page_key(link: &str) -> Option<i64> {
    page_name(link).map(|name| digest("page", &name))
}

/// Returns the site of an address: its host without `www.`.
pub fn site_of(link: &str) -> Option<String> {
    let url = web_url(link)?;
    url.host_str().map(|host| plain_host(host).to_owned())
}

fn web_url(link: &str) -> Option<Url> {
    Url::parse(link.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn plain_host(host: &str) -> &str {
    HOST_PREFIXES.iter().find_map(|prefix| host.strip_prefix(prefix)).unwrap_or(host)
}

fn page_name(link: &str) -> Option<String> {
    let url = web_url(link)?;
    let host = plain_host(url.host_str()?);
    let path = url.path().trim_end_matches('/');
    let path = PATH_ENDS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let mut pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !name.starts_with("utm_") && !TRACKING.contains(&name.as_ref()))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    if path.is_empty() && pairs.is_empty() {
        return None;
    }
    pairs.sort_unstable();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{host}{port}{path}?{pairs:?}"))
}

/// The words of a title, to compare it with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleWords {
    words: BTreeSet<String>,
    /// Those that contain a digit.
    numbers: Vec<String>,
}

impl TitleWords {
    pub fn of(title: &str) -> TitleWords {
        let words = title_words(title);
        let has_digit = |word: &&String| word.contains(|c: char| c.is_ascii_digit());
        let numbers = words.iter().filter(has_digit).cloned().collect();
        TitleWords { words, numbers }
    }

    /// Returns whether two titles tell the same story. Titles whose numbers differ do not: parts of
    /// a series and versions of a program have nearly the same title.
    pub fn is_similar(&self, other: &TitleWords) -> bool {
        let (n, n_other) = (self.words.len(), other.words.len());
        if n.min(n_other) < TITLE_WORDS_MIN || self.numbers != other.numbers {
            return false;
        }
        let common = self.words.intersection(&other.words).count();
        common as f64 >= SIMILARITY_MIN * (n + n_other - common) as f64
    }
}

/// Returns the words of a title in lower case. Short words say little. Writing without spaces is
/// split into pairs of characters.
fn title_words(title: &str) -> BTreeSet<String> {
    let lower = title.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.chars().any(is_unspaced) {
            let chars: Vec<char> = word.chars().collect();
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if word.chars().count() >= WORD_CHARS_MIN
            || word.contains(|c: char| c.is_ascii_digit())
        {
            words.insert(word.to_owned());
        }
        if words.len() >= TITLE_WORDS_MAX {
            break;
        }
    }
    words
}

/// Whether a character belongs to a script that is written without spaces: Chinese, Japanese, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns keys that similar sets of words probably share (MinHash with bands).
fn title_keys(words: &BTreeSet<String>) -> Vec<i64> {
    if words.len() < TITLE_WORDS_MIN {
        return Vec::new();
    }
    let hashes: Vec<u64> = words.iter().map(|word| digest("word", word).cast_unsigned()).collect();
    let least = |function: u64| hashes.iter().map(|hash| mixed(*hash, function)).min();
    let band = |band: u64| {
        let functions = band * FUNCTIONS_PER_BAND..(band + 1) * FUNCTIONS_PER_BAND;
        digest("title", &format!("{band} {:?}", functions.map(least).collect::<Vec<_>>()))
    };
    (0..BANDS).map(band).collect()
}

/// Mixes a hash with the number of a function (the finaliser of SplitMix64).
fn mixed(hash: u64, function: u64) -> u64 {
    let mut x = hash.wrapping_add((function + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn digest(kind: &str, text: &str) -> i64 {
    let digest = Sha256::digest(format!("{kind}\n{text}"));
    i64::from_be_bytes(std::array::from_fn(|at| digest[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_page_has_one_key() {
        let page = page_key("https://www.example.org/news/volcano?id=7").unwrap();
        for same in [
            "http://example.org/news/volcano?id=7",
            "https://m.example.org/news/volcano/?id=7&utm_source=feed#top",
            "https://example.org/news/volcano/amp?fbclid=x&id=7",
            " HTTPS://EXAMPLE.ORG:443/news/volcano/index.html?id=7 ",
        ] {
            assert_eq!(page_key(same), Some(page), "{same}");
        }
        for other in [
            "https://example.org/news/volcano?id=8",
            "https://example.org/news/Volcano?id=7",
            "https://example.com/news/volcano?id=7",
            "https://example.org:81/news/volcano?id=7",
        ] {
            assert_ne!(page_key(other), Some(page), "{other}");
        }
        for none in ["", "https://example.org/", "mailto:a@b.org", "/news", "http://x/?utm_id=1"] {
            assert_eq!(page_key(none), None, "{none}");
        }
    }

    #[test]
    fn titles_of_one_story_are_similar() {
        for (one, other, similar) in [
            (
                "Volcano erupts in Iceland, thousands evacuated",
                "Thousands evacuated as volcano erupts in Iceland",
                true,
            ),
            ("Volcano erupts in Iceland again", "Volcano erupts in Italy, tourists flee", false),
            ("Review: the new Pixel phone 9", "Review: the new Pixel phone 10", false),
            ("Weekly notes", "Weekly notes", false),
            ("The week in the night bus", "In praise of the night bus", false),
            ("Notes on the old harbour today", "In praise of the old harbour today", false),
            ("冰岛火山喷发数千人撤离", "冰岛火山喷发 数千人撤离家园", true),
            ("冰岛火山喷发数千人撤离", "东京奥运会闭幕式今晚举行", false),
        ] {
            assert_eq!(
                TitleWords::of(one).is_similar(&TitleWords::of(other)),
                similar,
                "{one} / {other}"
            );
            if similar {
                let keys = |title| StoryKeys::of(Some(title), None, &[]).titles;
                assert!(keys(one).iter().any(|key| keys(other).contains(key)), "{one} / {other}");
            }
        }
    }

    #[test]
    fn a_list_of_links_points_to_no_story() {
        let links = |n: usize| -> Vec<String> {
            (0..n).map(|n| format!("https://example.org/{n}")).collect()
        };
        let pages = |n| StoryKeys::of(None, Some("https://a.org/x"), &links(n)).pages.len();
        assert_eq!([pages(0), pages(3), pages(4)], [1, 4, 1]);
    }

    #[test]
    fn bands_find_the_share_of_similar_pairs_that_they_promise() {
        // Pairs of titles with ten words each. They share some of them.
        let found = |common: usize| {
            let hits = (0..400).filter(|pair| {
                let title = |side: char| -> BTreeSet<String> {
                    let own = (common..10).map(|n| format!("{side}{pair}x{n}"));
                    (0..common).map(|n| format!("w{pair}x{n}")).chain(own).collect()
                };
                let (one, other) = (title_keys(&title('a')), title_keys(&title('b')));
                one.iter().any(|key| other.contains(key))
            });
            hits.count()
        };
        // 8 of 12 words are common: a similarity of 0.67. Then 2 of 18: 0.11.
        assert!(found(8) > 370, "{}", found(8));
        assert!(found(2) < 60, "{}", found(2));
    }
}
