//! rssCloud in both directions: a cloud tells us that a feed has changed, and our published feeds
//! have a cloud that tells its subscribers.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use url::form_urlencoded;

use crate::documents::rss_of;
use crate::hub::Reachable;
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{self, Next, Response, Server, addresses};

type Form = HashMap<String, String>;

/// The document, and the forms with the paths that they came to.
#[derive(Default)]
struct PartyState {
    document: String,
    heard: Vec<(String, Form)>,
}

/// A server that answers a path with a document, echoes challenges and notes the forms it gets.
struct Party {
    server: Server,
    address: Ipv4Addr,
    state: Arc<Mutex<PartyState>>,
}

impl Party {
    fn start() -> Party {
        let state: Arc<Mutex<PartyState>> = Arc::default();
        let (shared, addresses) = (Arc::clone(&state), addresses(1));
        let server = Server::start(&addresses, move |request, stream| {
            let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
            let asked: Form = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            let mut state = shared.lock().unwrap();
            let answer = if let Some(challenge) = asked.get("challenge") {
                state.heard.push((path.to_owned(), asked.clone()));
                Response::new(200).body(challenge.clone())
            } else if !request.body.is_empty() {
                let form = form_urlencoded::parse(&request.body).into_owned().collect();
                state.heard.push((path.to_owned(), form));
                Response::new(200).body("<notifyResult success=\"true\" msg=\"\"/>")
            } else {
                Response::rss(state.document.clone())
            };
            drop(state);
            answer.send(stream)?;
            Ok(Next::Keep)
        });
        Party { server, address: addresses[0], state }
    }

    /// Sets the document: a feed with these items that names the cloud at `/ping`.
    fn set(&self, range: std::ops::Range<usize>) {
        let cloud = format!(
            "<cloud domain=\"{}\" port=\"{}\" path=\"/ping\" registerProcedure=\"\" \
             protocol=\"http-post\"/>",
            self.address, self.server.port
        );
        let rss = rss_of("news", range).replacen("<channel>", &format!("<channel>{cloud}"), 1);
        self.state.lock().unwrap().document = rss;
    }

    /// The n-th form or challenge that came in.
    #[track_caller]
    fn heard(&self, n: usize) -> (String, Form) {
        eventually("a request comes in", || self.state.lock().unwrap().heard.get(n).cloned())
    }
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

#[test]
fn a_notice_of_a_cloud_brings_the_poll_forward() {
    let party = Party::start();
    party.set(0..2);
    let feed = party.server.url(party.address, "/feed");
    let program = Reachable::start("[defaults]\npolicy = \"fix:1d\"\nalpha = \"1s\"\n");
    program.add(&feed);
    let (path, form) = party.heard(0);
    assert_eq!((path.as_str(), form["url1"].as_str()), ("/ping", feed.as_str()));
    let own = (form["domain"].as_str(), form["port"].as_str(), form["protocol"].as_str());
    let (host, port) = (program.listen.ip().to_string(), program.listen.port().to_string());
    assert_eq!(own, (host.as_str(), port.as_str(), "http-post"));

    // The cloud verifies the callback, for this feed only.
    let callback = &form["path"];
    let ask = |url: &str| {
        let query = encoded(&[("url", url), ("challenge", "ch4llenge")]);
        wire::get(program.listen, &format!("{callback}?{query}")).unwrap()
    };
    assert_eq!(ask("http://other.example/").0, 404);
    assert_eq!(ask(&feed), (200, "ch4llenge".to_owned()));
    let why = program.why();
    assert!(why.contains("rssCloud") && why.contains("promised"), "{why}");

    party.set(0..3);
    let stranger = wire::post(program.listen, callback, &encoded(&[("url", "http://x.example/")]));
    assert_eq!(stranger.unwrap(), 404);
    assert_eq!(wire::post(program.listen, callback, &encoded(&[("url", &feed)])).unwrap(), 200);
    eventually("the notice is followed by a poll", || (program.titles().len() == 3).then_some(()));
    let page = wire::get(program.listen, "/feed/1").unwrap().1;
    assert!(page.contains("1 notice"), "{page}");
}

#[test]
fn a_cloud_that_takes_no_posts_is_reported() {
    let publisher = Publisher::start(1);
    let cloud = "<cloud domain=\"rpc.example.org\" port=\"80\" path=\"/RPC2\" \
                 registerProcedure=\"x\" protocol=\"xml-rpc\"/>";
    publisher.set("/c", rss_of("c", 0..1).replacen("<channel>", &format!("<channel>{cloud}"), 1));
    let instance = Instance::new();
    instance.poll_added(&publisher.url("/c"));
    let shown = instance.run(&["feed", "show", "1", "--json"]).ok().json();
    assert_eq!(shown["rss_cloud"], "rpc.example.org:80/RPC2 (xml-rpc)");
    let why = instance.run(&["feed", "why", "1"]).ok().stdout;
    assert!(why.contains("rssCloud"), "{why}");
}

#[test]
fn our_published_feeds_have_a_cloud_that_tells_its_subscribers() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..2));
    let (ours, party) = (Reachable::start(""), Party::start());
    let text = format!("CREATE FEED News AS RETURN \"{}\" PUBLISH", publisher.url("/news"));
    let file = ours.instance.write("w.query", text);
    ours.instance.run(&["query", "apply", path_text(&file)]).ok();
    eventually("the feed is polled", || (ours.titles().len() == 2).then_some(()));
    let (status, rss) = wire::get(ours.listen, "/feeds/News.rss").unwrap();
    let cloud = format!(
        "<cloud domain=\"{}\" port=\"{}\" path=\"/rsscloud/pleaseNotify\" \
         registerProcedure=\"\" protocol=\"http-post\"/>",
        ours.listen.ip(),
        ours.listen.port()
    );
    assert!(status == 200 && rss.contains(&cloud), "{rss}");
    let atom = wire::get(ours.listen, "/feeds/News.atom").unwrap().1;
    assert!(!atom.contains("pleaseNotify"), "only RSS has a word for it");

    let topic = format!("http://{}/feeds/News.rss", ours.listen);
    let address: SocketAddr = (party.address, party.server.port).into();
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let wish = |path: &str, domain: &[(&'static str, &str)]| {
        let mut pairs = vec![("notifyProcedure", ""), ("port", &port), ("path", path)];
        pairs.extend([("protocol", "http-post"), ("url1", topic.as_str())]);
        pairs.extend(domain);
        wire::post(ours.listen, "/rsscloud/pleaseNotify", &encoded(&pairs)).unwrap()
    };
    assert_eq!(wish("/told", &[("domain", &host)]), 200);
    let (path, asked) = party.heard(0);
    assert_eq!((path.as_str(), asked["url"].as_str()), ("/told", topic.as_str()));
    publisher.set("/news", rss_of("news", 0..3));
    ours.instance.poll("1");
    let (path, told) = party.heard(1);
    assert_eq!((path.as_str(), told["url"].as_str()), ("/told", topic.as_str()));
    assert_eq!(told.len(), 1, "a notice holds nothing but the address");
}
