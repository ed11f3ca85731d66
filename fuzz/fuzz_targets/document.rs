//! Reads any bytes as a document, with and without a content type and a base. It must not panic and
//! must keep the limits. The result, written as a document, must be readable again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parse::write::{Published, atom, json, rss};
use parse::{Limits, discover, document};

fuzz_target!(|bytes: &[u8]| {
    let base = url::Url::parse("http://example.org/dir/feed.xml").unwrap();
    let limits = Limits { items_max: 8, depth_max: 16, field_bytes_max: 256, list_max: 4 };
    let with_type = Some("text/xml; charset=iso-8859-1").filter(|_| bytes.len() % 2 == 1);
    let _ = discover::links(bytes, with_type, &base);
    let _ = document(bytes, None, None, &Limits::default());
    let Ok(doc) = document(bytes, with_type, Some(&base), &limits) else { return };
    assert!(doc.items.len() <= limits.items_max);
    assert!(doc.items.iter().all(|i| i.categories.len() <= 4 && i.enclosures.len() <= 4));
    let published = Published {
        title: doc.title.unwrap_or_default(),
        items: doc.items,
        ..Published::default()
    };
    for text in [atom(&published), rss(&published), json(&published)] {
        let again = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert!(again.items.len() <= published.items.len());
    }
});
