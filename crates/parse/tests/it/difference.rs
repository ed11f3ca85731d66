//! The list of deliberate differences: a file's path and the reason, one a line.

use std::collections::BTreeMap;

/// Path → reason.
pub fn read() -> BTreeMap<String, String> {
    let path = crate::corpus::sample().join("feedparser-differences.txt");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (path, reason) = line.split_once(": ").expect("`path: reason`");
            (path.to_owned(), reason.to_owned())
        })
        .collect()
}
