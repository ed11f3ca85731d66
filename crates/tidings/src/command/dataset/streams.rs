//! `--streams`: one file for each feed, in the layout of the dissertation (003, section 3.5.7).

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use dataset::package::PackagedFile;
use dataset::tables::stamp;

use super::files;
use super::rows::RecordedRows;
use crate::error::CliError;

/// The folder of the streams within the data set.
pub const FOLDER: &str = "streams";

/// Writes the stream of a feed: entries oldest first, with a line before those after a gap.
pub fn write(folder: &Path, rows: &RecordedRows) -> Result<PackagedFile, CliError> {
    let path = format!("{FOLDER}/{}.csv", rows.feed.feed);
    let mut file = files::create(&folder.join(&path))?;
    file.write_all(text(rows).as_bytes())?;
    Ok(file.finish(&path)?.0)
}

fn text(rows: &RecordedRows) -> String {
    let gaps: HashSet<_> = rows.misses.iter().map(|miss| miss.at).collect();
    let mut entries: Vec<_> = rows.entries.iter().collect();
    entries.sort_by_key(|entry| (entry.seen, entry.published));
    let mut text = String::new();
    let mut last = None;
    for entry in entries {
        if last != Some(entry.seen) && gaps.contains(&entry.seen) {
            text.push_str("MISS;;;;;;\n");
        }
        last = Some(entry.seen);
        let plain = |text: &Option<String>| {
            text.as_deref().unwrap_or_default().replace([';', '\n', '\r', '"'], " ")
        };
        let claimed = entry.claimed.map(stamp).unwrap_or_default();
        let window = entry.window.map(|n| n.to_string()).unwrap_or_default();
        let hash = entry.hash.as_deref().unwrap_or_default();
        let (title, link) = (plain(&entry.title), plain(&entry.link));
        text.push_str(&format!("{claimed};{};{hash};{title};{link};{window}\n", stamp(entry.seen)));
    }
    text
}

#[cfg(test)]
mod tests {
    use dataset::tables::{FeedLine, MissLine, StreamLine};
    use feed::Time;

    use super::*;

    /// Figure 3.3: polls A (1–5), B (3–7) and C (8–12) with a window of 5.
    #[test]
    fn a_gap_is_marked_before_the_entries_that_follow_it() {
        let entry = |n: i64, seen: i64| StreamLine {
            published: Time::from_secs(n),
            seen: Time::from_secs(seen),
            title: Some(n.to_string()),
            ..StreamLine::default()
        };
        let mut entries: Vec<StreamLine> = (1..=5).map(|n| entry(n, 100)).collect();
        entries.extend((6..=7).map(|n| entry(n, 200)));
        entries.extend((8..=12).map(|n| entry(n, 300)));
        let miss = MissLine { at: Time::from_secs(300), ..MissLine::default() };
        let rows = RecordedRows {
            feed: FeedLine::default(),
            polls: Vec::new(),
            entries,
            misses: vec![miss],
            recorded: Vec::new(),
        };
        let text = text(&rows);
        let titles: Vec<&str> = text.lines().map(|l| l.split(';').nth(3).unwrap()).collect();
        let expect = ["1", "2", "3", "4", "5", "6", "7", "", "8", "9", "10", "11", "12"];
        assert_eq!(titles, expect);
        assert_eq!(text.lines().nth(7), Some("MISS;;;;;;"));
    }
}
