//! Rules act once on each entry, also if the program is killed at any moment.

use std::time::Duration;

use crate::documents::rss_of;
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::wire;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];
const N: usize = 1500;

fn page(daemon: &Daemon, path: &str) -> String {
    wire::get(daemon.listen, path).unwrap().1
}

fn n_acted(daemon: &Daemon) -> usize {
    let page = page(daemon, "/rules");
    let cell = page.split("data-name=\"Acted on\">").nth(1).unwrap_or_default();
    let digits: String =
        cell.split('<').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[test]
fn a_rule_acts_once_on_each_entry_though_the_program_is_killed() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..1));
    let instance = Instance::new();
    let mut daemon = instance.daemon(&FREELY).ready();
    instance.run(&["feed", "add", &publisher.url("/news")]).ok();
    let account = page(&daemon, "/account");
    let key = account.split("name=\"form_key\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap();
    let form = format!("form_key={key}&state=on&text=CREATE+RULE+a+ON+ALL+FEEDS+DO+STAR");
    assert_eq!(wire::post(daemon.listen, "/rules", &form).unwrap(), 303);
    publisher.set("/news", rss_of("news", 0..N + 1));
    instance.run(&["feed", "poll", "1"]).ok();
    let mut n_kills = 0;
    // 1,500 entries are fifteen steps; each life sees some of them.
    loop {
        daemon.kill();
        n_kills += 1;
        daemon = instance.daemon(&FREELY).ready();
        std::thread::sleep(Duration::from_millis(30 * n_kills));
        if n_acted(&daemon) >= N || n_kills == 20 {
            break;
        }
    }
    eventually("the rule has seen everything", || (n_acted(&daemon) >= N).then_some(()));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(n_acted(&daemon), N, "once for each entry, after {n_kills} kills");
}
