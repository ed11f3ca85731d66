//! The processes of an instance: PostgreSQL, NATS, controllers and terminals. Dropping it ends all.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::bench::measure::now;
use crate::http;
use crate::postgres::server::Server;

/// A process that takes longer does not start at all.
const START_LIMIT: Duration = Duration::from_secs(60);
/// The kernel counts processor time in hundredths of a second.
pub const TICKS_PER_SECOND: f64 = 100.0;

/// A part of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Controller,
    Terminals,
    Bus,
    Database,
}

pub struct House {
    pub database: Server,
    folder: TempDir,
    program: PathBuf,
    bus: Option<(Child, u16, u16)>,
    controllers: Vec<Child>,
    pub terminals: Vec<Child>,
    /// Controllers use neither hashes nor windows.
    pub reads_whole: bool,
}

/// Messages and bytes that the bus has received and sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoadCount {
    pub messages: u64,
    pub bytes: u64,
}

impl House {
    /// Starts the database, and the bus if there will be terminals.
    pub fn start(program: &Path, has_bus: bool) -> Result<House> {
        let settings = ["shared_preload_libraries=pg_stat_statements", "synchronous_commit=on"];
        let database = Server::start(&settings)?;
        let folder = tempfile::tempdir()?;
        let bus = if has_bus {
            let (port, monitor) = (free_port()?, free_port()?);
            let mut server = Command::new("nats-server");
            server.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-m", &monitor.to_string()]);
            let log = File::create(folder.path().join("bus.log"))?;
            let child = server.stdout(Stdio::null()).stderr(log).spawn();
            Some((child.context("nats-server is not installed")?, port, monitor))
        } else {
            None
        };
        let (controllers, terminals) = (Vec::new(), Vec::new());
        let (program, reads_whole) = (program.to_owned(), false);
        let house = House { database, folder, program, bus, controllers, terminals, reads_whole };
        house.sql("create extension pg_stat_statements")?;
        Ok(house)
    }

    fn tidings(&self, name: &str, args: &[&str]) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(["run", "--name", name, "--data"]).arg(self.folder.path().join(name));
        command.args(args);
        if self.reads_whole {
            command.env("TIDINGS_TEST_WHOLE", "1");
        }
        if let Some((_, port, _)) = &self.bus {
            command.args(["--bus", &format!("nats://127.0.0.1:{port}")]);
        }
        let log = File::create(self.folder.path().join(format!("{name}.log")))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.spawn().with_context(|| format!("cannot start {name}"))
    }

    /// Starts a process with the database, and waits until it is ready.
    pub fn controller(&mut self, name: &str, policy: &str, args: &[&str]) -> Result<()> {
        let config = self.folder.path().join("tidings.toml");
        let defaults = format!("[defaults]\npolicy = \"{policy}\"\nalpha = \"1s\"\n");
        fs::write(&config, format!("allow_private = true\n{defaults}[articles]\nicons = false\n"))?;
        let (url, port) = (self.database.url(), free_port()?);
        let listen = format!("127.0.0.1:{port}");
        let mut all = vec!["--database", url.as_str(), "--listen", listen.as_str()];
        all.extend(["--domain-gap", "0s", "--config", config.to_str().context("a UTF-8 path")?]);
        all.extend(args);
        let child = self.tidings(name, &all)?;
        self.controllers.push(child);
        let begun = now();
        while http::get(port, "/readyz").is_none_or(|answer| !answer.starts_with("HTTP/1.1 200")) {
            if begun.elapsed() > START_LIMIT {
                bail!("{name} is not ready: {}", self.log(name));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Starts a terminal, and waits until the controller knows it.
    pub fn terminal(&mut self, name: &str, room: usize) -> Result<()> {
        let config = self.folder.path().join(format!("{name}.toml"));
        fs::write(&config, format!("[terminal]\nroom = {room}\n"))?;
        let config = config.to_str().context("a UTF-8 path")?.to_owned();
        let child = self.tidings(name, &["--role", "terminal", "--config", &config])?;
        self.terminals.push(child);
        let begun = now();
        while !self.machines()?.contains(name) {
            if begun.elapsed() > START_LIMIT {
                bail!("{name} is not among the machines: {}", self.log(name));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    pub fn machines(&self) -> Result<String> {
        self.command(&["machines", "--json"])
    }

    pub fn log(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("{name}.log"))).unwrap_or_default()
    }

    /// Runs a command of the program on the database.
    pub fn command(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(args).arg("--database").arg(self.database.url());
        command.arg("--data").arg(self.folder.path().join("commands"));
        let ended = command.output()?;
        let said = String::from_utf8_lossy(&ended.stderr);
        // Polls of a feed that fails make the command fail; the measurement goes on.
        ensure!(ended.status.code() != Some(2), "{args:?}: {said}");
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    }

    pub fn import(&self, opml: &str) -> Result<()> {
        let file = self.folder.path().join("list.opml");
        fs::write(&file, opml)?;
        self.command(&["import", file.to_str().context("a UTF-8 path")?]).map(drop)
    }

    /// Runs SQL and returns its output, fields separated by `|`.
    pub fn sql(&self, sql: &str) -> Result<String> {
        let mut psql = Command::new("psql");
        psql.arg(self.database.url()).args(["-X", "-q", "-A", "-t", "-c", sql]);
        let ended = psql.output().context("psql is not installed")?;
        ensure!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
    }

    /// The number of statements so far, and of those that look entries up by their keys.
    pub fn statements(&self) -> Result<(u64, u64)> {
        let sql = "select coalesce(sum(calls), 0), coalesce(sum(calls) filter \
                   (where query like '%entry_keys%' and query ilike 'select%'), 0) \
                   from pg_stat_statements";
        let line = self.sql(sql)?;
        let (all, lookups) = line.split_once('|').context("two numbers")?;
        Ok((all.parse()?, lookups.parse()?))
    }

    pub fn road(&self) -> RoadCount {
        let Some((_, _, monitor)) = &self.bus else { return RoadCount::default() };
        let text = http::get(*monitor, "/varz").unwrap_or_default();
        let json = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let json: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        let number = |name: &str| json[name].as_u64().unwrap_or(0);
        RoadCount { messages: number("in_msgs"), bytes: number("in_bytes") }
    }

    /// The processor time of a part so far, in seconds.
    pub fn cpu_seconds(&self, part: Part) -> f64 {
        let of = |children: &[Child]| children.iter().map(|c| cpu(c.id()).0).sum();
        match part {
            Part::Controller => of(&self.controllers),
            Part::Terminals => of(&self.terminals),
            Part::Bus => self.bus.as_ref().map_or(0.0, |(child, ..)| cpu(child.id()).0),
            Part::Database => {
                let Ok(main) = self.database.id().parse::<u32>() else { return 0.0 };
                let (own, ended) = cpu(main);
                own + ended + children(main).into_iter().map(|id| cpu(id).0).sum::<f64>()
            }
        }
    }

    /// Kills a terminal at once.
    pub fn kill_terminal(&mut self, n: usize) -> Result<()> {
        self.terminals[n].kill()?;
        self.terminals[n].wait()?;
        Ok(())
    }

    /// Kills the process that records at once.
    pub fn kill_controller(&mut self, n: usize) -> Result<()> {
        self.controllers[n].kill()?;
        self.controllers[n].wait()?;
        Ok(())
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let bus = self.bus.take().map(|(child, ..)| child);
        for mut child in self.terminals.drain(..).chain(self.controllers.drain(..)).chain(bus) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The processor time of a process, and of its children that have ended, in seconds.
fn cpu(pid: u32) -> (f64, f64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    ((ticks(11) + ticks(12)) / TICKS_PER_SECOND, (ticks(13) + ticks(14)) / TICKS_PER_SECOND)
}

fn children(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}
