//! Every public function of the store is a part of the histories, or is named here with the reason.

use std::collections::BTreeSet;
use std::path::Path;

/// Functions that no history calls.
const LEFT_OUT: &[(&str, &[&str])] = &[
    (
        "only a shared database has machines and a seat",
        &["ask_machine", "beat_machines", "leave_machine", "machines", "seat"],
    ),
    ("they open, watch or remove a store", &["open", "wipe"]),
    (
        "they say something about one process or one server",
        &[
            "epoch",
            "inspect_server",
            "instance",
            "is_lost",
            "location",
            "metrics",
            "signals",
            "store_figures",
            "trouble",
        ],
    ),
];

#[test]
fn every_public_function_is_called_or_left_out_for_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut functions = BTreeSet::new();
    for text in texts(&folder.join("src")) {
        functions.extend(public_functions(&text));
    }
    assert!(functions.len() > 300, "the sources are read: {}", functions.len());
    let calls = texts(&folder.join("tests/it/differential")).concat();
    let is_called = |name: &str| calls.contains(&format!(".{name}("));
    let left_out: BTreeSet<&str> = LEFT_OUT.iter().flat_map(|(_, names)| *names).copied().collect();
    let missing: Vec<&String> =
        functions.iter().filter(|name| !is_called(name) && !left_out.contains(&***name)).collect();
    assert!(missing.is_empty(), "no history calls {missing:?}");
    let needless: Vec<&&str> =
        left_out.iter().filter(|name| is_called(name) || !functions.contains(**name)).collect();
    assert!(needless.is_empty(), "left out for nothing: {needless:?}");
}

/// The texts of all source files below a folder.
fn texts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => texts(&path),
            false => vec![std::fs::read_to_string(&path).unwrap()],
        })
        .collect()
}

/// The public functions of `Store` that a source file declares. The block of an `impl` ends with a
/// bracket at the beginning of a line.
fn public_functions(text: &str) -> Vec<String> {
    let blocks = text.split("\nimpl Store {").skip(1);
    let lines = blocks.flat_map(|block| block.split("\n}").next().unwrap_or_default().lines());
    let declared = lines.filter_map(|line| {
        let rest = line.strip_prefix("    pub ")?;
        let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    });
    declared.map(str::to_owned).collect()
}
