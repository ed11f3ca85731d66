//! The steps of each program: subscribe to all feeds, load them cold, load them again unchanged.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::measure::{Cost, run};
use super::nginx::{ITEMS_PER_FEED, Nginx};
use super::report::ComparisonRow;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Competitor {
    Tidings,
    Newsboat,
    Reader,
}

impl Competitor {
    pub fn name(self) -> &'static str {
        match self {
            Competitor::Tidings => "tidings",
            Competitor::Newsboat => "newsboat",
            Competitor::Reader => "reader",
        }
    }
}

/// One server and the programs that load from it.
pub struct Scene {
    pub place: PathBuf,
    pub nginx: Nginx,
    pub tidings: PathBuf,
    pub python: Option<PathBuf>,
}

impl Scene {
    pub fn run(&self, peer: Competitor) -> Result<ComparisonRow> {
        let n_feeds = fs::read_dir(self.place.join("pages"))?.count();
        let urls = self.nginx.feeds(n_feeds);
        let folder = self.place.join(peer.name());
        fs::create_dir_all(&folder)?;
        let (cold, reload, n_items) = match peer {
            Competitor::Tidings => self.tidings(&folder, &urls)?,
            Competitor::Newsboat => self.newsboat(&folder, &urls)?,
            Competitor::Reader => self.reader(&folder, &urls)?,
        };
        Ok(ComparisonRow {
            peer,
            cold,
            reload,
            n_items,
            n_items_expected: n_feeds * ITEMS_PER_FEED,
        })
    }

    fn measured(&self, command: &mut Command, may_fail: bool) -> Result<MeasuredRun> {
        self.nginx.reset_log()?;
        let cost = run(command, may_fail)?;
        Ok(MeasuredRun { cost, statuses: self.nginx.statuses()? })
    }

    fn tidings(&self, folder: &Path, urls: &[String]) -> Result<(MeasuredRun, MeasuredRun, usize)> {
        let settings = write_settings(folder)?;
        let list = folder.join("list.opml");
        fs::write(&list, opml(urls))?;
        let command = |args: &[&str]| {
            let mut command = Command::new(&self.tidings);
            command.args(args).arg("--data").arg(folder.join("data"));
            command.arg("--config").arg(&settings);
            command
        };
        run(command(&["import"]).arg(&list), false)?;
        let poll = || self.measured(&mut command(&["feed", "poll", "--all", "--json"]), false);
        let cold = poll()?;
        let reload = poll()?;
        let entries = run(&mut command(&["entries"]), false)?;
        Ok((cold, reload, entries.stdout.lines().count()))
    }

    /// newsboat sends validators from its third reload on, so the third is measured.
    fn newsboat(
        &self,
        folder: &Path,
        urls: &[String],
    ) -> Result<(MeasuredRun, MeasuredRun, usize)> {
        fs::write(folder.join("urls"), urls.join("\n") + "\n")?;
        fs::write(folder.join("config"), "reload-threads 4\nauto-reload no\n")?;
        let reload = || {
            let mut command = Command::new("newsboat");
            command.env("HOME", folder).arg("-q").args(["-x", "reload"]);
            command.arg("-u").arg(folder.join("urls")).arg("-C").arg(folder.join("config"));
            command.arg("-c").arg(folder.join("cache.db"));
            self.measured(&mut command, false)
        };
        let cold = reload()?;
        reload()?;
        let unchanged = reload()?;
        let count = "import sqlite3, sys; \
                     print(sqlite3.connect(sys.argv[1]).execute('select count(*) from rss_item')\
                     .fetchone()[0])";
        let mut python = Command::new("python3");
        let counted = run(python.args(["-c", count]).arg(folder.join("cache.db")), false)?;
        Ok((cold, unchanged, counted.stdout.trim().parse().context("counting newsboat's items")?))
    }

    fn reader(&self, folder: &Path, urls: &[String]) -> Result<(MeasuredRun, MeasuredRun, usize)> {
        let python = self.python.as_ref().context("no Python with reader")?;
        fs::write(folder.join("urls"), urls.join("\n"))?;
        let call = |action: &str| {
            let mut command = Command::new(python);
            command.args(["-c", READER]).arg(folder.join("db.sqlite")).arg(action);
            command.arg(folder.join("urls"));
            command
        };
        run(&mut call("add"), false)?;
        let cold = self.measured(&mut call("update"), false)?;
        let reload = self.measured(&mut call("update"), false)?;
        let counted = run(&mut call("count"), false)?;
        Ok((cold, reload, counted.stdout.trim().parse().context("counting reader's entries")?))
    }
}

/// One load of all feeds: its cost and the answers of the server.
pub struct MeasuredRun {
    pub cost: Cost,
    pub statuses: BTreeMap<String, usize>,
}

const READER: &str = "
import sys
from reader import make_reader
reader = make_reader(sys.argv[1])
if sys.argv[2] == 'add':
    for line in open(sys.argv[3]):
        reader.add_feed(line.strip())
elif sys.argv[2] == 'update':
    reader.update_feeds(scheduled=False)
else:
    print(reader.get_entry_counts().total)
";

/// Creates a Python environment with reader in it. The current feedparser also needs `sgmllib3k`.
pub fn python_with_reader(folder: &Path) -> Result<PathBuf> {
    eprintln!("installing reader from PyPI");
    let home = folder.join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&home), false)?;
    let mut pip = Command::new(home.join("bin/pip"));
    run(pip.args(["install", "-q", "reader", "sgmllib3k"]), false)?;
    let python = home.join("bin/python");
    if !python.exists() {
        bail!("the environment has no bin/python");
    }
    run(
        Command::new(&python).args(["-c", "import reader; reader.make_reader(':memory:')"]),
        false,
    )?;
    Ok(python)
}

/// Without a gap and with loopback allowed: the comparison measures work, not politeness.
pub fn write_settings(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join("tidings.toml");
    fs::write(&path, "domain_gap = \"0s\"\nallow_private = true\n")?;
    Ok(path)
}

pub fn opml(urls: &[String]) -> String {
    let mut text = "<opml version=\"2.0\"><head/><body>\n".to_owned();
    for url in urls {
        let _ = writeln!(text, "<outline type=\"rss\" text=\"{url}\" xmlUrl=\"{url}\"/>");
    }
    text + "</body></opml>\n"
}
