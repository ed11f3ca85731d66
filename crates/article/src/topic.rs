//! The topic of an article: one of the 17 top Media Topics of the IPTC (CC BY 4.0), found by a
//! table of words that the operator may change. Nothing is guessed from the text: where the table
//! is silent there is no topic.

use std::collections::HashMap;

use url::Url;

use crate::category::folded_word;

/// The table that ships with the program.
pub const DEFAULT_TOPIC_TABLE: &str = include_str!("topic/default.txt");

/// Bytes of a table. The default has 9 kB.
const TABLE_BYTES_MAX: usize = 1 << 20;
/// Words of all topics together.
const WORDS_MAX: usize = 50_000;

/// One of the 17 top Media Topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MediaTopic(u8);

/// The names of the topics. The number of a topic is its place, from 1.
const NAMES: [&str; 17] = [
    "arts",
    "crime",
    "disaster",
    "economy",
    "education",
    "environment",
    "health",
    "human-interest",
    "labour",
    "lifestyle",
    "politics",
    "religion",
    "science",
    "society",
    "sport",
    "conflict",
    "weather",
];

impl MediaTopic {
    pub fn all() -> impl Iterator<Item = MediaTopic> {
        (1..=17).map(MediaTopic)
    }

    /// Returns the topic with this name, such as `politics`.
    pub fn named(name: &str) -> Option<MediaTopic> {
        MediaTopic::all().find(|topic| topic.name() == name)
    }

    /// Returns the topic with this number, from 1 to 17.
    pub fn numbered(number: u8) -> Option<MediaTopic> {
        (1..=17).contains(&number).then_some(MediaTopic(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }

    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0) - 1]
    }

    /// Returns the code of the IPTC: the number followed by six zeros.
    pub fn code(self) -> u32 {
        u32::from(self.0) * 1_000_000
    }
}

/// Which words mean which topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicTable(HashMap<String, MediaTopic>);

/// A line of a table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TopicTableError {
    pub line: usize,
    what: String,
}

impl TopicTable {
    /// Reads a table: lines of the form `politics: politics, politik, política`. A topic may have
    /// several lines; `#` starts a comment.
    pub fn parse(text: &str) -> Result<TopicTable, TopicTableError> {
        let error = |line, what: String| Err(TopicTableError { line, what });
        if text.len() > TABLE_BYTES_MAX {
            return error(1, format!("the table has more than {TABLE_BYTES_MAX} bytes"));
        }
        let mut words: HashMap<String, MediaTopic> = HashMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let Some((name, list)) = content.split_once(':') else {
                return error(line, "expected `topic: word, word`".to_owned());
            };
            let Some(topic) = MediaTopic::named(name.trim()) else {
                let known = NAMES.join(", ");
                return error(line, format!("`{}` is not a topic; use {known}", name.trim()));
            };
            for word in list.split(',').map(folded_word).filter(|word| !word.is_empty()) {
                match words.insert(word.clone(), topic) {
                    Some(other) if other != topic => {
                        let other = other.name();
                        return error(line, format!("`{word}` already belongs to {other}"));
                    }
                    _ => {}
                }
            }
            if words.len() > WORDS_MAX {
                return error(line, format!("the table has more than {WORDS_MAX} words"));
            }
        }
        Ok(TopicTable(words))
    }

    /// Returns the topic of an article. `words` are its categories and its section, nearest first;
    /// after them the first part of the path of its address counts.
    pub fn topic<'a>(
        &self,
        words: impl IntoIterator<Item = &'a str>,
        url: Option<&Url>,
    ) -> Option<MediaTopic> {
        let by_word = words.into_iter().find_map(|word| self.0.get(&folded_word(word)));
        by_word.copied().or_else(|| {
            let segment = url?.path_segments()?.find(|part| !part.is_empty())?;
            self.0.get(&folded_word(&segment.replace(['-', '_'], " "))).copied()
        })
    }

    /// Returns this table, with the words of another one that it lacks.
    pub fn over(self, mut other: TopicTable) -> TopicTable {
        other.0.extend(self.0);
        other
    }

    pub fn n_words(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table_covers_every_topic() {
        let table = TopicTable::parse(DEFAULT_TOPIC_TABLE).unwrap();
        assert!(table.n_words() > 400, "{}", table.n_words());
        for topic in MediaTopic::all() {
            assert!(table.0.values().any(|found| *found == topic), "{}", topic.name());
        }
    }

    #[test]
    fn words_decide_before_the_address_and_silence_stays_silent() {
        let table = TopicTable::parse(DEFAULT_TOPIC_TABLE).unwrap();
        let url = |text: &str| Url::parse(text).unwrap();
        let name = |found: Option<MediaTopic>| found.map(MediaTopic::name);
        let sport = url("https://e.org/sport/2026/x");
        assert_eq!(name(table.topic(["n97", " Politik "], Some(&sport))), Some("politics"));
        assert_eq!(name(table.topic(["n97"], Some(&sport))), Some("sport"));
        assert_eq!(
            name(table.topic([], Some(&url("https://e.org/real-estate/1")))),
            Some("economy")
        );
        assert_eq!(table.topic(["homelab"], Some(&url("https://e.org/2026/x"))), None);
        assert_eq!(table.topic([], None), None);
        assert_eq!(MediaTopic::named("politics").map(MediaTopic::code), Some(11_000_000));
    }

    #[test]
    fn mistakes_in_a_table_are_named_with_their_line() {
        for (text, expect) in [
            ("# ok\nsport football", "line 2: expected `topic: word, word`"),
            ("sport: football\n\narts: Football", "line 3: `football` already belongs to sport"),
        ] {
            assert_eq!(TopicTable::parse(text).unwrap_err().to_string(), expect);
        }
        let unknown = TopicTable::parse("sports: football").unwrap_err().to_string();
        assert!(unknown.starts_with("line 1: `sports` is not a topic; use arts, crime"));
    }
}
