//! If every connection fails at once, our network is down: no feed is blamed, and polling resumes
//! when the network is back.

use crate::documents::{opml, rss_of};
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::get;

const DOMAINS: usize = 14;

const CONFIG: &str = "[defaults]\npolicy = \"fix:2s\"\nalpha = \"1s\"\n";

#[test]
fn a_network_that_is_down_blames_no_feed_and_polling_resumes_by_itself() {
    let publisher = Publisher::start(DOMAINS as u32);
    let (addresses, port) = (publisher.addresses.clone(), publisher.server.port);
    let urls: Vec<String> = (0..DOMAINS)
        .map(|i| {
            publisher.set(&format!("/n{i}"), rss_of(&format!("n{i}"), 0..3));
            publisher.server.url(addresses[i], &format!("/n{i}"))
        })
        .collect();
    let instance = Instance::with_config(CONFIG);
    instance.import(&opml(&urls)).ok();
    instance.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]).ok();
    assert_eq!(instance.entries().len(), DOMAINS * 3);

    drop(publisher);
    eventually("the port is free again", || {
        addresses.iter().all(|a| get((*a, port).into(), "/").is_err()).then_some(())
    });
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    // Long enough for several polls of every feed. All of them fail.
    for _ in 0..40 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let blamed: Vec<_> =
            instance.feeds().into_iter().filter(|f| f["state"] != "active").collect();
        // A few may fail before there are enough failures to detect an outage.
        assert!(blamed.len() < DOMAINS * 8 / 10, "blamed: {blamed:#?}");
    }
    eventually("no feed is blamed at the end", || {
        instance.feeds().iter().all(|f| f["state"] == "active").then_some(())
    });

    let publisher = Publisher::start_on(addresses, port);
    for i in 0..DOMAINS {
        publisher.set(&format!("/n{i}"), rss_of(&format!("n{i}"), 0..4));
    }
    eventually("every feed shows its fourth entry", || {
        (instance.entries().len() == DOMAINS * 4).then_some(())
    });
    drop(daemon);
}

#[test]
fn one_server_that_is_down_is_blamed_alone() {
    let publisher = Publisher::start(12);
    let mut urls: Vec<String> = (0..12)
        .map(|i| {
            publisher.set(&format!("/o{i}"), rss_of(&format!("o{i}"), 0..2));
            publisher.server.url(publisher.addresses[i], &format!("/o{i}"))
        })
        .collect();
    urls.push(format!("http://{}:9/feed", crate::program::silent_address()));
    let instance = Instance::new();
    instance.import(&opml(&urls)).ok();
    instance.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]);
    let feeds = instance.feeds();
    let down = feeds.iter().find(|f| f["url"] == urls[12].as_str()).unwrap();
    assert_eq!(down["state"], "backing-off", "{down}");
    assert!(down["error"].as_str().unwrap().to_lowercase().contains("refused"), "{down}");
    assert_eq!(feeds.iter().filter(|f| f["state"] == "active").count(), 12);
}
