//! Runs the program as a user would, with its own data folder and its own processes. These are
//! ended by their process ids, even if a test fails.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::wire::{self, addresses};

/// A command or a wait that takes longer hangs. The limit is far longer than a busy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Commands without a data folder.
const FOLDERLESS: [&str; 10] = [
    "parse",
    "article",
    "discover",
    "lab",
    "completions",
    "man",
    "config",
    "migrate",
    "--help",
    "--version",
];

/// Waits until `done` returns a value. Fails with `what` after a long time.
#[track_caller]
pub fn eventually<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let start = wire::now();
    loop {
        if let Some(value) = done() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A data folder, and the calls of the program on it. With `TIDINGS_TEST_STORE`, the store is in a
/// schema of that PostgreSQL server.
pub struct Instance {
    pub home: TempDir,
    pub data: PathBuf,
    pub database: Option<String>,
    /// The network namespace of its processes.
    pub namespace: Option<String>,
    config: Option<PathBuf>,
}

/// The exit status and the output of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    #[track_caller]
    pub fn ok(self) -> Ended {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("standard output is not one JSON document: {e}\n{self:#?}"))
    }

    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Fails unless the exit status is `code` and standard error contains all `parts`.
    #[track_caller]
    pub fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for part in parts {
            let found = self.stderr.to_lowercase().contains(&part.to_lowercase());
            assert!(found, "`{part}` is not in the message: {self:#?}");
        }
    }
}

impl Instance {
    pub fn new() -> Instance {
        let mut instance = Instance::in_folder();
        instance.database = store::testing::url(&instance.data);
        instance
    }

    /// For tests about the files of SQLite: the store is in the data folder.
    pub fn in_folder() -> Instance {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        Instance { home, data, database: None, namespace: None, config: None }
    }

    pub fn with_config(text: &str) -> Instance {
        let mut instance = Instance::new();
        let path = instance.write("config.toml", text);
        instance.config = Some(path);
        instance
    }

    /// Sets the configuration of later commands.
    pub fn configure(&mut self, text: &str) {
        self.config = Some(self.write("config.toml", text));
    }

    /// Writes a file next to the data folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Returns a command on this data folder that is not started yet. It sees no proxy and no
    /// settings of the user.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program(self.namespace.as_deref());
        command.current_dir(self.home.path()).args(args);
        if !FOLDERLESS.contains(&args[0]) {
            command.arg("--data").arg(&self.data);
            let is_named = args.contains(&"--database");
            if let Some(database) = self.database.as_ref().filter(|_| !is_named) {
                command.arg("--database").arg(database);
            }
        }
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Ended {
        finish(self.command(args), &args.join(" "))
    }

    /// Runs a call with exactly these arguments.
    #[track_caller]
    pub fn command_as_written(&self, args: &[&str]) -> Ended {
        let mut command = program(None);
        command.current_dir(self.home.path()).args(args);
        finish(command, &args.join(" "))
    }

    #[track_caller]
    pub fn import(&self, opml: &str) -> Ended {
        let file = self.write("list.opml", opml);
        self.run(&["import", path_text(&file)])
    }

    #[track_caller]
    pub fn feeds(&self) -> Vec<Value> {
        let list = self.run(&["feed", "list", "--json"]).ok().json();
        list.as_array().expect("`feed list --json` prints an array").clone()
    }

    /// Returns the only feed of this folder, or the first.
    #[track_caller]
    pub fn feed(&self) -> Value {
        self.feeds().into_iter().next().expect("one feed")
    }

    #[track_caller]
    pub fn entries(&self) -> Vec<Value> {
        self.run(&["entries"]).ok().lines()
    }

    /// Polls one feed on loopback, without a gap between requests.
    #[track_caller]
    pub fn poll(&self, feed: &str) -> Value {
        let args = ["feed", "poll", feed, "--json", "--allow-private", "--domain-gap", "0s"];
        self.run(&args).json()
    }

    /// Subscribes to one feed without a daemon and polls it.
    #[track_caller]
    pub fn poll_added(&self, url: &str) {
        let args = ["feed", "add", url, "--allow-private", "--domain-gap", "0s"];
        self.run(&args).ok();
    }

    pub fn daemon(&self, args: &[&str]) -> Daemon {
        self.start(free_address(), "info", args)
    }

    /// Starts a daemon that ends itself at this place.
    pub fn daemon_ending(&self, point: dispatch::EndPoint, args: &[&str]) -> Daemon {
        let listen = free_address();
        let mut command = self.run_command(listen, "info", args);
        command.env(dispatch::END_AT_VARIABLE, point.word());
        self.spawn(command, listen)
    }

    /// Starts a daemon whose task panics at this place.
    pub fn daemon_panicking(&self, point: dispatch::EndPoint, args: &[&str]) -> Daemon {
        let listen = free_address();
        let mut command = self.run_command(listen, "info", args);
        command.env(dispatch::END_AT_VARIABLE, format!("panic:{}", point.word()));
        self.spawn(command, listen)
    }

    /// Starts a daemon with this log filter.
    pub fn daemon_logging(&self, filter: &str, args: &[&str]) -> Daemon {
        self.start(free_address(), filter, args)
    }

    /// Starts a daemon whose page is at this address.
    pub fn daemon_at(&self, listen: SocketAddr, args: &[&str]) -> Daemon {
        self.start(listen, "info", args)
    }

    fn start(&self, listen: SocketAddr, filter: &str, args: &[&str]) -> Daemon {
        self.spawn(self.run_command(listen, filter, args), listen)
    }

    fn run_command(&self, listen: SocketAddr, filter: &str, args: &[&str]) -> Command {
        let listen = listen.to_string();
        let mut all = vec!["run", "--listen", listen.as_str()];
        all.extend(args);
        let mut command = self.command(&all);
        command.env("TIDINGS_LOG", filter);
        command
    }

    fn spawn(&self, mut command: Command, listen: SocketAddr) -> Daemon {
        let log = self.home.path().join(format!("daemon-{}.log", listen.ip()));
        let file = File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Daemon { child: command.spawn().unwrap(), listen, log }
    }
}

/// Returns an address for a daemon's page that no other test uses.
pub fn free_address() -> SocketAddr {
    SocketAddr::from((addresses(1)[0], 18080))
}

pub fn path_text(path: &Path) -> &str {
    path.to_str().expect("a temporary folder with a UTF-8 name")
}

fn program(namespace: Option<&str>) -> Command {
    let file = env!("CARGO_BIN_EXE_tidings");
    let mut command = match namespace {
        None => Command::new(file),
        Some(name) => inside(name, file),
    };
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    command
}

/// A command whose process is in a network namespace.
pub fn inside(namespace: &str, file: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{namespace}")).arg(file);
    command
}

#[track_caller]
pub fn finish(mut command: Command, what: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let start = wire::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let read = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let ended =
        Ended { code: status.and_then(|s| s.code()), stdout: read(&out), stderr: read(&err) };
    assert!(status.is_some(), "`tidings {what}` hangs: {ended:#?}");
    assert!(!ended.stderr.contains("panicked at"), "`tidings {what}` panicked: {ended:#?}");
    ended
}

/// A daemon that is killed when it is dropped.
pub struct Daemon {
    child: Child,
    pub listen: SocketAddr,
    log: PathBuf,
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the daemon is ready.
    #[track_caller]
    pub fn ready(mut self) -> Daemon {
        eventually("the daemon answers /readyz with 200", || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the daemon ended with {status}:\n{}", self.log());
            }
            matches!(wire::get(self.listen, "/readyz"), Ok((200, _))).then_some(())
        });
        self
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Sends a signal (`STOP`, `CONT`).
    #[track_caller]
    pub fn send(&self, name: &str) {
        send_signal(self.pid(), name);
    }

    /// Sends a signal (`TERM`, `INT`) and waits for the end.
    #[track_caller]
    pub fn signal(&mut self, name: &str) -> ExitStatus {
        self.send(name);
        let status = eventually("the daemon ends", || self.child.try_wait().unwrap());
        assert!(!self.log().contains("panicked at"), "{}", self.log());
        status
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Returns the peak resident memory in bytes.
    pub fn memory_peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmHWM")).expect("VmHWM");
        line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap() * 1024
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("log of the daemon:\n{}", self.log());
        }
    }
}

/// Sends a signal (`STOP`, `CONT`, `TERM`) to a process that the test started.
#[track_caller]
pub fn send_signal(id: u32, name: &str) {
    let line = format!("kill -{name} {id}");
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
}

/// Returns an address on which nothing listens now or later.
pub fn silent_address() -> Ipv4Addr {
    addresses(1)[0]
}
