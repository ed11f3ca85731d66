//! The list of deliberate differences: one path and its reason on each line.

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
