//! RSS 2.0, with the modules that carry what it lacks.

use feed::{Item, Time};

use super::{Origin, Published, UNKNOWN_TYPE, Xml};

/// The document as RSS 2.0. It demands a link and a description: without a link the document's
/// own address stands there, and the title describes it.
pub fn rss(doc: &Published) -> String {
    let mut xml = Xml::new();
    xml.open(
        "rss",
        &[
            ("version", "2.0"),
            ("xmlns:atom", "http://www.w3.org/2005/Atom"),
            ("xmlns:content", "http://purl.org/rss/1.0/modules/content/"),
            ("xmlns:dc", "http://purl.org/dc/elements/1.1/"),
        ],
    );
    xml.open("channel", &[]);
    xml.text("title", &[], &doc.title);
    xml.text("link", &[], doc.link.as_deref().or(doc.self_link.as_deref()).unwrap_or(""));
    xml.text("description", &[], &doc.title);
    xml.maybe("language", doc.language.as_deref());
    xml.text("lastBuildDate", &[], &mail_date(doc.updated()));
    if let Some(ttl) = doc.ttl {
        xml.text("ttl", &[], &(ttl.as_secs() / 60).max(1).to_string());
    }
    if let Some(link) = &doc.self_link {
        xml.empty("atom:link", &[("rel", "self"), ("type", "application/rss+xml"), ("href", link)]);
    }
    for hub in &doc.hubs {
        xml.empty("atom:link", &[("rel", "hub"), ("href", hub)]);
    }
    for (rel, href) in &doc.pages {
        xml.empty("atom:link", &[("rel", rel), ("href", href)]);
    }
    for one in doc.identified() {
        write_item(&mut xml, one.id, one.item, one.origin);
    }
    xml.close("channel");
    xml.close("rss");
    xml.out
}

fn write_item(xml: &mut Xml, id: &str, item: &Item, origin: Option<&Origin>) {
    xml.open("item", &[]);
    xml.text("guid", &[("isPermaLink", "false")], id);
    xml.maybe("title", item.title.as_deref());
    xml.maybe("link", item.link.as_deref());
    xml.maybe("pubDate", item.published.map(mail_date).as_deref());
    xml.maybe("atom:updated", item.updated.map(|t| t.to_string()).as_deref());
    xml.maybe("dc:creator", item.author.as_deref());
    for category in &item.categories {
        xml.text("category", &[], category);
    }
    xml.maybe("description", item.summary.as_deref());
    xml.maybe("content:encoded", item.content.as_deref());
    for file in &item.enclosures {
        // Zero is what RSS wants where the length is unknown.
        let length = file.length.unwrap_or(0).to_string();
        let mime_type = file.mime_type.as_deref().unwrap_or(UNKNOWN_TYPE);
        xml.empty("enclosure", &[("url", &file.url), ("length", &length), ("type", mime_type)]);
    }
    if let Some(origin) = origin {
        xml.text("source", &[("url", &origin.url)], &origin.title);
    }
    xml.close("item");
}

/// `Thu, 01 Jan 2004 19:48:21 GMT`.
fn mail_date(time: Time) -> String {
    let shown = jiff::Timestamp::from_second(time.secs()).unwrap_or_default();
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&shown)
        .unwrap_or_else(|_| time.to_string())
}
