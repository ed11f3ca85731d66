//! Logs for programs: one JSON object on each line, without secrets.

use serde_json::Value;

use crate::documents::rss;
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::Response;

#[test]
fn json_lines_carry_level_and_message_and_no_secret() {
    let publisher = Publisher::start(1);
    publisher.set("/f?token=t0ken", rss("f", 2));
    publisher.set_answer("/bad?token=t0ken", Response::new(500));
    let instance = Instance::new();
    for path in ["/f", "/bad"] {
        let host = format!("{}:{}", publisher.addresses[0], publisher.server.port);
        let url = format!("http://me:s3cretpw@{host}{path}?token=t0ken");
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    }
    let args = ["run", "--log-format", "json", "--allow-private", "--domain-gap", "0s"];
    let mut daemon = instance.daemon_logging("debug", &args[1..]).ready();
    eventually("both feeds are polled", || {
        instance.feeds().iter().all(|f| !f["last_poll"].is_null()).then_some(())
    });
    assert_eq!(daemon.signal("TERM").code(), Some(0));
    let log = daemon.log();
    assert!(!log.contains("s3cretpw") && !log.contains("t0ken"), "{log}");
    assert!(log.contains("token=***"), "the feed that fails is named: {log}");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    for line in &lines {
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
    }
    let says = |level: &str, text: &str| {
        let found = |line: &Value| line["message"].as_str().is_some_and(|m| m.contains(text));
        lines.iter().any(|line| line["level"] == level && found(line))
    };
    assert!(says("INFO", "watching") && says("INFO", "stopping"), "{log}");
    assert!(says("WARN", "contact"), "{log}");
}
