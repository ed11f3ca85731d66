//! Webhooks and files as their receivers see them: every match at least once, in order, signed.
//! Receivers fail, hang up and answer slowly, and the program is killed at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::documents::rss_of;
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::receiver::{Mood, Receiver};

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];
/// On PostgreSQL, files need a folder that the operator names.
const FILES: &str = "[delivery]\nfolder = \"deliveries\"\n";

fn apply(instance: &Instance, statement: &str) {
    let file = instance.write("d.query", statement);
    instance.run(&["query", "apply", path_text(&file)]).ok();
}

fn expected(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("Item {i} of news")).collect()
}

#[test]
fn every_match_arrives_in_order_with_its_key_and_signature() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..5));
    let receiver = Receiver::start(|_| Mood::Takes);
    let keys = "[keys]\nnewsroom = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n";
    let instance = Instance::with_config(&format!("{keys}{FILES}"));
    let (url, hook) = (publisher.url("/news"), receiver.url());
    apply(
        &instance,
        &format!(
            "CREATE FEED News AS RETURN \"{url}\" \
             DELIVER TO WEBHOOK \"{hook}\" SIGNED BY \"newsroom\" \
             DELIVER TO FILE \"news.jsonl\""
        ),
    );
    instance.run(&["run", "--once", FREELY[0], FREELY[1], FREELY[2]]).ok();
    let arrived = receiver.arrived();
    assert_eq!(receiver.titles(), expected(5));
    assert_eq!(arrived.len(), 5, "nothing went wrong, so nothing is repeated");
    for one in &arrived {
        let json = one.json();
        assert_eq!(one.id, json["key"]);
        assert_eq!(one.id, format!("News/{}", json["entry"]["id"]));
        assert!(one.signature.starts_with("v1,") && one.signature.len() == 47, "{one:?}");
        assert!(one.timestamp.parse::<u64>().is_ok());
    }
    let file = instance.data.join("deliveries/news.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let keys: Vec<&Value> = lines.iter().map(|line| &line["key"]).collect();
    assert_eq!(keys.len(), 5);
    assert!(arrived.iter().zip(keys).all(|(one, key)| one.id == *key));
    let state = instance.run(&["query", "deliveries", "News", "--json"]).ok().json();
    assert!(state.as_array().unwrap().iter().all(|d| d["waiting"] == 0), "{state}");
    let all = instance.run(&["query", "deliveries", "--json"]).ok().json();
    assert_eq!((&all, &all[0]["query"]), (&state, &"News".into()), "without a name those of all");
    instance.run(&["query", "deliveries", "--replay"]).says(2, &["NAME"]);
}

#[test]
fn a_receiver_in_trouble_gets_everything_in_order_once_it_is_well() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..4));
    // The second is refused once; the third is taken without an answer.
    let receiver = Receiver::start(|n| match n {
        1 => Mood::Refuses(503),
        3 => Mood::Silent,
        5 => Mood::Slow(300),
        _ => Mood::Takes,
    });
    let instance = Instance::new();
    let (url, hook) = (publisher.url("/news"), receiver.url());
    apply(
        &instance,
        &format!("CREATE FEED News AS RETURN \"{url}\" DELIVER TO WEBHOOK \"{hook}\""),
    );
    let _daemon = instance.daemon(&FREELY).ready();
    eventually("all have arrived", || (receiver.titles().len() == 4).then_some(()));
    assert_eq!(receiver.titles(), expected(4));
    eventually("the repeat has arrived", || (receiver.arrived().len() == 5).then_some(()));
    let ids: Vec<String> = receiver.arrived().into_iter().map(|one| one.id).collect();
    let repeats = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(repeats, 1, "the one without an answer came twice under one key: {ids:?}");
}

#[test]
fn killed_at_any_moment_every_match_arrives_in_order() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..10));
    // Every kind of failure, repeatedly: some are under way whenever the program is killed.
    let hung = Arc::new(AtomicBool::new(false));
    let hangs = Arc::clone(&hung);
    let receiver = Receiver::start(move |n| match n % 40 {
        3 => Mood::Silent,
        11 => Mood::Refuses(503),
        19 => Mood::Slow(200),
        29 if !hangs.swap(true, Ordering::SeqCst) => Mood::Hangs,
        _ => Mood::Slow(3),
    });
    let instance = Instance::with_config(FILES);
    let (url, hook) = (publisher.url("/news"), receiver.url());
    apply(
        &instance,
        &format!(
            "CREATE FEED News AS RETURN \"{url}\" DELIVER TO WEBHOOK \"{hook}\" \
             DELIVER TO FILE \"news.jsonl\""
        ),
    );
    let mut n = 10;
    for round in 0..12_u64 {
        publisher.set("/news", rss_of("news", n - 10..n));
        let mut daemon = instance.daemon(&FREELY).ready();
        instance.run(&["feed", "poll", "1", "--json"]);
        // The kills happen from before the first delivery to after the last one of a round.
        std::thread::sleep(Duration::from_millis(round * 17 % 120));
        daemon.kill();
        n += 8;
    }
    let last = n - 8;
    publisher.set("/news", rss_of("news", last - 10..last));
    let _daemon = instance.daemon(&FREELY).ready();
    instance.run(&["feed", "poll", "1", "--json"]);
    eventually("everything has arrived", || (receiver.titles().len() >= last).then_some(()));
    assert_eq!(receiver.titles(), expected(last));
    assert!(hung.load(Ordering::SeqCst), "one of them hung");
    let file = instance.data.join("deliveries/news.jsonl");
    let titles: Vec<String> = eventually("the file is complete", || {
        let text = std::fs::read_to_string(&file).ok()?;
        let line = |l: &str| serde_json::from_str::<Value>(l).unwrap()["entry"]["title"].clone();
        let titles: Vec<Value> = text.lines().map(line).collect();
        let done = titles.last()?.as_str() == expected(last).last().map(String::as_str);
        done.then(|| titles.iter().map(|t| t.as_str().unwrap().to_owned()).collect())
    });
    // A batch that was written but not recorded is written again. The first occurrences are in
    // order.
    let mut firsts: Vec<&String> = Vec::new();
    for title in &titles {
        if !firsts.contains(&title) {
            firsts.push(title);
        }
    }
    assert_eq!(
        firsts,
        expected(last).iter().collect::<Vec<_>>(),
        "no line is cut, none is lost, the order holds"
    );
}

#[test]
fn receivers_that_cannot_be_served_are_refused() {
    let instance = Instance::new();
    let refuse = |deliver: &str, why: &[&str]| {
        let statement = format!("CREATE FEED X AS RETURN ALL FEEDS DELIVER TO {deliver}");
        let file = instance.write("r.query", statement);
        instance.run(&["query", "apply", path_text(&file)]).says(2, why);
    };
    refuse("WEBHOOK \"https://a.org/\" SIGNED BY \"none\"", &["no key `none`", "[keys]"]);
    refuse("EMAIL \"ann@example.org\" EVERY DAY", &["no mail server", "[mail]"]);
    refuse("WEBHOOK \"http://127.0.0.1:8080/x\"", &["this program itself"]);
    refuse("FILE \"../x\"", &["r.query:1:", "inside the data folder"]);
}

#[test]
fn nothing_that_matches_is_sent_back_to_ourselves_however_it_is_chained() {
    let instance = Instance::with_config("public_url = \"https://news.example.org/tidings/\"\n");
    for own in ["http://localhost:8080/x", "http://[::1]:8080/", "https://news.example.org/hook"] {
        let chain = format!(
            "CREATE FEED Everything AS RETURN ALL FEEDS;\n\
             CREATE FEED Again AS RETURN FEED Everything PUBLISH;\n\
             CREATE FEED Back AS RETURN FEED Again DELIVER TO WEBHOOK \"{own}\""
        );
        let file = instance.write("chain.query", chain);
        let why = ["Back", "this program itself"];
        instance.run(&["query", "apply", path_text(&file)]).says(2, &why);
        let list = instance.run(&["query", "list", "--json"]).ok().json();
        assert_eq!(list, serde_json::json!([]), "a file is refused as a whole");
    }
}

#[test]
fn a_name_that_leads_to_ourselves_costs_one_request_at_a_time_and_ends_as_dead_letters() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..3));
    let listen = crate::program::free_address();
    let alias = format!("[resolve]\n\"alias.example.org\" = \"{}\"\n", listen.ip());
    let instance = Instance::with_config(&format!("allow_private = true\n{alias}"));
    let (url, port) = (publisher.url("/news"), listen.port());
    apply(
        &instance,
        &format!(
            "CREATE FEED All AS RETURN ALL FEEDS; CREATE FEED Back AS RETURN FEED All | \"{url}\" \
             DELIVER TO WEBHOOK \"http://alias.example.org:{port}/websub/hub\""
        ),
    );
    let _daemon = instance.daemon_at(listen, &FREELY).ready();
    let state = eventually("it is refused", || {
        let state = instance.run(&["query", "deliveries", "Back", "--json"]).ok().json();
        state[0]["error"].is_string().then_some(state)
    });
    assert_eq!(state[0]["waiting"], 3, "it waits for its retry: {state}");
    assert_eq!(instance.entries().len(), 3, "what is refused makes no entries");
}
