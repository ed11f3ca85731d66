//! The list of machines: who is there, drain and step-down, by command, page and API.

use std::process::{Command, Stdio};

use dispatch::EndPoint;
use serde_json::Value;

use super::{FREELY, database};
use crate::documents::rss;
use crate::needed::missing;
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::{addresses, get, post_as, raw};

/// Processes on one database.
struct House {
    instance: Instance,
    url: String,
}

impl House {
    fn new() -> Option<House> {
        let instance = Instance::in_folder();
        let url = database(&instance)?;
        Some(House { instance, url })
    }

    fn start(&self, name: &str, more: &[&str]) -> Daemon {
        let mut args = vec!["--database", self.url.as_str(), "--name", name];
        args.extend(more);
        args.extend(FREELY);
        self.instance.daemon(&args).ready()
    }

    /// Names and roles, as the command shows them.
    fn roles(&self) -> Vec<(String, String)> {
        let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
        let rows = self.json();
        let rows = rows.as_array().unwrap();
        rows.iter().map(|row| (text(row, "name"), text(row, "role"))).collect()
    }

    fn json(&self) -> Value {
        self.instance.run(&["machines", "--json", "--database", &self.url]).ok().json()
    }

    #[track_caller]
    fn await_roles(&self, expected: &[(&str, &str)]) {
        eventually(&format!("the machines are {expected:?}"), || {
            let found = self.roles();
            let is_same = found.len() == expected.len()
                && found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && a.1 == b.1);
            is_same.then_some(())
        });
    }
}

#[test]
fn a_data_folder_says_that_it_has_one_process() {
    let instance = Instance::in_folder();
    let listed = instance.run(&["machines"]).ok();
    assert!(listed.stdout.contains("one process uses alone"), "{listed:?}");
    assert_eq!(instance.run(&["machines", "--json"]).ok().json(), serde_json::json!([]));
    instance.run(&["machines", "drain", "x"]).says(2, &["one process", "--database"]);
    instance.run(&["machines", "step-down"]).says(2, &["one process", "--database"]);
    let daemon = instance.daemon(&FREELY).ready();
    let (status, page) = get(daemon.listen, "/machines").unwrap();
    assert!(status == 200 && page.contains("One process does all the work"), "{page}");
}

#[test]
fn a_controller_whose_loop_has_failed_gives_its_seat_back() {
    let Some(house) = House::new() else { return };
    let args = [&["--database", house.url.as_str(), "--name", "fails"], &FREELY[..]].concat();
    let failing = house.instance.daemon_panicking(EndPoint::ResultArrived, &args).ready();
    house.await_roles(&[("fails", "controller")]);
    let _works = house.start("works", &[]);
    house.await_roles(&[("fails", "controller"), ("works", "standby")]);
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let add = ["feed", "add", &publisher.url("/f"), "--database", &house.url];
    house.instance.run(&add);
    house.await_roles(&[("works", "controller"), ("fails", "standby")]);
    eventually("it says why", || failing.log().contains("its polling has ended").then_some(()));
}

#[test]
fn every_process_is_listed_and_the_controller_can_be_changed() {
    let Some(house) = House::new() else { return };
    let first = house.start("first", &["--region", "eu"]);
    house.await_roles(&[("first", "controller")]);
    let mut second = house.start("second", &[]);
    let mut web = house.start("web-1", &["--role", "web"]);
    house.await_roles(&[("first", "controller"), ("second", "standby"), ("web-1", "web")]);
    let row = house.json()[0].clone();
    assert_eq!((&row["region"], &row["in_flight"]), (&Value::from("eu"), &Value::from(0)));
    assert_eq!(row["version"], env!("CARGO_PKG_VERSION"));
    assert!(row["since"].as_str().unwrap().ends_with('Z') && row["polls_per_second"].is_number());

    // Any process shows them all.
    let page = eventually("the page of the web process shows them", || {
        let (status, page) = get(web.listen, "/machines").ok()?;
        let shows = page.contains("first is the controller") && page.contains("second");
        (status == 200 && shows).then_some(page)
    });
    eventually("so do its figures", || {
        let (_, metrics) = get(web.listen, "/metrics").ok()?;
        let lines = ["\ntidings_machines{role=\"standby\"} 1\n", "\ntidings_seat_active 1\n"];
        lines.iter().all(|line| metrics.contains(line)).then_some(())
    });

    let said = house.instance.run(&["machines", "step-down", "--database", &house.url]).ok();
    assert!(said.stdout.contains("second is the controller now"), "{said:?}");
    house.await_roles(&[("second", "controller"), ("first", "standby"), ("web-1", "web")]);
    eventually("the first says so", || {
        first.log().contains("has given its seat back").then_some(())
    });

    // By the page: without its key a form is refused.
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    assert_eq!(post_as(web.listen, "/machines/step-down", form, "").unwrap(), 403);
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let status = post_as(web.listen, "/machines/step-down", form, &format!("form_key={key}"));
    assert_eq!(status.unwrap(), 303);
    house.await_roles(&[("first", "controller"), ("second", "standby"), ("web-1", "web")]);

    // A row vanishes when its process ends, and when it is killed.
    second.signal("TERM");
    house.await_roles(&[("first", "controller"), ("web-1", "web")]);
    web.kill();
    house.await_roles(&[("first", "controller")]);
    let said = house.instance.run(&["machines", "step-down", "--database", &house.url]).ok();
    assert!(said.stdout.contains("No other process took the seat"), "{said:?}");
}

#[test]
fn a_drained_process_takes_no_work_until_it_is_told_to() {
    let Some(house) = House::new() else { return };
    let first = house.start("first", &[]);
    house.await_roles(&[("first", "controller")]);
    let web = house.start("web-1", &["--role", "web"]);
    house.await_roles(&[("first", "controller"), ("web-1", "web")]);
    let drain = |name: &str, more: &[&str]| {
        let args = ["machines", "drain", name, "--database", house.url.as_str()];
        house.instance.run(&[&args[..], more].concat())
    };
    drain("nobody", &[]).says(2, &["no machine `nobody`", "tidings machines"]);
    drain("first", &[]).ok();
    house.await_roles(&[("first", "standby"), ("web-1", "web")]);
    assert_eq!(house.json()[0]["draining"], true);
    eventually("the drained process is not ready", || {
        (get(first.listen, "/readyz").unwrap().0 == 503).then_some(())
    });

    let at = web.listen;
    let head = format!(
        "PUT /api/v1/machines/web-1/drain HTTP/1.1\r\nHost: {at}\r\n\
         Content-Type: application/json\r\n"
    );
    assert_eq!(raw(at, &head, "{}").unwrap(), 200);
    eventually("the web process is not ready", || {
        (get(web.listen, "/readyz").unwrap().0 == 503).then_some(())
    });
    assert_eq!(get(web.listen, "/feeds").unwrap().0, 200, "it still serves");

    drain("first", &["--undo"]).ok();
    house.await_roles(&[("first", "controller"), ("web-1", "web")]);
    let (_, list) = get(web.listen, "/api/v1/machines").unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["machines"][1]["draining"], true, "{list}");
}

/// A NATS server of one test, which is ended with it.
struct BusServer {
    child: std::process::Child,
    url: String,
}

impl BusServer {
    fn start() -> Option<BusServer> {
        let address = addresses(1)[0];
        let mut server = Command::new("nats-server");
        server.args(["-a", &address.to_string(), "-p", "14222"]);
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match server.spawn() {
            Ok(child) => Some(BusServer { child, url: format!("nats://{address}:14222") }),
            Err(_) => {
                missing("the program nats-server");
                None
            }
        }
    }
}

impl Drop for BusServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn terminals_are_listed_by_the_controller_and_end_when_they_are_drained() {
    let Some(house) = House::new() else { return };
    let Some(bus) = BusServer::start() else { return };
    let publisher = Publisher::start(8);
    let _controller = house.start("decides", &["--role", "controller", "--bus", &bus.url]);
    let terminal = |name: &str| {
        let args = ["run", "--role", "terminal", "--name", name, "--bus", bus.url.as_str()];
        let mut command = house.instance.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        KilledAtEnd(command.spawn().unwrap())
    };
    let mut first = terminal("t-1");
    let _second = terminal("t-2");
    house.await_roles(&[("decides", "controller"), ("t-1", "terminal"), ("t-2", "terminal")]);
    for (n, address) in publisher.addresses.iter().enumerate() {
        publisher.set(&format!("/{n}"), rss(&format!("f{n}"), 2));
        let url = publisher.server.url(*address, &format!("/{n}"));
        house.instance.run(&["feed", "add", &url, "--database", &house.url]).ok();
    }
    let entries = house.instance.run(&["entries", "--database", &house.url]).ok().lines();
    assert_eq!(entries.len(), 16, "the terminals poll");
    let drain = ["machines", "drain", "t-1", "--database", house.url.as_str()];
    house.instance.run(&drain).ok();
    house.await_roles(&[("decides", "controller"), ("t-2", "terminal")]);
    eventually("the drained terminal ends", || first.0.try_wait().unwrap());
}

/// A process that is killed when it is dropped.
struct KilledAtEnd(std::process::Child);

impl Drop for KilledAtEnd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_key_has_a_secret_half_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let instance = Instance::in_folder();
    let file = instance.home.path().join("t.seed");
    let args = ["machines", "key", file.to_str().unwrap()];
    let made = instance.command_as_written(&args).ok();
    assert!(made.stdout.trim().len() == 56 && made.stdout.starts_with('U'), "{made:?}");
    let seed = std::fs::read_to_string(&file).unwrap();
    assert!(seed.starts_with("SU"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    instance.command_as_written(&args).says(1, &["t.seed", "exists"]);
}
