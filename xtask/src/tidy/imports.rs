//! Compares the imports of our crates with the table in ARCHITECTURE.md.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Violation;

/// A crate and what it may import of ours. A crate that is missing here is a violation.
const TABLE: [(&str, &[&str]); 14] = [
    ("feed", &[]),
    ("polling", &["feed"]),
    ("query", &["feed"]),
    ("parse", &["feed"]),
    ("article", &["feed"]),
    ("fetch", &["feed"]),
    ("dispatch", &["feed"]),
    ("store", &["feed"]),
    ("lab", &["feed", "polling"]),
    ("engine", &["feed", "polling", "query", "parse", "fetch", "dispatch", "store"]),
    ("api", &["feed", "polling", "query", "store", "dispatch", "parse", "fetch"]),
    ("demo", &["feed", "parse"]),
    (
        "tidings",
        &[
            "feed", "polling", "query", "parse", "article", "fetch", "dispatch", "store", "lab",
            "engine", "api", "demo",
        ],
    ),
    ("xtask", &[]),
];

/// Tests may import what the program may not: the engine is run against the lab's world.
const TESTS_ALSO: [(&str, &str); 2] = [("engine", "lab"), ("api", "engine")];

/// Reads Cargo's description of the workspace's own packages.
pub fn metadata(root: &Path) -> Result<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .context("starting `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("reading what `cargo metadata` printed")
}

/// A dependency of one of our packages.
pub struct Import<'a> {
    pub package: &'a str,
    pub name: &'a str,
    pub ours: bool,
    pub for_tests: bool,
}

pub fn imports(metadata: &Value) -> Vec<Import<'_>> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            found.push(Import {
                package: package["name"].as_str().unwrap_or(""),
                name: dependency["name"].as_str().unwrap_or(""),
                ours: dependency["path"].is_string(),
                for_tests: dependency["kind"] == "dev",
            });
        }
    }
    found
}

pub fn check(metadata: &Value) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or("");
        if !TABLE.iter().any(|(known, _)| *known == name) {
            let what = format!(
                "crate `{name}` is not in the import table; add it to ARCHITECTURE.md and xtask"
            );
            violations.push(Violation::new(&manifest(name), 1, what));
        }
    }
    for import in imports(metadata).iter().filter(|i| i.ours && !is_allowed(i)) {
        let what = format!(
            "`{}` may not import `{}` (import table in ARCHITECTURE.md); move the code to where \
             both may reach it",
            import.package, import.name
        );
        violations.push(Violation::new(&manifest(import.package), 1, what));
    }
    violations
}

fn is_allowed(import: &Import<'_>) -> bool {
    let row = TABLE.iter().find(|(name, _)| *name == import.package);
    row.is_some_and(|(_, may)| may.contains(&import.name))
        || (import.for_tests && TESTS_ALSO.contains(&(import.package, import.name)))
}

fn manifest(package: &str) -> String {
    if package == "xtask" {
        "xtask/Cargo.toml".to_owned()
    } else {
        format!("crates/{package}/Cargo.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(package: &str, import: &str, kind: Option<&str>) -> Value {
        serde_json::json!({"packages": [{"name": package, "dependencies": [
            {"name": import, "path": "somewhere", "kind": kind}]}]})
    }

    #[track_caller]
    fn check_import(package: &str, import: &str, kind: Option<&str>, n_violations: usize) {
        assert_eq!(check(&workspace(package, import, kind)).len(), n_violations);
    }

    #[test]
    fn nothing_points_left() {
        check_import("engine", "polling", None, 0);
        check_import("store", "polling", None, 1);
        check_import("polling", "store", None, 1);
        check_import("feed", "parse", Some("dev"), 1);
        check_import("lab", "store", None, 1);
    }

    #[test]
    fn only_the_tests_of_the_engine_import_the_lab() {
        check_import("engine", "lab", None, 1);
        check_import("engine", "lab", Some("dev"), 0);
    }

    #[test]
    fn a_crate_that_the_table_does_not_know_is_a_fault() {
        check_import("reader", "feed", None, 2);
    }
}
