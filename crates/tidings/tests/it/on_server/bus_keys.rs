//! A bus with TLS and a key for each machine: everybody can do his work and nothing else.

use std::net::Ipv4Addr;
use std::time::Duration;

use dispatch::{Bus, BusReceiver, BusSettings};

use super::bus_fleet::{Fleet, Running};
use crate::certificate::certify;
use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::publisher::Publisher;

/// A message that must not come would come within this time.
const SILENCE: Duration = Duration::from_millis(300);
/// A message that must come does so even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 4] = ["controller-1", "terminal-1", "terminal-2", "stranger"];

/// A bus as `operating/nats.conf` describes it, with keys for all but the stranger.
fn arrange(instance: &Instance, address: Ipv4Addr) -> String {
    certify(instance.home.path(), address);
    let key = |name: &str| {
        let file = instance.home.path().join(format!("{name}.seed"));
        let made = instance.command_as_written(&["machines", "key", path_text(&file)]).ok();
        made.stdout.trim().to_owned()
    };
    let keys = NAMES.map(key);
    let folder = path_text(instance.home.path());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../operating/nats.conf");
    let text = std::fs::read_to_string(file).unwrap();
    text.replace("0.0.0.0", &address.to_string())
        .replace("/etc/tidings", folder)
        .replace("CONTROLLER_PUBLIC_KEY", &keys[0])
        .replace("TERMINAL_1_PUBLIC_KEY", &keys[1])
        .replace("TERMINAL_2_PUBLIC_KEY", &keys[2])
}

/// Starts a machine with the key of `seed`; without the authority it trusts no certificate.
fn run(fleet: &Fleet, name: &str, seed: &str, has_authority: bool, args: &[&str]) -> Running {
    let home = path_text(fleet.instance.home.path());
    let ca = if has_authority { format!("ca = \"{home}/ca.crt\"\n") } else { String::new() };
    let bus = format!("[bus]\nurl = \"tls://{}:4222\"\n{ca}", fleet.address);
    let config = format!("{bus}key = \"{home}/{seed}.seed\"\n");
    let config = fleet.instance.write(&format!("{name}.toml"), config);
    fleet.run(name, &[args, &["--config", path_text(&config)]].concat(), None)
}

#[test]
fn a_bus_with_keys_and_tls_serves_its_own_machines_only() {
    let Some(fleet) = Fleet::start(arrange) else { return };
    let args = ["--role", "controller", "--database", &fleet.url];
    let controller = run(&fleet, "controller-1", "controller-1", true, &args);
    let terminal = run(&fleet, "terminal-1", "terminal-1", true, &["--role", "terminal"]);
    fleet.await_roles(&[("controller-1", "controller"), ("terminal-1", "terminal")]);
    // It has the key of another name, so it hears neither answers nor jobs.
    let misnamed = run(&fleet, "misnamed", "terminal-2", true, &["--role", "terminal"]);
    misnamed.says("into `[machine] name`");
    let three =
        [("controller-1", "controller"), ("misnamed", "terminal"), ("terminal-1", "terminal")];
    fleet.await_roles(&three);
    let publisher = Publisher::start(8);
    publisher.set("/f", rss("f", 3));
    let urls = publisher.addresses.iter().map(|host| publisher.server.url(*host, "/f"));
    urls.for_each(|url| drop(fleet.add(&url)));
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 24, "the other terminal polls");
    drop(misnamed);
    for running in [&controller, &terminal] {
        assert!(!running.log().contains("refuses"), "rights suffice: {}", running.log());
    }
    let stranger = run(&fleet, "stranger", "stranger", true, &["--role", "terminal"]);
    stranger.says("the bus refuses the key of this machine");
    assert!(stranger.log().contains("[bus] key"), "it names the remedy");
    let plain = run(&fleet, "plain", "terminal-2", false, &["--role", "terminal"]);
    plain.says("[bus] ca");
    fleet.await_roles(&[("controller-1", "controller"), ("terminal-1", "terminal")]);
}

/// A connection with the key of a machine, which calls itself `process`.
async fn connect(fleet: &Fleet, seed: &str, process: &str) -> Bus {
    let home = fleet.instance.home.path();
    let seed = std::fs::read_to_string(home.join(format!("{seed}.seed"))).unwrap();
    let settings = BusSettings {
        servers: vec![format!("tls://{}:4222", fleet.address)],
        name: "tidings".to_owned(),
        seed: Some(seed.trim().to_owned()),
        authorities: Some(home.join("ca.crt")),
        process: process.to_owned(),
        wire: dispatch::wire::WIRE_VERSION,
    };
    let bus = Bus::connect(settings).await.unwrap();
    while !bus.is_connected() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bus
}

/// Returns whether a message comes within this time.
async fn hears(messages: &mut BusReceiver, within: Duration) -> bool {
    tokio::time::timeout(within, messages.next()).await.is_ok_and(|message| message.is_some())
}

#[test]
fn a_terminal_can_neither_hear_nor_give_the_jobs_of_another() {
    let Some(fleet) = Fleet::start(arrange) else { return };
    let args = ["--role", "controller", "--database", &fleet.url];
    let _controller = run(&fleet, "controller-1", "controller-1", true, &args);
    let _terminal = run(&fleet, "terminal-1", "terminal-1", true, &["--role", "terminal"]);
    fleet.await_roles(&[("controller-1", "controller"), ("terminal-1", "terminal")]);
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // The controller's key may hear jobs: so listening in would show them.
        let control = connect(&fleet, "controller-1", "listens").await;
        let mut heard = control.listen("job.terminal-1.*").await.unwrap();
        // It calls itself by the other's name, to hear the answers to the other.
        let thief = connect(&fleet, "terminal-2", "terminal-1").await;
        let mut stolen = Vec::new();
        for subject in ["job.terminal-1.*", "job.>", "result.>", "here", "window", ">"] {
            stolen.push((subject, thief.listen(subject).await.unwrap()));
        }
        let (_, inbox) = thief.listen_inbox(">").await.unwrap();
        stolen.push(("the inbox of another", inbox));
        control.flush().await;
        thief.flush().await;
        let call = dispatch::machine::SeatCall { epoch: 1, leaves: true };
        let wire = thief.wire_of_any();
        thief.publish("job.terminal-1.x", wire, &call, None).await.unwrap();
        thief.flush().await;
        assert!(!hears(&mut heard, SILENCE).await, "it cannot give jobs");
        tokio::task::block_in_place(|| fleet.add(&publisher.url("/f")));
        assert!(hears(&mut heard, PATIENCE).await, "there was a job");
        for (subject, messages) in &mut stolen {
            assert!(!hears(messages, SILENCE).await, "it hears {subject}");
        }
    });
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 3, "the terminal polls");
}
