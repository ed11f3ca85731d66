//! A publisher's server that counts every impolite request.
//!
//! It judges by what a publisher can see: bytes, order and time of requests. Each tolerance states
//! its reason.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::documents::{brotli, gzip, http_date};
use crate::wire::{Next, Request, Response, Server, now, wall_clock};

/// The time that an answer is delayed, so that a second request to the same domain would be
/// noticed.
const HELD: Duration = Duration::from_millis(8);
/// The tolerance for a gap that is too short. The server takes the time when a request arrives. A
/// busy machine may deliver one late and the next in time.
const LATENESS: Duration = Duration::from_millis(400);
/// The first request and five redirects.
const HOPS_MAX: usize = 6;

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
    pub body: String,
}

impl Served {
    pub fn steady(body: String) -> Served {
        let manner = Manner::Steady;
        Served { etag: None, last_modified: None, coding: Coding::Plain, manner, body }
    }
}

/// Host and path.
pub type Place = (String, String);

#[derive(Default)]
struct Page {
    n_requests: usize,
    gave_validators: bool,
    n_not_modified: usize,
}

#[derive(Default)]
struct DomainState {
    in_flight: usize,
    last: Option<Instant>,
    held_off_until: Option<Instant>,
}

#[derive(Default)]
struct Score {
    faults: Vec<String>,
    pages: HashMap<Place, Page>,
    domains: HashMap<String, DomainState>,
}

/// The server with its counts.
pub struct ScoreServer {
    pub server: Server,
    score: Arc<Mutex<Score>>,
}

impl ScoreServer {
    /// Serves `pages`. `gap` is the time that the program must keep between requests to a domain.
    /// The pages are made when the port is known, because redirects name it.
    pub fn start(
        addresses: &[Ipv4Addr],
        gap: Duration,
        pages: impl FnOnce(u16) -> HashMap<Place, Served>,
    ) -> ScoreServer {
        let score = Arc::new(Mutex::new(Score::default()));
        let served: Arc<Mutex<HashMap<Place, Served>>> = Arc::default();
        let server = {
            let (score, served) = (Arc::clone(&score), Arc::clone(&served));
            Server::start(addresses, move |request, stream| {
                let place = (request.host(), request.target.clone());
                let page = served.lock().unwrap().get(&place).cloned();
                answer(&score, page.as_ref(), &place, request, stream, gap)
            })
        };
        *served.lock().unwrap() = pages(server.port);
        ScoreServer { server, score }
    }

    pub fn faults(&self) -> Vec<String> {
        self.score.lock().unwrap().faults.clone()
    }

    pub fn requests(&self, place: &Place) -> usize {
        self.score.lock().unwrap().pages.get(place).map_or(0, |p| p.n_requests)
    }

    pub fn total(&self) -> usize {
        self.score.lock().unwrap().pages.values().map(|p| p.n_requests).sum()
    }

    pub fn not_modified(&self) -> usize {
        self.score.lock().unwrap().pages.values().map(|p| p.n_not_modified).sum()
    }
}

fn answer(
    score: &Mutex<Score>,
    page: Option<&Served>,
    place: &Place,
    request: &Request,
    stream: &mut TcpStream,
    gap: Duration,
) -> io::Result<Next> {
    let domain = registrable(&place.0);
    {
        let mut score = score.lock().unwrap();
        let mut faults = Vec::new();
        faults.extend(manners(request));
        faults.extend(pace(score.domains.entry(domain.clone()).or_default(), gap));
        match page {
            None => faults.push("asked for something that is not a feed".to_owned()),
            Some(page) => {
                let seen = score.pages.entry(place.clone()).or_default();
                faults.extend(validators(page, seen, request));
                if page.manner == Manner::Stranger && request.header("authorization").is_some() {
                    faults.push("Authorization sent to another origin".to_owned());
                }
            }
        }
        let told = |f| format!("{}{}: {f}", place.0, place.1);
        score.faults.extend(faults.into_iter().map(told));
    }
    std::thread::sleep(HELD);
    let response = {
        let mut score = score.lock().unwrap();
        let n = score.pages.get(place).map_or(0, |p| p.n_requests);
        let (response, hold_off) = match page {
            None => (Judged::plain(Response::new(404)), None),
            Some(page) => respond(page, request, n),
        };
        if let Some(seen) = score.pages.get_mut(place) {
            seen.n_requests += 1;
            seen.gave_validators |= response.gives;
            seen.n_not_modified += usize::from(response.not_modified);
        }
        let state = score.domains.entry(domain).or_default();
        state.in_flight -= 1;
        if let Some(hold_off) = hold_off {
            state.held_off_until = Some(now() + hold_off);
        }
        response.response
    };
    response.send(stream)
}

/// Checks the headers that every request must have and must not have.
fn manners(request: &Request) -> Vec<String> {
    let mut faults = Vec::new();
    let agent = request.text("user-agent").to_lowercase();
    if !agent.contains("tidings") || !agent.contains("://") || agent.contains("mozilla") {
        faults.push(format!("dishonest User-Agent `{agent}`"));
    }
    for name in ["cookie", "referer"] {
        if request.header(name).is_some() {
            faults.push(format!("sent {name}"));
        }
    }
    if !request.text("accept-encoding").contains("gzip") {
        faults.push("does not take compression".to_owned());
    }
    if !request.text("cache-control").contains("no-cache") {
        faults.push("no `Cache-Control: no-cache`".to_owned());
    }
    let conditional = ["if-none-match", "if-modified-since"];
    if conditional.iter().any(|n| request.header(n).is_some())
        && !request.text("a-im").split(',').any(|t| t.trim() == "feed")
    {
        faults.push("validators without `A-IM: feed`".to_owned());
    }
    faults
}

fn pace(domain: &mut DomainState, gap: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    let at = now();
    domain.in_flight += 1;
    if domain.in_flight > 1 {
        faults.push(format!("{} requests at once to the domain", domain.in_flight));
    }
    if let Some(since) = domain.last.map(|last| at - last)
        && since + LATENESS.min(gap / 2) < gap
    {
        faults.push(format!("a gap of {} ms", since.as_millis()));
    }
    if let Some(left) = domain.held_off_until.and_then(|until| until.checked_duration_since(at)) {
        faults.push(format!("asked {} ms before Retry-After was over", left.as_millis()));
    }
    domain.last = Some(at);
    faults
}

fn validators(page: &Served, seen: &Page, request: &Request) -> Vec<String> {
    let mut faults = Vec::new();
    let pairs = [("if-none-match", &page.etag), ("if-modified-since", &page.last_modified)];
    for (name, given) in pairs {
        let given = given.as_deref().filter(|_| seen.gave_validators);
        let sent = request.header(name);
        match (given, sent) {
            (Some(_), None) => faults.push(format!("asked again without {name}")),
            (Some(given), Some(sent)) if given != sent => faults.push(format!(
                "{name} is `{}`, not `{}`",
                String::from_utf8_lossy(sent),
                String::from_utf8_lossy(given)
            )),
            (None, Some(_)) if page.manner == Manner::Steady => {
                faults.push(format!("{name} made up"));
            }
            _ => {}
        }
    }
    if page.manner == Manner::Loop && seen.n_requests >= HOPS_MAX * 20 {
        faults.push("a loop of redirects is followed on and on".to_owned());
    }
    faults
}

struct Judged {
    response: Response,
    gives: bool,
    not_modified: bool,
}

impl Judged {
    fn plain(response: Response) -> Judged {
        Judged { response, gives: false, not_modified: false }
    }
}

fn respond(page: &Served, request: &Request, n: usize) -> (Judged, Option<Duration>) {
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
        let rss = |body: Vec<u8>| Response::rss(body).with("Vary", "Accept-Encoding");
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

/// Enough of the public suffix list for the names in these tests.
fn registrable(host: &str) -> String {
    if host.parse::<Ipv4Addr>().is_ok() {
        return host.to_owned();
    }
    let labels: Vec<&str> = host.split('.').collect();
    labels[labels.len().saturating_sub(2)..].join(".")
}
