//! The cost of feeds that are not due: memory of the daemon, and the time from its start to its
//! first poll.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::measure::{memory, now, run};
use super::nginx::Nginx;
use super::peers::{opml, write_settings};

/// The number of feeds with which the memory of the larger run is compared.
const BASE_FEEDS: usize = 10_000;
/// The time limit for the first polls of 200,000 feeds.
const PATIENCE: Duration = Duration::from_secs(600);

/// The figures of idle feeds.
pub struct Idle {
    pub n_base: usize,
    pub base_bytes: u64,
    pub n_feeds: usize,
    pub bytes: u64,
    pub load_seconds: f64,
    pub restart_seconds: f64,
}

impl Idle {
    pub fn bytes_per_feed(&self) -> f64 {
        self.bytes.saturating_sub(self.base_bytes) as f64 / (self.n_feeds - self.n_base) as f64
    }
}

pub fn measure(place: &Path, tidings: &Path, n_feeds: usize) -> Result<Idle> {
    if n_feeds <= BASE_FEEDS {
        bail!("--idle {n_feeds}: more than {BASE_FEEDS} are needed to see what one feed adds");
    }
    let nginx = Nginx::start(place, 0)?;
    let (base_bytes, _, _) = daemon_with(place, tidings, &nginx, BASE_FEEDS)?;
    let (bytes, load_seconds, restart_seconds) = daemon_with(place, tidings, &nginx, n_feeds)?;
    Ok(Idle { n_base: BASE_FEEDS, base_bytes, n_feeds, bytes, load_seconds, restart_seconds })
}

/// Measures a daemon with this many feeds: its memory, the time of all first polls, and the time
/// from a restart to the first poll of a due feed.
fn daemon_with(
    place: &Path,
    tidings: &Path,
    nginx: &Nginx,
    n_feeds: usize,
) -> Result<(u64, f64, f64)> {
    eprintln!("{n_feeds} idle feeds:");
    let folder = place.join(format!("idle{n_feeds}"));
    let settings = write_settings(&folder)?;
    let place = IdleDaemon { tidings, data: folder.join("data"), settings };
    let urls: Vec<String> = (0..n_feeds).map(|i| nginx.url(i, &format!("idle/{i}"))).collect();
    let list = folder.join("list.opml");
    std::fs::write(&list, opml(&urls))?;
    run(place.command(&["import"]).arg(&list), false)?;
    let load = run(&mut place.command(&["feed", "poll", "--all", "--json"]), false)?;

    // One feed is due when the daemon starts.
    let due = nginx.url(0, "idle/due");
    run(&mut place.command(&["feed", "add", &due, "--no-poll"]), false)?;
    nginx.reset_log()?;
    let start = now();
    let daemon = Daemon(place.command(&["run", "--listen", "127.0.0.1:0"]).spawn()?);
    while nginx.statuses()?.is_empty() {
        if start.elapsed() > PATIENCE {
            bail!("the daemon makes no poll");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let restart_seconds = start.elapsed().as_secs_f64();
    // By now the memory that the start needed is free again.
    std::thread::sleep(Duration::from_secs(5));
    let bytes = memory(daemon.0.id(), "VmRSS").context("reading the daemon's memory")?;
    Ok((bytes, load.wall_seconds, restart_seconds))
}

struct IdleDaemon<'a> {
    tidings: &'a Path,
    data: PathBuf,
    settings: PathBuf,
}

impl IdleDaemon<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.tidings);
        command.args(args).arg("--data").arg(&self.data).arg("--config").arg(&self.settings);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
