//! An instance for the tests of client libraries: the program from `TIDINGS` (or `target/debug`),
//! an account, a token, and two feeds of a local publisher, all on loopback. With
//! `TIDINGS_TEST_STORE`, the store is in a schema of that PostgreSQL server. The instance ends when
//! it is dropped.
//!
//! It does not know the inside of the program.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use url::Url;

/// Far longer than a busy machine needs.
const TRIES: u32 = 6000;
const BETWEEN: Duration = Duration::from_millis(40);

pub struct Desk {
    pub url: Url,
    pub token: String,
    /// The address of one more feed of the publisher, which has not been added.
    pub new_feed: Url,
    daemon: Child,
    _home: TempDir,
}

/// Feed 1 (tag `News`) has the entries 1 to 3, feed 2 has 4 and 5. Nothing is read.
pub fn desk() -> Desk {
    let home = tempfile::tempdir().expect("a temporary folder");
    let base = publisher();
    let database = database(&home);
    let run = |args: &[&str], stdin: Stdio| {
        let mut command = program(&home);
        command.args(args).args(&database);
        let output = command.stdin(stdin).output().expect("the program runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    let private = ["--allow-private", "--domain-gap", "0s"];
    let add = |args: &[&str]| run(&[&["feed", "add"], args, &private].concat(), Stdio::null());
    add(&[&format!("{base}/one"), "--tag", "News"]);
    add(&[&format!("{base}/two")]);
    let password = home.path().join("password");
    std::fs::write(&password, "correct horse\n").expect("a file");
    let file = std::fs::File::open(password).expect("the file");
    run(&["user", "add", "anna", "--password-stdin"], file.into());
    let token = run(&["user", "token", "anna", "--label", "app"], Stdio::null());
    let listen = free_address();
    let log = std::fs::File::create(home.path().join("log")).expect("a file");
    let daemon = program(&home)
        .args([&["run", "--listen", &listen.to_string()][..], &private].concat())
        .args(&database)
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the program starts");
    let url = Url::parse(&format!("http://{listen}/")).expect("an address");
    let new_feed = Url::parse(&format!("{base}/three")).expect("an address");
    let desk = Desk { url, token, new_feed, daemon, _home: home };
    eventually("the program is ready", || {
        let mut stream = TcpStream::connect(listen).ok()?;
        write!(stream, "GET /readyz HTTP/1.1\r\nHost: {listen}\r\nConnection: close\r\n\r\n")
            .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.starts_with("HTTP/1.1 200").then_some(())
    });
    desk
}

/// Returns an address for the program that nobody else takes: another one for each process and each
/// instance. Its port is below those that the system gives to outgoing connections.
fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = ((std::process::id() & 0xfff) << 8) | (NEXT.fetch_add(1, Ordering::SeqCst) & 0xff);
    SocketAddr::from((Ipv4Addr::from(0x7f50_0000 | number), 18_080))
}

fn program(home: &TempDir) -> Command {
    let built = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/debug/tidings");
    let path = std::env::var_os("TIDINGS").map_or_else(built, PathBuf::from);
    assert!(path.exists(), "{} is missing: cargo build --bin tidings", path.display());
    let mut command = Command::new(path);
    command.current_dir(home.path());
    command
}

/// The arguments that name the database: none for SQLite, else a new schema on the server.
fn database(home: &TempDir) -> Vec<String> {
    let Ok(server) = std::env::var("TIDINGS_TEST_STORE") else { return Vec::new() };
    let name = home.path().file_name().and_then(|name| name.to_str()).expect("a name");
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let schema = format!("desk{}", name.to_ascii_lowercase());
    let sql = format!("create schema {schema}");
    let made = Command::new("psql").args([&server, "-qc", &sql]).status().expect("psql runs");
    assert!(made.success(), "{sql}");
    let url = format!("{server}?options=-csearch_path%3D{schema}");
    vec!["--database".to_owned(), url]
}

impl Drop for Desk {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Waits until a condition holds.
#[track_caller]
pub fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    for _ in 0..TRIES {
        if let Some(found) = found() {
            return found;
        }
        thread::sleep(BETWEEN);
    }
    panic!("waited in vain: {what}");
}

/// Serves `/one`, `/two` and `/three` until the tests end, and the page behind the entry of
/// `three`. Returns the address.
fn publisher() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || serve(&mut stream));
        }
    });
    base
}

fn serve(stream: &mut TcpStream) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 16_384 {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let name = head.split(' ').nth(1)?.trim_start_matches('/');
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    let (_, host) = fields.find(|(name, _)| name.eq_ignore_ascii_case("host"))?;
    let (kind, elsewhere) = ("application/rss+xml", "http://example.org");
    let (status, kind, body) = match name {
        "one" => ("200 OK", kind, rss(name, 3, elsewhere)),
        "two" => ("200 OK", kind, rss(name, 2, elsewhere)),
        "three" => ("200 OK", kind, rss(name, 1, &format!("http://{host}"))),
        "three/0" => ("200 OK", "text/html", page()),
        _ => ("404 Not Found", kind, String::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .ok()
}

/// A page with a menu and 300 words.
fn page() -> String {
    let sentence = "The river rose in the night, and the people carried their books upstairs. ";
    format!(
        "<html lang=en><title>River</title><nav><a href=/>Home</a></nav><article><p>{}</p>\
         <script>steal()</script></article></html>",
        sentence.repeat(24)
    )
}

/// A feed whose entries have pages below this address.
fn rss(name: &str, n: u32, pages: &str) -> String {
    let item = |i: u32| {
        format!(
            "<item><title>Item {i} of {name}</title><link>{pages}/{name}/{i}</link>\
             <guid isPermaLink=\"false\">{name}-{i}</guid><author>Somebody</author>\
             <pubDate>{:02} Jan 2024 00:00:00 GMT</pubDate>\
             <description>Text of item {i}.</description>\
             <enclosure url=\"http://example.org/{i}.mp3\" type=\"audio/mpeg\" length=\"7\"/>\
             </item>",
            i + 1
        )
    };
    let items: String = (0..n).rev().map(item).collect();
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Feed {name}</title>\
         <link>http://example.org/{name}</link><description>Made for a test</description>{items}\
         </channel></rss>"
    )
}
