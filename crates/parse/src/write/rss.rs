//! Writes RSS 2.0, with modules for what RSS lacks.

use feed::{Enclosure, Item, Time};

use super::{
    PublishedDocument, UNKNOWN_TYPE, WrittenDocument, Xml, atom, for_html, is_http, mime_type,
};

/// Returns the document as RSS 2.0. RSS requires a link and a description. Without a link the
/// document's own address is written, and the title is the description.
pub fn rss(doc: &PublishedDocument) -> String {
    written_rss(doc).text
}

/// As [`rss`], with the places of the items.
pub fn written_rss(doc: &PublishedDocument) -> WrittenDocument {
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
    xml.text("title", &[], &for_html(&doc.title));
    xml.text("link", &[], doc.link.as_deref().or(doc.self_link.as_deref()).unwrap_or(""));
    xml.text("description", &[], &for_html(&doc.title));
    xml.maybe("language", doc.language.as_deref());
    xml.text("lastBuildDate", &[], &mail_date(doc.updated()));
    if let Some(ttl) = doc.ttl {
        xml.text("ttl", &[], &(ttl.as_secs() / 60).max(1).to_string());
    }
    if let Some(cloud) = &doc.cloud {
        xml.empty(
            "cloud",
            &[
                ("domain", &cloud.domain),
                ("port", &cloud.port.to_string()),
                ("path", &cloud.path),
                ("registerProcedure", ""),
                ("protocol", cloud.protocol),
            ],
        );
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
    let items = doc.identified().map(|one| {
        let start = xml.out.len();
        write_item(&mut xml, one.id, one.item);
        start..xml.out.len()
    });
    let items = items.collect();
    xml.close("channel");
    xml.close("rss");
    WrittenDocument { text: xml.out, items, separator: "" }
}

fn write_item(xml: &mut Xml, id: &str, item: &Item) {
    xml.open("item", &[]);
    xml.text("guid", &[("isPermaLink", "false")], id);
    let described = item.summary.as_deref().or(item.content.as_deref());
    let title = item.title.as_deref().map(for_html);
    // One of the two is required. An item with neither gets its address.
    let address = item.link.as_deref().unwrap_or(id);
    let title = title.or_else(|| described.is_none().then_some(address.into()));
    xml.maybe("title", title.as_deref());
    xml.maybe("link", item.link.as_deref());
    xml.maybe("pubDate", item.published.map(mail_date).as_deref());
    xml.maybe("atom:updated", item.updated.map(|t| t.to_string()).as_deref());
    xml.maybe("dc:creator", item.author.as_deref().map(for_html).as_deref());
    xml.maybe("dc:language", item.language.as_deref());
    for category in &item.categories {
        xml.text("category", &[], &for_html(category));
    }
    // A content without a summary becomes the description, because `content:encoded` must follow
    // one.
    xml.maybe("description", described);
    xml.maybe("content:encoded", item.content.as_deref().filter(|_| item.summary.is_some()));
    enclosures(xml, &item.enclosures);
    if let Some(source) = &item.source {
        for instance in &source.via {
            xml.empty("atom:link", &[("rel", "via"), ("href", instance)]);
        }
        let address = [&source.url, &source.id, &source.site].into_iter().flatten();
        if let Some(url) = address.map(String::as_str).find(|url| is_http(url)) {
            let title = for_html(source.title.as_deref().unwrap_or(url));
            xml.text("source", &[("url", url)], &title);
        }
    }
    xml.close("item");
}

/// Writes the files. RSS allows one file for each item, which must be fetched by HTTP. Others
/// become links.
fn enclosures(xml: &mut Xml, files: &[Enclosure]) {
    let first = files.iter().position(|file| is_http(&file.url));
    for (number, file) in files.iter().enumerate() {
        if Some(number) != first {
            atom::enclosure(xml, "atom:link", file);
            continue;
        }
        // RSS requires a length; zero means unknown.
        let length = file.length.unwrap_or(0).to_string();
        let mime_type = mime_type(file).unwrap_or(UNKNOWN_TYPE);
        xml.empty("enclosure", &[("url", &file.url), ("length", &length), ("type", mime_type)]);
    }
}

/// `Thu, 01 Jan 2004 19:48:21 GMT`.
fn mail_date(time: Time) -> String {
    let shown = jiff::Timestamp::from_second(time.secs()).unwrap_or_default();
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&shown)
        .unwrap_or_else(|_| time.to_string())
}
