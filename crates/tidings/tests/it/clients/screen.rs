//! A desktop app on a virtual screen of its own. A shell next to it executes commands, such as keys
//! to press.

use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Starts the app and then executes commands, line by line. At the end of its input it ends the
/// app, and waits for that: a second one would find the first still running and end itself.
const DRIVER: &str = "APP >app.log 2>&1 & app=$!; \
                      while read -r line; do eval \"$line\"; done; kill $app; wait $app";

pub struct Screen {
    child: Child,
    lines: Option<ChildStdin>,
    log: PathBuf,
}

impl Screen {
    /// Starts an app by its command line, in a home folder.
    pub fn start(app: &str, home: &Path) -> Screen {
        let mut command = Command::new("xvfb-run");
        command
            .args(["-a", "dbus-run-session", "--", "sh", "-c", &DRIVER.replace("APP", app)])
            .current_dir(home)
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("GSETTINGS_BACKEND", "memory")
            .env("NO_AT_BRIDGE", "1")
            // The tests may run as root, which the sandbox of Qt's browser does not allow.
            .env("QTWEBENGINE_DISABLE_SANDBOX", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "DISPLAY"] {
            command.env_remove(name);
        }
        let mut child = command.spawn().unwrap();
        let lines = child.stdin.take();
        Screen { child, lines, log: home.join("app.log") }
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.lines.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().rev().take(40).collect();
            eprintln!("the last lines of the app, backwards:\n{}", lines.join("\n"));
        }
        // At the end of its input the driver ends, then the session, then the screen.
        self.lines = None;
        for _ in 0..200 {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let group = format!("kill -KILL -{}", self.child.id());
        let _ = Command::new("sh").args(["-c", &group]).status();
        let _ = self.child.wait();
    }
}
