//! An engine with servers that a test scripts. Every name under `.test` is this machine. Requests
//! are noted as `host/path`. The clock stands still until the test moves it.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::command::{Command, CommandResult};
use dispatch::{LocalForm, Stopwatch};
use engine::command::carry_out;
use engine::{Clock, Engine, Gaps, Settings, Watch};
use feed::Time;
use fetch::Fetcher;
use store::{OpenMode, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The end of a noted request that is conditional.
pub const CONDITIONAL: &str = " if changed";

const START: Time = Time::from_secs(1_700_000_000);

/// Far longer than anything takes, even on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// From a request, as `host/path`, to the whole answer; `None` as long as it is to wait.
pub type Answer = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

pub struct House {
    pub engine: Engine,
    settings: Settings,
    pub store: Store,
    pub clock: Clock,
    requests: Arc<Mutex<Vec<String>>>,
    port: u16,
    _folder: tempfile::TempDir,
}

impl House {
    pub async fn new(settings: Settings, answer: Answer) -> House {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, Arc::clone(&answer), Arc::clone(&noted)));
            }
        });
        let gaps = Gaps { default: Duration::ZERO, ..settings.gaps };
        let settings = Settings { gaps, local_form: LocalForm::Wire, ..settings };
        let clock = Clock::manual(START);
        let engine = start(&store, &clock, &settings);
        House { engine, settings, store, clock, requests, port, _folder: folder }
    }

    /// Stops the engine and starts another one over the same store.
    pub async fn restart(&mut self) {
        self.engine.stop().await;
        self.engine = start(&self.store, &self.clock, &self.settings);
    }

    /// The URL of `host/path` on this machine.
    pub fn url(&self, place: &str) -> String {
        let (host, path) = place.split_once('/').unwrap();
        format!("http://{host}:{}/{path}", self.port)
    }

    pub async fn act(&self, command: Command) -> CommandResult {
        carry_out(&self.engine, command, &|_, _| ()).await.unwrap()
    }

    /// How many requests came to a host.
    pub fn n_at(&self, host: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|r| r.split('/').next() == Some(host)).count()
    }

    /// How often a place was asked for.
    pub fn n_asked(&self, place: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|r| *r == place).count()
    }

    /// Waits until `done` holds, as long as anybody would; says whether it does.
    pub async fn until(&self, done: impl Fn(&House) -> bool) -> bool {
        let begun = Stopwatch::start();
        loop {
            // Looked at before the condition: the last look comes after the whole time.
            let is_last = begun.elapsed() > PATIENCE;
            if done(self) {
                return true;
            }
            if is_last {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Asks for the page behind an entry, as a person does. The result of an earlier try is visible
    /// in the store before that try has ended. So this asks until the page is not under way.
    pub async fn load_article(&self, entry: i64) -> CommandResult {
        let begun = Stopwatch::start();
        loop {
            let loaded = self.act(Command::Article { entry }).await;
            match &loaded {
                CommandResult::Article { reason: Some(reason), later: true, .. }
                    if reason == "the page is being loaded" && begun.elapsed() < PATIENCE =>
                {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                _ => return loaded,
            }
        }
    }

    /// Waits until the loop has handled all that was sent before.
    pub async fn heard(&self) {
        assert_eq!(self.engine.poll(&[]).unwrap().recv().await, None);
    }

    /// Waits until nothing is under way.
    pub async fn rest(&self) {
        // The loop answers a question before it turns, so a turn after the answer knows everything
        // that was sent before the question.
        self.heard().await;
        let answered = Stopwatch::start();
        let turned = |house: &House| {
            let since = answered.elapsed();
            house.engine.figures().turned_ago.is_some_and(|ago| ago < since)
        };
        assert!(self.until(turned).await, "{:?}", self.engine.figures());
        let resting = |house: &House| {
            let figures = house.engine.figures();
            figures.in_flight == 0 && figures.waiting == 0 && figures.wake_at > house.clock.now()
        };
        assert!(self.until(resting).await, "{:?}", self.engine.figures());
    }

    /// Lets time pass, some of it at a time, as it does.
    pub async fn pass(&self, n_minutes: u32) {
        for _ in 0..n_minutes {
            self.clock.set(self.clock.now() + Duration::from_secs(60));
            self.rest().await;
        }
    }
}

fn start(store: &Store, clock: &Clock, settings: &Settings) -> Engine {
    let mut fetch = fetch::Settings::new("https://example.org/about");
    fetch.allow_private = true;
    for name in ["a.test", "b.test", "c.test", "liked.test", "www.liked.test", "shy.test"] {
        fetch.resolve.insert(name.to_owned(), vec![Ipv4Addr::LOCALHOST.into()]);
    }
    let fetcher = Fetcher::new(fetch).unwrap();
    Engine::start(store.clone(), fetcher, clock.clone(), settings.clone(), Watch::All).unwrap()
}

/// An answer with a document that shows these items.
pub fn document(ids: &[&str]) -> String {
    let items: String = ids.iter().map(|id| format!("<item><guid>{id}</guid></item>")).collect();
    let body = format!("<rss version='2.0'><channel><title>t</title>{items}</channel></rss>");
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

async fn talk(mut stream: TcpStream, answer: Answer, noted: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    loop {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(n) if n > 0 => request.extend_from_slice(&piece[..n]),
            _ => return,
        }
        while let Some(end) = request.windows(4).position(|w| w == b"\r\n\r\n") {
            let head: Vec<u8> = request.drain(..end + 4).collect();
            let head = String::from_utf8_lossy(&head);
            let path = head.split(' ').nth(1).unwrap();
            let head = head.to_lowercase();
            let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
            let mut place = format!("{}{path}", host.split(':').next().unwrap());
            if head.contains("\r\nif-") {
                place.push_str(CONDITIONAL);
            }
            noted.lock().unwrap().push(place.clone());
            let answer = loop {
                match answer(&place) {
                    Some(answer) => break answer,
                    None => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            };
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
