//! Sites with feeds and a page behind each entry. Every site has its own address of the loopback
//! network, so that each is a domain of its own. It counts requests that come too early, and keeps
//! the times between polls.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::bench::measure::now;

/// The entries of a feed before the measurement.
const FIRST: usize = 10;
/// Entries of a document.
const WINDOW: usize = 15;
/// The address of the first site.
const FIRST_ADDRESS: u32 = 0x7f02_0001;
/// Requests this much before the gap is over are faults. The client counts from the end of the
/// answer as it sees it.
const TOLERANCE: Duration = Duration::from_millis(50);
const SENTENCE: &str = "The council voted on Tuesday to rebuild the northern quay, which the storm \
    of last winter had broken into three parts, and said who would pay for the work. ";

/// When entries appear.
#[derive(Clone, Copy, Debug)]
pub enum Appearance {
    /// One new entry in each third feed, on request.
    Once,
    /// One in each feed and period.
    Every(Duration),
}

/// All sites.
pub struct PagedSites {
    pub port: u16,
    state: Arc<PagedState>,
}

struct PagedState {
    feeds_each: usize,
    gap: Duration,
    appearance: Appearance,
    begun: Instant,
    is_later: AtomicBool,
    sites: Vec<Mutex<PagedSite>>,
}

/// The requests to one site.
#[derive(Clone, Debug, Default)]
pub struct PagedSite {
    is_busy: bool,
    ended: Option<Instant>,
    /// The last poll of each feed.
    polled: Vec<Option<Instant>>,
    pub n_faults: u64,
    pub n_polls: u64,
    pub n_pages: u64,
    /// Seconds between two polls of a feed.
    pub intervals: Vec<f64>,
}

impl PagedSite {
    /// The mean seconds that an entry waits for its poll if it appears at any moment.
    pub fn mean_delay(&self) -> f64 {
        let sum: f64 = self.intervals.iter().sum();
        self.intervals.iter().map(|seconds| seconds * seconds).sum::<f64>() / (2.0 * sum)
    }
}

impl PagedSites {
    pub fn start(
        n_sites: usize,
        feeds_each: usize,
        gap: Duration,
        appearance: Appearance,
    ) -> Result<PagedSites> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let port = listener.local_addr()?.port();
        let site = PagedSite { polled: vec![None; feeds_each], ..PagedSite::default() };
        let sites = (0..n_sites).map(|_| Mutex::new(site.clone())).collect();
        let is_later = AtomicBool::new(false);
        let state = PagedState { feeds_each, gap, appearance, begun: now(), is_later, sites };
        let state = Arc::new(state);
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                let thread = std::thread::Builder::new().stack_size(256 * 1024);
                // Without a thread the client sees a closed connection.
                let _ = thread.spawn(move || state.serve(stream));
            }
        });
        Ok(PagedSites { port, state })
    }

    /// The addresses of the feeds of one site.
    pub fn feeds(&self, site: usize) -> Vec<String> {
        let origin = origin(site, self.port);
        (0..self.state.feeds_each).map(|feed| format!("{origin}/f{feed}")).collect()
    }

    /// Lets the new entries appear.
    pub fn go_on(&self) {
        self.state.is_later.store(true, Ordering::Relaxed);
    }

    /// Returns the requests to each site.
    pub fn asked(&self) -> Vec<PagedSite> {
        self.state.sites.iter().map(|site| lock(site).clone()).collect()
    }
}

fn lock(site: &Mutex<PagedSite>) -> MutexGuard<'_, PagedSite> {
    site.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PagedState {
    /// The entries of a feed beyond the first ones.
    fn n_later(&self, number: usize) -> usize {
        match self.appearance {
            Appearance::Once => {
                usize::from(self.is_later.load(Ordering::Relaxed) && number.is_multiple_of(3))
            }
            Appearance::Every(period) => {
                // Feeds are spread over the period.
                let phase = (number * 7919 % 1000) as f64 / 1000.0;
                let periods = self.begun.elapsed().as_secs_f64() / period.as_secs_f64();
                (periods + phase) as usize
            }
        }
    }

    fn serve(&self, stream: TcpStream) {
        let Ok(IpAddr::V4(address)) = stream.local_addr().map(|address| address.ip()) else {
            return;
        };
        let site = u32::from(address).wrapping_sub(FIRST_ADDRESS) as usize;
        let Some(asked) = self.sites.get(site) else { return };
        let Ok(port) = stream.local_addr().map(|address| address.port()) else { return };
        let Ok(mut writer) = stream.try_clone() else { return };
        let mut lines = BufReader::new(stream).lines();
        loop {
            let Some(Ok(first)) = lines.next() else { return };
            let mut sent_tag = String::new();
            for line in lines.by_ref() {
                let Ok(line) = line else { return };
                if line.is_empty() {
                    break;
                }
                if let Some(tag) = line.to_ascii_lowercase().strip_prefix("if-none-match: ") {
                    tag.clone_into(&mut sent_tag);
                }
            }
            let path = first.split(' ').nth(1).unwrap_or_default();
            self.begin(&mut lock(asked));
            std::thread::sleep(Duration::from_millis(20));
            let answer = self.answer(&mut lock(asked), site, port, path, &sent_tag);
            let is_sent = writer.write_all(answer.as_bytes()).is_ok();
            let mut asked = lock(asked);
            (asked.is_busy, asked.ended) = (false, Some(now()));
            if !is_sent {
                return;
            }
        }
    }

    fn begin(&self, asked: &mut PagedSite) {
        let is_early = asked.ended.is_some_and(|ended| ended.elapsed() + TOLERANCE < self.gap);
        asked.n_faults += u64::from(asked.is_busy) + u64::from(is_early);
        asked.is_busy = true;
    }

    fn answer(
        &self,
        asked: &mut PagedSite,
        site: usize,
        port: u16,
        path: &str,
        tag: &str,
    ) -> String {
        if path.starts_with("/page/") {
            asked.n_pages += 1;
            return answer("200 OK", "text/html; charset=utf-8", &page(path));
        }
        let feed = path.strip_prefix("/f").and_then(|number| number.parse::<usize>().ok());
        let Some(feed) = feed.filter(|feed| *feed < self.feeds_each) else {
            return answer("404 Not Found", "text/plain", "");
        };
        let number = site * self.feeds_each + feed;
        let n_later = self.n_later(number);
        asked.n_polls += 1;
        if let Some(before) = asked.polled[feed].replace(now()) {
            asked.intervals.push(before.elapsed().as_secs_f64());
        }
        let etag = format!("\"{n_later}\"");
        if tag == etag {
            return format!("HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n");
        }
        let body = document(&origin(site, port), feed, FIRST + n_later);
        let kind = format!("application/rss+xml\r\nETag: {etag}");
        answer("200 OK", &kind, &body)
    }
}

fn origin(site: usize, port: u16) -> String {
    format!("http://{}:{port}", Ipv4Addr::from(FIRST_ADDRESS + site as u32))
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn document(origin: &str, feed: usize, n_entries: usize) -> String {
    let mut text = format!(
        "<rss version=\"2.0\"><channel><title>Feed {feed}</title><link>{origin}/</link>\
         <description>Made for a measurement</description>\n"
    );
    for entry in (0..n_entries).rev().take(WINDOW) {
        let _ = writeln!(
            text,
            "<item><title>Entry {entry} of feed {feed}</title><guid isPermaLink=\"false\">\
             {feed}-{entry}</guid><link>{origin}/page/{feed}/{entry}</link>\
             <description>Three words more.</description></item>"
        );
    }
    text + "</channel></rss>\n"
}

/// A page of about 600 words with the usual surroundings.
fn page(path: &str) -> String {
    let links: String =
        (0..40).map(|n| format!("<li><a href=\"/{n}\">Another story {n}</a></li>")).collect();
    let text = format!("<p>{}</p>", SENTENCE.repeat(4)).repeat(6);
    format!(
        "<!doctype html><html lang=\"en\"><head><title>Story {path}</title>\
         <meta property=\"article:section\" content=\"Politics\"></head><body><nav><ul>{links}</ul>\
         </nav><main><article><h1>Story {path}</h1>{text}</article></main><footer>Imprint</footer>\
         </body></html>"
    )
}
