//! Finds the feeds that a page names, and which of them are the same feed twice. It fetches
//! nothing: the caller finds out whether an address answers with a feed.

mod known;
mod text_links;
mod twins;

use url::Url;

use crate::attribute::Attributes;
use crate::namespace::lower;
use crate::resolve;
use crate::scan::{MarkupToken, Scanner};
use crate::warning::Warnings;

pub use known::{known_feeds, likely_feeds, why_no_feed};
pub use text_links::text_links;
pub use twins::{Dropped, FormatTwin, deduplicate, format_twins, has_session_id, n_prefixes};

/// A feed that a page names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub url: Url,
    pub title: Option<String>,
    pub mime_type: Option<String>,
}

/// A page that names more feeds is a directory. The first ones are enough.
const CANDIDATES_MAX: usize = 200;
/// The part of a page that is searched for its charset declaration, as in browsers.
const META_BYTES_MAX: usize = 1024;

/// Returns the feeds of a page in its order, each once: `<link rel=alternate>`. A page without such
/// links may have a canonical address on a [well-known site](known_feeds), or name the channel that
/// it belongs to. Else links in its text that look like feeds count, or the answer of a podcast
/// directory. At last come [guesses](likely_feeds).
pub fn links(html: &[u8], content_type: Option<&str>, base: &Url) -> Vec<Candidate> {
    let meta = meta_charset(html);
    let said = content_type.filter(|t| t.to_ascii_lowercase().contains("charset"));
    let decoded = crate::encoding::decode(html, said.or(meta.as_deref()));
    let mut page = Page::at(base);
    page.read(&decoded.text);
    let by_rule = |feeds: Vec<Url>| -> Vec<Candidate> {
        let unnamed = |url| Candidate { url, title: None, mime_type: None };
        feeds.into_iter().map(unnamed).collect()
    };
    // The first feed of a rule is the one that most people want.
    let known = |page: &Option<Url>| page.as_ref().map(known_feeds).into_iter().flatten().take(1);
    let canonical = known(&page.canonical).collect();
    let channel = known(&page.channel).collect();
    let found = [
        page.linked,
        by_rule(canonical),
        by_rule(channel),
        page.mentioned,
        by_rule(looked_up(&decoded.text)),
    ];
    let found = found.into_iter().find(|list| !list.is_empty());
    found.unwrap_or_else(|| by_rule(likely_feeds(base)))
}

/// The feed in the answer of a podcast directory: `{"results": [{"feedUrl": …}]}`.
fn looked_up(text: &str) -> Vec<Url> {
    if !text.trim_start().starts_with('{') {
        return Vec::new();
    }
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let address = answer.pointer("/results/0/feedUrl").and_then(serde_json::Value::as_str);
    let url = address.and_then(|address| Url::parse(address).ok());
    url.into_iter().filter(|url| matches!(url.scheme(), "http" | "https")).collect()
}

fn meta_charset(html: &[u8]) -> Option<String> {
    let head =
        String::from_utf8_lossy(&html[..html.len().min(META_BYTES_MAX)]).to_ascii_lowercase();
    let after = head.split_once("<meta")?.1.split_once("charset=")?.1;
    let label: String = after
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
        .collect();
    (!label.is_empty()).then(|| format!("text/html; charset={label}"))
}

struct Page {
    base: Url,
    based: bool,
    linked: Vec<Candidate>,
    mentioned: Vec<Candidate>,
    /// The address that the page gives as its own. A page by name gives the one by number.
    canonical: Option<Url>,
    /// The address of the channel that the page belongs to, if it gives a number of one.
    channel: Option<Url>,
}

impl Page {
    fn at(base: &Url) -> Page {
        Page {
            base: base.clone(),
            based: false,
            linked: Vec::new(),
            mentioned: Vec::new(),
            canonical: None,
            channel: None,
        }
    }

    /// Reads the tags of a page in one pass, with the scanner of feeds. HTML libraries compare each
    /// attribute of a tag with all before it, so a tag with a million attributes would block a poll
    /// for hours.
    fn read(&mut self, text: &str) {
        let (mut scanner, mut unheard) = (Scanner::new(text, 0), Warnings::default());
        while let Some(token) = scanner.next(&mut unheard) {
            let MarkupToken::Start { name, attrs, .. } = token else { continue };
            let name = lower(name);
            if is_raw(&name) {
                let Some(end) = end_of_raw(text, scanner.token_end(), &name) else { return };
                scanner.skip_to(end);
            } else {
                self.tag(&name, Attributes::new(attrs));
            }
        }
    }

    fn tag(&mut self, name: &str, attrs: Attributes<'_>) {
        match name {
            "base" if !self.based => {
                let href = attrs.text("href");
                if let Some(url) = href.and_then(|href| resolve::base(&href, Some(&self.base))) {
                    self.base = url;
                    self.based = true;
                }
            }
            "link" => {
                let rel = attrs.text("rel").unwrap_or_default().to_ascii_lowercase();
                let mime_type = attrs.text("type").map(|t| t.to_ascii_lowercase());
                let href = attrs.text("href").unwrap_or_default();
                if is_feed_link(&rel, mime_type.as_deref(), &href) {
                    let title = attrs.text("title");
                    add(&mut self.linked, &self.base, &href, title, mime_type);
                } else if rel.trim() == "canonical" && self.canonical.is_none() {
                    self.canonical = self.base.join(href.trim()).ok();
                }
            }
            "meta" if attrs.text("itemprop").is_some_and(|name| name == "channelId") => {
                let number = attrs.text("content").unwrap_or_default();
                self.channel = self.base.join(&format!("/channel/{}", number.trim())).ok();
            }
            "a" => {
                let href = attrs.text("href").unwrap_or_default();
                if looks_like_feed(&href) {
                    add(&mut self.mentioned, &self.base, &href, attrs.text("title"), None);
                }
            }
            _ => {}
        }
    }
}

fn add(
    list: &mut Vec<Candidate>,
    base: &Url,
    href: &str,
    title: Option<String>,
    mime_type: Option<String>,
) {
    let href = href.strip_prefix("feed:").filter(|h| h.contains(':')).unwrap_or(href);
    let Ok(url) = base.join(&href.replacen("feed://", "http://", 1)) else { return };
    let wanted = matches!(url.scheme(), "http" | "https") && list.len() < CANDIDATES_MAX;
    if wanted && !list.iter().any(|c| c.url == url) {
        list.push(Candidate { url, title, mime_type });
    }
}

/// Whether the content of an element is always text, never markup.
fn is_raw(name: &str) -> bool {
    ["script", "style", "xmp", "iframe", "noembed", "title", "textarea"].contains(&name)
}

/// Returns the offset at which the end tag of such an element begins.
fn end_of_raw(text: &str, from: usize, name: &str) -> Option<usize> {
    let ends = |at: &usize| {
        let after = text.as_bytes().get(at + 2..at + 2 + name.len());
        after.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    text[from..].match_indices("</").map(|(at, _)| from + at).find(ends)
}

fn is_feed_link(rel: &str, mime_type: Option<&str>, href: &str) -> bool {
    let mut words = rel.split_ascii_whitespace();
    if href.is_empty() || words.clone().any(|w| w == "stylesheet") {
        return false;
    }
    if words.clone().any(|w| w == "feed") {
        return true;
    }
    let kind = mime_type.map(|t| t.split(';').next().unwrap_or(t).trim());
    words.any(|w| w == "alternate")
        && match kind {
            Some("application/rss+xml" | "application/atom+xml" | "application/feed+json") => true,
            Some("application/rdf+xml" | "application/rss" | "application/atom") => true,
            Some("application/x.atom+xml" | "application/x-atom+xml" | "text/rss+xml") => true,
            // These types have other uses too, so the address must also look like that of a feed.
            Some("application/json" | "application/xml" | "text/xml") => looks_like_feed(href),
            _ => false,
        }
}

/// Whether an address ends like the feeds of known software.
fn looks_like_feed(href: &str) -> bool {
    let href = href.trim().to_ascii_lowercase();
    if href.starts_with("feed:") {
        return true;
    }
    let without_fragment = href.split('#').next().unwrap_or("");
    let (path, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let by_name = [".rss", ".atom", ".rdf"].iter().any(|end| last.ends_with(end))
        || [
            "rss",
            "atom",
            "feed",
            "feeds",
            "rss.xml",
            "atom.xml",
            "feed.xml",
            "index.xml",
            "rss2",
            "feed.json",
            "rss.php",
            "index.rdf",
        ]
        .contains(&last);
    let by_query = query.split('&').any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        matches!(name, "feed" | "format" | "alt" | "type" | "output")
            && ["rss", "atom", "rdf"].iter().any(|format| value.starts_with(format))
    });
    by_name || by_query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expect: &[&str]) {
        let base = Url::parse("https://example.org/blog/").unwrap();
        let found = links(html.as_bytes(), Some("text/html"), &base);
        assert_eq!(found.iter().map(|c| c.url.as_str()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn alternate_links_of_feed_types_are_found() {
        check(
            "<html><head><LINK REL='alternate' TYPE='application/rss+xml' href=rss title=R>
             <link rel=\"alternate\" type=\"application/atom+xml\" href=\"/a?x=1&amp;y=2\">
             <link rel=alternate type=application/feed+json href=f.json>
             <link rel=alternate hreflang=de href=/de>
             <link rel=alternate type=application/json href=/wp-json/wp/v2/pages/2>
             <link rel='alternate stylesheet' type='application/rss+xml' href=/no>
             <link rel=alternate type=application/rss+xml href=rss>",
            &[
                "https://example.org/blog/rss",
                "https://example.org/a?x=1&y=2",
                "https://example.org/blog/f.json",
            ],
        );
    }

    #[test]
    fn the_base_of_the_page_is_honoured_and_scripts_are_not_read() {
        check(
            "<base href='https://cdn.example.com/x/'><script src=x>'<link rel=alternate \
             type=application/rss+xml href=no>'</script><!-- <link rel=alternate \
             type=application/rss+xml href=no2> --><link rel=alternate \
             type=application/atom+xml href=yes>",
            &["https://cdn.example.com/x/yes"],
        );
    }

    #[test]
    fn what_looks_like_a_tag_in_a_text_is_none() {
        check(
            "<title><link rel=alternate type=application/rss+xml href=no></TITLE>
             <textarea></text><link rel=alternate type=application/rss+xml href=no></textarea>
             <link rel=alternate type=application/rss+xml href=yes><style><a href=/feed>",
            &["https://example.org/blog/yes"],
        );
    }

    /// On each of these pages an HTML library, or a careless reader, scans the rest again for every
    /// piece.
    #[test]
    fn long_hostile_pages_are_read_to_their_end() {
        let attributes: String = (0..200_000).map(|n| format!(" a{n}")).collect();
        for page in [
            format!("<a{attributes} href=/feed>"),
            "<script></script><!--".repeat(50_000) + "><a href=/feed>",
            "<title></title >".repeat(50_000) + "<a href=/feed>",
        ] {
            check(&page, &["https://example.org/feed"]);
        }
        check(&"<style></".repeat(100_000), &[]);
    }

    #[test]
    fn a_long_base_makes_no_long_list() {
        let base = format!("<base href='http://e.org/{}/'>", "a".repeat(100_000));
        let page = format!("{base}<a href=1.rss><a href=2.rss>");
        check(&page, &["https://example.org/blog/1.rss", "https://example.org/blog/2.rss"]);
    }

    #[test]
    fn without_such_links_anchors_that_look_like_feeds_are_taken() {
        check(
            "<a href=/about>x</a><a href='/index.xml'>RSS</a><a href='?feed=rss2'>y</a>
             <a href='feed://example.org/z'>z</a><a href='/feedback'>n</a>",
            &[
                "https://example.org/index.xml",
                "https://example.org/blog/?feed=rss2",
                "http://example.org/z",
            ],
        );
    }

    #[test]
    fn a_page_of_a_known_site_names_the_feeds_of_its_canonical_address() {
        check(
            "<link rel=canonical href='https://www.youtube.com/channel/UCabc'><a href=/feed>x</a>",
            &["https://www.youtube.com/feeds/videos.xml?channel_id=UCabc"],
        );
        check(
            "<link rel=canonical href='https://www.youtube.com/channel/UCabc'><link rel=alternate \
             type=application/rss+xml href=/own>",
            &["https://example.org/own"],
        );
    }

    #[test]
    fn a_page_of_a_channel_names_its_number() {
        let page = |url: &str| {
            let html = b"<meta itemprop=channelId content=UCabc><link rel=canonical href=/watch>";
            let found = links(html, None, &Url::parse(url).unwrap());
            found.iter().map(|c| c.url.to_string()).collect::<Vec<_>>()
        };
        let feed = "https://www.youtube.com/feeds/videos.xml?channel_id=UCabc";
        assert_eq!(page("https://www.youtube.com/@someone"), [feed]);
        assert_eq!(page("https://www.youtube.com/watch?v=1"), [feed]);
        assert_eq!(page("https://example.org/"), [""; 0], "another site means something else");
    }

    #[test]
    fn the_answer_of_a_podcast_directory_names_a_feed() {
        let answer = r#" {"resultCount":1,"results":[{"feedUrl":"https://pod.example/rss"}]}"#;
        check(answer, &["https://pod.example/rss"]);
        check(r#"{"resultCount":0,"results":[]}"#, &[]);
        check(r#"{"results":[{"feedUrl":"file:///etc/passwd"}]}"#, &[]);
    }

    #[test]
    fn a_page_that_names_nothing_is_guessed_by_its_path() {
        let page = Url::parse("https://social.example/@someone").unwrap();
        let found = links(b"<p>x", None, &page);
        assert_eq!(found[0].url.as_str(), "https://social.example/@someone.rss");
        assert_eq!(links(b"<p>x", None, &Url::parse("https://e.org/").unwrap()), []);
    }
}
