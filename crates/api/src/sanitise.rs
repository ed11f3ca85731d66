//! Sanitises the HTML of entries: text, links, lists, tables and pictures stay. Scripts, tracking
//! pixels and styles go.
//!
//! [`page_text`] is for our own page, [`html`] for programs that show the text themselves. Both
//! mark where a text was cut, and link to the original. The sanitiser works with a list of allowed
//! elements and does not look for known attacks. Entries are stored as the publisher wrote them,
//! and reach a page only through these functions.

mod bounds;
mod cost;
mod page_text;
mod players;

use std::borrow::Cow;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use url::Url;

use bounds::{beginning, bounded};
pub use page_text::{PageText, PageTextContext, page_text};

/// Elements that carry meaning and are not active. `class` and `style` are not allowed, because a
/// publisher's names must not match ours. `id` is allowed on our own page, with a prefix.
const TAGS: [&str; 4] = [
    "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col",
    "colgroup dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header",
    "hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small",
    "span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var",
];

/// Elements that are removed together with their text, because it is not prose.
const SILENCED: &str =
    "applet embed frameset iframe math noembed noframes script select style svg template";

/// Elements that separate their text from what follows.
const PARTING: &str = "blockquote br dd div dt figcaption h1 h2 h3 h4 hr li p pre td tr";

/// Attributes that every allowed element may have.
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

/// For texts without a base. A relative link would lead to our own page.
static WITHOUT_BASE: LazyLock<Builder<'static>> = LazyLock::new(|| builder(UrlRelative::Deny));

/// Returns HTML that is safe to show. Pictures keep the address of the publisher. Relative links
/// are resolved against `base`, and dropped without a base. Plain text becomes paragraphs. A text
/// that is too long ends with a note, which links to the `original`.
pub fn html(dirty: &str, base: Option<&Url>, original: Option<&str>) -> String {
    bounded_html(dirty, base, original, AnchorRule::Drop)
}

/// Whether the names of places inside a text stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnchorRule {
    Drop,
    Keep,
}

fn bounded_html(
    dirty: &str,
    base: Option<&Url>,
    original: Option<&str>,
    anchors: AnchorRule,
) -> String {
    let bounded = bounded(dirty);
    let mut clean = clean(&bounded.html, base, anchors);
    if bounded.is_cut {
        clean.push_str(&cut_note(dirty.len(), original));
    }
    clean
}

/// Returns the note at the end of a text that was cut.
fn cut_note(n_bytes: usize, original: Option<&str>) -> String {
    let rest = match original {
        Some(link) => {
            let link = ammonia::clean_text(link);
            format!(
                "<a href=\"{link}\" rel=\"noopener noreferrer nofollow\">Read the rest in the \
                 original.</a>"
            )
        }
        None => "The entry has no link to its original.".to_owned(),
    };
    let kilobytes = n_bytes.div_ceil(1000);
    format!("<p lang=\"en\">[This text was cut: it has {kilobytes} kB. {rest}]</p>")
}

fn clean(dirty: &str, base: Option<&Url>, anchors: AnchorRule) -> String {
    if !dirty.contains('<') {
        return paragraphs(dirty);
    }
    let relative = match base {
        Some(base) => UrlRelative::RewriteWithBase(base.clone()),
        None => UrlRelative::Deny,
    };
    let mut builder = builder(relative);
    if anchors == AnchorRule::Keep {
        builder.add_generic_attributes(["id"]).add_tag_attributes("a", ["name"]);
    }
    let clean = builder.clean(dirty).to_string();
    // Pictures of one pixel only count readers.
    with_tags(&clean, |tag| Cow::Borrowed(if is_pixel(tag) { "" } else { tag }))
}

/// Returns the text without tags and entities, such as that of a title. A space separates
/// paragraphs and lines. A long text is cut.
pub fn text(dirty: &str) -> String {
    without_tags(&beginning(dirty), " ")
}

/// Returns the text of an article or a transcript without tags and entities. A blank line separates
/// paragraphs and lines. The text has the limits of an article, and a note where it was cut.
pub fn long_text(dirty: &str) -> String {
    let bounded = bounded(dirty);
    let mut text = without_tags(&bounded.html, "\n\n");
    if bounded.is_cut {
        text.push_str("\n\n[This text was cut here.]");
    }
    text
}

/// Removes tags and entities. `parting` separates paragraphs and lines.
fn without_tags(dirty: &str, parting: &str) -> String {
    if !dirty.contains(['<', '&']) {
        return dirty.to_owned();
    }
    let clean = WITHOUT_BASE.clean(dirty).to_string();
    let mut text = String::with_capacity(clean.len());
    let mut rest = clean.as_str();
    while let Some(open) = rest.find('<') {
        let end = open + tag_len(&rest[open..]);
        text.push_str(&rest[..open]);
        let name = rest[open + 1..end].trim_start_matches('/').split([' ', '>']).next();
        if name.is_some_and(|name| PARTING.split(' ').any(|p| p == name)) {
            text.push_str(parting);
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    unescaped(text.trim())
}

fn builder(relative: UrlRelative<'static>) -> Builder<'static> {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.iter().flat_map(|row| row.split_whitespace()).collect())
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

/// Turns text without tags into paragraphs. Entities are the publisher's escapes, and blank lines
/// separate paragraphs.
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

/// Rewrites every tag. The input is output of ammonia, where each attribute value is in double
/// quotes and contains none.
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

/// Returns names and values as they are written.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some((name.trim_start(), value))
    })
}

/// Returns the length from `<` to the first `>` outside of quotes.
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

/// Undoes the escapes of an HTML serialiser.
fn unescaped(text: &str) -> String {
    text.replace("&nbsp;", "\u{a0}")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::bounds::{ARTICLE_BYTES_MAX, ARTICLE_TAGS_MAX, HTML_BYTES_MAX, TAGS_MAX};
    use super::*;

    #[track_caller]
    fn check(dirty: &str, expect: &str) {
        let base = Url::parse("https://example.org/blog/").unwrap();
        assert_eq!(html(dirty, Some(&base), None), expect);
    }

    #[test]
    fn a_long_text_keeps_its_paragraphs_and_says_where_it_was_cut() {
        let paragraph = format!("<p>{}</p>", "word ".repeat(200));
        let transcript = paragraph.repeat(150);
        let text = long_text(&transcript);
        assert_eq!(text.split_whitespace().count(), 30_000);
        assert_eq!(text.split("\n\n").filter(|line| !line.trim().is_empty()).count(), 150);
        assert!(long_text(&paragraph.repeat(1200)).ends_with("[This text was cut here.]"));
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
            let shown = html(&format!("<a href=\"{bad}\">a</a>"), None, None);
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
        let shown = html("<a href='/settings'>a</a>", None, None);
        assert_eq!(shown, "<a rel=\"noopener noreferrer nofollow\">a</a>");
    }

    #[test]
    fn plain_text_becomes_paragraphs() {
        check("one\ntwo\n\nR&amp;D & more", "<p>one<br>two</p><p>R&amp;D &amp; more</p>");
        check("", "");
    }

    #[test]
    fn long_and_deep_documents_are_bounded() {
        let note = cut_note(0, None).len() + 10;
        let deep = "<div>".repeat(100_000) + "end";
        assert_eq!(html(&deep, None, None).matches("<div>").count(), TAGS_MAX);
        let cut = "<p>é".repeat(ARTICLE_BYTES_MAX);
        let shown = html(&cut, None, None);
        assert!(shown.starts_with("<p>é</p>"));
        assert_eq!(shown.matches("<p>").count(), ARTICLE_TAGS_MAX);
        let long = format!("<p>{}", "é".repeat(ARTICLE_BYTES_MAX));
        assert!(html(&long, None, None).len() <= ARTICLE_BYTES_MAX + 8 + note);
        let wild = format!("{}{}", "<div>".repeat(300), "é".repeat(HTML_BYTES_MAX));
        assert!(html(&wild, None, None).len() <= 2 * HTML_BYTES_MAX);
    }

    #[test]
    fn a_long_article_is_whole_and_a_longer_one_says_where_the_rest_is() {
        let paragraph = |n| format!("<p>Paragraph {n} of <b>a</b> long <i>article</i>.</p>\n");
        let article: String = (1..=4000).map(paragraph).collect();
        let shown = html(&article, None, Some("https://e.org/"));
        assert!(article.len() > 181_000);
        assert!(shown.contains("Paragraph 4000 of") && !shown.contains("was cut"), "{shown:.200}");
        let book: String = (1..=100_000).map(paragraph).collect();
        let shown = html(&book, None, Some("https://e.org/?a=\"><script>"));
        assert!(shown.contains("This text was cut"));
        assert!(shown.contains("Read the rest in the original"));
        assert!(!shown.contains("<script"));
        assert!(html(&book, None, None).ends_with("no link to its original.]</p>"));
        let plain = "word ".repeat(400_000);
        assert!(html(&plain, None, None).contains("was cut"), "of plain text too");
    }

    #[test]
    fn what_is_left_open_does_not_swell_the_page() {
        let open: String = (0..1000).map(|n| format!("<b title={n}>")).collect();
        let swelling = format!("<p>{open}</p>{}", "<p>x</p>".repeat(450));
        assert!(swelling.len() < 20_000);
        assert!(
            html(&swelling, None, None).len() < 500_000,
            "{} bytes",
            html(&swelling, None, None).len()
        );
        check("<i lang=la>a</i>", "<i lang=\"la\">a</i>");
        let dressed = "<em data-start='1' lang=la>a</em>".repeat(40);
        assert_eq!(html(&dressed, None, None).matches("<em").count(), 40);
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
