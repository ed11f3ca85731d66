//! Measures whole articles from outside, with the release binary and sites on this machine:
//!
//! - one run over 793 feeds with the pages of their new entries, as source 004 does it in 10 s;
//! - whether polls come later where pages are fetched too: half of 50 sites has articles on and
//!   half has not, with 20 feeds each, in the same run.

mod site;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::measure::{memory, now, run};
use crate::http::get;
use site::{Appearance, PagedSite, PagedSites};

/// The feeds of source 004, and the seconds that it published for one run.
const FEEDS: usize = 793;
const PUBLISHED_SECONDS: f64 = 10.0;
const PATIENCE: Duration = Duration::from_secs(120);
/// The sites of the comparison, their feeds, and the tag of those with articles.
const SITES: usize = 50;
const FEEDS_EACH: usize = 20;
const TAG: &str = "whole";
/// Polls may be later by this share of the delay, in percent.
const LATER_MAX: f64 = 1.0;
/// The default gap between two requests to a domain.
const GAP: Duration = Duration::from_secs(2);

pub fn command(args: &[String]) -> Result<bool> {
    let (mut seconds, mut program) = (600, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("{arg} needs a value"))?;
        match arg.as_str() {
            "--seconds" => seconds = value.parse().context("--seconds takes a number")?,
            "--program" => program = Some(PathBuf::from(value)),
            other => bail!("`{other}` is not an option of articles; use --seconds, --program"),
        }
    }
    let program = match program {
        Some(program) => program,
        None => std::env::current_exe()?.with_file_name("tidings"),
    };
    let is_complete = one_run(&program)?;
    Ok(compare(&program, Duration::from_secs(seconds))? && is_complete)
}

/// A program with its data, and the daemon while it runs.
struct ArticleHouse<'a> {
    program: &'a Path,
    folder: tempfile::TempDir,
    port: u16,
    daemon: Option<Child>,
}

impl ArticleHouse<'_> {
    fn new<'a>(program: &'a Path, settings: &str) -> Result<ArticleHouse<'a>> {
        let folder = tempfile::tempdir()?;
        let common = "contact = \"https://example.org/contact\"\nallow_private = true\n";
        std::fs::write(folder.path().join("tidings.toml"), format!("{common}{settings}"))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        Ok(ArticleHouse { program, folder, port, daemon: None })
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(args).arg("--data").arg(self.data());
        command.arg("--config").arg(self.folder.path().join("tidings.toml"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn import(&self, feeds: &[(String, bool)]) -> Result<()> {
        let mut text = "<opml version=\"2.0\"><head/><body>\n".to_owned();
        for folder in [true, false] {
            let name = if folder { TAG } else { "plain" };
            text += &format!("<outline text=\"{name}\">\n");
            for (url, _) in feeds.iter().filter(|(_, is_whole)| *is_whole == folder) {
                text += &format!("<outline type=\"rss\" text=\"f\" xmlUrl=\"{url}\"/>\n");
            }
            text += "</outline>\n";
        }
        let list = self.folder.path().join("list.opml");
        std::fs::write(&list, text + "</body></opml>\n")?;
        run(self.command(&["import"]).arg(&list), false).map(drop)
    }

    fn start(&mut self) -> Result<()> {
        let listen = format!("127.0.0.1:{}", self.port);
        self.daemon = Some(self.command(&["run", "--listen", &listen]).spawn()?);
        let begun = now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if begun.elapsed() > PATIENCE {
                bail!("the daemon does not answer");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn json(&self, path: &str) -> Result<Value> {
        let answer = get(self.port, path).with_context(|| format!("asking for {path}"))?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        serde_json::from_str(body).with_context(|| format!("{path}: {answer:.200}"))
    }

    /// Stops the daemon by a signal, so that its files are complete.
    fn stop(&mut self) -> Result<()> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status()?;
        daemon.wait()?;
        Ok(())
    }

    /// The bytes of all files of the store.
    fn stored_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.data()).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
    }
}

impl Drop for ArticleHouse<'_> {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Polls all feeds once and waits for the articles of their new entries. Returns whether all are
/// there, each with a language and a topic.
fn one_run(program: &Path) -> Result<bool> {
    let sites = PagedSites::start(FEEDS, 1, GAP, Appearance::Once)?;
    let mut house = ArticleHouse::new(program, "[articles]\nfetch = \"every\"\n")?;
    let feeds: Vec<(String, bool)> =
        (0..FEEDS).flat_map(|site| sites.feeds(site)).map(|url| (url, false)).collect();
    house.import(&feeds)?;
    run(&mut house.command(&["feed", "poll", "--all", "--json"]), false)?;
    let before = house.stored_bytes();
    // Icons and the gap after the first poll are not part of the run.
    house.start()?;
    std::thread::sleep(Duration::from_secs(15));
    sites.go_on();
    let begun = now();
    run(&mut house.command(&["feed", "poll", "--all", "--json"]), false)?;
    let polled = begun.elapsed().as_secs_f64();
    let wanted = FEEDS.div_ceil(3);
    let list = house.json(&format!("/api/v1/reading?limit={wanted}"))?;
    let entries = list["entries"].as_array().cloned().unwrap_or_default();
    let mut n_there = 0;
    for entry in &entries {
        let path = format!("/api/v1/entries/{}/article", entry["id"]);
        while house.json(&path)?["state"] != "there" {
            if begun.elapsed() > PATIENCE {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        n_there += usize::from(house.json(&path)?["state"] == "there");
    }
    let seconds = begun.elapsed().as_secs_f64();
    let list = house.json(&format!("/api/v1/reading?limit={wanted}"))?;
    let entries = list["entries"].as_array().cloned().unwrap_or_default();
    let with = |fact: &str| entries.iter().filter(|entry| !entry[fact].is_null()).count();
    let pid = house.daemon.as_ref().map(Child::id).unwrap_or_default();
    let megabytes = memory(pid, "VmHWM").unwrap_or(0) / 1_000_000;
    house.stop()?;
    let bytes = house.stored_bytes().saturating_sub(before) / n_there.max(1) as u64;
    println!("## One run over {FEEDS} feeds, with the pages of {wanted} new entries\n");
    println!("| measure | value |\n|---|---|");
    println!("| all feeds polled | {polled:.1} s |");
    println!("| all articles stored | {seconds:.1} s |");
    println!("| published by source 004 for its machines | {PUBLISHED_SECONDS:.0} s |");
    let (languages, topics) = (with("detected"), with("topic"));
    println!("| entries with text, language, topic | {n_there}, {languages}, {topics} |");
    println!("| storage for each new entry with its article and index of words | {bytes} bytes |");
    println!("| largest memory | {megabytes} MB |\n");
    let is_complete = [n_there, languages, topics].iter().all(|n| *n >= wanted);
    if !is_complete {
        println!("Of {wanted} new entries, some have no article, no language or no topic.\n");
    }
    Ok(is_complete)
}

/// Compares polls of sites with and without articles.
fn compare(program: &Path, length: Duration) -> Result<bool> {
    let period = Duration::from_secs(120);
    let sites = PagedSites::start(SITES, FEEDS_EACH, GAP, Appearance::Every(period))?;
    let settings = "[defaults]\npolicy = \"fix:2m\"\nalpha = \"1m\"\n";
    let mut house = ArticleHouse::new(program, settings)?;
    let of_site = |site: usize| {
        let is_whole = site.is_multiple_of(2);
        sites.feeds(site).into_iter().map(move |url| (url, is_whole))
    };
    let feeds: Vec<(String, bool)> = (0..SITES).flat_map(of_site).collect();
    house.import(&feeds)?;
    run(&mut house.command(&["feed", "set", "--tag", TAG, "--articles", "every"]), false)?;
    house.start()?;
    std::thread::sleep(length);
    let asked = sites.asked();
    let (mut with, mut without) = (PagedSite::default(), PagedSite::default());
    for (number, site) in asked.into_iter().enumerate() {
        let group = if number.is_multiple_of(2) { &mut with } else { &mut without };
        group.n_faults += site.n_faults;
        group.n_polls += site.n_polls;
        group.n_pages += site.n_pages;
        group.intervals.extend(site.intervals);
    }
    let (n_feeds, seconds) = (SITES * FEEDS_EACH, length.as_secs());
    println!("## {n_feeds} feeds on {SITES} sites for {seconds} s, half with articles\n");
    println!("| sites | polls | pages | faults | mean delay |\n|---|---|---|---|---|");
    for (name, group) in [("with articles", &with), ("without", &without)] {
        let PagedSite { n_polls, n_pages, n_faults, .. } = group;
        println!("| {name} | {n_polls} | {n_pages} | {n_faults} | {:.2} s |", group.mean_delay());
    }
    let later = 100.0 * (with.mean_delay() / without.mean_delay() - 1.0);
    println!(
        "\nThe delay is that of an entry that appears at any moment. With articles it is longer by \
         {later:.2} %."
    );
    Ok(with.n_faults + without.n_faults == 0 && later <= LATER_MAX)
}
