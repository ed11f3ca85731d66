//! Dead files: Rust files that no `mod` line reaches.

use std::collections::{HashMap, HashSet};

use super::code::only_code;
use super::{TextFile, Violation};

pub fn check(files: &[TextFile]) -> Vec<Violation> {
    let sources: HashMap<&str, &str> = files
        .iter()
        .filter(|f| f.path.ends_with(".rs"))
        .map(|f| (f.path.as_str(), f.text.as_str()))
        .collect();
    let mut open: Vec<String> =
        sources.keys().filter(|p| is_root(p)).map(|p| (*p).to_owned()).collect();
    let mut reached: HashSet<String> = open.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Some(text) = sources.get(path.as_str()) else { continue };
        for candidate in children(&path, text) {
            if sources.contains_key(candidate.as_str()) && reached.insert(candidate.clone()) {
                open.push(candidate);
            }
        }
    }
    sources
        .keys()
        .filter(|path| !reached.contains(**path))
        .map(|path| {
            Violation::new(path, 1, "no `mod` line reaches this file; add one or delete it")
        })
        .collect()
}

/// The files at which the compiler starts: libraries, programs, tests, examples, fuzz targets.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] | [.., "build.rs"] => true,
        [.., "src", "bin", _] | [.., "fuzz_targets", _] => true,
        [.., "tests" | "examples" | "benches", file] => file.ends_with(".rs"),
        [.., "tests" | "examples" | "benches", _, "main.rs"] => true,
        _ => false,
    }
}

/// The files that the `mod` lines of a file may mean.
fn children(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".rs");
    let own =
        if is_root(path) || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut found = Vec::new();
    for (line, code) in text.lines().zip(only_code(text).lines()) {
        if let Some(target) = line.trim().strip_prefix("#[path = \"") {
            found.push(format!("{folder}/{}", target.trim_end_matches("\"]")));
        }
        let declaration = code.trim().trim_end_matches(';');
        let mut words = declaration.split_whitespace().rev();
        if let (Some(name), Some("mod"), true) = (words.next(), words.next(), code.contains(';')) {
            found.push(format!("{own}/{name}.rs"));
            found.push(format!("{own}/{name}/mod.rs"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_mod_line_names_is_dead() {
        let file =
            |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("c/src/lib.rs", "pub mod a;\nmod b;\n// mod dead;\n"),
            file("c/src/a.rs", "pub(crate) mod inner;\n"),
            file("c/src/a/inner.rs", ""),
            file("c/src/b/mod.rs", "mod deep;\n"),
            file("c/src/b/deep.rs", ""),
            file("c/src/dead.rs", ""),
            file("c/tests/it/main.rs", "mod t;\n"),
            file("c/tests/it/t.rs", ""),
        ];
        let dead: Vec<String> = check(&files).into_iter().map(|f| f.file).collect();
        assert_eq!(dead, ["c/src/dead.rs"]);
    }
}
