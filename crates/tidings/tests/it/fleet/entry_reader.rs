//! Reads the entries of an instance as a program does.

use std::collections::HashSet;
use std::time::Duration;

use crate::program::{Instance, PATIENCE};
use crate::wire::now;

/// Reads entries as a program does: each time those after its cursor.
#[derive(Default)]
pub struct EntryReader {
    cursor: Option<String>,
    /// Numbers and titles, in the order of arrival.
    pub found: Vec<(u64, String)>,
}

impl EntryReader {
    /// Waits until there are so many entries.
    #[track_caller]
    pub fn wait_for(&mut self, operator: &Instance, expected: usize, what: &str) {
        let begun = now();
        while self.found.len() < expected {
            let n = self.found.len();
            assert!(begun.elapsed() < PATIENCE, "{what}: {n} of {expected} entries");
            std::thread::sleep(Duration::from_millis(500));
            self.read(operator);
        }
    }

    fn read(&mut self, operator: &Instance) {
        let mut args = vec!["entries", "--limit", "100000"];
        args.extend(self.cursor.iter().flat_map(|cursor| ["--after", cursor]));
        let listed = operator.run(&args);
        // The database may be starting again.
        if listed.code != Some(0) {
            return;
        }
        for line in listed.lines() {
            let text = |field: &str| line[field].as_str().unwrap().to_owned();
            self.found.push((line["id"].as_u64().unwrap(), text("title")));
            self.cursor = Some(text("cursor"));
        }
    }

    /// Fails unless every entry is there once, in one order without holes.
    #[track_caller]
    pub fn check(&self, expected: usize) {
        let numbers: Vec<u64> = self.found.iter().map(|(id, _)| *id).collect();
        assert_eq!(numbers, (1..=expected as u64).collect::<Vec<_>>(), "one order without holes");
        let titles: HashSet<&String> = self.found.iter().map(|(_, title)| title).collect();
        assert_eq!(titles.len(), expected, "every entry once");
    }
}
