//! Terminals as on other machines: each has its own connection to a real bus.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dispatch::wire::WIRE_VERSION;
use dispatch::{Bus, BusSettings};
use engine::{BusRoad, EngineMachine, Settings};
use terminal::{Terminal, TerminalSettings, look_terms};
use tokio::task::JoinSet;

/// A bus and its terminals. All end when it is dropped.
pub struct Remote {
    server: Child,
    url: String,
    _terminals: JoinSet<()>,
}

impl Remote {
    /// `None` without the program; with `CI` set that is a failure.
    pub async fn start(n_terminals: usize) -> Option<Remote> {
        let Some((server, port)) = server() else {
            assert!(std::env::var_os("CI").is_none(), "this test needs nats-server");
            eprintln!("skipped: this test needs nats-server");
            return None;
        };
        let url = format!("nats://127.0.0.1:{port}");
        let mut terminals = JoinSet::new();
        for n in 0..n_terminals {
            let name = format!("terminal-{n}");
            let bus = connect(&url, &name).await;
            let settings = TerminalSettings {
                name,
                region: None,
                version: String::new(),
                life: n.to_string(),
                room: 4,
                cache_bytes: 1 << 20,
                outgoing_proxies: Vec::new(),
            };
            let terminal = Terminal::new(bus, settings);
            terminals.spawn(async {
                terminal.run(std::future::pending()).await.unwrap();
            });
        }
        Some(Remote { server, url, _terminals: terminals })
    }

    /// A controller that makes no request itself.
    pub async fn machine(&self, fetch: &fetch::Settings, settings: &Settings) -> EngineMachine {
        let bus = connect(&self.url, "controller").await;
        let terms = look_terms(fetch, &settings.parse, settings.keeps_answers);
        EngineMachine {
            name: "controller".to_owned(),
            without_terminal: true,
            bus: Some(BusRoad { bus, terms }),
            ..EngineMachine::default()
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Starts a server on a free port; `None` without the program. Another program may take the port
/// before the server does. Then the server ends, and the next try takes another port.
fn server() -> Option<(Child, u16)> {
    for _ in 0..20 {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = command.spawn().ok()?;
        while server.try_wait().unwrap().is_none() {
            if greets(port) {
                return Some((server, port));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    panic!("no port is free");
}

/// Returns whether a NATS server listens on a port. It speaks first.
fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut word = [0; 4];
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut word).is_ok() && word == *b"INFO"
}

async fn connect(url: &str, process: &str) -> Bus {
    let settings = BusSettings {
        servers: vec![url.to_owned()],
        name: "tidings".to_owned(),
        seed: None,
        authorities: None,
        process: process.to_owned(),
        wire: WIRE_VERSION,
    };
    let bus = Bus::connect(settings).await.unwrap();
    while !bus.is_connected() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bus
}
