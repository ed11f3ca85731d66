//! Reads what a document says about itself: the attributes whose shares the dissertation counts
//! (003, section 3.7.7), and some more. The input is a document as it came, the output plain
//! values.

use feed::{Hints, Time};
use url::Url;

/// Dates that are read for the time zone. One document rarely mixes zones.
const DATES_MAX: usize = 20;
/// The part of a document in which XML and HTML declare a charset.
const DECLARATION_BYTES: usize = 1024;
/// Elements that hold dates.
const DATE_ELEMENTS: [&str; 6] =
    ["pubDate", "updated", "published", "dc:date", "lastBuildDate", "issued"];

/// The attributes of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentAttributes {
    pub format: String,
    pub items: usize,
    /// Whether the first item has an id; `None` without items.
    pub identifiers: Option<bool>,
    /// Whether any item has a date; `None` without items.
    pub dates: Option<bool>,
    /// The dates of the items, oldest first.
    pub times: Vec<Time>,
    pub enclosures: bool,
    pub categories: bool,
    pub full_content: bool,
    pub cloud: Option<String>,
    /// The first hub that the document names.
    pub hub: Option<String>,
    pub hints: Hints,
    pub charset: Option<String>,
    /// `utc`, `named`, `offset`, `local` (no zone), or `mixed`.
    pub time_zone: Option<String>,
    pub well_formed: bool,
    pub warnings: Vec<String>,
}

/// Reads the attributes of a document; `None` if it is not a feed.
pub fn attributes(
    bytes: &[u8],
    content_type: Option<&str>,
    base: Option<&Url>,
) -> Option<DocumentAttributes> {
    let document = parse::document(bytes, content_type, base, &parse::Limits::default()).ok()?;
    let first = document.items.first();
    let mut times: Vec<Time> =
        document.items.iter().filter_map(|item| item.published.or(item.updated)).collect();
    times.sort_unstable();
    let any = |has: fn(&feed::Item) -> bool| document.items.iter().any(has);
    Some(DocumentAttributes {
        format: document.format.word().to_owned(),
        items: document.items.len(),
        identifiers: first.map(|item| item.id.is_some()),
        dates: first.map(|_| !times.is_empty()),
        times,
        enclosures: any(|item| !item.enclosures.is_empty()),
        categories: any(|item| !item.categories.is_empty()),
        full_content: any(|item| item.content.is_some()),
        cloud: document.cloud,
        hub: document.hubs.into_iter().next(),
        hints: document.hints,
        charset: charset(bytes, content_type),
        time_zone: time_zone(bytes),
        well_formed: !document.is_damaged && !document.is_cut_off,
        warnings: document.warnings,
    })
}

/// Returns the charset that the header or the document declares, in lower case.
fn charset(bytes: &[u8], content_type: Option<&str>) -> Option<String> {
    let named = |text: &str, before: &str| {
        let rest = &text[text.find(before)? + before.len()..];
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
        let name: String = rest.chars().take_while(|c| is_part(*c)).take(40).collect();
        (!name.is_empty()).then_some(name)
    };
    let header = content_type.map(str::to_ascii_lowercase);
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let declared = head.find("?>").map(|end| &head[..end]);
    header
        .and_then(|header| named(&header, "charset="))
        .or_else(|| declared.and_then(|declared| named(declared, "encoding=")))
}

/// Returns the kind of time zone that the dates of a document state.
fn time_zone(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut kinds: Vec<&'static str> = Vec::new();
    for name in DATE_ELEMENTS {
        let open = format!("<{name}>");
        for (at, _) in text.match_indices(&open).take(DATES_MAX) {
            let rest = &text[at + open.len()..];
            let date = rest.split('<').next().unwrap_or_default();
            kinds.extend(zone_kind(date.trim()));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    match kinds.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        _ => Some("mixed".to_owned()),
    }
}

/// Returns the kind of zone of one date.
fn zone_kind(date: &str) -> Option<&'static str> {
    let last = date.split_whitespace().last().filter(|last| last.len() < 40)?;
    let is_zero = |offset: &str| offset.bytes().all(|b| matches!(b, b'+' | b'-' | b':' | b'0'));
    if matches!(last, "GMT" | "UT" | "UTC" | "Z") || last.ends_with('Z') {
        return Some("utc");
    }
    if last.chars().all(|c| c.is_ascii_alphabetic()) {
        return Some("named");
    }
    // An offset follows the clock: `+0200` alone, or `…T05:00:00+02:00`.
    let clock = last.find(':');
    let offset = match clock {
        Some(clock) => last[clock..].rfind(['+', '-']).map(|at| &last[clock + at..]),
        None => Some(last).filter(|last| last.starts_with(['+', '-'])),
    };
    match offset {
        Some(offset) if is_zero(offset) => Some("utc"),
        Some(_) => Some("offset"),
        None => Some("local"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_from_the_first_item_and_the_channel() {
        let rss = b"<?xml version='1.0' encoding='ISO-8859-1'?><rss version='2.0'><channel>\
            <ttl>60</ttl><cloud domain='c.example' port='80' path='/x' protocol='http-post' \
            registerProcedure=''/><skipDays><day>Monday</day></skipDays>\
            <item><guid>1</guid><pubDate>Sat, 16 Jul 2011 05:00:00 +0200</pubDate>\
            <category>x</category></item><item><title>no id</title></item></channel></rss>";
        let found = attributes(rss, None, None).unwrap();
        assert_eq!((found.format.as_str(), found.items), ("rss-2.0", 2));
        assert_eq!((found.identifiers, found.dates), (Some(true), Some(true)));
        assert!(found.categories && !found.enclosures && !found.full_content);
        assert!(found.cloud.is_some() && found.hub.is_none());
        assert_eq!(found.hints.ttl, Some(std::time::Duration::from_secs(3600)));
        assert_eq!(found.hints.skip_days, [0]);
        assert_eq!(found.charset.as_deref(), Some("iso-8859-1"));
        assert_eq!(found.time_zone.as_deref(), Some("offset"));
        assert_eq!(attributes(b"<html></html>", Some("text/html"), None), None);
    }

    #[test]
    fn the_header_decides_the_charset() {
        let atom = b"<feed xmlns='http://www.w3.org/2005/Atom'/>";
        let found =
            attributes(atom, Some("application/atom+xml; charset=\"UTF-8\""), None).unwrap();
        assert_eq!(found.charset.as_deref(), Some("utf-8"));
        assert_eq!((found.identifiers, found.time_zone), (None, None));
    }

    #[test]
    fn zones_are_told_apart() {
        let kinds = [
            ("Sat, 16 Jul 2011 05:00:00 GMT", Some("utc")),
            ("Sat, 16 Jul 2011 05:00:00 EST", Some("named")),
            ("Sat, 16 Jul 2011 05:00:00 +0000", Some("utc")),
            ("Sat, 16 Jul 2011 05:00:00 -0500", Some("offset")),
            ("2011-07-16T05:00:00Z", Some("utc")),
            ("2011-07-16T05:00:00+02:00", Some("offset")),
            ("2011-07-16T05:00:00", Some("local")),
            ("2011-07-16", Some("local")),
            ("", None),
        ];
        for (date, kind) in kinds {
            assert_eq!(zone_kind(date), kind, "{date}");
        }
    }
}
