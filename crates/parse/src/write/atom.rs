//! Atom 1.0 (RFC 4287).

use feed::Time;

use super::{Identified, Label, Origin, Published, Xml};

/// The document as Atom 1.0. Atom demands an author and times: where an item names no author the
/// document's title stands for it, and where it has no time the document's.
pub fn atom(doc: &Published) -> String {
    let mut xml = Xml::new();
    match &doc.language {
        Some(language) => {
            xml.open("feed", &[("xmlns", "http://www.w3.org/2005/Atom"), ("xml:lang", language)]);
        }
        None => xml.open("feed", &[("xmlns", "http://www.w3.org/2005/Atom")]),
    }
    xml.text("title", &[], &doc.title);
    let id = doc.id.as_deref().or(doc.self_link.as_deref()).or(doc.link.as_deref());
    let id = id.unwrap_or("urn:tidings:feed");
    xml.text("id", &[], id);
    xml.text("updated", &[], &doc.updated().to_string());
    xml.open("author", &[]);
    xml.text("name", &[], &doc.title);
    xml.close("author");
    if let Some(link) = &doc.link {
        xml.empty("link", &[("rel", "alternate"), ("href", link)]);
    }
    if let Some(link) = &doc.self_link {
        xml.empty("link", &[("rel", "self"), ("type", "application/atom+xml"), ("href", link)]);
    }
    for hub in &doc.hubs {
        xml.empty("link", &[("rel", "hub"), ("href", hub)]);
    }
    for (rel, href) in &doc.pages {
        xml.empty("link", &[("rel", rel), ("href", href)]);
    }
    for identified in doc.identified() {
        entry(&mut xml, doc, &identified);
    }
    xml.close("feed");
    xml.out
}

fn entry(xml: &mut Xml, doc: &Published, identified: &Identified<'_>) {
    let Identified { id, item, origin, labels } = *identified;
    xml.open("entry", &[]);
    xml.text("id", &[], id);
    xml.text("title", &[("type", "html")], item.title.as_deref().unwrap_or(""));
    let updated = item.updated.or(item.published).unwrap_or_else(|| doc.updated());
    xml.text("updated", &[], &updated.to_string());
    xml.maybe("published", item.published.map(|t| t.to_string()).as_deref());
    if let Some(link) = &item.link {
        xml.empty("link", &[("rel", "alternate"), ("href", link)]);
    }
    if let Some(author) = &item.author {
        xml.open("author", &[]);
        xml.text("name", &[], author);
        xml.close("author");
    }
    for category in &item.categories {
        xml.empty("category", &[("term", category)]);
    }
    for Label { scheme, term, label } in labels {
        xml.empty("category", &[("term", term), ("scheme", scheme), ("label", label)]);
    }
    for file in &item.enclosures {
        let length = file.length.map(|n| n.to_string());
        let mut attributes = vec![("rel", "enclosure"), ("href", file.url.as_str())];
        attributes.extend(file.mime_type.as_deref().map(|t| ("type", t)));
        attributes.extend(length.as_deref().map(|n| ("length", n)));
        xml.empty("link", &attributes);
    }
    if let Some(summary) = &item.summary {
        xml.text("summary", &[("type", "html")], summary);
    }
    if let Some(content) = &item.content {
        xml.text("content", &[("type", "html")], content);
    }
    if let Some(origin) = origin {
        source(xml, origin, updated);
    }
    xml.close("entry");
}

/// Atom demands a time of the source too: where nothing is known, the entry's.
fn source(xml: &mut Xml, origin: &Origin, entry_updated: Time) {
    xml.open("source", &[]);
    xml.text("id", &[], &origin.url);
    xml.text("title", &[], &origin.title);
    xml.text("updated", &[], &origin.updated.unwrap_or(entry_updated).to_string());
    xml.empty("link", &[("rel", "self"), ("href", &origin.url)]);
    xml.close("source");
}
