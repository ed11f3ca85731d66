//! The feeds that a page names, and which of them are the same feed twice.
//! Fetches nothing: whether an address answers with a feed is the caller's to find out.

mod twins;

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use url::Url;

pub use twins::{Dropped, deduplicate};

/// A feed that a page names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub url: Url,
    pub title: Option<String>,
    pub mime_type: Option<String>,
}

/// A page that names more feeds than this is a directory; the first ones will do.
const CANDIDATES_MAX: usize = 200;
/// How far into a page its own charset declaration is searched, as browsers do.
const META_BYTES_MAX: usize = 1024;

/// The feeds of a page, in its order, each once: `<link rel=alternate>`, or, where there is none,
/// links in the text that look like feeds.
pub fn links(html: &[u8], content_type: Option<&str>, base: &Url) -> Vec<Candidate> {
    let meta = meta_charset(html);
    let said = content_type.filter(|t| t.to_ascii_lowercase().contains("charset"));
    let decoded = crate::encoding::decode(html, said.or(meta.as_deref()));
    let tokenizer = Tokenizer::new(Page::at(base), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(decoded.text.as_ref()));
    while !input.is_empty() {
        // Scripts are never run, so the tokenizer never waits for one; feeding again is enough.
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let page = tokenizer.sink;
    let linked = page.linked.into_inner();
    if linked.is_empty() { page.mentioned.into_inner() } else { linked }
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
    base: RefCell<Url>,
    based: Cell<bool>,
    linked: RefCell<Vec<Candidate>>,
    mentioned: RefCell<Vec<Candidate>>,
}

impl Page {
    fn at(base: &Url) -> Page {
        Page {
            base: RefCell::new(base.clone()),
            based: Cell::new(false),
            linked: RefCell::default(),
            mentioned: RefCell::default(),
        }
    }

    fn tag(&self, tag: &Tag) {
        let get = |name: &str| {
            let found = tag.attrs.iter().find(|a| &*a.name.local == name)?;
            let value = found.value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        match &*tag.name {
            "base" if !self.based.get() => {
                let joined = get("href").and_then(|href| self.base.borrow().join(&href).ok());
                if let Some(url) = joined {
                    self.base.replace(url);
                    self.based.set(true);
                }
            }
            "link" => {
                let rel = get("rel").unwrap_or_default().to_ascii_lowercase();
                let mime_type = get("type").map(|t| t.to_ascii_lowercase());
                let href = get("href").unwrap_or_default();
                if is_feed_link(&rel, mime_type.as_deref(), &href) {
                    self.add(&self.linked, &href, get("title"), mime_type);
                }
            }
            "a" => {
                let href = get("href").unwrap_or_default();
                if looks_like_feed(&href) {
                    self.add(&self.mentioned, &href, get("title"), None);
                }
            }
            _ => {}
        }
    }

    fn add(
        &self,
        list: &RefCell<Vec<Candidate>>,
        href: &str,
        title: Option<String>,
        mime_type: Option<String>,
    ) {
        let href = href.strip_prefix("feed:").filter(|h| h.contains(':')).unwrap_or(href);
        let Ok(url) = self.base.borrow().join(&href.replacen("feed://", "http://", 1)) else {
            return;
        };
        let mut list = list.borrow_mut();
        let wanted = matches!(url.scheme(), "http" | "https") && list.len() < CANDIDATES_MAX;
        if wanted && !list.iter().any(|c| c.url == url) {
            list.push(Candidate { url, title, mime_type });
        }
    }
}

impl TokenSink for Page {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind != TagKind::StartTag {
            return TokenSinkResult::Continue;
        }
        self.tag(&tag);
        match &*tag.name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
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
            // These types are used for other things too; the address must speak for a feed.
            Some("application/json" | "application/xml" | "text/xml") => looks_like_feed(href),
            _ => false,
        }
}

/// Whether an address ends as the feeds of known software do.
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
            "<base href='https://cdn.example.com/x/'><script>'<link rel=alternate \
             type=application/rss+xml href=no>'</script><!-- <link rel=alternate \
             type=application/rss+xml href=no2> --><link rel=alternate \
             type=application/atom+xml href=yes>",
            &["https://cdn.example.com/x/yes"],
        );
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
}
