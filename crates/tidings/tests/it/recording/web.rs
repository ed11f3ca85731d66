//! A synthetic web on loopback with known truth: sites with pages, feeds, and duplicates of each
//! kind. The server counts impolite requests.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::documents::rss_of;
use crate::wire::{Next, Response, Server, now};

/// Pages of one site, each of its own kind.
pub const PAGES_PER_SITE: usize = 10;
/// A busy machine may deliver a request late and the next one in time.
const LATENESS: Duration = Duration::from_millis(400);

/// The synthetic web.
pub struct SyntheticWeb {
    pub server: Server,
    pub n_sites: usize,
    state: Arc<Mutex<WebState>>,
}

#[derive(Default)]
struct WebState {
    sites: HashMap<String, SiteState>,
    faults: Vec<String>,
    n_requests: usize,
}

#[derive(Default)]
struct SiteState {
    in_flight: usize,
    last: Option<Instant>,
}

/// The truth that a discovery must find.
#[derive(Debug, PartialEq, Eq)]
pub struct WebTruth {
    pub read: u64,
    pub unreachable: u64,
    pub not_a_feed: u64,
    pub exact_duplicates: u64,
    pub session_urls: u64,
    pub format_duplicates: u64,
    pub content_duplicates: u64,
    pub feeds: Vec<String>,
}

impl SyntheticWeb {
    /// Serves so many sites; requests to one site must be `gap` apart.
    pub fn start(n_sites: usize, gap: Duration) -> SyntheticWeb {
        let state: Arc<Mutex<WebState>> = Arc::default();
        let shared = Arc::clone(&state);
        let server = Server::start(&[Ipv4Addr::LOCALHOST], move |request, stream| {
            let site = request.host();
            // The hello of TLS may happen to look like a request. It names no site.
            if site.is_empty() {
                return Response::new(400).send(stream).map(|_| Next::Keep);
            }
            begin(&shared, &site, gap);
            let response = answer(&site, &request.target);
            let mut state = shared.lock().unwrap();
            let site = state.sites.entry(site).or_default();
            // A busy machine may stop this thread after it has sent the answer, so it counts first.
            (site.in_flight, site.last) = (site.in_flight - 1, Some(now()));
            drop(state);
            response.send(stream).map(|_| Next::Keep)
        });
        SyntheticWeb { server, n_sites, state }
    }

    pub fn faults(&self) -> Vec<String> {
        self.state.lock().unwrap().faults.clone()
    }

    pub fn n_requests(&self) -> usize {
        self.state.lock().unwrap().n_requests
    }

    /// Returns the configuration: all names lead to the server, the dead ones to nobody.
    pub fn config(&self, gap: Duration, dead: Ipv4Addr) -> String {
        let mut text = format!("domain_gap = \"{}ms\"\n[resolve]\n", gap.as_millis());
        for site in 0..self.n_sites {
            let _ = writeln!(text, "\"site{site}.test\" = \"127.0.0.1\"");
            let _ = writeln!(text, "\"dead{site}.test\" = \"{dead}\"");
        }
        text
    }

    /// Returns the list of addresses, and what it leads to.
    pub fn list(&self) -> (String, WebTruth) {
        let port = self.server.port;
        let mut list = "# A synthetic web\n\n".to_owned();
        let n = self.n_sites as u64;
        let mut feeds = Vec::new();
        for site in 0..self.n_sites {
            let base = format!("http://site{site}.test:{port}");
            for page in 0..PAGES_PER_SITE {
                let _ = match page {
                    8 if site % 2 == 1 => writeln!(list, "http://dead{site}.test:{port}/"),
                    // A bare host name: https is tried first.
                    0 => writeln!(list, "site{site}.test:{port}/p0"),
                    _ => writeln!(list, "{base}/p{page}"),
                };
            }
            feeds.extend((0..5).map(|page| format!("{base}/feed{page}.xml")));
            feeds.push(format!("{base}/five/atom.xml"));
        }
        let truth = WebTruth {
            read: n * PAGES_PER_SITE as u64,
            unreachable: n / 2,
            not_a_feed: n.div_ceil(2),
            exact_duplicates: n,
            session_urls: n,
            format_duplicates: n,
            content_duplicates: n,
            feeds,
        };
        (list, truth)
    }
}

fn begin(state: &Mutex<WebState>, site: &str, gap: Duration) {
    let mut state = state.lock().unwrap();
    state.n_requests += 1;
    let entry = state.sites.entry(site.to_owned()).or_default();
    entry.in_flight += 1;
    let (in_flight, last) = (entry.in_flight, entry.last);
    if in_flight > 1 {
        state.faults.push(format!("{site}: {in_flight} requests at the same time"));
    }
    if let Some(waited) = last.map(|last| last.elapsed())
        && waited + LATENESS < gap
    {
        state.faults.push(format!("{site}: asked again after {waited:?}"));
    }
}

/// Every feed has entries of its own; the copy on page 9 has those of feed 1.
fn answer(site: &str, path: &str) -> Response {
    let page = |links: &[&str]| {
        let mut html = "<!doctype html><html><head><title>A page</title>".to_owned();
        for href in links {
            let kind = if href.contains("atom") { "atom" } else { "rss" };
            let _ = write!(
                html,
                "<link rel=\"alternate\" type=\"application/{kind}+xml\" href=\"{href}\">"
            );
        }
        html.push_str("</head><body><p>Words.</p></body></html>");
        Response::new(200).with("Content-Type", "text/html; charset=utf-8").body(html)
    };
    let feed = |number: &str| Response::rss(rss_of(&format!("{site}-{number}"), 0..8));
    match path {
        "/p5" => page(&["/five/rss.xml", "/five/atom.xml"]),
        "/p6" => page(&["/six?PHPSESSID=1234"]),
        "/p7" => page(&["/feed0.xml"]),
        "/p8" => page(&[]),
        "/p9" => page(&["/mirror/of/the/news"]),
        "/five/rss.xml" => feed("5rss"),
        "/five/atom.xml" => feed("5atom"),
        "/mirror/of/the/news" => feed("1"),
        _ => match path.strip_prefix("/p").filter(|number| number.len() == 1) {
            Some(number) => {
                // Some pages are slow.
                if number == "3" {
                    std::thread::sleep(Duration::from_millis(100));
                }
                page(&[&format!("/feed{number}.xml")])
            }
            None => match path.strip_prefix("/feed").and_then(|rest| rest.strip_suffix(".xml")) {
                Some(number) => feed(number),
                None => Response::new(404),
            },
        },
    }
}
