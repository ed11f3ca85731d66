//! Removes elements whose class or id says that they are not the article.

use dom_query::NodeRef;

use super::CHARS_MIN;
use super::blocks::{n_chars, n_linked};

/// A row of words in classes and ids, and the limits for elements that have one of them.
struct NamedPart {
    /// The beginnings of the word.
    words: &'static str,
    /// The largest share of the text that may go at once.
    share_max: f64,
    chars_max: usize,
    /// The least share of characters in links.
    links_min: f64,
}

const PARTS: [NamedPart; 11] = [
    NamedPart {
        words: "newsletter nlsignup mailchimp mailinglist emailsignup signup optin",
        share_max: 0.4,
        chars_max: 1500,
        links_min: 0.0,
    },
    NamedPart {
        words: "related recirc recommend taboola outbrain readnext upnext morefrom mostread \
            mostpopular trending youmaylike seealso readalso readmore morestories moreon \
            nextarticle nextpost prevpost",
        share_max: 0.5,
        chars_max: 20_000,
        links_min: 0.25,
    },
    NamedPart {
        words: "comments commentlist disqus respond",
        share_max: 0.9,
        chars_max: usize::MAX,
        links_min: 0.0,
    },
    NamedPart {
        words: "share sharing sharedaddy addthis addtoany social breadcrumb feedback helpful \
            appbanner appdownload skiplink",
        share_max: 0.25,
        chars_max: 400,
        links_min: 0.0,
    },
    NamedPart {
        words: "vjs videojs jwplayer plyr mejs",
        share_max: 0.25,
        chars_max: 3000,
        links_min: 0.0,
    },
    NamedPart {
        words: "cookie consent gdpr paywall regwall",
        share_max: 0.3,
        chars_max: 3000,
        links_min: 0.0,
    },
    NamedPart {
        words: "toc tableofcontents jumplinks",
        share_max: 0.25,
        chars_max: 5000,
        links_min: 0.6,
    },
    NamedPart {
        words: "byline dateline postmeta entrymeta articlemeta metadata pubdate timestamp",
        share_max: 0.1,
        chars_max: 200,
        links_min: 0.0,
    },
    NamedPart {
        words: "tags taglist tagcloud topics popular categories pagination pager \
            postnavigation postnav",
        share_max: 0.25,
        chars_max: 800,
        links_min: 0.5,
    },
    NamedPart {
        words: "promo subscribe subscription advert sponsor donate donation",
        share_max: 0.25,
        chars_max: 800,
        links_min: 0.0,
    },
    NamedPart {
        words: "authorbio authorbox aboutauthor authorinfo authorcard authordescription \
            bioauthor writerbio",
        share_max: 0.25,
        chars_max: 1500,
        links_min: 0.0,
    },
];

/// Elements that hold words of the article whatever their class says.
const SAFE: [&str; 19] = [
    "p",
    "pre",
    "code",
    "blockquote",
    "figure",
    "table",
    "tbody",
    "tr",
    "td",
    "em",
    "strong",
    "article",
    "span",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
];

pub fn remove(root: &NodeRef<'_>) {
    let mut left = n_chars(root);
    for node in root.descendants() {
        if !node.is_element() || SAFE.iter().any(|name| node.has_name(name)) {
            continue;
        }
        let Some(part) = named(&node) else { continue };
        // An ancestor may be gone already.
        if !node.ancestors_it(None).any(|ancestor| ancestor.id == root.id) {
            continue;
        }
        let chars = n_chars(&node);
        let fits = chars <= part.chars_max
            && chars as f64 <= part.share_max * left as f64
            && left - chars >= CHARS_MIN.min(left);
        let density = n_linked(&node) as f64 / chars.max(1) as f64;
        if fits && density >= part.links_min && !holds_more(&node) {
            node.remove_from_parent();
            left -= chars;
        }
    }
}

/// Whether an element holds a quoted post, a heading of the first level, or a video.
fn holds_more(node: &NodeRef<'_>) -> bool {
    ["blockquote", "h1", "iframe", "pre"].iter().any(|name| !node.find_descendants(name).is_empty())
}

/// Returns the part that a class or id names. Words are compared alone and joined with the next
/// one, so that `related-posts`, `relatedPosts` and `about-author` are found.
fn named(node: &NodeRef<'_>) -> Option<&'static NamedPart> {
    let names: Vec<String> = [node.class(), node.id_attr()]
        .into_iter()
        .flatten()
        .flat_map(|names| names.split_whitespace().take(40).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    names.iter().find_map(|name| {
        let words = words_of(name);
        let pairs = words.windows(2).map(|pair| pair.concat());
        let all: Vec<String> = words.iter().cloned().chain(pairs).collect();
        PARTS.iter().find(|part| {
            part.words.split_whitespace().any(|begin| all.iter().any(|word| says(word, begin)))
        })
    })
}

/// Whether a word begins with a part of the table. Short parts must be whole words or plurals:
/// `promotion` and `socialism` are words of articles.
fn says(word: &str, part: &str) -> bool {
    match word.strip_prefix(part) {
        Some(rest) if part.len() <= 6 => matches!(rest, "" | "s" | "box" | "bar"),
        Some(_) => true,
        None => false,
    }
}

/// Splits a name at punctuation and at capitals: `relatedPosts_box` has three words.
pub fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars().take(100) {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words_of("relatedPosts_box"), ["related", "posts", "box"]);
        assert_eq!(words_of("--c-share2"), ["c", "share2"]);
        assert_eq!(words_of("NewsletterSignup"), ["newsletter", "signup"]);
    }
}
