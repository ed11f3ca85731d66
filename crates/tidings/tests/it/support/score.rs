//! A publisher's server that counts every impolite request.
//!
//! It judges by what a publisher can see: bytes, order and time of requests. Each tolerance states
//! its reason.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use crate::served::{Coding, Manner, Served};
use crate::served::{Judged, respond};
use crate::wire::{Next, Request, Response, Server, now};

/// The time that an answer is delayed, so that a second request to the same domain would be
/// noticed.
const HELD: Duration = Duration::from_millis(8);
/// The delay of slow answers. It makes a request visible that another terminal sends meanwhile.
const HELD_SLOW: Duration = Duration::from_millis(1500);
/// The tolerance for a gap that is too short. The server takes the time when a request arrives. A
/// busy machine may deliver one late and the next in time.
const LATENESS: Duration = Duration::from_millis(400);
/// The first request and five redirects.
const HOPS_MAX: usize = 6;

/// Host and path.
pub type Place = (String, String);

#[derive(Default)]
struct Page {
    n_requests: usize,
    gave_validators: bool,
    n_not_modified: usize,
    /// All validators that it gave, if answers may be lost.
    given: HashSet<Vec<u8>>,
    /// Whether the last answer was 304.
    is_settled: bool,
}

#[derive(Default)]
struct DomainState {
    in_flight: usize,
    last: Option<Instant>,
    /// The path of the last request.
    last_path: String,
    held_off_until: Option<Instant>,
}

#[derive(Default)]
struct Score {
    faults: Vec<String>,
    pages: HashMap<Place, Page>,
    domains: HashMap<String, DomainState>,
    /// All requests, in their order.
    asked: Vec<Place>,
    /// Answers may be lost, because processes are killed.
    forgives_lost: bool,
    /// Places that answer slowly.
    slow: HashSet<Place>,
}

/// The server with its counts.
pub struct ScoreServer {
    pub server: Server,
    score: Arc<Mutex<Score>>,
    served: Arc<Mutex<HashMap<Place, Served>>>,
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
        ScoreServer { server, score, served }
    }

    /// Serves these pages too, or in the place of those before.
    pub fn add(&self, pages: impl IntoIterator<Item = (Place, Served)>) {
        self.served.lock().unwrap().extend(pages);
    }

    /// Lets these places answer slowly.
    pub fn slow_down(&self, places: impl IntoIterator<Item = Place>) {
        self.score.lock().unwrap().slow.extend(places);
    }

    /// Returns the requests to a host, in their order, as paths.
    pub fn asked(&self, host: &str) -> Vec<String> {
        let score = self.score.lock().unwrap();
        score.asked.iter().filter(|place| place.0 == host).map(|place| place.1.clone()).collect()
    }

    /// From now on a page may be asked again without its validators: a process that was killed had
    /// no time to record them. But it must have given those that are sent.
    pub fn forgive_lost_answers(&self) {
        self.score.lock().unwrap().forgives_lost = true;
    }

    /// Returns the pages with validators whose last answer was not 304.
    pub fn unsettled(&self) -> Vec<Place> {
        let (score, served) = (self.score.lock().unwrap(), self.served.lock().unwrap());
        let gives = |page: &Served| page.etag.is_some() || page.last_modified.is_some();
        let steady = served.iter().filter(|(_, page)| page.manner == Manner::Steady && gives(page));
        let settled = |place: &&Place| score.pages.get(*place).is_some_and(|p| p.is_settled);
        steady.map(|(place, _)| place).filter(|place| !settled(place)).cloned().collect()
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
    let held = {
        let mut score = score.lock().unwrap();
        let mut faults = Vec::new();
        score.asked.push(place.clone());
        faults.extend(manners(request));
        faults.extend(pace(score.domains.entry(domain.clone()).or_default(), &place.1, gap));
        match page {
            None => faults.push("asked for something that is not a feed".to_owned()),
            Some(page) => {
                let forgives_lost = score.forgives_lost;
                let seen = score.pages.entry(place.clone()).or_default();
                faults.extend(match forgives_lost {
                    true => validators_given(page, seen, request),
                    false => validators(page, seen, request),
                });
                if page.manner == Manner::Stranger && request.header("authorization").is_some() {
                    faults.push("Authorization sent to another origin".to_owned());
                }
            }
        }
        let told = |f| format!("{}{}: {f}", place.0, place.1);
        score.faults.extend(faults.into_iter().map(told));
        if score.slow.contains(place) { HELD_SLOW } else { HELD }
    };
    hold(stream, held)?;
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
            seen.is_settled = response.not_modified;
            let given = page.filter(|_| response.gives).into_iter();
            let given = given.flat_map(|page| [&page.etag, &page.last_modified]);
            seen.given.extend(given.flatten().cloned());
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

/// Waits for so long, or until the client closes the connection. Its request is over then: a
/// network that was cut may deliver one so late that the client gives up before the answer.
fn hold(stream: &TcpStream, lasts: Duration) -> io::Result<()> {
    let usual = stream.read_timeout()?;
    stream.set_read_timeout(Some(lasts))?;
    // Nothing else can arrive: a client waits for the answer before its next request.
    let _ = stream.peek(&mut [0]);
    stream.set_read_timeout(usual)
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

fn pace(domain: &mut DomainState, path: &str, gap: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    let at = now();
    domain.in_flight += 1;
    if domain.in_flight > 1 {
        let (n, other) = (domain.in_flight, &domain.last_path);
        let since = domain.last.map_or(0, |last| (at - last).as_millis());
        faults.push(format!("{n} requests at once to the domain, {since} ms after {other}"));
    }
    if let Some(since) = domain.last.map(|last| at - last)
        && since + LATENESS.min(gap / 2) < gap
    {
        faults.push(format!("a gap of {} ms after {}", since.as_millis(), domain.last_path));
    }
    if let Some(left) = domain.held_off_until.and_then(|until| until.checked_duration_since(at)) {
        faults.push(format!("asked {} ms before Retry-After was over", left.as_millis()));
    }
    (domain.last, domain.last_path) = (Some(at), path.to_owned());
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

/// Checks that validators are some that the page gave.
fn validators_given(page: &Served, seen: &Page, request: &Request) -> Vec<String> {
    if page.manner != Manner::Steady {
        return Vec::new();
    }
    let sent = ["if-none-match", "if-modified-since"].map(|name| (name, request.header(name)));
    let made_up = sent.iter().filter_map(|(name, sent)| Some((name, (*sent)?)));
    let made_up = made_up.filter(|(_, sent)| !seen.given.contains(*sent));
    made_up.map(|(name, sent)| format!("{name} made up: {}", sent.escape_ascii())).collect()
}

/// Enough of the public suffix list for the names in these tests.
fn registrable(host: &str) -> String {
    if host.parse::<Ipv4Addr>().is_ok() {
        return host.to_owned();
    }
    let labels: Vec<&str> = host.split('.').collect();
    labels[labels.len().saturating_sub(2)..].join(".")
}
