//! What the page shows of an entry's own HTML: text, links, lists, tables and pictures, and
//! nothing that acts, tracks or dresses up.
//!
//! Two ways out: [`page_html`] for our own page, [`html`] for programs that show it themselves.
//! It allows by list and forbids the rest; it never looks for known attacks. Entries are stored as
//! the publisher wrote them: these are the only ways from there onto a page.

mod bounds;

use std::borrow::Cow;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use url::Url;

use crate::Images;
use bounds::bounded;

/// Elements that carry meaning and cannot act. No `id`, `class` or `style`: a publisher's names
/// must not meet ours.
const TAGS: &str = "\
    a abbr acronym address article aside b bdi bdo big blockquote br caption center cite \
    code col colgroup dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 \
    h5 h6 header hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span \
    strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var";

/// Elements whose text is not prose: it goes with them.
const SILENCED: &str =
    "applet embed frameset iframe math noembed noframes script select style svg template";

/// Elements whose text does not run on into what follows.
const PARTING: &str = "blockquote br dd div dt figcaption h1 h2 h3 h4 hr li p pre td tr";

/// Every allowed element may carry these.
const ATTRIBUTES: [&str; 3] = ["dir", "lang", "title"];

const ATTRIBUTES_OF: [(&str, &[&str]); 11] = [
    ("a", &["href", "hreflang"]),
    ("blockquote", &["cite"]),
    ("col", &["span"]),
    ("colgroup", &["span"]),
    ("del", &["cite", "datetime"]),
    ("img", &["src", "alt", "width", "height"]),
    ("ins", &["cite", "datetime"]),
    ("ol", &["start", "reversed", "type"]),
    ("q", &["cite"]),
    ("td", &["colspan", "rowspan", "headers"]),
    ("th", &["colspan", "rowspan", "headers", "scope"]),
];

/// Without a base, a relative link would lead into our own page.
static WITHOUT_BASE: LazyLock<Builder<'static>> = LazyLock::new(|| builder(UrlRelative::Deny));

/// HTML that is safe to put into our own page, where pictures come through the proxy: no reader's
/// browser asks anybody else. Without a proxy their description is shown, where they have one.
pub fn page_html(dirty: &str, base: Option<&Url>, images: Option<&Images>) -> String {
    let clean = html(dirty, base);
    with_tags(&clean, |tag| match tag.strip_prefix("<img ") {
        Some(attributes) => Cow::Owned(proxied(attributes, images)),
        None => Cow::Borrowed(tag),
    })
}

/// HTML that is safe to show; pictures lead to where the publisher keeps them. Relative links are
/// resolved against `base`, and dropped where there is none. Plain text comes out as paragraphs.
pub fn html(dirty: &str, base: Option<&Url>) -> String {
    let dirty = bounded(dirty);
    if !dirty.contains('<') {
        return paragraphs(&dirty);
    }
    let clean = match base {
        Some(base) => builder(UrlRelative::RewriteWithBase(base.clone())).clean(&dirty).to_string(),
        None => WITHOUT_BASE.clean(&dirty).to_string(),
    };
    // Pictures of one by one count readers and show nothing.
    with_tags(&clean, |tag| Cow::Borrowed(if is_pixel(tag) { "" } else { tag }))
}

/// The text alone, as of a title that may carry markup: no tags, no entities, and a space where
/// a paragraph or a line ends.
pub fn text(dirty: &str) -> String {
    let dirty = bounded(dirty);
    if !dirty.contains(['<', '&']) {
        return dirty.into_owned();
    }
    let clean = WITHOUT_BASE.clean(&dirty).to_string();
    let mut text = String::with_capacity(clean.len());
    let mut rest = clean.as_str();
    while let Some(open) = rest.find('<') {
        let end = open + tag_len(&rest[open..]);
        text.push_str(&rest[..open]);
        let name = rest[open + 1..end].trim_start_matches('/').split([' ', '>']).next();
        if name.is_some_and(|name| PARTING.split(' ').any(|p| p == name)) {
            text.push(' ');
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    unescaped(text.trim())
}

fn builder(relative: UrlRelative<'static>) -> Builder<'static> {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.split_whitespace().collect())
        .clean_content_tags(SILENCED.split_whitespace().collect())
        .generic_attributes(ATTRIBUTES.into())
        .tag_attributes(
            ATTRIBUTES_OF.iter().map(|(t, a)| (*t, a.iter().copied().collect())).collect(),
        )
        .url_schemes(["http", "https", "mailto"].into())
        .url_relative(relative)
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true);
    builder
}

/// Text without a tag: entities are the publisher's escapes, blank lines part paragraphs.
fn paragraphs(plain: &str) -> String {
    let escaped = WITHOUT_BASE.clean(plain).to_string();
    let mut html = String::with_capacity(escaped.len() + 16);
    let mut paragraph: Vec<&str> = Vec::new();
    for line in escaped.lines().map(str::trim).chain([""]) {
        if !line.is_empty() {
            paragraph.push(line);
        } else if !paragraph.is_empty() {
            html.push_str("<p>");
            html.push_str(&paragraph.join("<br>"));
            html.push_str("</p>");
            paragraph.clear();
        }
    }
    html
}

/// Writes every tag anew. Works on what ammonia wrote, where every attribute stands in double
/// quotes and holds none.
fn with_tags<'a>(clean: &'a str, write: impl Fn(&'a str) -> Cow<'a, str>) -> String {
    let mut kept = String::with_capacity(clean.len());
    let mut rest = clean;
    while let Some(open) = rest.find('<') {
        let end = open + tag_len(&rest[open..]);
        kept.push_str(&rest[..open]);
        kept.push_str(&write(&rest[open..end]));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

/// A picture's tag with its address led through the proxy; it is loaded when it is scrolled to.
fn proxied(tag: &str, images: Option<&Images>) -> String {
    let mut written = String::from("<img loading=\"lazy\"");
    for (name, value) in attributes(tag) {
        if name != "src" {
            written.push_str(&format!(" {name}=\"{value}\""));
        } else if let Some(address) = images.and_then(|i| i.address(&unescaped(value))) {
            written.push_str(&format!(" src=\"{}\"", address.replace('&', "&amp;")));
        }
    }
    written.push('>');
    written
}

/// Names and values, as they are written.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some((name.trim_start(), value))
    })
}

/// From `<` to the `>` that no quotes enclose.
fn tag_len(text: &str) -> usize {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_pixel(tag: &str) -> bool {
    let Some(img) = tag.strip_prefix("<img ") else { return false };
    let tiny = |side: &str| {
        let value = attributes(img).find(|(name, _)| *name == side).map(|(_, value)| value);
        value.is_some_and(|v| matches!(v.trim().trim_end_matches("px"), "0" | "1"))
    };
    tiny("width") && tiny("height")
}

/// Undoes the escapes that a serialiser of HTML text writes.
fn unescaped(text: &str) -> String {
    text.replace("&nbsp;", "\u{a0}")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::bounds::{HTML_BYTES_MAX, TAGS_MAX};
    use super::*;

    #[track_caller]
    fn check(dirty: &str, expect: &str) {
        let base = Url::parse("https://example.org/blog/").unwrap();
        assert_eq!(html(dirty, Some(&base)), expect);
    }

    #[test]
    fn prose_stays_and_links_are_resolved_and_marked() {
        check(
            "<p>See <a href='../x' target=_top>this</a></p>",
            "<p>See <a href=\"https://example.org/x\" \
             rel=\"noopener noreferrer nofollow\">this</a></p>",
        );
        check(
            "<img src=/a.png alt='A' class=big>",
            "<img src=\"https://example.org/a.png\" alt=\"A\">",
        );
    }

    #[test]
    fn what_acts_goes_with_its_text() {
        check("a<script>alert(1)</script>b", "ab");
        check("a<style>b{}</style><iframe src=x>no</iframe>c", "ac");
        check("<b onclick=x style='x'>b</b>", "<b>b</b>");
        check("<svg><script>x</script><text>t</text></svg>z", "z");
    }

    #[test]
    fn links_that_run_something_lose_their_target() {
        for bad in ["javascript:x", " java\tscript:x", "data:text/html,x", "vbscript:x"] {
            let shown = html(&format!("<a href=\"{bad}\">a</a>"), None);
            assert_eq!(shown, "<a rel=\"noopener noreferrer nofollow\">a</a>", "{bad}");
        }
        check("<img src='data:image/png;base64,AA=='>", "<img>");
    }

    #[test]
    fn pixels_are_dropped_and_pictures_stay() {
        check("<img src=http://t/p width=1 height=\"1px\">a", "a");
        check(
            "<img src=http://t/p width=100 height=1>",
            "<img src=\"http://t/p\" width=\"100\" height=\"1\">",
        );
        check(
            "<b title='<img width=\"1\" height=\"1\">'>a</b>",
            "<b title=\"&lt;img width=&quot;1&quot; height=&quot;1&quot;&gt;\">a</b>",
        );
    }

    #[test]
    fn relative_links_without_a_base_lead_nowhere() {
        let shown = html("<a href='/settings'>a</a>", None);
        assert_eq!(shown, "<a rel=\"noopener noreferrer nofollow\">a</a>");
    }

    #[test]
    fn plain_text_becomes_paragraphs() {
        check("one\ntwo\n\nR&amp;D & more", "<p>one<br>two</p><p>R&amp;D &amp; more</p>");
        check("", "");
    }

    #[test]
    fn long_and_deep_documents_are_bounded() {
        let deep = "<div>".repeat(100_000) + "end";
        assert_eq!(html(&deep, None).matches("<div>").count(), TAGS_MAX);
        let cut = "<p>é".repeat(HTML_BYTES_MAX);
        assert!(html(&cut, None).starts_with("<p>é</p>"));
        let long = format!("<p>{}", "é".repeat(HTML_BYTES_MAX));
        assert!(html(&long, None).len() <= HTML_BYTES_MAX + 8);
    }

    #[test]
    fn what_is_left_open_does_not_swell_the_page() {
        let open: String = (0..1000).map(|n| format!("<b title={n}>")).collect();
        let swelling = format!("<p>{open}</p>{}", "<p>x</p>".repeat(450));
        assert!(swelling.len() < 20_000);
        assert!(html(&swelling, None).len() < 500_000, "{} bytes", html(&swelling, None).len());
        check("<i lang=la>a</i>", "<i lang=\"la\">a</i>");
        let dressed = "<em data-start='1' lang=la>a</em>".repeat(40);
        assert_eq!(html(&dressed, None).matches("<em").count(), 40);
    }

    #[test]
    fn titles_are_text() {
        assert_eq!(text("R&amp;D <b>now</b>"), "R&D now");
        assert_eq!(text("a < b"), "a < b");
        assert_eq!(text("&amp;lt;"), "&lt;");
        assert_eq!(text("<p>One</p><p>two<br>three</p>"), "One  two three");
        assert_eq!(text("<script>x</script><b title='>'>y</b>"), "y");
    }
}
