//! A recording against the server's own log: every request is a row, every document plays back as
//! it was sent, the lab replays what the live polls saw.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};

use dataset::tables::{FeedLine, MissLine, PollLine, StreamLine};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::archive_tools as judge;
use crate::documents::rss_of;
use crate::program::{Instance, path_text};
use crate::turns::turn;
use crate::wire::{Next, Request, Response, Server, addresses};

/// A status and the SHA-256 of the body that was sent.
type Sent = (u16, Option<String>);

/// The answers of the server, by path.
#[derive(Clone, Default)]
pub struct ServerLog(Arc<Mutex<HashMap<String, Vec<Sent>>>>);

impl ServerLog {
    pub fn of(&self, path: &str) -> Vec<Sent> {
        self.0.lock().unwrap().get(path).cloned().unwrap_or_default()
    }

    pub fn n_all(&self) -> usize {
        self.0.lock().unwrap().values().map(Vec::len).sum()
    }
}

pub const PATHS: [&str; 6] = ["/rising", "/still", "/bare", "/broken", "/missing", "/jumping"];

/// Serves feeds that change with every second request.
pub fn serve(n_addresses: u32) -> (Server, Vec<String>, ServerLog) {
    let log = ServerLog::default();
    let addresses = addresses(n_addresses);
    let shared = log.clone();
    let server = Server::start(&addresses, move |request, stream| {
        let n = shared.of(&request.target).len();
        let (response, sent) = answer(request, n);
        let mut log = shared.0.lock().unwrap();
        log.entry(request.target.clone()).or_default().push(sent);
        drop(log);
        response.send(stream).map(|_| Next::Keep)
    });
    let urls = PATHS.iter().zip(addresses.iter().cycle());
    let urls = urls.map(|(path, address)| server.url(*address, path)).collect();
    (server, urls, log)
}

/// The answer to the request number `n` for a path, and what the log says about it.
fn answer(request: &Request, n: usize) -> (Response, Sent) {
    let document = match request.target.as_str() {
        "/rising" => rss_of("rising", n / 2..n / 2 + 10),
        // Every second window shares nothing with the one before.
        "/jumping" => rss_of("jumping", n / 2 * 10..n / 2 * 10 + 10),
        "/still" => rss_of("still", 0..5),
        "/bare" => rss_of("bare", 0..3),
        "/broken" if n % 4 == 3 => "<rss version=\"2.0\"><channel><item><title>cut".to_owned(),
        "/broken" => rss_of("broken", 0..n / 4 + 3),
        _ => return (Response::new(404), (404, None)),
    };
    let digest = hex(&Sha256::digest(&document));
    let etag = format!("\"{}\"", &digest[..16]);
    if request.target != "/bare" && request.header("if-none-match") == Some(etag.as_bytes()) {
        return (Response::new(304).with("ETag", etag), (304, None));
    }
    let response = Response::rss(document);
    let response = if request.target == "/bare" { response } else { response.with("ETag", etag) };
    (response, (200, Some(digest)))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub const CONFIG: &str = "domain_gap = \"50ms\"\n[defaults]\npolicy = \"fix:1s@1s..1s\"\n";

pub fn read<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Vec<T> {
    let file = File::open(folder.join(format!("{name}.csv.gz"))).unwrap();
    let mut rows = Vec::new();
    dataset::tables::read(name, MultiGzDecoder::new(file), |row| rows.push(row)).unwrap();
    rows
}

/// Exports a data set into a new folder.
pub fn export(instance: &Instance, name: &str, flags: &[&str]) -> std::path::PathBuf {
    let folder = instance.home.path().join(name);
    let mut args = vec!["dataset", "export", "--out", path_text(&folder)];
    args.extend(flags);
    instance.run(&args).ok();
    folder
}

/// The polls of each path, in order.
pub fn polls_by_path(folder: &Path) -> HashMap<String, Vec<PollLine>> {
    let feeds: Vec<FeedLine> = read(folder, "feeds");
    let paths: HashMap<u64, String> = feeds
        .iter()
        .map(|feed| (feed.feed, format!("/{}", feed.url.rsplit('/').next().unwrap())))
        .collect();
    let mut polls: HashMap<String, Vec<PollLine>> = HashMap::new();
    for poll in read::<PollLine>(folder, "polls") {
        polls.entry(paths[&poll.feed].clone()).or_default().push(poll);
    }
    polls
}

#[test]
fn a_recording_misses_nothing_and_plays_back() {
    let _turn = turn();
    let (_server, urls, log) = serve(6);
    let instance = Instance::with_config(CONFIG);
    let list = instance.write("list.txt", urls.join("\n"));
    let ended = instance.run(&["record", path_text(&list), "--for", "14s", "--allow-private"]).ok();
    assert!(ended.stderr.contains("The recording is complete"), "{}", ended.stderr);
    assert!(ended.stderr.contains("estimate: about"), "{}", ended.stderr);
    let dropped = "address,reason,detail\nhttp://a.test/?token=abc,not-a-feed,\"a, b\"\n";
    let dropped = instance.write("dropped.csv", dropped);
    let flags = ["--raw", "--streams", "--discovery", path_text(&dropped)];
    let folder = export(&instance, "set", &flags);
    let found: Vec<dataset::discovery::DroppedAddress> = read(&folder, "discovery");
    assert_eq!((found.len(), found[0].detail.as_str()), (1, "a, b"));
    assert!(!found[0].address.contains("abc"), "{}", found[0].address);
    compare_with_log(&folder, &log);
    replay_equals_live(&folder);
    let again = export(&instance, "again", &flags);
    assert_same_files(&folder, &again);
    let stats = instance.run(&["dataset", "stats", "--json"]).ok().json();
    let of_set = instance.home.path().join("set");
    let args = ["dataset", "stats", "--dataset", path_text(&of_set), "--json"];
    assert_eq!(crate::program::finish(stats_command(&instance, &args), "stats").ok().json(), stats);
    if let Some(tools) = judge::tools() {
        judge::check_archives(tools, &folder);
        judge::validate(tools, &folder);
        compare_payloads(tools, &folder, &log);
    }
    let hidden = export(&instance, "hidden", &["--pseudonymise"]);
    for name in ["feeds", "entries", "polls"] {
        let mut text = String::new();
        let file = File::open(hidden.join(format!("{name}.csv.gz"))).unwrap();
        std::io::Read::read_to_string(&mut MultiGzDecoder::new(file), &mut text).unwrap();
        assert!(!text.contains("example.org") && !text.contains("127."), "{name}: {text}");
    }
}

/// `--dataset` excludes `--data`, which the usual command adds.
fn stats_command(instance: &Instance, args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tidings"));
    command.current_dir(instance.home.path()).args(args);
    command
}

/// Every request of the server's log is a row, with its status and its document.
fn compare_with_log(folder: &Path, log: &ServerLog) {
    let polls = polls_by_path(folder);
    assert_eq!(polls.len(), PATHS.len(), "every line of the list is kept");
    for path in PATHS {
        let (rows, sent) = (&polls[path], log.of(path));
        // A feed that was never there backs off at once.
        let least = if path == "/missing" { 1 } else { 4 };
        assert!(rows.len() >= least, "{path}: {}", rows.len());
        let statuses: Vec<Option<u16>> = rows.iter().map(|row| row.status).collect();
        let expected: Vec<Option<u16>> = sent.iter().map(|sent| Some(sent.0)).collect();
        assert_eq!(statuses, expected, "{path}");
        for (row, sent) in rows.iter().zip(&sent).filter(|(_, sent)| sent.0 == 200) {
            assert_eq!(row.document_sha256, sent.1, "{path} at {}", row.at);
        }
    }
    assert!(polls["/rising"].iter().any(|row| row.status == Some(304)));
    assert!(polls["/broken"].iter().any(|row| row.outcome == "damaged"));
    assert!(polls["/bare"].iter().skip(1).all(|row| row.outcome == "unchanged"));
    let misses: Vec<MissLine> = read(folder, "misses");
    assert!(!misses.is_empty(), "the jumping feed shows gaps");
}

/// Every payload of the archive, revisits included, is what the server sent or confirmed.
fn compare_payloads(tools: &Path, folder: &Path, log: &ServerLog) {
    let mut played: HashMap<String, Vec<(String, String)>> = HashMap::new();
    for (uri, status, digest) in judge::payloads(tools, folder) {
        let path = format!("/{}", uri.rsplit('/').next().unwrap());
        played.entry(path).or_default().push((status, digest));
    }
    for path in PATHS {
        let mut last = None;
        let sent = log.of(path).into_iter().map(|(status, digest)| {
            last = digest.clone().or(last.take());
            let digest = digest.or_else(|| last.clone().filter(|_| status == 304));
            (status.to_string(), digest.unwrap_or_else(|| hex(&Sha256::digest(b""))))
        });
        assert_eq!(played[path], sent.collect::<Vec<_>>(), "{path}");
    }
}

/// Polls of the replayed data set at the times of the live polls observe the same: new entries with
/// their times, the size of the window, and suspected misses.
pub fn replay_equals_live(folder: &Path) {
    let entries = File::open(folder.join("entries.csv.gz")).unwrap();
    let reader = std::io::BufReader::new(MultiGzDecoder::new(entries));
    let mut builder = lab::WorldBuilder::default();
    lab::world::trace::read("entries.csv.gz", reader, &mut builder).unwrap();
    let world = builder.finish(20);
    let polls: Vec<PollLine> = read(folder, "polls");
    let rows: Vec<StreamLine> = read(folder, "entries");
    let misses: Vec<MissLine> = read(folder, "misses");
    assert!(rows.iter().all(|row| row.visible <= row.seen && row.published <= row.seen));
    let mut n_compared = 0;
    for feed in &world.feeds {
        let number: u64 = feed.name.parse().unwrap();
        let mut polled = lab::PolledFeed::new(&world, feed);
        let live = polls.iter().filter(|poll| poll.feed == number && poll.new.is_some());
        for poll in live {
            polled.poll(poll.at);
            let found = polled.observation().unwrap();
            let place = format!("feed {number} at {}", poll.at);
            let of_poll = |row: &&StreamLine| row.feed == number && row.seen == poll.at;
            let mut new: Vec<feed::Time> =
                rows.iter().filter(of_poll).map(|row| row.published).collect();
            new.sort_unstable();
            assert_eq!((found.new, Some(found.new.len() as u64)), (&new[..], poll.new), "{place}");
            if let Some(items) = poll.items {
                assert_eq!(found.window.len() as u64, items, "{place}");
            }
            let is_miss = misses.iter().any(|miss| miss.feed == number && miss.at == poll.at);
            assert_eq!(found.suspected_miss, is_miss, "{place}");
            n_compared += 1;
        }
    }
    assert!(n_compared > 20, "{n_compared}");
}

fn assert_same_files(a: &Path, b: &Path) {
    let sums = std::fs::read_to_string(a.join("SHA256SUMS")).unwrap();
    assert_eq!(sums, std::fs::read_to_string(b.join("SHA256SUMS")).unwrap());
    let mut n_files = 0;
    for line in sums.lines() {
        let (digest, path) = line.split_once("  ").unwrap();
        let bytes = std::fs::read(a.join(path)).unwrap();
        assert_eq!(hex(&Sha256::digest(&bytes)), digest, "{path}");
        n_files += 1;
    }
    assert!(n_files >= 12, "{sums}");
}

/// Every line is polled, and the polls under way at the end are recorded.
#[test]
fn slow_answers_at_the_end_are_waited_for_and_pages_without_a_feed_are_kept() {
    let addresses = addresses(3);
    let server = Server::start(&addresses, |request, stream| {
        let response = match request.target.as_str() {
            "/page" => Response::new(200)
                .with("Content-Type", "text/html")
                .body("<html><body>No feed here.</body></html>"),
            "/gone" => Response::new(410),
            _ => {
                std::thread::sleep(std::time::Duration::from_secs(4));
                Response::rss(rss_of("slow", 0..5))
            }
        };
        response.send(stream).map(|_| Next::Keep)
    });
    let instance = Instance::with_config(CONFIG);
    let paths = ["/slow", "/page", "/gone"].iter().zip(&addresses);
    let urls: Vec<String> = paths.map(|(path, address)| server.url(*address, path)).collect();
    let list = instance.write("list.txt", urls.join("\n"));
    instance.run(&["record", path_text(&list), "--for", "2s", "--allow-private"]).ok();
    let polls = polls_by_path(&export(&instance, "set", &["--raw"]));
    let outcome = |path: &str| (polls[path][0].status, polls[path][0].outcome.clone());
    assert_eq!(outcome("/slow"), (Some(200), "seen".to_owned()));
    assert_eq!(polls["/slow"][0].new, Some(5));
    assert_eq!(outcome("/page"), (Some(200), "failed".to_owned()));
    assert!(polls["/page"][0].document_sha256.is_some(), "the page is kept as it came");
    assert_eq!(outcome("/gone").0, Some(410));
}

#[test]
fn a_list_without_addresses_is_refused() {
    let instance = Instance::new();
    let list = instance.write("list.txt", "# nothing\n");
    instance.run(&["record", path_text(&list)]).says(2, &["list.txt:1:1:", "no address"]);
    let folder = instance.home.path().join("list.txt");
    instance.run(&["dataset", "export", "--out", path_text(&folder)]).says(1, &["does not exist"]);
}
