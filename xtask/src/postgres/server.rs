//! A PostgreSQL server of our own in a temporary folder. It listens on a socket in that folder
//! only. The tests of the program include this file too: they kill and restart such a server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// A server that takes longer to start does not start at all.
const START_LIMIT: Duration = Duration::from_secs(180);

/// A server. Dropping it stops the server and removes its folder.
pub struct Server {
    pub folder: TempDir,
    pub process: Option<Child>,
    programs: PathBuf,
    settings: Vec<String>,
}

impl Server {
    /// Starts a server with these settings (`name=value`).
    pub fn start(settings: &[&str]) -> Result<Server> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("tidings-postgres").tempdir()?;
        if is_root() {
            // PostgreSQL refuses to run as root.
            run(Command::new("chown").arg("postgres").arg(folder.path()))?;
        }
        // Texts must not depend on the locale, so the tests use one that sorts differently.
        let mut init = as_server(&programs.join("initdb"));
        init.arg("-D").arg(folder.path().join("data"));
        init.args(["--no-sync", "-U", "tidings", "-A", "trust", "-E", "UTF8"]);
        init.args(["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=de"]);
        run(init.stdout(Stdio::null()))?;
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let mut server = Server { folder, process: None, programs, settings };
        server.launch()?;
        Ok(server)
    }

    /// Starts the process and waits until it answers.
    pub fn launch(&mut self) -> Result<()> {
        let mut server = as_server(&self.programs.join("postgres"));
        server.arg("-D").arg(self.folder.path().join("data")).arg("-k").arg(self.folder.path());
        server.args(["-c", "listen_addresses=", "-c", "max_connections=500"]);
        server.args(["-c", "log_min_messages=fatal", "-c", "shared_buffers=256MB"]);
        for setting in &self.settings {
            server.args(["-c", setting]);
        }
        // It complains about each client that ends in the middle of an answer, as commands may.
        let log = File::options().create(true).append(true).open(self.log())?;
        server.stdin(Stdio::null()).stderr(log);
        let process = server.spawn().context("cannot start postgres")?;
        self.process = Some(process);
        self.wait_until_ready()
    }

    pub fn url(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://tidings@{folder}/postgres")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    /// The process id of the server itself, which may run below a program that changed the user.
    pub fn id(&self) -> String {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "waits for another process in real time")]
    fn wait_until_ready(&mut self) -> Result<()> {
        let begun = Instant::now();
        loop {
            let mut ask = Command::new(self.programs.join("pg_isready"));
            ask.arg("-q")
                .arg("-h")
                .arg(self.folder.path())
                .args(["-U", "tidings", "-d", "postgres"]);
            if ask.status()?.success() {
                return Ok(());
            }
            if let Some(process) = &mut self.process
                && process.try_wait()?.is_some()
            {
                let log = std::fs::read_to_string(self.log()).unwrap_or_default();
                bail!("postgres ended at its start: {}", log.trim_end());
            }
            ensure!(begun.elapsed() < START_LIMIT, "postgres did not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.id();
        let Some(process) = &mut self.process else { return };
        if !id.is_empty() {
            let _ = Command::new("kill").args(["-QUIT", &id]).status();
        }
        let _ = process.wait();
    }
}

/// The folder of the server's programs: the newest that is installed, or the one on the path.
fn programs() -> Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            let folder = entry.path().join("bin");
            folder.join("initdb").exists().then_some((version, folder))
        })
        .collect();
    versions.sort();
    if let Some((_, folder)) = versions.pop() {
        return Ok(folder);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find(|folder| folder.join("initdb").exists());
    found.context("PostgreSQL is not installed; `make packages` installs it")
}

fn is_root() -> bool {
    std::env::var("USER").is_ok_and(|user| user == "root")
        || std::fs::metadata("/proc/self").is_ok_and(|meta| {
            use std::os::unix::fs::MetadataExt;
            meta.uid() == 0
        })
}

/// A command that runs as the user `postgres` if we are root.
fn as_server(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]).arg(program);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
