//! Accounts and tokens from the command line, seen by a daemon that runs.

use std::process::Stdio;

use crate::program::{Instance, finish};
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
    assert!(daemon.log().contains("tidings user add NAME"), "{}", daemon.log());
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
