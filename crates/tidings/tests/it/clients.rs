//! Real reader apps against the real program. Actions in newsboat, Liferea or RSS Guard must be
//! visible here, and actions here must be visible there. Each test has its own instance with an
//! account, a publisher of two feeds and a home folder for the app; everything is on loopback.
//!
//! `make test` installs missing apps. If that is impossible, the test says so and ends, or fails if
//! `CI` is set.

mod liferea;
mod newsboat;
mod rssguard;
mod screen;
mod terminal;
mod two_people;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::documents::rss;
use crate::needed::missing;
use crate::program::{Daemon, Instance, eventually, finish};
use crate::publisher::Publisher;

/// An instance, with a token for an app.
struct Desk {
    instance: Instance,
    daemon: Daemon,
    token: String,
    _publisher: Publisher,
}

/// Two feeds: `one` with three entries under the tag `News`, and `two` with two. Anna has read
/// nothing.
fn desk() -> Desk {
    let publisher = Publisher::start(1);
    publisher.set("/one", rss("one", 3));
    publisher.set("/two", rss("two", 2));
    let instance = Instance::new();
    let (one, two) = (publisher.url("/one"), publisher.url("/two"));
    let private = ["--allow-private", "--domain-gap", "0s"];
    let add = |args: &[&str]| {
        instance.run(&[&["feed", "add"], args, &private].concat()).ok();
    };
    add(&[&one, "--tag", "News"]);
    add(&[&two]);
    let token = account(&instance, "anna");
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    let desk = Desk { instance, daemon, token, _publisher: publisher };
    assert_eq!(desk.unread().len(), 5, "all entries are there before an app begins");
    desk
}

/// Adds an account and returns a token for its apps.
fn account(instance: &Instance, name: &str) -> String {
    let password = instance.write("password", "correct horse\n");
    let mut command = instance.command(&["user", "add", name, "--password-stdin"]);
    command.stdin(File::open(password).unwrap());
    finish(command, "user add").ok();
    let token = instance.run(&["user", "token", name, "--label", "app"]).ok().stdout;
    token.trim().to_owned()
}

impl Desk {
    fn url(&self) -> String {
        format!("http://{}", self.daemon.listen)
    }

    /// A home folder for the app.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.instance.home.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Returns the titles that Anna has not read, sorted.
    fn unread(&self) -> Vec<String> {
        self.titles("status=unread")
    }

    fn starred(&self) -> Vec<String> {
        self.titles("starred=true")
    }

    fn titles(&self, query: &str) -> Vec<String> {
        let body = self.get(&format!("/v1/entries?{query}"));
        let entries = body["entries"].as_array().unwrap();
        let mut titles: Vec<String> =
            entries.iter().map(|entry| entry["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.send("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Marks entries as read or unread, as another app would.
    fn mark(&self, title: &str, status: &str) {
        let body = self.get("/v1/entries");
        let entries = body["entries"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["title"] == title).unwrap();
        let body = format!("{{\"status\":\"{status}\",\"entry_ids\":[{}]}}", entry["id"]);
        assert_eq!(self.send("PUT", "/v1/entries", &body).0, 204);
    }

    fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let lines = format!("X-Auth-Token: {}\r\n", self.token);
        send(self.daemon.listen, &format!("{method} {path}"), &lines, body)
    }

    #[track_caller]
    fn until_unread(&self, expect: &[&str]) {
        eventually(&format!("only {expect:?} is unread"), || {
            (self.unread() == expect).then_some(())
        });
    }

    #[track_caller]
    fn until_starred(&self, expect: &[&str]) {
        eventually(&format!("only {expect:?} is starred"), || {
            (self.starred() == expect).then_some(())
        });
    }
}

/// Sends a request with these header lines, each with its line end. Returns status and body.
fn send(address: SocketAddr, what: &str, lines: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Returns whether programs are installed. Prints the missing ones to standard error.
fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success();
        if !found {
            missing(&format!("the program {program}"));
        }
        found
    })
}
