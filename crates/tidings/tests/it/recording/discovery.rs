//! `tidings discover --from`: 2,000 pages by default, `SYNTHETIC_PAGES` of them in `make soak`.

use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::web::{PAGES_PER_SITE, SyntheticWeb};
use crate::program::{Instance, eventually, finish, path_text, silent_address};
use crate::turns::turn;

/// A shorter gap could not be measured on a busy machine.
const GAP: Duration = Duration::from_secs(1);
/// The promise of the issue: a long list needs little memory.
const MEMORY_MAX: u64 = 200_000_000;

fn n_pages() -> usize {
    std::env::var("SYNTHETIC_PAGES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

fn count(found: &Value, name: &str) -> u64 {
    found[name].as_u64().unwrap_or_else(|| panic!("no `{name}` in {found}"))
}

#[test]
fn soak_every_feed_and_every_duplicate_of_a_synthetic_web_is_found() {
    let _turn = turn();
    let web = SyntheticWeb::start(n_pages() / PAGES_PER_SITE, GAP);
    let instance = Instance::with_config(&web.config(GAP, silent_address()));
    let (list, truth) = web.list();
    let list = instance.write("list.txt", list);
    let out = instance.home.path().join("feeds.txt");
    let args =
        ["discover", "--from", path_text(&list), "--out", path_text(&out), "--allow-private"];
    kill_at_half(&instance, &args, &web);
    let peak = run_measured(&instance, &args);
    eprintln!("{} pages, {} requests, peak memory {peak} bytes", n_pages(), web.n_requests());
    assert!(peak < MEMORY_MAX, "{peak} bytes of memory");
    let found: HashSet<String> =
        std::fs::read_to_string(&out).unwrap().lines().map(str::to_owned).collect();
    let expected: HashSet<String> = truth.feeds.iter().cloned().collect();
    assert_eq!(found, expected);
    assert_eq!(web.faults(), Vec::<String>::new());
    // Nothing was asked twice but what the kill interrupted.
    assert!(web.n_requests() <= 20 * web.n_sites + 1000, "{} requests", web.n_requests());
    let dropped = instance.home.path().join("feeds.txt.dropped.csv");
    let dropped = std::fs::read_to_string(dropped).unwrap();
    let n = |reason: &str| {
        dropped.lines().filter(|l| l.contains(&format!(",{reason},"))).count() as u64
    };
    assert_eq!(n("exact-duplicate"), truth.exact_duplicates);
    assert_eq!(n("session-id"), truth.session_urls);
    assert_eq!(n("format-duplicate"), truth.format_duplicates);
    assert_eq!(n("content-duplicate"), truth.content_duplicates);
    assert_eq!(n("unreachable"), truth.unreachable);
    assert_eq!(n("not-a-feed"), truth.not_a_feed);
    assert!(!instance.home.path().join("feeds.txt.journal").exists());
}

/// Starts the command and kills it when half of the requests have come.
fn kill_at_half(instance: &Instance, args: &[&str], web: &SyntheticWeb) {
    let mut command = instance.command(args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let half = web.n_sites * PAGES_PER_SITE;
    // A hundred thousand pages take minutes, so only the time without a request is limited.
    while web.n_requests() < half {
        let before = web.n_requests();
        eventually("the next request", || {
            let ended = child.try_wait().unwrap().is_some();
            assert!(!ended, "the command ended before it was killed");
            (web.n_requests() > before).then_some(())
        });
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Runs the command to its end. Returns its peak memory.
fn run_measured(instance: &Instance, args: &[&str]) -> u64 {
    let err = instance.home.path().join("err");
    let mut command = instance.command(args);
    command.stdout(Stdio::null()).stderr(std::fs::File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak = memory_peak(&child).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(50));
    };
    let err = std::fs::read_to_string(&err).unwrap();
    assert!(status.success(), "{err}");
    assert!(err.contains("continuing: "), "{err}");
    assert!(err.contains("8262000"), "the published table is shown: {err}");
    peak
}

fn memory_peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn the_answer_has_the_fields_of_the_contract_and_samples_repeat() {
    let web = SyntheticWeb::start(4, Duration::ZERO);
    let gap = Duration::from_millis(1);
    let instance = Instance::with_config(&web.config(gap, silent_address()));
    let (list, truth) = web.list();
    let list = instance.write("list.txt", list + "not an address\n");
    let run = |seed: &str| {
        let from = path_text(&list);
        let args = [
            "discover",
            "--from",
            from,
            "--sample",
            "5",
            "--seed",
            seed,
            "--json",
            "--allow-private",
        ];
        finish(instance.command(&args), "discover").ok().json()
    };
    let found = run("a");
    assert_eq!(count(&found, "read"), truth.read + 1);
    assert_eq!(count(&found, "unreachable"), truth.unreachable);
    assert_eq!(count(&found, "not_a_feed"), truth.not_a_feed);
    assert_eq!(count(&found, "exact_duplicates"), truth.exact_duplicates);
    assert_eq!(count(&found, "session_urls"), truth.session_urls);
    assert_eq!(count(&found, "format_duplicates"), truth.format_duplicates);
    assert_eq!(count(&found, "content_duplicates"), truth.content_duplicates);
    assert_eq!(count(&found, "sampled"), 5);
    assert_eq!(found.as_object().unwrap().len(), 9);
    let feed = &found["feeds"][0];
    assert_eq!(feed.as_object().unwrap().len(), 4);
    assert_eq!(feed["format"], "rss-2.0");
    assert_eq!(run("a")["feeds"], found["feeds"]);
    assert_ne!(run("b")["feeds"], found["feeds"]);
}

/// If the result cannot be written, nothing is asked again afterwards.
#[test]
fn the_journal_stays_until_the_result_is_written() {
    let web = SyntheticWeb::start(2, Duration::ZERO);
    let instance = Instance::with_config(&web.config(Duration::from_millis(1), silent_address()));
    let (list, truth) = web.list();
    let list = instance.write("list.txt", list);
    let out = instance.home.path().join("feeds.txt");
    let obstacle = instance.home.path().join("feeds.txt.dropped.csv");
    std::fs::create_dir(&obstacle).unwrap();
    let args =
        ["discover", "--from", path_text(&list), "--out", path_text(&out), "--allow-private"];
    let run = || finish(instance.command(&args), "discover");
    run().says(2, &["feeds.txt.dropped.csv", "cannot be written"]);
    assert!(instance.home.path().join("feeds.txt.journal").exists());
    let n_asked = web.n_requests();
    std::fs::remove_dir(&obstacle).unwrap();
    let ended = run().ok();
    assert!(ended.stderr.contains("the same feed in another format"), "{}", ended.stderr);
    assert_eq!(web.n_requests(), n_asked, "nobody is asked again");
    let found = std::fs::read_to_string(&out).unwrap();
    assert_eq!(found.lines().count(), truth.feeds.len());
}
