//! The clients: requests at fixed times over connections that stay open, as browsers and apps use
//! them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use feed::{EntryId, FeedId};

use crate::crowd::{self, CrowdPerson};
use crate::fill::mixed;

/// A request of a person, by its number.
pub type Ask = fn(u64, &Plan) -> NamedRequest;

pub struct Plan {
    pub address: SocketAddr,
    pub people: Vec<CrowdPerson>,
    /// The first entry of each feed.
    pub entries: HashMap<FeedId, EntryId>,
    pub per_second: u32,
}

/// Its kind, and its text.
pub type NamedRequest = (&'static str, String);

/// The kind of a request, and the time until its answer.
pub type Taken = (&'static str, Duration);

/// Connections that are open at once.
const CONNECTIONS: usize = 32;

/// Sends requests for this long. Fails if one is not answered well.
pub async fn run(plan: &Arc<Plan>, ask: Ask, lasts: Duration) -> std::io::Result<Vec<Taken>> {
    let n_requests = (lasts.as_secs_f64() * f64::from(plan.per_second)) as u64;
    let n_failed: Arc<AtomicU64> = Arc::default();
    let taken: Arc<Mutex<Vec<Taken>>> = Arc::default();
    let (give, work) = tokio::sync::mpsc::unbounded_channel::<(Instant, u64)>();
    let work = Arc::new(tokio::sync::Mutex::new(work));
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (work, taken) = (Arc::clone(&work), Arc::clone(&taken));
        let (plan, n_failed) = (Arc::clone(plan), Arc::clone(&n_failed));
        clients.spawn(async move {
            let mut stream = None;
            loop {
                let next = work.lock().await.recv().await;
                let Some((due, number)) = next else { return };
                let (what, request) = ask(number, &plan);
                if let Err(error) = answered(&mut stream, plan.address, &request).await {
                    eprintln!("{what}: {error}: {}", request.lines().next().unwrap_or_default());
                    n_failed.fetch_add(1, Ordering::Relaxed);
                    stream = None;
                    continue;
                }
                let lasted = due.elapsed();
                taken.lock().unwrap_or_else(PoisonError::into_inner).push((what, lasted));
            }
        });
    }
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / plan.per_second);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    for number in 0..n_requests {
        let due = ticks.tick().await;
        // The clients end only after this.
        let _ = give.send((due.into_std(), number));
    }
    drop(give);
    while clients.join_next().await.is_some() {}
    let n_failed = n_failed.load(Ordering::Relaxed);
    if n_failed > 0 {
        return Err(std::io::Error::other(format!("{n_failed} requests failed")));
    }
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *taken))
}

/// Requests of people and apps, in the proportions of a busy morning. Everybody asks for their own
/// feeds and entries.
pub fn usual(number: u64, plan: &Plan) -> NamedRequest {
    let drawn = mixed(number + 77);
    let person = &plan.people[drawn as usize % plan.people.len()];
    let feed = person.feeds[drawn as usize / 17 % person.feeds.len()];
    let first = plan.entries.get(&feed).map_or(0, |entry| entry.0.unsigned_abs());
    let entry = first + drawn / 13 % 50;
    let tag = crowd::tag(feed).replace(' ', "+");
    let (what, method, path, body) = match drawn / 101 % 20 {
        0..=2 => ("page: entries", "GET", "/".to_owned(), None),
        3 => ("page: feeds", "GET", "/feeds".to_owned(), None),
        4..=5 => ("page: one feed", "GET", format!("/feed/{feed}"), None),
        6..=8 => ("api: unread", "GET", "/api/v1/reading?unread=true".to_owned(), None),
        9 => ("api: all", "GET", "/api/v1/reading".to_owned(), None),
        10 => ("api: a feed", "GET", format!("/api/v1/reading?feed={feed}"), None),
        11 => ("api: a tag", "GET", format!("/api/v1/reading?tag={tag}"), None),
        12 => ("api: unread of a tag", "GET", unread_of(&tag), None),
        13 => ("api: starred", "GET", "/api/v1/reading?starred=true".to_owned(), None),
        14 => ("api: counts", "GET", "/api/v1/reading/unread".to_owned(), None),
        15 => ("api: search", "GET", "/api/v1/reading?search=volcano+glacier".to_owned(), None),
        16 => ("api: an entry", "GET", format!("/api/v1/entries/{entry}"), None),
        // Every tenth entry has the word, and all of them are old.
        18 => ("api: search, old", "GET", "/api/v1/reading?search=archive".to_owned(), None),
        17 => ("api: feeds", "GET", "/api/v1/feeds?limit=100".to_owned(), None),
        _ => {
            let path = format!("/api/v1/entries/{entry}");
            ("api: mark read", "PATCH", path, Some("{\"read\":true}"))
        }
    };
    (what, request(method, &path, person, body))
}

fn unread_of(tag: &str) -> String {
    format!("/api/v1/reading?unread=true&tag={tag}")
}

/// Pages that people open now and then.
pub fn rare(number: u64, plan: &Plan) -> NamedRequest {
    let person = &plan.people[mixed(number + 99) as usize % plan.people.len()];
    let (what, path) = match number % 4 {
        0 => ("page: statistics", "/statistics"),
        1 => ("page: find feeds", "/discover"),
        2 => ("page: account", "/account"),
        _ => ("page: top stories", "/?top=1"),
    };
    (what, request("GET", path, person, None))
}

fn request(method: &str, path: &str, person: &CrowdPerson, body: Option<&str>) -> String {
    let (account, token, length) = (person.account, &person.token, body.map_or(0, str::len));
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         user-agent: app of account {account}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    head + body.unwrap_or("")
}

/// Sends a request and reads its answer to the end.
async fn answered(
    kept: &mut Option<TcpStream>,
    address: SocketAddr,
    request: &str,
) -> std::io::Result<()> {
    let mut stream = match kept.take() {
        Some(stream) => stream,
        None => TcpStream::connect(address).await?,
    };
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = Vec::with_capacity(16 << 10);
    let length = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let status = head.split(' ').nth(1).unwrap_or("").to_owned();
            if !matches!(status.as_str(), "200" | "204" | "303") {
                return Err(std::io::Error::other(format!("answered {status}")));
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            break end + 4 + length.and_then(|n| n.trim().parse().ok()).unwrap_or(0);
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    while buffer.len() < length {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    *kept = Some(stream);
    Ok(())
}

fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let place = (sorted.len() as f64 * share) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

pub fn p99(taken: &[Taken]) -> Duration {
    let mut all: Vec<Duration> = taken.iter().map(|(_, lasted)| *lasted).collect();
    all.sort_unstable();
    quantile(&all, 0.99)
}

/// Returns a line for each kind of request, and one for all.
pub fn report(when: &str, taken: &[Taken]) {
    println!("\n{when}: {} requests", taken.len());
    let mut kinds: Vec<&str> = taken.iter().map(|(what, _)| *what).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds.into_iter().chain(["all"]) {
        let of = taken.iter().filter(|(what, _)| *what == kind || kind == "all");
        let mut times: Vec<Duration> = of.map(|(_, lasted)| *lasted).collect();
        times.sort_unstable();
        println!(
            "{kind:<22} {:>6}  p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}",
            times.len(),
            quantile(&times, 0.5),
            quantile(&times, 0.99),
            times.last().copied().unwrap_or_default()
        );
    }
}
