//! Controllers and terminals over a real bus: of different versions, in different regions, with
//! requests that are not polls, and with a controller that loses the bus.

use std::net::SocketAddr;

use serde_json::Value;

use super::bus_fleet::{Fleet, Running};
use crate::cut_relay::{CutRelay, Road};
use crate::documents::rss;
use crate::hub::Hub;
use crate::program::{eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{Response, addresses, get, post_as, raw};

#[test]
fn a_terminal_may_be_one_version_behind_and_no_more() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let current = dispatch::wire::WIRE_VERSION;
    let controller = fleet.controller("decides", &fleet.bus(), &[]);
    let refused = fleet.terminal("old", &[], Some(current - 2));
    refused.says("the controller refuses this terminal");
    refused.says("may be one release apart");
    controller.says("terminal refused");
    // Without a cache it asks for every window.
    let config = fleet.instance.write("before.toml", "[terminal]\ncache = \"0MB\"\n");
    let without_cache = ["--config", path_text(&config)];
    let before = fleet.terminal("before", &without_cache, Some(current - 1));
    fleet.await_roles(&[("decides", "controller"), ("before", "terminal")]);
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let feed = fleet.add(&publisher.url("/f"));
    publisher.set("/f", rss("f", 5));
    fleet.asks(&["feed", "poll", &feed]);
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 5, "the older terminal polls");
    // A command is answered before its result is counted.
    let counted = "\ntidings_results_total{verdict=\"recorded\"} 2\n";
    let metrics = eventually("both results are counted", || {
        let (_, metrics) = get(controller.listen, "/metrics").ok()?;
        metrics.contains(counted).then_some(metrics)
    });
    for line in [
        "tidings_results_total{verdict=\"refused\"} 0",
        "tidings_results_total{verdict=\"not_sent\"} 0",
        "tidings_grants_expired_total 0",
        "tidings_results_late_total 0",
        "tidings_window_questions_total 1",
        "tidings_road_messages_total ",
        "tidings_road_bytes_total ",
    ] {
        assert!(metrics.contains(&format!("\n{line}")), "`{line}` is not in {metrics}");
    }
    assert!(!metrics.contains("\ntidings_road_bytes_total 0\n"));
    drain(&fleet, "before", &before);
}

/// Ends a terminal. It goes without a complaint when the controller has confirmed all its results.
#[track_caller]
fn drain(fleet: &Fleet, name: &str, terminal: &Running) {
    fleet.asks(&["machines", "drain", name]);
    terminal.says("this terminal has ended");
    assert!(!terminal.log().contains("nobody confirmed"), "{}", terminal.log());
}

#[test]
fn a_controller_may_be_one_version_behind_its_terminals() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let before = dispatch::wire::WIRE_VERSION - 1;
    let bus = fleet.bus();
    let args = ["--role", "controller", "--database", &fleet.url, "--bus", &bus];
    let _controller = fleet.run("decides", &args, Some(before));
    let newer = fleet.terminal("newer", &[], None);
    let _same = fleet.terminal("same", &[], Some(before));
    fleet.await_roles(&[("decides", "controller"), ("newer", "terminal"), ("same", "terminal")]);
    let publisher = Publisher::start(8);
    publisher.set("/f", rss("f", 3));
    let urls = publisher.addresses.iter().map(|host| publisher.server.url(*host, "/f"));
    urls.for_each(|url| drop(fleet.add(&url)));
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 3 * publisher.addresses.len());
    drain(&fleet, "newer", &newer);
}

#[test]
fn pages_icons_and_robots_are_asked_for_by_terminals() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let config = "[articles]\nfetch = \"every\"\n";
    let config = fleet.instance.write("controller.toml", config);
    let more = ["--config", path_text(&config)];
    let controller = fleet.controller("decides", &fleet.bus(), &more);
    let terminal = fleet.terminal("asks", &[], None);
    fleet.await_roles(&[("decides", "controller"), ("asks", "terminal")]);
    let publisher = Publisher::start(1);
    let site = publisher.url("/");
    let words = "The river rose in the night, and the people carried their books upstairs. ";
    let words = words.repeat(12);
    let page = format!(
        "<!doctype html><html lang=en><title>The river</title><body><article><p>{words}</p>\
         <p>{words}</p></article></body></html>"
    );
    let html = Response::new(200).with("Content-Type", "text/html").body(page);
    publisher.set_answer("/page", html);
    // The rules of a very long file hold as well, also for the terminal that asks for it.
    let comments = "# one more comment\n".repeat(160_000);
    let rules = format!("User-agent: *\nDisallow: /closed\n{comments}");
    publisher.set_answer("/robots.txt", Response::new(200).body(rules));
    let feed = |n: usize| {
        let items = (0..n).map(|i| {
            let link = if i == 1 { publisher.url("/page") } else { site.clone() };
            format!("<item><title>Item {i}</title><guid>{i}</guid><link>{link}</link></item>")
        });
        let items: String = items.collect();
        format!("<rss version=\"2.0\"><channel><title>f</title>{items}</channel></rss>")
    };
    publisher.set("/f", feed(1));
    let number = fleet.add(&publisher.url("/f"));
    publisher.set("/f", feed(2));
    fleet.asks(&["feed", "poll", &number]);
    eventually("the article is there", || {
        let (_, text) = get(controller.listen, "/api/v1/entries/2/article").ok()?;
        text.contains("The river rose").then_some(())
    });
    eventually("an icon was looked for", || terminal.log().contains("errand").then_some(()));
    let asked: Vec<String> = publisher.take_asked().into_iter().map(|asked| asked.path).collect();
    assert!(asked.contains(&"/robots.txt".to_owned()), "{asked:?}");
    let sent = || {
        let log = terminal.log();
        log.lines().filter(|line| line.contains("grant=")).count()
    };
    eventually("the terminal sent every request", || (sent() >= asked.len()).then_some(()));
}

#[test]
fn a_hub_is_asked_by_a_terminal() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let file = fleet.instance.write("controller.toml", "public_url = \"http://news.example/\"\n");
    let _controller = fleet.controller("decides", &fleet.bus(), &["--config", path_text(&file)]);
    let terminal = fleet.terminal("asks", &[], None);
    fleet.await_roles(&[("decides", "controller"), ("asks", "terminal")]);
    let hub = Hub::start();
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    fleet.add(&hub.url("/feed"));
    assert_eq!(hub.wish(0).lease, "864000", "the hub got the whole form");
    terminal.says("posts=true");
}

#[test]
fn a_region_names_the_terminals_that_poll() {
    let hosts = addresses(4);
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let file = format!("[domain.\"{}\"]\nregion = \"us\"\n", hosts[3]);
    let file = fleet.instance.write("controller.toml", file);
    let config = ["--config", path_text(&file)];
    let controller = fleet.controller("decides", &fleet.bus(), &config);
    let eu = fleet.terminal("in-eu", &["--region", "eu"], None);
    let us = fleet.terminal("in-us", &["--region", "us"], None);
    fleet.await_roles(&[("decides", "controller"), ("in-eu", "terminal"), ("in-us", "terminal")]);
    let publisher = Publisher::start_on(hosts.clone(), 0);
    publisher.set("/f", rss("f", 2));
    let urls: Vec<String> = hosts.iter().map(|host| publisher.server.url(*host, "/f")).collect();
    let feeds: Vec<String> = urls.iter().map(|url| fleet.add(url)).collect();
    let times = |running: &Running, feed: &str| {
        let wanted = format!("feed={feed} ");
        running.log().lines().filter(|line| line.contains(&wanted)).count()
    };
    let asked = |feed: &str| (times(&eu, feed), times(&us, feed));
    let polled = |feed: &str| {
        let before = asked(feed);
        fleet.asks(&["feed", "poll", feed]);
        let after = asked(feed);
        (after.0 - before.0, after.1 - before.1)
    };
    assert_eq!(asked(&feeds[3]).0, 0, "the region of the domain holds from the first poll");
    assert_eq!(polled(&feeds[3]), (0, 1));
    for (region, expected) in [("eu", (1, 0)), ("us", (0, 1)), ("eu", (1, 0))] {
        fleet.asks(&["feed", "set", &feeds[0], "--region", region]);
        assert_eq!(polled(&feeds[0]), expected, "its own region is {region}");
        fleet.asks(&["feed", "set", "--tag", &urls[1], "--region", region]);
        assert_eq!(polled(&feeds[1]), expected, "the region of its tag is {region}");
    }
    fleet.asks(&["feed", "set", &feeds[3], "--region", "eu"]);
    assert_eq!(polled(&feeds[3]), (1, 0), "its own region comes before that of its domain");
    let (at, feed) = (controller.listen, &feeds[2]);
    patch(at, &format!("/api/v1/feeds/{feed}"), r#"{"region": "us"}"#);
    assert_eq!(polled(feed), (0, 1), "the API sets a region");
    let (_, shown) = get(at, &format!("/api/v1/feeds/{feed}")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["region"], "us");
    let (_, page) = get(at, &format!("/feed/{feed}")).unwrap();
    assert!(page.contains("name=\"region\" value=\"us\""), "{page}");
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let sent = format!("form_key={key}&region=eu");
    let status = post_as(at, &format!("/feed/{feed}/settings"), form, &sent).unwrap();
    assert_eq!((status, polled(feed)), (303, (1, 0)), "the page sets a region");
}

#[test]
fn whoever_asks_is_told_that_no_terminal_is_connected() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let controller = fleet.controller("decides", &fleet.bus(), &[]);
    fleet.await_roles(&[("decides", "controller")]);
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let url = publisher.url("/f");
    let database = ["--database", fleet.url.as_str()];
    let asked = |args: &[&str]| fleet.instance.run(&[args, &database[..]].concat());
    let refused = asked(&["feed", "add", &url]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("no terminal is connected"), "{refused:?}");
    let _eu = fleet.terminal("in-eu", &["--region", "eu"], None);
    fleet.await_roles(&[("decides", "controller"), ("in-eu", "terminal")]);
    let feed = fleet.add(&url);
    fleet.asks(&["feed", "set", &feed, "--region", "us"]);
    let lack = "no terminal of region us is connected";
    let refused = asked(&["feed", "poll", &feed]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.to_lowercase().contains(lack), "{refused:?}");
    controller.says(lack);
    eventually("the operator sees it", || {
        asked(&["machines"]).ok().stdout.to_lowercase().contains(lack).then_some(())
    });
    for (path, part) in [
        ("/machines", "No terminal of region <bdi>us</bdi> is connected"),
        ("/metrics", "\ntidings_regions_lacking 1\n"),
    ] {
        eventually(&format!("{path} says it"), || {
            get(controller.listen, path).ok()?.1.contains(part).then_some(())
        });
    }
    publisher.set("/f", rss("f", 5));
    let _us = fleet.terminal("in-us", &["--region", "us"], None);
    fleet.await_roles(&[("decides", "controller"), ("in-eu", "terminal"), ("in-us", "terminal")]);
    fleet.asks(&["feed", "poll", &feed]);
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 5);
}

fn patch(at: SocketAddr, path: &str, body: &str) {
    let head = format!("PATCH {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n");
    assert_eq!(raw(at, &head, body).unwrap(), 200, "{path}");
}

#[test]
fn a_controller_without_the_bus_gives_its_seat_to_one_that_has_it() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let terminal = fleet.terminal("t-1", &[], None);
    terminal.says("connected to the bus");
    let relay = CutRelay::start(SocketAddr::from((fleet.address, 4222)));
    let first = fleet.controller("first", &format!("nats://{}", relay.address), &[]);
    fleet.await_roles(&[("first", "controller"), ("t-1", "terminal")]);
    let _second = fleet.controller("second", &fleet.bus(), &[]);
    fleet.await_roles(&[("first", "controller"), ("second", "standby"), ("t-1", "terminal")]);
    relay.set(Road::Cut);
    fleet.await_roles(&[("second", "controller"), ("first", "standby"), ("t-1", "terminal")]);
    first.says("it cannot reach the bus");
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    fleet.add(&publisher.url("/f"));
    assert_eq!(fleet.asks(&["entries"]).lines().len(), 3, "polls go on");
}
