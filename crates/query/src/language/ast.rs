//! What a statement says, after reading. Values only: nothing here is matched, stored or sent.

use std::time::Duration;

use feed::{FeedUrl, Time};

use crate::Position;
use crate::language::pattern::RegexPattern;
use crate::text::Phrase;

/// One statement of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Create(Box<Create>),
    Drop(Drop),
}

/// `CREATE [OR REPLACE] FEED name AS …`
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    pub name: QueryName,
    pub replace: bool,
    pub query: Query,
    /// The statement as it was written, without its comments before and its `;`.
    pub text: String,
}

/// `DROP FEED [IF EXISTS] name`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    pub name: QueryName,
    pub if_exists: bool,
}

/// The name of a query, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryName {
    pub text: String,
    pub at: Position,
}

/// What is asked for, and what becomes of the answer. The operators work in this order, whatever
/// the order they were written in: sources, condition, join, distinct, count, window.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub sources: Vec<QuerySource>,
    pub join: Option<Join>,
    pub condition: Option<Condition>,
    pub distinct: Option<Distinct>,
    pub count: Option<Count>,
    pub window: Option<LookBack>,
    pub access: Access,
    /// What the published feed is called; the name where nothing is said.
    pub title: Option<String>,
    pub deliveries: Vec<Deliver>,
}

/// Where entries come from.
#[derive(Clone, Debug, PartialEq)]
pub enum QuerySource {
    /// A feed by its address.
    Url(FeedUrl),
    /// The result of another query.
    Feed(QueryName),
    /// Every feed with this tag.
    Tag(String),
    AllFeeds,
}

/// `JOIN sources ON … WITHIN …`: the same story on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    pub sources: Vec<QuerySource>,
    pub on: Likeness,
    pub within: LookBack,
}

/// What makes two entries the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// `ON LINK`
    Link,
    /// `ON TITLE SIMILAR`
    Title,
}

/// How far back an operator looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookBack {
    /// `24 HOURS`, counted from when entries were seen.
    Time(Duration),
    /// `LAST 50 ITEMS`
    Items(u32),
}

/// `DISTINCT ON … WITHIN …`: of entries that are the same, only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    pub on: Likeness,
    pub within: LookBack,
}

/// `COUNT >= n WITHIN …`: entries only while there are so many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub at_least: u32,
    pub within: Duration,
}

/// What must hold for an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test(Test),
}

/// One thing that is tested.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Contains {
        field: Field,
        phrase: Phrase,
    },
    Near {
        field: Field,
        first: Phrase,
        second: Phrase,
        words: u16,
    },
    Matches {
        field: Field,
        pattern: RegexPattern,
    },
    Equals {
        field: Field,
        value: String,
    },
    /// `FEED TAGGED "tag"`
    Tagged(String),
    /// `PUBLISHED <= "2011-07-16"`
    Published {
        comparison: Comparison,
        date: Date,
    },
    /// `PUBLISHED WITHIN 3 DAYS`: at most so long before it was seen.
    Recent(Duration),
}

/// A part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Title, summary, content, author and categories: what a reader reads.
    Item,
    Title,
    Summary,
    Content,
    Author,
    Category,
    Link,
    Language,
    /// The address of the feed it came from.
    Feed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Before,
    Until,
    After,
    Since,
    On,
}

/// A year, a month, a day or a moment: from its first moment to before `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    pub written: String,
    pub start: Time,
    pub end: Time,
}

/// Who may read the result as a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    Private,
    /// `PUBLISH BY SECRET LINK`
    SecretLink,
    /// `PUBLISH`
    Public,
}

/// `DELIVER TO …`: who gets every match.
#[derive(Clone, Debug, PartialEq)]
pub enum Deliver {
    Webhook {
        url: FeedUrl,
        /// The name of a key in the configuration; never the key.
        signed_by: Option<String>,
    },
    /// JSON lines in the data folder; a new file each `rolling`, if that is said.
    File { path: String, rolling: Option<Duration> },
    /// A digest by e-mail, `every` so often, `at` so many minutes after midnight UTC.
    Email { to: String, every: Duration, at_minute: Option<u16> },
}

impl Query {
    /// The queries whose results this one reads, each once, in order of mention.
    pub fn reads(&self) -> Vec<&QueryName> {
        let mut names: Vec<&QueryName> = Vec::new();
        for source in self.all_sources() {
            if let QuerySource::Feed(name) = source
                && !names.iter().any(|known| known.text == name.text)
            {
                names.push(name);
            }
        }
        names
    }

    /// The addresses that must be feeds for this query to see entries, each once.
    pub fn urls(&self) -> Vec<&FeedUrl> {
        let mut urls: Vec<&FeedUrl> = Vec::new();
        for source in self.all_sources() {
            if let QuerySource::Url(url) = source
                && !urls.contains(&url)
            {
                urls.push(url);
            }
        }
        urls
    }

    fn all_sources(&self) -> impl Iterator<Item = &QuerySource> {
        let joined = self.join.iter().flat_map(|join| &join.sources);
        self.sources.iter().chain(joined)
    }
}
