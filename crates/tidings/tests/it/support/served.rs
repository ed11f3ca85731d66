//! The pages of a publisher's server: validators, codings, and servers that refuse or redirect.

use std::time::{Duration, UNIX_EPOCH};

use crate::documents::{brotli, gzip, http_date};
use crate::wire::{Request, Response, wall_clock};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Plain,
    Gzip,
    Brotli,
}

/// The behaviour of a feed's URL.
#[derive(Clone, PartialEq, Eq)]
pub enum Manner {
    Steady,
    /// This status, with Retry-After in seconds or as a date, on the given requests (counted from
    /// 0). Other requests get the document.
    Busy {
        status: u16,
        seconds: u64,
        as_date: bool,
        on: &'static [usize],
    },
    /// Redirects to another URL.
    Redirect {
        status: u16,
        to: String,
    },
    /// 401 unless the request has this Authorization; then the redirect, if there is one.
    Locked {
        authorization: &'static str,
        to: Option<String>,
    },
    /// A redirect target that must never get an Authorization.
    Stranger,
    /// Redirects to itself.
    Loop,
}

/// One URL of the server.
#[derive(Clone)]
pub struct Served {
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
    pub coding: Coding,
    pub manner: Manner,
    pub content_type: &'static str,
    pub body: String,
}

impl Served {
    pub fn steady(body: String) -> Served {
        Served::of_type("application/rss+xml", body)
    }

    /// A file that is not a feed.
    pub fn of_type(content_type: &'static str, body: String) -> Served {
        let (manner, coding) = (Manner::Steady, Coding::Plain);
        Served { etag: None, last_modified: None, coding, manner, content_type, body }
    }
}

pub struct Judged {
    pub response: Response,
    /// It carries the page's validators.
    pub gives: bool,
    pub not_modified: bool,
}

impl Judged {
    pub fn plain(response: Response) -> Judged {
        Judged { response, gives: false, not_modified: false }
    }
}

/// Answers the request with number `n` of a page. Returns also how long its domain asks to wait.
pub fn respond(page: &Served, request: &Request, n: usize) -> (Judged, Option<Duration>) {
    let plain = Judged::plain;
    match &page.manner {
        Manner::Busy { status, seconds, as_date, on } if on.contains(&n) => {
            let (value, hold_off) = retry_after(*seconds, *as_date);
            (plain(Response::new(*status).with("Retry-After", value)), Some(hold_off))
        }
        Manner::Redirect { status, to } => {
            (plain(Response::new(*status).with("Location", to.as_str())), None)
        }
        Manner::Loop => {
            let here = format!("http://{}{}", request.text("host"), request.target);
            (plain(Response::new(302).with("Location", here)), None)
        }
        Manner::Locked { authorization, to } => {
            if request.text("authorization") != *authorization {
                (plain(Response::new(401).with("WWW-Authenticate", "Basic realm=\"x\"")), None)
            } else if let Some(to) = to {
                (plain(Response::new(302).with("Location", to.as_str())), None)
            } else {
                (document(page, request), None)
            }
        }
        _ => (document(page, request), None),
    }
}

/// Returns the header's value and how long it binds. A date has whole seconds and binds until then.
fn retry_after(seconds: u64, as_date: bool) -> (String, Duration) {
    if !as_date {
        return (seconds.to_string(), Duration::from_secs(seconds));
    }
    let since_epoch = wall_clock().duration_since(UNIX_EPOCH).unwrap();
    let until = since_epoch.as_secs() + seconds;
    (http_date(until), Duration::from_secs(until) - since_epoch)
}

fn document(page: &Served, request: &Request) -> Judged {
    let given = [("if-none-match", &page.etag), ("if-modified-since", &page.last_modified)];
    let has_validators = given.iter().any(|(_, v)| v.is_some());
    // As nginx does by default, every validator must match exactly.
    let unchanged =
        has_validators && given.iter().all(|(name, v)| v.as_deref() == request.header(name));
    let mut response = if unchanged {
        Response::new(304)
    } else {
        let accepted = request.text("accept-encoding");
        let typed = || Response::new(200).with("Content-Type", page.content_type);
        let rss = |body: Vec<u8>| typed().body(body).with("Vary", "Accept-Encoding");
        match page.coding {
            Coding::Gzip if accepted.contains("gzip") => {
                rss(gzip(page.body.as_bytes())).with("Content-Encoding", "gzip")
            }
            Coding::Brotli if accepted.contains("br") => {
                rss(brotli(page.body.as_bytes())).with("Content-Encoding", "br")
            }
            _ => rss(page.body.clone().into_bytes()),
        }
    };
    response = response.with("Set-Cookie", "seen=1; Path=/");
    if let Some(etag) = &page.etag {
        response = response.with("ETag", etag.clone());
    }
    // Some servers leave Last-Modified out of a 304. The one given before stays valid.
    if let Some(at) = page.last_modified.as_ref().filter(|_| !unchanged) {
        response = response.with("Last-Modified", at.clone());
    }
    Judged { response, gives: has_validators, not_modified: unchanged }
}
