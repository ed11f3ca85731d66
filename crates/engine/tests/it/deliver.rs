//! Deliveries by an engine whose clock stands still until a test moves it: hours of retries and the
//! hour of a digest pass in no time.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::LocalForm;
use dispatch::command::{Command, QueriesCommand};
use engine::command::carry_out;
use engine::{Clock, DeliverySettings, Engine, Mail, MailSecurity, Settings, Watch};
use feed::{EntryKey, FeedUrl, Item, Outcome, Published, Time};
use fetch::Fetcher;
use store::{NewEntry, NewFeed, OpenMode, PollRecord, Store};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const START: Time = Time::from_secs(1_700_000_000); // 2023-11-14T22:13:20Z

pub struct House {
    pub engine: Engine,
    settings: Settings,
    clock: Clock,
    _folder: tempfile::TempDir,
}

impl House {
    pub async fn new(delivery: DeliverySettings, statement: &str) -> House {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        let settings = Settings { delivery, local_form: LocalForm::Wire, ..Settings::new() };
        let clock = Clock::manual(START);
        let engine = start(store, &clock, settings.clone());
        let text = statement.to_owned();
        let wish = QueriesCommand::Apply { file: "t".to_owned(), text, past: None, account: None };
        carry_out(&engine, Command::Query { wish }, &|_, _| ()).await.unwrap();
        House { engine, settings, clock, _folder: folder }
    }

    /// Entries with these titles are recorded.
    pub fn see(&self, titles: &[&str]) {
        let store = &self.engine.store;
        let url = FeedUrl::parse("https://example.org/feed").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let feed = store.add_feed(&new, START).unwrap().id;
        let (now, generation) = (self.clock.now(), store.poll_input(feed).unwrap().generation);
        let mut record = PollRecord::empty(feed, generation, now, Outcome::Seen, now);
        for (number, title) in titles.iter().enumerate() {
            let mut key = [0; 16];
            key[0] = u8::try_from(number).unwrap();
            key[1..5].copy_from_slice(&generation.to_le_bytes());
            let item = Item { title: Some((*title).to_owned()), ..Item::default() };
            let published = Published { claim: None, at: now };
            record.document_mut().entries.new.push(NewEntry {
                key: EntryKey::from_bytes(key),
                item,
                published,
                content: 0,
                facts: store::EntryFacts::default(),
            });
        }
        store.record_blocking(record).unwrap();
    }

    pub async fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now() + time);
        self.engine.deliver().await;
    }

    pub fn delivery(&self) -> store::DeliveryRow {
        self.engine.store.deliveries(None).unwrap().remove(0)
    }
}

fn start(store: Store, clock: &Clock, settings: Settings) -> Engine {
    let mut fetch = fetch::Settings::new("https://example.org/about");
    fetch.allow_private = true;
    let fetcher = Fetcher::new(fetch).unwrap();
    Engine::start(store, fetcher, clock.clone(), settings, Watch::OnRequest).unwrap()
}

/// A receiver that answers with a status that a test may change; what arrived with 200.
async fn receiver(status: Arc<AtomicU16>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let taken: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&taken);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (status, noted) = (Arc::clone(&status), Arc::clone(&noted));
            tokio::spawn(async move { take(stream, &status, &noted).await });
        }
    });
    (url, taken)
}

async fn take(stream: TcpStream, status: &AtomicU16, noted: &Mutex<Vec<String>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let status = status.load(Ordering::SeqCst);
        if status == 200 {
            noted.lock().unwrap().push(String::from_utf8(body).unwrap());
        }
        let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_that_a_receiver_never_accepts_become_dead_letters_and_can_be_replayed() {
    let status = Arc::new(AtomicU16::new(500));
    let (url, taken) = receiver(Arc::clone(&status)).await;
    let statement = format!("CREATE FEED All AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{url}\"");
    let house = House::new(DeliverySettings::default(), &statement).await;
    house.see(&["one", "two"]);
    let mut waits = 0;
    while house.delivery().n_dead == 0 {
        house.pass(Duration::from_secs(4000)).await;
        waits += 1;
        assert!(waits < 50, "{:?}", house.delivery());
    }
    let row = house.delivery();
    assert_eq!((waits, row.position, row.n_waiting), (12, 1, 1), "{row:?}");
    status.store(200, Ordering::SeqCst);
    house.pass(Duration::from_secs(4000)).await;
    assert!(taken.lock().unwrap()[0].contains("\"two\""), "the next goes on in its order");
    let wish = QueriesCommand::Replay { name: "All".to_owned(), account: None };
    carry_out(&house.engine, Command::Query { wish }, &|_, _| ()).await.unwrap();
    house.pass(Duration::ZERO).await;
    let taken = taken.lock().unwrap().clone();
    assert!(taken.len() == 2 && taken[1].contains("\"one\""), "{taken:?}");
    assert_eq!(house.delivery().n_dead, 0);
    house.engine.stop().await;
}

/// A receiver that keeps each request open until another one comes, or until none has come for a
/// while. Returns its address, the most requests open at once, and the number of requests.
async fn crowd() -> (String, Arc<AtomicU16>, Arc<AtomicU16>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let [open, most, all] = [(); 3].map(|()| Arc::new(AtomicU16::new(0)));
    let (counted, total) = (Arc::clone(&most), Arc::clone(&all));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (open, most, all) = (Arc::clone(&open), Arc::clone(&most), Arc::clone(&all));
            tokio::spawn(async move {
                let mut head = [0; 4096];
                if stream.read(&mut head).await.is_ok_and(|n| n > 0) {
                    most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    all.fetch_add(1, Ordering::SeqCst);
                    for _ in 0..100 {
                        if open.load(Ordering::SeqCst) > 1 {
                            break;
                        }
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    open.fetch_sub(1, Ordering::SeqCst);
                    let answer = b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\n";
                    let _ = stream.write_all(answer).await;
                }
            });
        }
    });
    (url, counted, total)
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_at_one_domain_are_served_one_at_a_time_and_take_turns() {
    let (url, most, all) = crowd().await;
    let statement: String = ["A", "B", "C"]
        .map(|name| {
            format!("CREATE FEED {name} AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{url}/{name}\";")
        })
        .concat();
    let house = House::new(DeliverySettings::default(), &statement).await;
    house.see(&["one"]);
    house.engine.deliver().await;
    assert_eq!((all.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (3, 1));
    for row in house.engine.store.deliveries(None).unwrap() {
        assert_eq!(row.n_waiting, 0, "{row:?}");
    }
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_does_not_get_an_entry_again_and_again_while_the_store_is_full() {
    let (url, taken) = receiver(Arc::new(AtomicU16::new(200))).await;
    let statement = format!("CREATE FEED All AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{url}\"");
    let house = House::new(DeliverySettings::default(), &statement).await;
    house.see(&["one"]);
    let location = house.engine.store.location().clone();
    store::testing::refuse(&location, "update", "deliveries", "");
    let delivering = tokio::time::timeout(Duration::from_secs(120), house.engine.deliver());
    assert!(delivering.await.is_ok(), "it does not end");
    assert_eq!(taken.lock().unwrap().len(), 1);
    store::testing::allow(&location, "deliveries");
    house.engine.deliver().await;
    assert_eq!(taken.lock().unwrap().len(), 2, "at least once");
    assert_eq!(house.delivery().n_waiting, 0);
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_delays_no_receiver() {
    for restarts in [false, true] {
        let status = Arc::new(AtomicU16::new(500));
        let (url, taken) = receiver(Arc::clone(&status)).await;
        let statement = format!("CREATE FEED All AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{url}\"");
        let mut house = House::new(DeliverySettings::default(), &statement).await;
        house.see(&["one"]);
        house.pass(Duration::from_secs(3600)).await;
        assert!(house.delivery().next_at.is_some(), "it would not take it");
        if restarts {
            house.engine.stop().await;
        }
        house.clock.set(house.clock.now() - Duration::from_secs(366 * 86_400));
        if restarts {
            house.engine = start(house.engine.store.clone(), &house.clock, house.settings.clone());
        }
        for _ in 0..50_000 {
            if house.delivery().next_at.is_none() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        status.store(200, Ordering::SeqCst);
        house.engine.deliver().await;
        assert_eq!(taken.lock().unwrap().len(), 1, "restarts: {restarts}");
        house.engine.stop().await;
    }
}

/// A mail server that takes everything; the text of each mail.
async fn mail_server() -> (Mail, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mail = Mail {
        server: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
        security: MailSecurity::None,
        user: None,
        password: None,
        from: "Tidings <tidings@example.org>".to_owned(),
    };
    let mails: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&mails);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let noted = Arc::clone(&noted);
            tokio::spawn(async move { talk(stream, &noted).await });
        }
    });
    (mail, mails)
}

async fn talk(stream: TcpStream, noted: &Mutex<Vec<String>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await.ok()?;
    let mut text: Option<String> = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(mail) = &mut text {
            if line == ".\r\n" {
                noted.lock().unwrap().push(text.take()?);
                stream.write_all(b"250 taken\r\n").await.ok()?;
            } else {
                mail.push_str(&line);
            }
            continue;
        }
        let answer: &[u8] = match line.get(..4).unwrap_or_default() {
            "DATA" => {
                text = Some(String::new());
                b"354 go on\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer).await.ok()?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_is_sent_at_its_hour_with_all_entries_since_the_last_one() {
    let (mail, mails) = mail_server().await;
    let delivery = DeliverySettings { mail: Some(mail), ..DeliverySettings::default() };
    let statement = "CREATE FEED News AS RETURN ALL FEEDS \
                     DELIVER TO EMAIL \"ann@example.org\" EVERY DAY AT \"07:30\"";
    let house = House::new(delivery, statement).await;
    house.see(&["one", "zwei & drei"]);
    house.pass(Duration::ZERO).await;
    assert_eq!(house.delivery().next_at.map(|at| at.to_string()).unwrap(), "2023-11-15T07:30:00Z");
    house.see(&["four"]);
    house.pass(Duration::from_secs(9 * 3600)).await;
    assert!(mails.lock().unwrap().is_empty(), "it is not yet time");
    house.pass(Duration::from_secs(3600)).await;
    let sent = mails.lock().unwrap().clone();
    let [text] = sent.as_slice() else { panic!("{sent:?}") };
    for part in ["To: ann@example.org", "Subject: News: 3 new", "one\r\n", "zwei & drei", "four"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    house.pass(Duration::from_secs(86_400)).await;
    assert_eq!(mails.lock().unwrap().len(), 1, "nothing new, no mail");
    assert_eq!(house.delivery().n_waiting, 0);
    house.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_delivered_for_an_owner_who_is_not_an_administrator_any_more() {
    let (url, taken) = receiver(Arc::new(AtomicU16::new(200))).await;
    let statement = format!("CREATE FEED All AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{url}\"");
    let house = House::new(DeliverySettings::default(), &statement).await;
    house.see(&["one"]);
    house.pass(Duration::ZERO).await;
    assert_eq!(taken.lock().unwrap().len(), 1);
    let store = &house.engine.store;
    let role = Some(store::AccountRole::Admin);
    let add = |name| store.add_account_as(name, "x", role, START).unwrap().unwrap();
    let (anna, _) = (add("anna"), add("carl"));
    store.hand_over_queries().unwrap();
    store.set_role(anna, store::AccountRole::Reader).unwrap().unwrap();
    house.see(&["two"]);
    house.pass(Duration::ZERO).await;
    let row = house.delivery();
    assert_eq!((taken.lock().unwrap().len(), row.n_waiting), (1, 1), "{row:?}");
    assert!(row.error.unwrap().contains("not an administrator any more"));
    store.set_role(anna, store::AccountRole::Admin).unwrap().unwrap();
    house.pass(Duration::from_secs(4000)).await;
    assert_eq!(taken.lock().unwrap().len(), 2, "nothing is lost");
    house.engine.stop().await;
}
