//! Compares the imports of our crates with the table in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{TextFile, Violation};

/// The document that holds the table.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// The header of the table, by which it is found.
const TABLE_HEADER: &str = "| crate | duty | may import (ours) |";

/// The tools of the repository are not part of the program and import none of it.
const TOOLS: &str = "xtask";

/// Each crate with the crates of ours that it may import.
type ImportTable = BTreeMap<String, BTreeSet<String>>;

/// Tests may import what the program may not: the engine is run against the lab's world, and an
/// example judges suggestions by lists of feeds.
const TESTS_ALSO: [(&str, &str); 3] = [("engine", "lab"), ("api", "engine"), ("suggest", "parse")];

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

pub fn check(metadata: &Value, files: &[TextFile]) -> Vec<Violation> {
    let document = files.iter().find(|file| file.path == DOCUMENT);
    let table = document.map(|file| table(&file.text)).unwrap_or_default();
    let mut violations = Vec::new();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: Vec<&str> = packages.filter_map(|package| package["name"].as_str()).collect();
    for name in packages.iter().filter(|name| !table.contains_key(**name)) {
        let what = format!("crate `{name}` is not in the import table of {DOCUMENT}; add it");
        violations.push(Violation::new(&manifest(name), 1, what));
    }
    let is_known = |name: &String| name == TOOLS || packages.contains(&name.as_str());
    for name in table.keys().chain(table.values().flatten()).filter(|name| !is_known(name)) {
        let what = format!("the import table names `{name}`, which is not a crate; correct it");
        violations.push(Violation::new(DOCUMENT, 1, what));
    }
    for import in imports(metadata).iter().filter(|i| i.ours && !is_allowed(i, &table)) {
        let what = format!(
            "`{}` may not import `{}` (import table in {DOCUMENT}); move the code to where both \
             may reach it",
            import.package, import.name
        );
        violations.push(Violation::new(&manifest(import.package), 1, what));
    }
    violations
}

/// Reads the table of the document. `all above` and `everything` stand for all crates in the rows
/// before.
fn table(document: &str) -> ImportTable {
    let mut table = ImportTable::from([(TOOLS.to_owned(), BTreeSet::new())]);
    let mut above = BTreeSet::new();
    let lines = document.lines().skip_while(|line| !line.starts_with(TABLE_HEADER));
    for line in lines.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, may, ..] = cells.as_slice() else { continue };
        let may = match *may {
            "all above" | "everything" => above.clone(),
            "–" => BTreeSet::new(),
            list => list.split(',').map(|name| name.trim().to_owned()).collect(),
        };
        let name = name.trim_matches('`').to_owned();
        above.insert(name.clone());
        table.insert(name, may);
    }
    table
}

fn is_allowed(import: &Import<'_>, table: &ImportTable) -> bool {
    table.get(import.package).is_some_and(|may| may.contains(import.name))
        || (import.for_tests && TESTS_ALSO.contains(&(import.package, import.name)))
        // A crate may name itself, to switch a feature on for its own tests.
        || (import.for_tests && import.package == import.name)
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

    const TABLE: &str = "Text.\n\n| crate | duty | may import (ours) | deliberately not there |\n\
                         |---|---|---|---|\n| `feed` | words | – | I/O |\n\
                         | `lab` | worlds | feed | – |\n| `store` | rows | feed | – |\n\
                         | `engine` | all | all above | – |\n\nText.";

    #[track_caller]
    fn check_import(package: &str, import: &str, kind: Option<&str>, expect: &[&str]) {
        let file = TextFile { path: DOCUMENT.to_owned(), text: TABLE.to_owned() };
        let mut workspace = workspace(package, import, kind);
        let others = ["feed", "lab", "store", "engine"].into_iter().filter(|name| *name != package);
        for name in others {
            workspace["packages"].as_array_mut().unwrap().push(serde_json::json!({"name": name}));
        }
        let violations: Vec<String> =
            check(&workspace, &[file]).iter().map(Violation::to_string).collect();
        assert_eq!(violations.len(), expect.len(), "{violations:?}");
        for (violation, part) in violations.iter().zip(expect) {
            assert!(violation.contains(part), "{violation}");
        }
    }

    #[test]
    fn a_crate_imports_only_what_its_row_names() {
        check_import("engine", "store", None, &[]);
        check_import("store", "feed", None, &[]);
        check_import("store", "lab", None, &["`store` may not import `lab`"]);
        check_import("feed", "store", Some("dev"), &["`feed` may not import `store`"]);
    }

    #[test]
    fn only_the_tests_of_the_api_import_the_engine() {
        let file = TextFile { path: DOCUMENT.to_owned(), text: String::new() };
        let n_violations =
            |kind| check(&workspace("api", "engine", kind), std::slice::from_ref(&file)).len();
        assert_eq!(n_violations(None), n_violations(Some("dev")) + 1);
    }

    #[test]
    fn the_table_and_the_workspace_name_the_same_crates() {
        check_import("reader", "feed", None, &["`reader` is not in the", "`reader` may not"]);
        let text = TABLE.replace("| feed | – |", "| food | – |");
        let file = TextFile { path: DOCUMENT.to_owned(), text };
        let workspace = serde_json::json!({"packages": [
            {"name": "feed"}, {"name": "lab"}, {"name": "store"}, {"name": "engine"}]});
        let violations = check(&workspace, &[file]);
        assert!(violations.iter().all(|v| v.to_string().contains("`food`, which is not")));
        assert_eq!(violations.len(), 2, "{violations:?}");
    }
}
