//! A thousand feeds on fifty domains, with many cases that test a client's politeness: validators
//! as real servers write them, codings, 429 and 503 with Retry-After, redirects of every kind.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use crate::documents::rss;
use crate::score::{Coding, Manner, Place, Served};

pub const DOMAINS: usize = 50;
pub const FEEDS: usize = 1000;
/// This feed redirects to itself and never brings an entry.
pub const LOOP: usize = 600;

/// ETags and modification times as real servers write them.
const ETAGS: [&[u8]; 6] =
    [b"\"5f-1a\"", b"W/\"5f\"", b"bare", b"\"caf\xe9\"", b"\"a b,c\"", b"\"\""];
const TIMES: [&[u8]; 4] = [
    b"Sat, 29 Oct 1994 19:43:31 GMT",
    b"Sat, 29 Oct 1994 19:43:31 +0000",
    b"1994-10-29 19:43:31",
    b"Saturday, 29-Oct-94 19:43:31 GMT",
];

/// The first 45 domains are bare addresses. The last five are registrable domains with a host name
/// for each feed.
pub fn host(feed: usize, addresses: &[Ipv4Addr]) -> String {
    match feed % DOMAINS {
        domain @ ..45 => addresses[domain].to_string(),
        domain => format!("h{}.site{domain}.test", feed / DOMAINS % 4),
    }
}

/// The name of a feed: its path, and a part of the titles of its entries.
pub fn name(feed: usize) -> String {
    format!("f{feed}")
}

/// The steady answer of a feed after so many changes.
pub fn served(feed: usize, n_items: usize, n_changes: usize) -> Served {
    let mut etag = ETAGS[feed / 7 % ETAGS.len()].to_vec();
    let mut time = TIMES[feed / 5 % TIMES.len()].to_vec();
    if n_changes > 0 {
        etag = format!("\"v{n_changes}\"").into_bytes();
        time = format!("Sat, 29 Oct 1994 20:{:02}:{:02} GMT", n_changes / 60, n_changes % 60)
            .into_bytes();
    }
    let (etag, last_modified) = match feed % 4 {
        0 => (Some(etag), Some(time)),
        1 => (Some(etag), None),
        2 => (None, Some(time)),
        _ if feed % 8 == 3 => (None, None),
        _ => (Some(etag), Some(time)),
    };
    let coding = [Coding::Plain, Coding::Gzip, Coding::Brotli][feed % 3];
    let body = rss(&name(feed), n_items + n_changes);
    Served { etag, last_modified, coding, ..Served::steady(body) }
}

fn manner(feed: usize, redirect_to: &str) -> Manner {
    let busy = |status, as_date, on| Manner::Busy { status, seconds: 2, as_date, on };
    let redirect = |status| Manner::Redirect { status, to: redirect_to.to_owned() };
    match feed {
        3 => busy(429, false, &[0, 2]),
        104 => busy(429, true, &[0]),
        205 => busy(503, true, &[1]),
        306 | 349 => busy(503, false, &[0]),
        410..420 => redirect(302),
        510..515 => redirect(307),
        520..530 => redirect(301),
        530..535 => redirect(308),
        LOOP => Manner::Loop,
        _ => Manner::Steady,
    }
}

/// Returns whether a feed answers with its document each time.
pub fn is_steady(feed: usize) -> bool {
    manner(feed, "") == Manner::Steady
}

/// The subscribed URLs, and the answers to them, to their redirects and to requests for icons.
pub fn pages(
    addresses: &[Ipv4Addr],
    port: u16,
    n_items: usize,
) -> (Vec<String>, HashMap<Place, Served>) {
    let mut pages = HashMap::new();
    let mut urls = Vec::new();
    for feed in 0..FEEDS {
        let own: Place = (host(feed, addresses), format!("/{}", name(feed)));
        let other: Place = (host(feed + 1, addresses), format!("/target/{}", name(feed)));
        let other_url = format!("http://{}:{port}{}", other.0, other.1);
        urls.push(format!("http://{}:{port}{}", own.0, own.1));
        let steady = served(feed, n_items, 0);
        let manner = manner(feed, &other_url);
        if matches!(manner, Manner::Redirect { .. }) {
            pages.insert(other, steady.clone());
        }
        pages.insert(own, Served { manner, ..steady });
        pages.insert((host(feed, addresses), "/favicon.ico".to_owned()), icon());
    }
    (urls, pages)
}

pub fn icon() -> Served {
    Served::of_type("image/gif", "GIF89a\u{10}\0\u{10}\0\0\0\0;".to_owned())
}

/// A configuration that reaches all of them, with these settings as `[defaults]`. The links of the
/// feeds lead to a host that answers nothing.
pub fn config(addresses: &[Ipv4Addr], defaults: &str) -> String {
    let mut text = format!(
        "contact = \"https://example.org/contact\"\nallow_private = true\n\
         [defaults]\n{defaults}[resolve]\n\
         \"example.org\" = \"127.0.0.1\"\n"
    );
    for (domain, address) in addresses.iter().enumerate().skip(45) {
        for i in 0..4 {
            text += &format!("\"h{i}.site{domain}.test\" = \"{address}\"\n");
        }
    }
    text
}
