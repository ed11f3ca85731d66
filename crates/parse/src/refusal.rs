//! Why bytes are not a feed: says what they are instead. It examines the beginning only.

use crate::attribute::Attributes;

/// The bytes are not a feed. `Display` says what they are instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a feed: {what}")]
pub struct NotAFeed {
    pub kind: NotAFeedKind,
    what: String,
}

/// The kind of document that was sent instead of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotAFeedKind {
    Empty,
    Html,
    Opml,
    Json,
    /// A JSON Feed that is cut or garbled, so that nothing of it can be read.
    BrokenJsonFeed,
    Xml,
    Text,
    Binary,
}

impl NotAFeed {
    pub(crate) fn new(kind: NotAFeedKind, what: impl Into<String>) -> NotAFeed {
        NotAFeed { kind, what: what.into() }
    }

    /// Describes an XML document with this root.
    pub(crate) fn root(root: &str, text: &str) -> NotAFeed {
        let local = root.rsplit(':').next().unwrap_or(root).to_ascii_lowercase();
        match local.as_str() {
            "html" | "head" | "body" | "script" | "div" | "p" | "meta" | "title" | "table" => {
                NotAFeed::html(text)
            }
            "opml" | "outline" => NotAFeed::new(
                NotAFeedKind::Opml,
                "an OPML list of feeds; import it instead of adding it as a feed",
            ),
            "urlset" | "sitemapindex" => NotAFeed::new(NotAFeedKind::Xml, "a sitemap"),
            "svg" => NotAFeed::new(NotAFeedKind::Xml, "an SVG image"),
            "service" => NotAFeed::new(NotAFeedKind::Xml, "an AtomPub service document"),
            "opensearchdescription" => {
                NotAFeed::new(NotAFeedKind::Xml, "an OpenSearch description")
            }
            "error" => NotAFeed::new(NotAFeedKind::Xml, "an XML error message"),
            _ => NotAFeed::new(
                NotAFeedKind::Xml,
                format!("an XML document with the root <{}>", brief(root)),
            ),
        }
    }

    pub(crate) fn html(text: &str) -> NotAFeed {
        let advice = "`tidings discover` finds the feeds it names";
        match html_title(text) {
            Some(title) => NotAFeed::new(
                NotAFeedKind::Html,
                format!("an HTML page titled \"{title}\"; {advice}"),
            ),
            None => NotAFeed::new(NotAFeedKind::Html, format!("an HTML page; {advice}")),
        }
    }

    /// Describes a text without any element that starts a feed.
    pub(crate) fn text(text: &str) -> NotAFeed {
        let start = text.trim_start().get(..15).unwrap_or("");
        if text.trim().is_empty() {
            NotAFeed::new(NotAFeedKind::Empty, "the document is empty")
        } else if start.eq_ignore_ascii_case("<!doctype html>") {
            NotAFeed::html(text)
        } else if text.trim_start().starts_with('<') {
            NotAFeed::new(NotAFeedKind::Xml, "an XML document without an element")
        } else {
            NotAFeed::new(
                NotAFeedKind::Text,
                format!("plain text that begins \"{}\"", brief(text.trim_start())),
            )
        }
    }
}

/// Recognises other files by their first bytes. People link some of them as feeds by mistake.
pub(crate) fn binary(bytes: &[u8]) -> Option<NotAFeed> {
    let what = match bytes {
        [b'%', b'P', b'D', b'F', ..] => "a PDF file",
        [0x89, b'P', b'N', b'G', ..] => "a PNG image",
        [0xff, 0xd8, 0xff, ..] => "a JPEG image",
        [b'G', b'I', b'F', b'8', ..] => "a GIF image",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "a WebP image",
        [b'P', b'K', 3, 4, ..] => "a ZIP archive",
        [0x1f, 0x8b, ..] => "gzip data that was not decompressed",
        [b'I', b'D', b'3', ..] => "an MP3 file",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "an MP4 file",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd data that was not decompressed",
        _ => {
            let head = &bytes[..bytes.len().min(512)];
            let controls = head.iter().filter(|b| **b < 9 || (14..27).contains(*b)).count();
            if controls * 10 <= head.len() {
                return None;
            }
            "binary data of an unknown kind"
        }
    };
    Some(NotAFeed::new(NotAFeedKind::Binary, what))
}

fn html_title(text: &str) -> Option<String> {
    let lower = text.get(..text.floor_char_boundary(65_536))?.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let open = start + lower[start..].find('>')? + 1;
    let end = open + lower[open..].find("</title").unwrap_or(0);
    let title = crate::attribute::value(&text[open..end]).into_owned();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then(|| brief(&title))
}

/// Returns the beginning of a text on one line, short enough for a message.
fn brief(text: &str) -> String {
    let line: String =
        text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether this root belongs to an HTML page, which may name its feed.
pub(crate) fn is_html_root(local: &str, attrs: Attributes<'_>) -> bool {
    matches!(local, "html" | "head" | "body")
        || attrs.get("xmlns").is_some_and(|ns| ns.ends_with("/xhtml"))
}
