//! A web server with feeds that answers slowly, as real ones do. Each feed has its own address of
//! the loopback network, so that each is a domain of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;

/// Items of a document.
const ITEMS: usize = 15;

/// The delay before an answer.
#[derive(Clone, Copy, Debug)]
pub enum Delays {
    /// A median of 150 ms, some at 2 s.
    Real,
    Fixed(Duration),
}

/// The feeds, and what was asked of them.
pub struct Web {
    pub port: u16,
    state: Arc<WebState>,
}

struct WebState {
    delays: Delays,
    /// Without them no answer has a validator, and no two bodies are equal.
    has_validators: AtomicBool,
    /// Every answer has a new item.
    is_always_new: AtomicBool,
    /// The number of changes of each feed.
    versions: Vec<AtomicUsize>,
    asked: Vec<AtomicU64>,
    n_answers: AtomicU64,
}

impl Web {
    pub fn start(n_feeds: usize, delays: Delays) -> Result<Web> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(WebState {
            delays,
            has_validators: AtomicBool::new(true),
            is_always_new: AtomicBool::new(false),
            versions: (0..n_feeds).map(|_| AtomicUsize::new(0)).collect(),
            asked: (0..n_feeds).map(|_| AtomicU64::new(0)).collect(),
            n_answers: AtomicU64::new(0),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                let thread = std::thread::Builder::new().stack_size(256 * 1024);
                // Without a thread the client sees a closed connection.
                let _ = thread.spawn(move || serve(&state, stream));
            }
        });
        Ok(Web { port, state })
    }

    /// A subscription list of all feeds.
    pub fn opml(&self) -> String {
        let mut text = "<opml version=\"2.0\"><head/><body>\n".to_owned();
        for n in 0..self.state.versions.len() {
            let address = Ipv4Addr::from(0x7f01_0001 + n as u32);
            let url = format!("http://{address}:{}/{n}", self.port);
            text += &format!("<outline type=\"rss\" text=\"{n}\" xmlUrl=\"{url}\"/>\n");
        }
        text + "</body></opml>\n"
    }

    pub fn set_validators(&self, on: bool) {
        self.state.has_validators.store(on, Ordering::Relaxed);
    }

    pub fn set_always_new(&self, on: bool) {
        self.state.is_always_new.store(on, Ordering::Relaxed);
    }

    /// Gives every twentieth feed a new item, another twentieth each round.
    pub fn change_some(&self, round: usize) {
        for version in self.state.versions.iter().skip(round % 20).step_by(20) {
            version.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Requests since the last call, and how many of them asked a feed again.
    pub fn take_asked(&self) -> (u64, u64) {
        let asked = self.state.asked.iter().map(|n| n.swap(0, Ordering::Relaxed));
        asked.fold((0, 0), |(all, again), n| (all + n, again + n.saturating_sub(1)))
    }

    pub fn n_answers(&self) -> u64 {
        self.state.n_answers.load(Ordering::Relaxed)
    }
}

fn serve(state: &WebState, stream: TcpStream) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut lines = BufReader::new(stream).lines();
    loop {
        let Some(Ok(first)) = lines.next() else { return };
        let mut sent_tag = None;
        for line in lines.by_ref() {
            let Ok(line) = line else { return };
            if line.is_empty() {
                break;
            }
            if let Some(tag) = line.to_ascii_lowercase().strip_prefix("if-none-match: ") {
                sent_tag = Some(tag.to_owned());
            }
        }
        let number = first.split(' ').nth(1).and_then(|path| path[1..].parse::<usize>().ok());
        let Some(number) = number.filter(|n| *n < state.versions.len()) else { return };
        state.asked[number].fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(state.delay(number));
        if state.is_always_new.load(Ordering::Relaxed) {
            state.versions[number].fetch_add(1, Ordering::Relaxed);
        }
        let answer = state.answer(number, sent_tag.as_deref());
        let count = state.n_answers.fetch_add(1, Ordering::Relaxed);
        let answer = answer.replace("COUNT", &format!("{count:012}"));
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

impl WebState {
    /// The same delay for a feed each time.
    fn delay(&self, number: usize) -> Duration {
        match self.delays {
            Delays::Fixed(delay) => delay,
            Delays::Real => {
                // A sum of twelve even numbers is nearly normal; its exponential is skewed, as the
                // delays of servers are.
                let mut seed = number as u64 + 1;
                let mut sum = 0.0;
                for _ in 0..12 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    sum += (seed >> 33) as f64 / f64::from(1_u32 << 31);
                }
                Duration::from_secs_f64((0.15 * (0.9 * (sum - 6.0)).exp()).min(2.0))
            }
        }
    }

    fn answer(&self, number: usize, sent_tag: Option<&str>) -> String {
        let version = self.versions[number].load(Ordering::Relaxed);
        let tag = format!("\"{version}\"");
        let validated = self.has_validators.load(Ordering::Relaxed);
        if validated && sent_tag == Some(tag.as_str()) {
            return format!("HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n");
        }
        let mut body = format!("<rss version=\"2.0\"><channel><title>{number}</title>\n");
        if !validated {
            body += "<!-- answer COUNT -->\n";
        }
        for item in (version..version + ITEMS).rev() {
            body += &format!(
                "<item><title>Item {item} of feed {number}</title>\
                 <link>http://example.org/{number}/{item}</link><guid>{number}-{item}</guid>\
                 <description>{}</description></item>\n",
                "A sentence of an item that is as long as most are. ".repeat(6)
            );
        }
        body += "</channel></rss>\n";
        // The place holder is as long as what replaces it.
        let length = body.len() + if validated { 0 } else { 12 - "COUNT".len() };
        let tag = if validated { format!("ETag: {tag}\r\n") } else { String::new() };
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: {length}\r\n\
             {tag}\r\n{body}"
        )
    }
}
