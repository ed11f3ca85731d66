//! Finds test documents: a small licensed sample in this crate, and the whole collections in the
//! folder next to the repository if it exists.

use std::path::{Path, PathBuf};

/// The sample that comes with the crate.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// A folder of the collections next to the repository, if it exists.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

/// Returns the folder of the sample and that of the whole collection, if they exist.
pub fn both(sampled: &str, whole: &str) -> Vec<PathBuf> {
    let mut found = vec![sample().join(sampled)];
    assert!(found[0].is_dir(), "{} must come with the crate", found[0].display());
    found.extend(shared(whole));
    found
}

/// Returns all files below a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Counts the items in a document's markup, without our parser.
pub fn implied_items(bytes: &[u8]) -> usize {
    // Without its zero bytes UTF-16 and UTF-32 markup is ASCII.
    let ascii: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
    let mut text = String::from_utf8_lossy(&ascii).into_owned();
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>")] {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = rest.find(open) {
            kept.push_str(&rest[..start]);
            let end = rest[start..].find(close).map_or(rest.len(), |e| start + e + close.len());
            rest = &rest[end..];
        }
        kept.push_str(rest);
        text = kept;
    }
    text.split('<')
        .filter(|tag| {
            let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next();
            let local = name.unwrap_or("").rsplit(':').next().unwrap_or("");
            matches!(local, "item" | "entry")
        })
        .count()
}
