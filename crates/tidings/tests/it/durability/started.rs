//! Many requests from the moment the port opens, with commands in other processes, and kills
//! between two starts. The store may be busy then: it reads the log of a killed process, opens
//! connections, or waits for the commit of another process. Every request must still be answered.
//! The test runs twelve rounds; `SOAK_ROUNDS=200` takes an evening.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::documents::{opml, rss_of};
use crate::program::{Daemon, Instance, finish};
use crate::publisher::Publisher;
use crate::turns::turn;
use crate::wire;

const ASKERS: usize = 12;
const FEEDS: usize = 40;
/// A data folder is used for this many rounds. Then a new one is created, with all migrations.
const ROUNDS_PER_FOLDER: usize = 4;
const LASTS: Duration = Duration::from_millis(400);
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);
const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];
const PATHS: [&str; 8] = [
    "/",
    "/feeds?sort=trouble",
    "/health",
    "/account",
    "/feed/1",
    "/?q=item",
    "/api/v1/feeds",
    "/api/v1/entries?limit=5",
];

/// Sends requests from many threads until the program stops. Returns every answer that is a server
/// error.
fn ask_at_once(
    listen: SocketAddr,
    token: &str,
    over: &AtomicBool,
    n_answers: &AtomicUsize,
) -> Vec<String> {
    std::thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS)
            .map(|asker| {
                let mut n = asker;
                scope.spawn(move || {
                    let mut faults = Vec::new();
                    while !over.load(Ordering::SeqCst) {
                        let path = PATHS[n % PATHS.len()];
                        n += 1;
                        // Before the port opens, and after a kill, there is no answer.
                        let answer = wire::get_with(listen, path, token);
                        let Ok((status, text)) = answer else {
                            std::thread::sleep(Duration::from_millis(2));
                            continue;
                        };
                        n_answers.fetch_add(1, Ordering::SeqCst);
                        if status >= 500 {
                            faults.push(format!("{status} {path}: {text}"));
                        }
                    }
                    faults
                })
            })
            .collect();
        askers.into_iter().flat_map(|asker| asker.join().unwrap()).collect()
    })
}

/// Commands that read while the daemon runs, and write once it is ready. Earlier they would take
/// the lock on the folder themselves.
fn meddle(instance: &Instance, up: &AtomicBool, over: &AtomicBool) {
    let mut n = 0;
    while !over.load(Ordering::SeqCst) {
        n += 1;
        let alpha = format!("{}m", 10 + n % 9);
        let args = match up.load(Ordering::SeqCst) {
            true if n % 2 == 0 => &["feed", "set", "1", "--alpha", &alpha][..],
            _ => &["feed", "list", "--json"],
        };
        let mut command = instance.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // A daemon that is killed in between leaves the request unanswered.
        while !over.load(Ordering::SeqCst) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
}

fn folder(publisher: &Publisher, with_account: bool) -> (Instance, String) {
    let instance = Instance::new();
    let urls: Vec<String> = (0..FEEDS).map(|n| publisher.url(&format!("/s{n}"))).collect();
    instance.import(&opml(&urls)).ok();
    if !with_account {
        return (instance, String::new());
    }
    let file = instance.write("password", "correct horse\n");
    let mut add = instance.command(&["user", "add", "anna", "--password-stdin"]);
    add.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    finish(add, "tidings user add").ok();
    let token = instance.run(&["user", "token", "anna", "--label", "app"]).ok().stdout;
    let line = format!("Authorization: Bearer {}\r\n", token.trim());
    (instance, line)
}

fn round(instance: &Instance, token: &str) -> (usize, Vec<String>) {
    let (up, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let n_answers = AtomicUsize::new(0);
    let mut daemon: Daemon = instance.daemon(&FREELY);
    let listen = daemon.listen;
    let faults = std::thread::scope(|scope| {
        let askers = scope.spawn(|| ask_at_once(listen, token, &over, &n_answers));
        scope.spawn(|| meddle(instance, &up, &over));
        while wire::get(listen, "/healthz").is_err() && !daemon.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        up.store(true, Ordering::SeqCst);
        std::thread::sleep(LASTS);
        let begun = wire::now();
        // A busy machine may give the program little time.
        while n_answers.load(Ordering::SeqCst) <= ASKERS && begun.elapsed() < ANSWERS_WITHIN {
            std::thread::sleep(Duration::from_millis(5));
        }
        daemon.kill();
        over.store(true, Ordering::SeqCst);
        askers.join().unwrap()
    });
    let log = daemon.log();
    let said = log
        .lines()
        .filter(|line| [" ERROR ", "panicked", "error:"].iter().any(|word| line.contains(word)));
    (n_answers.load(Ordering::SeqCst), faults.into_iter().chain(said.map(str::to_owned)).collect())
}

#[test]
fn whoever_asks_at_once_after_a_start_is_answered() {
    let _turn = turn();
    let rounds = std::env::var("SOAK_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let publisher = Publisher::start(4);
    let mut n_answers = 0;
    let mut made = None;
    for n in 0..rounds {
        for feed in 0..FEEDS {
            publisher.set(&format!("/s{feed}"), rss_of(&format!("s{feed}"), n * 3..n * 3 + 15));
        }
        if n % ROUNDS_PER_FOLDER == 0 {
            made = Some(folder(&publisher, (n / ROUNDS_PER_FOLDER).is_multiple_of(2)));
        }
        let (instance, token) = made.as_ref().unwrap();
        let (answers, faults) = round(instance, token);
        assert!(faults.is_empty(), "round {n}: {faults:#?}");
        n_answers += answers;
    }
    assert!(n_answers > rounds * ASKERS, "{n_answers} answers in {rounds} rounds");
}
