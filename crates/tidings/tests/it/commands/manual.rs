//! Manual pages, completions and the reference of the configuration, as the program prints them.

use std::process::Command;

use crate::needed::missing;
use crate::program::{Instance, path_text};

/// Returns whether a tool is installed. Without it the test is skipped, except under CI.
fn has(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
    let found = found.is_ok_and(|out| out.status.success());
    if !found {
        missing(&format!("the program {tool}"));
    }
    found
}

#[test]
fn every_command_has_a_page_that_renders_without_a_warning() {
    let instance = Instance::new();
    let page = instance.run(&["man"]).ok().stdout;
    assert!(page.starts_with(".ie") || page.contains(".TH tidings 1"), "{page}");
    let folder = instance.home.path().join("man");
    instance.run(&["man", "--out", path_text(&folder)]).ok();
    for name in ["tidings", "tidings-run", "tidings-backup", "tidings-feed-add"] {
        assert!(folder.join(format!("{name}.1")).exists(), "{name}");
    }
    if !has("groff") {
        return;
    }
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let args = ["-man", "-ww", "-z", "-Tutf8", "-K", "utf8"];
        let out = Command::new("groff").args(args).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && said.is_empty(), "{}: {said}", path.display());
    }
}

#[test]
fn completions_name_the_commands_and_parse() {
    let instance = Instance::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = instance.run(&["completions", shell]).ok().stdout;
        for word in ["backup", "discover", "log-format"] {
            assert!(script.contains(word), "{shell} knows no {word}");
        }
        if !has(shell) {
            continue;
        }
        let path = instance.write(&format!("tidings.{shell}"), &script);
        let parsed = Command::new(shell).arg("-n").arg(path).output().unwrap();
        let said = String::from_utf8_lossy(&parsed.stderr);
        assert!(parsed.status.success() && said.is_empty(), "{shell}: {said}");
    }
    instance.run(&["completions", "telepathy"]).says(2, &["telepathy", "bash"]);
}

#[test]
fn a_configuration_is_looked_at_without_starting_anything() {
    let good = Instance::with_config("contact = \"https://example.org/\"\n");
    assert!(good.run(&["config", "check"]).ok().stdout.contains("config.toml: sound"));
    let bad = Instance::with_config("[limits]\nitmes = 5\n");
    bad.run(&["config", "check"]).says(2, &["config.toml:2:1:", "itmes", "items"]);
    assert!(!good.data.exists());
    assert!(Instance::new().run(&["config", "reference"]).ok().stdout.contains("`domain_gap`"));
}
