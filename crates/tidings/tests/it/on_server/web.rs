//! A process that only serves pages, while another one polls.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use store::{Location, testing};

use super::{FREELY, comes, database, event_lines};
use crate::documents::rss;
use crate::program::{Daemon, Instance, eventually, finish};
use crate::publisher::Publisher;
use crate::wire::{get, get_with, post_as};

#[test]
fn a_web_process_needs_a_shared_database() {
    let instance = Instance::in_folder();
    let data = ["run", "--role", "web", "--data", instance.data.to_str().unwrap()];
    instance.command_as_written(&data).says(2, &["--role web", "--database postgres://"]);
    assert!(!Path::new(&instance.data).exists(), "nothing was created");
    let address = ["--database", "postgres://nobody@localhost/none"];
    let both = ["run", "--role", "web", "--once", address[0], address[1]];
    instance.command_as_written(&both).says(2, &["never polls"]);
}

#[test]
fn a_web_process_serves_pages_sends_commands_and_never_polls() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 2));
    let mut active =
        instance.daemon(&["--database", &url, FREELY[0], FREELY[1], FREELY[2]]).ready();
    let web = instance.daemon(&["--role", "web", "--database", &url]).ready();
    let events = event_lines(web.listen, "/api/v1/entries/stream");
    comes(&events, "event: start");
    add(&web, &publisher.url("/f"));
    comes(&events, "Item 1 of f");
    let page = |path: &str| get(web.listen, path).unwrap();
    assert!(page("/feeds").1.contains("Feed f"));
    let polls = eventually("it shows the figures of the other process", || {
        let (_, text) = page("/metrics");
        let line = text.lines().find(|line| line.starts_with("tidings_polls_total "))?;
        line.rsplit(' ').next()?.parse::<u64>().ok().filter(|n| *n > 0)
    });
    assert!(polls >= 1);

    active.kill();
    eventually("the page says that nobody polls", || {
        page("/health").1.contains("No process polls").then_some(())
    });
    assert_eq!(page("/readyz").0, 200, "it can serve pages");
    assert_eq!(page("/feeds").0, 200);
    assert!(!web.log().contains("this process records"), "{}", web.log());
    let json = "Content-Type: application/json\r\n";
    let body = format!("{{\"url\":\"{}\"}}", publisher.url("/g"));
    let refused = post_as(web.listen, "/api/v1/feeds", json, &body).unwrap();
    assert_eq!(refused, 503, "a command needs a process that polls");
}

fn add(daemon: &Daemon, url: &str) {
    let json = "Content-Type: application/json\r\n";
    let body = format!("{{\"url\":\"{url}\"}}");
    let status = post_as(daemon.listen, "/api/v1/feeds", json, &body).unwrap();
    assert!(status == 200 || status == 201, "{status}");
}

#[test]
fn a_process_ends_when_a_newer_program_has_changed_the_schema() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let place = Location::parse(&url, &|_| None).unwrap();
    let mut active = instance.daemon(&["--database", &url]).ready();
    let mut web = instance.daemon(&["--role", "web", "--database", &url]).ready();
    active.signal("TERM");
    testing::execute(&place, "update meta set value = '999' where key = 'version'");
    eventually("the web process ends", || web.has_ended().then_some(()));
    assert!(web.log().contains("newer Tidings (schema version 999"), "{}", web.log());
    for args in [
        &["run", "--database", &url][..],
        &["run", "--role", "web", "--database", &url],
        &["feed", "list", "--database", &url],
        &["feed", "add", "https://example.org/", "--database", &url],
    ] {
        instance.run(args).says(1, &["newer Tidings", "start the newer program"]);
    }
}

/// Logs in at one process. Returns its cookie.
fn logged_in(at: SocketAddr, form: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    let head = "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    write!(
        stream,
        "POST /login HTTP/1.1\r\nHost: {at}\r\n{head}Content-Length: {}\r\n\r\n{form}",
        form.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let cookie = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_cookie = name.eq_ignore_ascii_case("set-cookie");
        is_cookie.then(|| value.split(';').next().unwrap().to_owned())
    });
    cookie.unwrap_or_else(|| panic!("no cookie: {answer}"))
}

#[test]
fn a_session_of_one_web_process_holds_in_every_other() {
    let mut instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    instance.database = Some(url);
    let _active = instance.daemon(&FREELY).ready();
    let mut add = instance.command(&["user", "add", "ann", "--password-stdin"]);
    add.stdin(std::fs::File::open(instance.write("password", "correct horse battery")).unwrap());
    finish(add, "user add").ok();
    let webs = [(); 2].map(|()| instance.daemon(&["--role", "web"]).ready());
    assert_ne!(get(webs[1].listen, "/feeds").unwrap().0, 200, "it asks for a login");
    let cookie = logged_in(webs[0].listen, "name=ann&password=correct+horse+battery");
    let cookie = format!("Cookie: {cookie}\r\n");
    let (status, page) = get_with(webs[1].listen, "/account", &cookie).unwrap();
    assert_eq!(status, 200, "any process knows the session");
    // A form that one process made is taken by the other, which ends the session for both.
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let head = format!("{cookie}Content-Type: application/x-www-form-urlencoded\r\n");
    let left = post_as(webs[0].listen, "/logout", &head, &format!("form_key={key}")).unwrap();
    assert_eq!(left, 303);
    assert_ne!(get_with(webs[1].listen, "/account", &cookie).unwrap().0, 200);
}
