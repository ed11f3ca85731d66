//! The facts that a page declares about itself and that the extraction library does not read:
//! section, canonical address, and what JSON-LD says inside a `@graph`. Reads the tree and changes
//! nothing.

mod date;
mod linked_data;

use dom_query::Document;
use feed::Time;

use crate::base::PageBase;
use crate::text::one_line;

pub use date::time;

/// Bytes of a section or name. Longer ones are not names.
const NAME_BYTES_MAX: usize = 200;

/// Facts that a page declares.
#[derive(Clone, Debug, Default)]
pub struct PageFacts {
    pub byline: Option<String>,
    pub published: Option<Time>,
    pub image: Option<String>,
    pub canonical: Option<String>,
    pub section: Option<String>,
    pub noarchive: bool,
}

/// Reads the facts of a page.
pub fn read(document: &Document, base: &PageBase) -> PageFacts {
    let linked = linked_data::article(document);
    let section = meta(document, "article:section").or(linked.section);
    let microdata = document.select_single("[itemprop=datePublished]");
    let published = linked
        .published
        .or_else(|| meta(document, "article:published_time"))
        .or_else(|| microdata.attr("datetime").map(|t| t.to_string()))
        .or_else(|| microdata.attr("content").map(|t| t.to_string()));
    let image = linked.image.or_else(|| meta(document, "og:image"));
    let canonical = document.select_single("link[rel~=canonical][href]").attr("href");
    PageFacts {
        byline: linked.byline,
        published: published.as_deref().and_then(time),
        image: image.and_then(|image| base.absolute(&image)),
        canonical: canonical.and_then(|href| base.absolute(&href)),
        section: section.and_then(|section| name(&section)),
        noarchive: noarchive(document),
    }
}

/// Whether the page asks that copies of it are not shown elsewhere.
fn noarchive(document: &Document) -> bool {
    document.select("meta[name][content]").iter().any(|tag| {
        let said = |name: &str| tag.attr(name).unwrap_or_default().to_ascii_lowercase();
        matches!(said("name").trim(), "robots" | "tidings")
            && said("content").split(',').any(|word| word.trim() == "noarchive")
    })
}

/// Returns the content of the first `<meta>` with this name or property.
fn meta(document: &Document, name: &str) -> Option<String> {
    let selector = format!("meta[property=\"{name}\"][content], meta[name=\"{name}\"][content]");
    let content = document.select_single(&selector).attr("content")?;
    Some(content.trim().to_owned()).filter(|content| !content.is_empty())
}

/// Returns a name in one line, unless it is too long to be one.
fn name(text: &str) -> Option<String> {
    let name = one_line(text);
    (!name.is_empty() && name.len() <= NAME_BYTES_MAX).then_some(name)
}
