//! Writes subscription lists (OPML). A written list reads back as the same list.

use std::collections::HashMap;

use url::Url;

use super::Outline;
use crate::entity::{escape_attribute, escape_text};

/// Writes a list. Each feed is in the folders of its first tag; further tags are categories. A tag
/// with a comma cannot be a category, so the feed is repeated in that folder.
pub fn write(title: &str, outlines: &[Outline]) -> String {
    let mut placed = placed(outlines);
    // Feeds of one folder must be next to each other. Within it they keep their order.
    placed.sort_by(|(a, _), (b, _)| a.cmp(b));
    written(title, placed)
}

/// Writes the same with the folders in the order in which they are met first.
pub fn write_in_order(title: &str, outlines: &[Outline]) -> String {
    let mut placed = placed(outlines);
    let mut met: HashMap<Vec<&str>, usize> = HashMap::new();
    for (place, (path, _)) in placed.iter().enumerate() {
        for depth in 1..=path.len() {
            met.entry(path[..depth].to_vec()).or_insert(place);
        }
    }
    placed.sort_by_cached_key(|(path, _)| {
        (1..=path.len()).map(|depth| met.get(&path[..depth]).copied()).collect::<Vec<_>>()
    });
    written(title, placed)
}

/// An outline, and the folders that lead to it.
type PlacedOutline<'a> = (Vec<&'a str>, &'a Outline);

/// Returns each outline in its first folder, and in those that `category` cannot hold.
fn placed(outlines: &[Outline]) -> Vec<PlacedOutline<'_>> {
    let mut placed = Vec::with_capacity(outlines.len());
    for outline in outlines {
        let folder = outline.tags.first().map_or("", String::as_str);
        let more = outline.tags.iter().skip(1).filter(|tag| tag.contains(','));
        for tag in std::iter::once(folder).chain(more.map(String::as_str)) {
            let steps = tag.split('/').map(str::trim).filter(|step| !step.is_empty());
            placed.push((steps.collect(), outline));
        }
    }
    placed
}

fn written(title: &str, placed: Vec<PlacedOutline<'_>>) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n<head><title>",
    );
    escape_text(title, &mut out);
    out.push_str("</title></head>\n<body>\n");
    let mut open: Vec<&str> = Vec::new();
    for (path, outline) in placed {
        let shared = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
        while open.len() > shared {
            open.pop();
            indent(&mut out, open.len());
            out.push_str("</outline>\n");
        }
        for folder in &path[shared..] {
            indent(&mut out, open.len());
            out.push_str("<outline");
            attribute(&mut out, "text", folder);
            out.push_str(">\n");
            open.push(folder);
        }
        indent(&mut out, open.len());
        write_feed(&mut out, outline);
    }
    while open.pop().is_some() {
        indent(&mut out, open.len());
        out.push_str("</outline>\n");
    }
    out.push_str("</body>\n</opml>\n");
    out
}

fn write_feed(out: &mut String, outline: &Outline) {
    out.push_str("<outline type=\"rss\"");
    let title = outline.title.as_deref();
    attribute(out, "text", title.unwrap_or(&outline.url));
    if let Some(title) = title {
        attribute(out, "title", title);
    }
    attribute(out, "xmlUrl", &outline.url);
    // Readers open it as a link, so an address that runs code is left out.
    if let Some(site) = outline.site.as_deref().filter(|site| is_web(site)) {
        attribute(out, "htmlUrl", site);
    }
    let more: Vec<String> = outline
        .tags
        .iter()
        .skip(1)
        .filter(|tag| !tag.contains(','))
        .map(|tag| format!("/{tag}"))
        .collect();
    if !more.is_empty() {
        attribute(out, "category", &more.join(","));
    }
    out.push_str("/>\n");
}

/// Whether an address is on the web. Some lists have relative addresses.
fn is_web(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        || matches!(Url::parse(address), Err(url::ParseError::RelativeUrlWithoutBase))
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape_attribute(value, out);
    out.push('"');
}

fn indent(out: &mut String, depth: usize) {
    (0..=depth).for_each(|_| out.push_str("  "));
}
