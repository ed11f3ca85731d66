//! The rules of the repository that a machine can check, as violations with a place and a remedy.
//!
//! It reads and reports; it repairs nothing.

mod code;
mod cycles;
mod dependencies;
mod homonyms;
mod imports;
mod mentioned;
mod parsed;
mod prose;
mod reachable;
mod source;
mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One broken rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    file: String,
    line: usize,
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Violation {
        Violation { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// A text file of the repository, its path relative to the root with `/` between folders.
pub struct TextFile {
    path: String,
    text: String,
}

/// Prints every violation and, for information, the libraries that are built twice.
pub fn command(root: &Path) -> Result<bool> {
    let violations = violations(root)?;
    for violation in &violations {
        println!("{violation}");
    }
    eprintln!("{}", dependencies::duplicates(root)?);
    eprintln!("tidy: {} violations", violations.len());
    Ok(violations.is_empty())
}

fn violations(root: &Path) -> Result<Vec<Violation>> {
    let files = files(root)?;
    let metadata = imports::metadata(root)?;
    let mut violations = imports::check(&metadata, &files);
    violations.extend(dependencies::check(root, &metadata)?);
    violations.extend(reachable::check(&files));
    let sources = parsed::sources(&files)?;
    violations.extend(homonyms::check(&sources));
    violations.extend(cycles::check(&sources));
    violations.extend(mentioned::check(&files, &sources));
    for file in &files {
        violations.extend(words::check(file));
        violations.extend(prose::check(file));
        if file.path.ends_with(".rs") {
            violations.extend(source::check(file));
        }
    }
    violations.sort();
    Ok(violations)
}

/// Only texts that people write are read: source, documents, settings. Test data and fuzz corpora
/// come from others.
const SKIPPED_FOLDERS: [&str; 9] = [
    "target",
    "data",
    "corpus",
    "artifacts",
    "tidings-data",
    "tidings-demo",
    "records",
    "vendor",
    "node_modules",
];
const READ_ENDINGS: [&str; 8] = ["rs", "md", "toml", "html", "css", "js", "sql", "sh"];
const READ_NAMES: [&str; 2] = ["Makefile", "run"];

fn files(root: &Path) -> Result<Vec<TextFile>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let list =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in list {
            let path = entry?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("").to_owned();
            if path.is_dir() {
                let hidden = name.starts_with('.') && name != ".ci";
                if !hidden && !SKIPPED_FOLDERS.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if is_read(&path, &name) {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("{} is not UTF-8 text", path.display()))?;
                found.push(TextFile { path: relative(root, &path), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn is_read(path: &Path, name: &str) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    READ_ENDINGS.contains(&ending) || READ_NAMES.contains(&name)
}

fn relative(root: &Path, path: &Path) -> String {
    let parts: PathBuf = path.strip_prefix(root).unwrap_or(path).to_path_buf();
    parts.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = violations(&crate::root()).unwrap();
        let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(list.is_empty(), "{} violations:\n{}", list.len(), list.join("\n"));
    }

    #[test]
    fn folders_of_data_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in
            [("a/src/lib.rs", "x"), ("a/tests/data/b.rs", "y"), ("target/c.rs", "z")]
        {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found: Vec<String> = files(dir.path()).unwrap().into_iter().map(|f| f.path).collect();
        assert_eq!(found, ["a/src/lib.rs"]);
    }
}
