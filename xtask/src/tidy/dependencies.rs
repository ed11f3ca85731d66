//! Checks that every dependency has a sentence in docs/notes/dependencies.md, and that every
//! sentence has a dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Violation;
use super::imports::imports;

const NOTE: &str = "docs/notes/dependencies.md";

/// Large libraries. A second copy of one would make the build much slower.
const BIG: [&str; 8] =
    ["hyper", "tokio", "rustls", "ring", "html5ever", "syn", "icu_properties_data", "zstd-sys"];

pub fn check(root: &Path, metadata: &Value) -> Result<Vec<Violation>> {
    let note = std::fs::read_to_string(root.join(NOTE)).unwrap_or_default();
    let manifest =
        std::fs::read_to_string(root.join("Cargo.toml")).context("reading Cargo.toml")?;
    let manifest: toml::Table = manifest.parse().context("Cargo.toml is not TOML")?;
    let declared = declared(&manifest);
    let used: BTreeSet<&str> =
        imports(metadata).iter().filter(|i| !i.ours).map(|i| i.name).collect();
    Ok(compare(&declared, &used, &sentences(&note)))
}

/// The libraries of `[workspace.dependencies]` that are not ours.
fn declared(manifest: &toml::Table) -> BTreeSet<String> {
    let table = manifest
        .get("workspace")
        .and_then(|w| w.get("dependencies"))
        .and_then(toml::Value::as_table);
    let is_ours = |value: &toml::Value| value.get("path").is_some();
    table.into_iter().flatten().filter(|(_, v)| !is_ours(v)).map(|(k, _)| k.clone()).collect()
}

/// Name → line and text, from lines of the form ``- `name`: why it is here.``
fn sentences(note: &str) -> BTreeMap<&str, (usize, &str)> {
    let lines = note.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let (name, text) = line.strip_prefix("- `")?.split_once("`:")?;
            Some((name, (index + 1, text.trim())))
        })
        .collect()
}

fn compare(
    declared: &BTreeSet<String>,
    used: &BTreeSet<&str>,
    sentences: &BTreeMap<&str, (usize, &str)>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in declared {
        if !sentences.contains_key(name.as_str()) {
            let what = format!("`{name}` has no sentence; add \"- `{name}`: why it is here.\"");
            violations.push(Violation::new(NOTE, 1, what));
        }
        if !used.contains(name.as_str()) {
            let what = format!("no crate uses `{name}`; take it out of [workspace.dependencies]");
            violations.push(Violation::new("Cargo.toml", 1, what));
        }
    }
    for name in used.iter().filter(|name| !declared.contains(**name)) {
        let what = format!("`{name}` is used by a crate; declare it in [workspace.dependencies]");
        violations.push(Violation::new("Cargo.toml", 1, what));
    }
    for (name, (line, text)) in sentences {
        if !declared.contains(*name) {
            let what = format!("`{name}` is not a dependency any more; delete its sentence");
            violations.push(Violation::new(NOTE, *line, what));
        }
        if text.split_whitespace().count() < 4 {
            let what = format!("`{name}` needs a whole sentence that says why it is here");
            violations.push(Violation::new(NOTE, *line, what));
        }
    }
    violations
}

/// Reports, for information, which libraries are built in two versions.
pub fn duplicates(root: &Path) -> Result<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["tree", "-d", "--depth", "0", "--prefix", "none", "--offline", "-e", "normal"])
        .current_dir(root)
        .output()
        .context("starting `cargo tree`")?;
    Ok(summary(&String::from_utf8_lossy(&output.stdout)))
}

fn summary(tree: &str) -> String {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, v| v.len() > 1);
    let big: Vec<String> = versions
        .iter()
        .filter(|(name, _)| BIG.contains(name))
        .map(|(name, v)| format!("{name} {}", v.iter().copied().collect::<Vec<_>>().join(" and ")))
        .collect();
    let names = if big.is_empty() { "no big one".to_owned() } else { big.join(", ") };
    format!("tidy: {} libraries are built in several versions; {names}", versions.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_note(declared: &[&str], used: &[&str], note: &str, expect: &[&str]) {
        let declared = declared.iter().map(|s| (*s).to_owned()).collect();
        let violations = compare(&declared, &used.iter().copied().collect(), &sentences(note));
        let shown: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert_eq!(shown.len(), expect.len(), "{shown:?}");
        for (violation, part) in shown.iter().zip(expect) {
            assert!(violation.contains(part), "{violation}");
        }
    }

    #[test]
    fn note_and_manifest_agree() {
        check_note(&["url"], &["url"], "- `url`: parses URLs as browsers do.", &[]);
        check_note(&["url"], &["url"], "", &["`url` has no sentence"]);
        check_note(&[], &[], "\n- `url`: parses URLs as browsers do.", &["dependencies.md:2:"]);
        check_note(&["url"], &["url"], "- `url`: URLs.", &["whole sentence"]);
        check_note(&["a"], &["b"], "- `a`: it is here because.", &["no crate uses", "declare it"]);
    }

    #[test]
    fn second_copies_of_big_libraries_are_named() {
        let tree = "hyper v1.0\nhyper v0.14\nitoa v1\nitoa v1\n\n";
        assert!(
            summary(tree)
                .ends_with("1 libraries are built in several versions; hyper v0.14 and v1.0")
        );
    }
}
