//! A terminal for programs that need one: it sends keys and writes the output to a file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::program::eventually;

/// A program in its own terminal. Dropping it kills the program with all its children.
pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    drawn: PathBuf,
}

impl Terminal {
    /// Starts a shell command. `script` of util-linux makes the terminal.
    pub fn start(line: &str, home: &Path) -> Terminal {
        let drawn = home.join("drawn");
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--command", line])
            .arg(&drawn)
            .env("HOME", home)
            .env("TERM", "xterm")
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let keys = child.stdin.take().unwrap();
        Terminal { child, keys, drawn }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Returns all output so far.
    pub fn drawn(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.drawn).unwrap_or_default()).into_owned()
    }

    /// Waits until a text appears in the output.
    #[track_caller]
    pub fn until_drawn(&mut self, text: &str) {
        let drawn = self.drawn.clone();
        let ended = |child: &mut Child| child.try_wait().unwrap();
        eventually(&format!("`{text}` on the terminal"), || {
            let seen =
                String::from_utf8_lossy(&std::fs::read(&drawn).unwrap_or_default()).contains(text);
            assert!(seen || ended(&mut self.child).is_none(), "it ended: {}", self.drawn());
            seen.then_some(())
        });
    }

    /// Waits for the program to end.
    #[track_caller]
    pub fn until_ended(&mut self) {
        eventually("the program ends", || self.child.try_wait().unwrap());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The terminal ends with `script`, and the program in it gets a hang-up signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("on the terminal:\n{}", self.drawn());
        }
    }
}
