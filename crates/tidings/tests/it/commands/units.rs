//! The files in `operating/`: the units are valid and call the program correctly.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Instance, path_text};

fn operating() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operating")
}

/// Returns the words after the program's name in a line, up to the end of a shell's quotes.
fn words(line: &str) -> Vec<&str> {
    let call = line.split("/usr/local/bin/tidings").nth(1).unwrap_or_default();
    call.split_whitespace().take_while(|word| !word.contains('(')).collect()
}

#[test]
fn units_call_commands_and_flags_that_exist() {
    for unit in ["tidings.service", "tidings@.service", "tidings-backup.service"] {
        let text = std::fs::read_to_string(operating().join(unit)).unwrap();
        let line = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        // A unit for several roles is started with the name of one.
        let line = line.replace("%i", "web");
        let mut args = words(&line);
        assert!(args.len() > 2, "{line}");
        args.push("--help");
        let ended = Instance::new().command_as_written(&args);
        assert_eq!(ended.code, Some(0), "{unit}: {ended:?}");
    }
    let container = std::fs::read_to_string(operating().join("Containerfile")).unwrap();
    let line = container.lines().find_map(|line| line.strip_prefix("CMD ")).unwrap();
    let mut args: Vec<String> = serde_json::from_str(line).unwrap();
    args.push("--help".to_owned());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(Instance::new().command_as_written(&args).code, Some(0));
}

#[test]
fn the_examples_for_several_machines_are_sound() {
    let folder = operating().join("machines");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in &files {
        let args = ["config", "check", "--config", path_text(file)];
        Instance::new().command_as_written(&args).ok();
    }
    let text = std::fs::read_to_string(operating().join("compose-machines.yaml")).unwrap();
    let calls = text.lines().filter_map(|line| line.trim().strip_prefix("command: "));
    let mut n_roles = 0;
    for call in calls.filter(|call| call.contains("\"run\"")) {
        let mut args: Vec<String> = serde_json::from_str(call).unwrap();
        args.push("--help".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert_eq!(Instance::new().command_as_written(&args).code, Some(0), "{call}");
        let name = args.iter().find_map(|arg| arg.strip_prefix("/etc/tidings/")).unwrap();
        // A variable chooses among the terminals.
        let name = name.replace("${TIDINGS_TERMINAL:-terminal-1}", "terminal-1");
        assert!(files.iter().any(|file| file.ends_with(&name)), "there is no {name}");
        n_roles += 1;
    }
    assert_eq!(n_roles, 3, "controller, terminal, web");
    let (_, terminal) = text.split_once("\n  terminal:").unwrap();
    let (terminal, _) = terminal.split_once("\n  web:").unwrap();
    let mounts = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
        lines.filter(|line| line.starts_with("./machines")).map(str::to_owned).collect()
    };
    assert!(!mounts(&text).iter().any(|mount| mount.starts_with("./machines:")), "every secret");
    let own = "./machines/${TIDINGS_TERMINAL:-terminal-1}.";
    let is_own = |mount: &String| mount.starts_with(own) || mount.starts_with("./machines/ca.crt:");
    assert_eq!(mounts(terminal).len(), 3);
    assert!(mounts(terminal).iter().all(is_own), "{:?}", mounts(terminal));
}

#[test]
fn systemd_finds_no_fault_with_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return crate::needed::missing("the program systemd-analyze");
    }
    let instance = Instance::new();
    for unit in
        ["tidings.service", "tidings@.service", "tidings-backup.service", "tidings-backup.timer"]
    {
        let text = std::fs::read_to_string(operating().join(unit)).unwrap();
        // The check requires that the program exists.
        let path = instance.write(unit, text.replace("/usr/local/bin/tidings", "/bin/true"));
        let found = Command::new("systemd-analyze").arg("verify").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&found.stderr);
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("tidings")).collect();
        assert!(ours.is_empty(), "{unit}: {ours:?}");
    }
}

#[test]
fn nginx_passes_on_the_largest_list_that_is_taken() {
    let text = std::fs::read_to_string(operating().join("nginx.conf")).unwrap();
    let (_, rest) = text.split_once("client_max_body_size ").expect("nginx takes 1 MB by itself");
    let megabytes: u32 = rest.split('m').next().unwrap().parse().unwrap();
    assert!(megabytes > 8, "8 MB of OPML are taken; who sends more is told so by us");
}
