//! Accounts and tokens from the command line, used by a running daemon.

use std::process::Stdio;

use crate::program::{Instance, eventually, finish};
use crate::wire::{get, get_with};

fn with_password(instance: &Instance, args: &[&str], password: &str) -> crate::program::Ended {
    let file = instance.write("password", format!("{password}\n"));
    let mut command = instance.command(args);
    command.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    finish(command, "tidings user")
}

#[test]
fn with_the_first_account_everything_needs_a_login() {
    let instance = Instance::new();
    let daemon = instance.daemon(&[]).ready();
    eventually("the log names the command", || {
        daemon.log().contains("tidings user add NAME").then_some(())
    });
    let status = |headers: &str| get_with(daemon.listen, "/metrics", headers).unwrap().0;
    assert_eq!(status(""), 200);
    let weak = with_password(&instance, &["user", "add", "anna", "--password-stdin"], "short");
    weak.says(2, &["8 characters"]);
    with_password(&instance, &["user", "add", "anna", "--password-stdin"], "correct horse").ok();
    let again =
        with_password(&instance, &["user", "add", "Anna", "--password-stdin"], "correct horse");
    again.says(2, &["already"]);
    assert_eq!(status(""), 401);
    let token = instance.run(&["user", "token", "anna", "--label", "phone"]).ok().stdout;
    let bearer = format!("Authorization: Bearer {}\r\n", token.trim());
    assert_eq!(status(&bearer), 200);
    let list = instance.run(&["user", "list", "--json"]).ok().json();
    assert_eq!(list[0]["tokens"][0]["label"], "phone", "{list}");
    instance.run(&["user", "revoke", "anna", "phone"]).ok();
    assert_eq!(status(&bearer), 401);
    instance.run(&["user", "token", "nobody"]).says(2, &["nobody", "user list"]);
    instance.run(&["user", "remove", "anna"]).ok();
    assert_eq!(status(""), 200);
    assert_eq!(get(daemon.listen, "/").unwrap().0, 200);
}

#[test]
fn without_an_account_nothing_but_loopback_is_served() {
    let instance = Instance::new();
    let refused = instance.run(&["run", "--listen", "0.0.0.0:0"]);
    refused.says(2, &["loopback", "tidings user add NAME"]);
}

#[test]
fn doctor_says_who_cannot_come_in_and_whose_password_can_be_read_on_the_way() {
    let advice = |instance: &Instance| {
        let checks = instance.run(&["doctor", "--json"]).json();
        let access = checks.as_array().unwrap().iter().find(|c| c["about"] == "access").cloned();
        access.map(|check| check["says"].as_str().unwrap().to_owned())
    };
    let closed = Instance::with_config("public_url = \"http://news.example.org/\"\n");
    closed.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    assert!(advice(&closed).unwrap().contains("no account"));
    let args = ["user", "add", "anna", "--password-stdin"];
    with_password(&closed, &args, "correct horse").ok();
    assert!(advice(&closed).unwrap().contains("unencrypted to http://news.example.org/"));
    let safe = Instance::with_config("public_url = \"https://news.example.org/\"\n");
    with_password(&safe, &args, "correct horse").ok();
    assert_eq!(advice(&safe), None);
    let local = Instance::new();
    with_password(&local, &args, "correct horse").ok();
    assert_eq!(advice(&local), None, "what stays on this machine is nobody else's");
}

#[test]
fn a_folder_that_is_not_there_is_named_and_not_made() {
    let instance = Instance::new();
    let data = crate::program::path_text(&instance.data).to_owned();
    for args in [
        &["user", "list"][..],
        &["user", "token", "anna"],
        &["user", "revoke", "anna", "phone"],
        &["user", "remove", "anna"],
        &["user", "password", "anna", "--password-stdin"],
    ] {
        instance.run(args).says(1, &[&data, "--data"]);
        assert!(!instance.data.exists(), "{args:?} made a folder");
    }
}
