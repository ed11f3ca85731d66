//! Strangers at our hub, and hubs that send too much. Their requests must not harm anybody else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::websub::{FREELY, Subscriber};
use crate::documents::rss_of;
use crate::hub::{Hub, Reachable, signature};
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{self, Next, Response, Server, addresses};

/// A callback that never answers is asked twice, each time for ten seconds, with half a minute in
/// between. Its request waits as long, and counts for its client.
const REQUEST_LIFE: Duration = Duration::from_secs(50);

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

fn form(topic: &str, callback: &str) -> String {
    format!("hub.mode=subscribe&hub.topic={topic}&hub.callback={callback}")
}

/// Any website can name an address of this machine. Without accounts this must open nothing.
#[test]
fn a_website_cannot_subscribe_itself_to_a_private_query() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..2));
    let (instance, url) = (Instance::new(), publisher.url("/news"));
    let queries = format!(
        "CREATE FEED Mine AS RETURN \"{url}\" PRIVATE;\n\
         CREATE FEED Linked AS RETURN \"{url}\" PUBLISH BY SECRET LINK;\n\
         CREATE FEED Open AS RETURN \"{url}\" PUBLISH;"
    );
    let file = instance.write("w.query", queries);
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let daemon = instance.daemon(&FREELY).ready();
    let (hub, thief, reader) = (daemon.listen, Subscriber::start(true), Subscriber::start(true));
    let foreign = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
    let rebound = format!("POST /websub/hub HTTP/1.1\r\nHost: evil.example\r\n{FORM}");
    for file in ["Mine.atom", "Linked.atom", "Linked.atom?key=guess", "Mine.json?key="] {
        let topic = format!("http://{hub}/feeds/{}", file.replace('?', "%3F").replace('=', "%3D"));
        let form = form(&topic, &thief.callback());
        for headers in [FORM.to_owned(), format!("{FORM}{foreign}")] {
            let status = wire::post_as(hub, "/websub/hub", &headers, &form).unwrap();
            assert!((400..500).contains(&status), "{file}: {status}");
        }
        let status = wire::raw(hub, &rebound, &form).unwrap();
        assert!((400..500).contains(&status), "{file}: {status}");
    }
    // A published query is served as before, and its push shows that the hub works.
    let topic = format!("http://{hub}/feeds/Open.atom");
    let status = wire::post(hub, "/websub/hub", &form(&topic, &reader.callback())).unwrap();
    assert_eq!(status, 202);
    eventually("it is asked", || (!reader.modes().is_empty()).then_some(()));
    let mut n_items = 2;
    eventually("a push", || {
        n_items += 1;
        publisher.set("/news", rss_of("news", 0..n_items));
        instance.run(&["feed", "poll", "1", "--json"]).ok();
        (!reader.pushes().is_empty()).then_some(())
    });
    assert!(thief.modes().is_empty() && thief.pushes().is_empty());
}

/// Hosts that accept a request and never answer, with the most simultaneous requests of one of
/// them.
fn tarpits(n: u32) -> (Server, Vec<std::net::Ipv4Addr>, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (hosts, most, seen) = (addresses(n), Arc::new(AtomicUsize::new(0)), Arc::default());
    let (noted, counted): (_, Arc<AtomicUsize>) = (Arc::clone(&most), Arc::clone(&seen));
    let open: Arc<std::sync::Mutex<std::collections::HashMap<String, usize>>> = Arc::default();
    let server = Server::start(&hosts, move |request, stream| {
        let host = request.host();
        let at_once = {
            let mut open = open.lock().unwrap();
            let at_once = open.entry(host.clone()).or_default();
            *at_once += 1;
            *at_once
        };
        noted.fetch_max(at_once, Ordering::SeqCst);
        counted.fetch_add(1, Ordering::SeqCst);
        // Waits until the other side gives up.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let _ = std::io::Read::read(stream, &mut [0; 1]);
        *open.lock().unwrap().entry(host).or_default() -= 1;
        Ok(Next::Close)
    });
    (server, hosts, most, seen)
}

#[test]
fn a_flood_of_wishes_hammers_no_host_and_keeps_no_honest_subscriber_out() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..2));
    let config = "trusted_proxies = [\"127.0.0.1\"]\ndomain_gap = \"1s\"\n";
    let instance = Instance::with_config(config);
    let url = publisher.url("/news");
    let file = instance.write("w.query", format!("CREATE FEED News AS RETURN \"{url}\" PUBLISH"));
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let daemon = instance.daemon(&["--allow-private"]).ready();
    let (hub, topic) = (daemon.listen, format!("http://{}/feeds/News.atom", daemon.listen));
    let subscribe = |client: &str, callback: &str| {
        let headers = format!("{FORM}X-Forwarded-For: {client}\r\n");
        wire::post_as(hub, "/websub/hub", &headers, &form(&topic, callback)).unwrap()
    };
    let (server, hosts, most, seen) = tarpits(20);
    let (mut taken, begun) = (0, wire::now());
    for n in 0..1100 {
        // The first half names one host, the second half many hosts.
        let host = hosts[if n < 550 { 0 } else { n % hosts.len() }];
        let status = subscribe("203.0.113.1", &server.url(host, &format!("/{n}")));
        assert!(status == 202 || status == 429, "{status}");
        taken += usize::from(status == 202);
    }
    // On a busy machine the flood lasts longer than the first requests, and others follow them.
    let lives = 1 + begun.elapsed().as_secs() / REQUEST_LIFE.as_secs();
    assert!((16..=16 * lives as usize).contains(&taken), "one client: {taken}");
    eventually("they are asked", || (seen.load(Ordering::SeqCst) >= 10).then_some(()));
    // While none of them answers, an honest subscriber is accepted and gets new entries.
    let honest = Subscriber::start(true);
    assert_eq!(subscribe("192.0.2.1", &honest.callback()), 202);
    eventually("it is asked", || (!honest.modes().is_empty()).then_some(()));
    let mut n_items = 2;
    eventually("a push", || {
        n_items += 1;
        publisher.set("/news", rss_of("news", 0..n_items));
        instance.run(&["feed", "poll", "1", "--json"]).ok();
        (!honest.pushes().is_empty()).then_some(())
    });
    assert_eq!(most.load(Ordering::SeqCst), 1, "one request at a time to each host");
    assert!(seen.load(Ordering::SeqCst) <= 2 * taken, "each callback is asked twice at most");
}

#[test]
fn a_hub_that_sends_too_much_is_told_to_wait_and_nothing_is_lost() {
    let hub = Hub::start();
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    let program = Reachable::start("[defaults]\npolicy = \"fix:1h\"\nalpha = \"1s\"\n");
    program.add(&hub.url("/feed"));
    let wish = hub.wish(0);
    wish.confirm();
    // Everything that was published, as the next poll finds it.
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..100)));
    let push = |body: &str| wish.push_signed(body, Some(&signature(&wish.secret, body)));
    let filled = |number: usize| {
        let filling = format!("<!--{}--></rss>", "x".repeat(3_900_000));
        hub.rss("/hub", "/feed", number..number + 1).replace("</rss>", &filling)
    };
    assert_eq!([push(&filled(2)), push(&filled(3)), push(&filled(4))], [202, 202, 429]);
    let few = (5..100).map(|n| push(&hub.rss("/hub", "/feed", n..n + 1)));
    let few: Vec<u16> = few.collect();
    assert!(few.contains(&429), "sixty within some minutes: {few:?}");
    let n_taken = few.iter().filter(|status| **status == 202).count();
    assert!((1..=58).contains(&n_taken), "two long ones came before: {few:?}");
    // The accepted pushes are stored, and a poll brings the entries of the refused ones.
    eventually("everything is there", || (program.titles().len() == 100).then_some(()));
}
