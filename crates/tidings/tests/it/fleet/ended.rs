//! Controllers and terminals that end at a named place of their work, as if they were killed there.
//! Nothing is lost, nothing comes twice, and no site gets a request too many.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use dispatch::EndPoint;

use super::bus_server::BusServer;
use super::entry_reader::EntryReader;
use super::member::{Member, Wires};
use crate::database::Database;
use crate::documents::opml;
use crate::program::{Instance, eventually, path_text};
use crate::scene::{self, icon, name, served};
use crate::score::{Place, ScoreServer, Served};
use crate::wire::addresses;

const HOSTS: usize = 6;
const FEEDS: usize = 18;
const ITEMS: usize = 2;
/// Long enough that a busy machine does not look impolite.
const GAP: Duration = Duration::from_millis(800);

/// A request that nobody answers ends after 14 s, and its domain waits as long.
const SETTINGS: &str = "policy = \"fix:6s\"\nalpha = \"1s\"\n\
    [limits]\nheader_timeout = \"2s\"\nbody_timeout = \"2s\"\n";

/// An instance of few machines, its publisher, and the entries that it must have.
struct House {
    server: ScoreServer,
    addresses: Vec<Ipv4Addr>,
    operator: Instance,
    controller: Member,
    /// They work in turn.
    terminals: [Member; 2],
    reader: EntryReader,
    expected: usize,
    n_changes: usize,
    _bus: BusServer,
    _database: Database,
}

fn place(feed: usize, addresses: &[Ipv4Addr]) -> Place {
    (addresses[feed % HOSTS].to_string(), format!("/{}", name(feed)))
}

impl House {
    /// Starts a controller and the first terminal, and waits for the first entries.
    fn start() -> Option<House> {
        // One address more, for a feed that comes later.
        let addresses = addresses(HOSTS as u32 + 1);
        let mut pages: HashMap<Place, Served> = addresses
            .iter()
            .map(|host| ((host.to_string(), "/favicon.ico".to_owned()), icon()))
            .collect();
        pages.extend((0..FEEDS).map(|feed| (place(feed, &addresses), served(feed, ITEMS, 0))));
        let server = ScoreServer::start(&addresses, GAP, |_| pages);
        server.forgive_lost_answers();
        let config = scene::config(&addresses, SETTINGS);
        let config = format!("domain_gap = \"{}ms\"\n{config}", GAP.as_millis());
        let database = Database::start(&["fsync=off"])?;
        let bus = BusServer::start()?;
        let member = |name: &str, url: Option<String>| {
            let bus = format!("nats://{}", bus.address());
            Member::new(name.to_owned(), &config, bus, url, Wires::default())
        };
        let mut controller = member("controller", Some(database.url()));
        let mut terminals = [member("terminal-0", None), member("terminal-1", None)];
        controller.start();
        terminals[0].start();
        let operator = database.instance_at(database.url());
        let urls = (0..FEEDS).map(|feed| url(&server, place(feed, &addresses)));
        let list = operator.write("list.opml", opml(&urls.collect::<Vec<_>>()));
        eventually("the controller takes the list", || {
            (operator.run(&["import", path_text(&list)]).code == Some(0)).then_some(())
        });
        let (reader, expected, n_changes) = (EntryReader::default(), FEEDS * ITEMS, 0);
        let (_bus, _database) = (bus, database);
        let mut house = House {
            server,
            addresses,
            operator,
            controller,
            terminals,
            reader,
            expected,
            n_changes,
            _bus,
            _database,
        };
        house.await_entries("at first");
        Some(house)
    }

    /// Every feed has news.
    fn publish(&mut self) {
        self.n_changes += 1;
        self.expected += FEEDS;
        let news = |feed| (place(feed, &self.addresses), served(feed, ITEMS, self.n_changes));
        self.server.add((0..FEEDS).map(news).collect::<Vec<_>>());
    }

    /// Serves the feed of a new site, whose page and icon are asked for too. Returns its address.
    fn open_a_site(&mut self) -> String {
        let host = self.addresses[HOSTS].to_string();
        let site = url(&self.server, (host.clone(), "/".to_owned()));
        let feed = served(FEEDS, ITEMS, 0);
        let feed = Served { body: feed.body.replace("http://example.org/", &site), ..feed };
        let page = Served::of_type("text/html", "<title>A site</title>".to_owned());
        let at = |path: &str| (host.clone(), path.to_owned());
        self.server.add([(at("/late"), feed), (at(&format!("/{}", name(FEEDS))), page)]);
        self.expected += ITEMS;
        url(&self.server, at("/late"))
    }

    #[track_caller]
    fn await_entries(&mut self, when: &str) {
        self.reader.wait_for(&self.operator, self.expected, when);
        assert_eq!(self.server.faults(), Vec::<String>::new(), "{when}");
    }

    /// All entries once and without holes, and no validator that is older than its entries.
    #[track_caller]
    fn check(&mut self) {
        self.reader.check(self.expected);
        let server = &self.server;
        eventually("every validator is the newest", || server.unsettled().is_empty().then_some(()));
        assert_eq!(self.server.faults(), Vec::<String>::new());
    }
}

fn url(server: &ScoreServer, (host, path): Place) -> String {
    format!("http://{host}:{}{path}", server.server.port)
}

/// Waits until a process has ended itself.
#[track_caller]
fn await_end(member: &mut Member, point: EndPoint) {
    let what = format!("{} ends at {}", member.name, point.word());
    eventually(&what, || member.daemon().has_ended().then_some(()));
    let log = member.daemon().log();
    assert!(log.contains(&format!("this process ends at {}", point.word())), "{log}");
}

/// Only a debug build ends at a named place.
fn is_possible() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: a release build does not end at a named place");
    }
    cfg!(debug_assertions)
}

#[test]
fn a_controller_that_ends_at_any_place_loses_nothing_and_asks_nobody_twice() {
    let Some(mut house) = is_possible().then(House::start).flatten() else { return };
    for point in EndPoint::OF_CONTROLLER {
        house.controller.end();
        house.publish();
        house.controller.start_ending(point);
        let site = (point == EndPoint::ErrandCommitted).then(|| house.open_a_site());
        let add = |operator: &Instance, url: &str| operator.run(&["feed", "add", url]).code;
        if let Some(site) = &site {
            let House { operator, controller, .. } = &mut house;
            eventually("the feed of a new site is taken", || {
                let is_added = add(operator, site) == Some(0);
                (is_added || controller.daemon().has_ended()).then_some(())
            });
        }
        await_end(&mut house.controller, point);
        house.controller.start();
        if let Some(site) = &site {
            eventually("the feed of a new site is there", || {
                (add(&house.operator, site) == Some(0)).then_some(())
            });
        }
        house.await_entries(point.word());
    }
    house.check();
}

#[test]
fn a_terminal_that_ends_at_any_place_loses_nothing_and_asks_nobody_twice() {
    let Some(mut house) = is_possible().then(House::start).flatten() else { return };
    for point in EndPoint::OF_TERMINAL {
        house.terminals[1].start_ending(point);
        house.terminals[0].end();
        house.publish();
        await_end(&mut house.terminals[1], point);
        house.terminals[0].start();
        house.await_entries(point.word());
    }
    house.check();
}
