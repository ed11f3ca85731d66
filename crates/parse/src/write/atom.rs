//! Writes Atom 1.0 (RFC 4287).

use feed::{Enclosure, Item, Source, Time};

use super::{ItemLabel, ItemWithId, PublishedDocument, WrittenDocument, Xml, for_html, mime_type};

/// Returns the document as Atom 1.0. Atom requires an author and times. An item without an author
/// gets the document's title; an item without a time gets the document's.
pub fn atom(doc: &PublishedDocument) -> String {
    written_atom(doc).text
}

/// As [`atom`], with the places of the entries.
pub fn written_atom(doc: &PublishedDocument) -> WrittenDocument {
    let mut xml = Xml::new();
    match &doc.language {
        Some(language) => {
            xml.open("feed", &[("xmlns", "http://www.w3.org/2005/Atom"), ("xml:lang", language)]);
        }
        None => xml.open("feed", &[("xmlns", "http://www.w3.org/2005/Atom")]),
    }
    title(&mut xml, &doc.title);
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
    let items = doc.identified().map(|identified| {
        let start = xml.out.len();
        entry(&mut xml, doc, &identified);
        start..xml.out.len()
    });
    let items = items.collect();
    xml.close("feed");
    WrittenDocument { text: xml.out, items, separator: "" }
}

fn entry(xml: &mut Xml, doc: &PublishedDocument, identified: &ItemWithId<'_>) {
    let ItemWithId { id, item, labels } = *identified;
    match &item.language {
        Some(language) => xml.open("entry", &[("xml:lang", language)]),
        None => xml.open("entry", &[]),
    }
    xml.text("id", &[], id);
    title(xml, item.title.as_deref().unwrap_or(""));
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
    for ItemLabel { scheme, term, label } in labels {
        xml.empty("category", &[("term", term), ("scheme", scheme), ("label", label)]);
    }
    for file in &item.enclosures {
        enclosure(xml, "link", file);
    }
    texts(xml, id, item);
    if let Some(given) = &item.source {
        for instance in &given.via {
            xml.empty("link", &[("rel", "via"), ("href", instance)]);
        }
        source(xml, given, updated);
    }
    xml.close("entry");
}

/// Writes a title as text. A title that looks like markup is escaped and declared as HTML. It reads
/// the same, and a reader that takes all titles for HTML shows nothing active.
fn title(xml: &mut Xml, text: &str) {
    let shown = for_html(text);
    let kind = if shown == text { "text" } else { "html" };
    xml.text("title", &[("type", kind)], &shown);
}

/// Writes summary and content. An entry without a link must have content: its summary is used, else
/// its title, else its id.
fn texts(xml: &mut Xml, id: &str, item: &Item) {
    let html = |xml: &mut Xml, name, text| xml.text(name, &[("type", "html")], text);
    match (&item.summary, &item.content) {
        (summary, Some(content)) => {
            if let Some(summary) = summary {
                html(xml, "summary", summary);
            }
            html(xml, "content", content);
        }
        (Some(summary), None) if item.link.is_some() => html(xml, "summary", summary),
        (Some(summary), None) => html(xml, "content", summary),
        (None, None) if item.link.is_some() => {}
        (None, None) => {
            xml.text("content", &[("type", "text")], item.title.as_deref().unwrap_or(id));
        }
    }
}

/// Writes a file as a link. RSS uses it too, for files beyond the one that it has an element for.
pub(super) fn enclosure(xml: &mut Xml, element: &str, file: &Enclosure) {
    let length = file.length.map(|n| n.to_string());
    let mut attributes = vec![("rel", "enclosure"), ("href", file.url.as_str())];
    attributes.extend(mime_type(file).map(|t| ("type", t)));
    attributes.extend(length.as_deref().map(|n| ("length", n)));
    xml.empty(element, &attributes);
}

/// Writes the source. Atom requires an id, a title and a time of the source too. If the time is
/// unknown, the entry's time is written.
fn source(xml: &mut Xml, source: &Source, entry_updated: Time) {
    let Some(id) = source.id.as_ref().or(source.url.as_ref()) else { return };
    xml.open("source", &[]);
    xml.text("id", &[], id);
    title(xml, source.title.as_deref().unwrap_or(id));
    xml.text("updated", &[], &source.updated.unwrap_or(entry_updated).to_string());
    if let Some(url) = &source.url {
        xml.empty("link", &[("rel", "self"), ("href", url)]);
    }
    if let Some(site) = &source.site {
        xml.empty("link", &[("rel", "alternate"), ("href", site)]);
    }
    xml.close("source");
}
