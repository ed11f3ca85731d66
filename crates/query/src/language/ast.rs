//! Parsed statements. They are values only: this module does not match, store or send.

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
    /// The statement as written, without leading comments and the `;`.
    pub text: String,
}

/// `DROP FEED [IF EXISTS] name`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    pub name: QueryName,
    pub if_exists: bool,
}

/// The name of a query, and its position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryName {
    pub text: String,
    pub at: Position,
}

/// A query. Its operators always work in this order: sources, conditions, join, distinct, count,
/// window.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub sources: Vec<QuerySource>,
    pub join: Option<Join>,
    pub condition: Option<Condition>,
    pub distinct: Option<Distinct>,
    pub count: Option<Count>,
    pub window: Option<LookBack>,
    pub access: Access,
    /// `PUBLISH … WITH ARTICLES`: the published feed shows whole articles where they are stored.
    pub with_articles: bool,
    /// The title of the published feed; the name of the query if `None`.
    pub title: Option<String>,
    pub deliveries: Vec<Deliver>,
}

/// A source of entries.
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

/// `[WHERE …] JOIN sources [WHERE …] ON … WITHIN …`: keeps an entry if the same story is on the
/// other side.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// The condition of the first side: `RETURN … WHERE … JOIN`.
    pub left_condition: Option<Condition>,
    pub sources: Vec<QuerySource>,
    /// The condition of the second side: `JOIN … WHERE … ON`.
    pub right_condition: Option<Condition>,
    pub on: Likeness,
    pub within: LookBack,
}

/// The criterion by which two entries are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// `ON LINK`
    Link,
    /// `ON TITLE SIMILAR`
    Title,
}

/// The range of earlier entries that an operator considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookBack {
    /// `24 HOURS`, counted by the time at which polls saw the entries.
    Time(Duration),
    /// `LAST 50 ITEMS`
    Items(u32),
}

/// `DISTINCT ON … WITHIN …`: keeps only the first of entries that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    pub on: Likeness,
    pub within: LookBack,
}

/// `COUNT >= n WITHIN …`: keeps entries only while at least `n` come within the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub at_least: u32,
    pub within: Duration,
}

/// A condition on an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test(Test),
}

/// One test of a condition.
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
    /// `PUBLISHED WITHIN 3 DAYS`, counted back from the time at which a poll saw the entry.
    Recent(Duration),
}

/// A part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Title, summary, content, author and categories.
    Item,
    Title,
    Summary,
    Content,
    Author,
    Category,
    Link,
    Language,
    /// The address of the entry's feed.
    Feed,
    /// The main text of the page behind the entry.
    Article,
    /// The name of a top Media Topic, such as `politics`.
    Topic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Before,
    Until,
    After,
    Since,
    On,
}

/// A year, month, day or moment as a range; `end` is exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    pub written: String,
    pub start: Time,
    pub end: Time,
}

/// Access to the result as a published feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    Private,
    /// `PUBLISH BY SECRET LINK`
    SecretLink,
    /// `PUBLISH`
    Public,
}

/// `DELIVER TO …`: a receiver of every match.
#[derive(Clone, Debug, PartialEq)]
pub enum Deliver {
    Webhook {
        url: FeedUrl,
        /// The name of a key in the configuration, not the key.
        signed_by: Option<String>,
    },
    /// JSON lines in the data folder. With `rolling`, a new file starts after each such period.
    File { path: String, rolling: Option<Duration> },
    /// A digest by e-mail every `every`; `at_minute` counts minutes after midnight UTC.
    Email { to: String, every: Duration, at_minute: Option<u16> },
}

impl Statement {
    /// Returns the query that this statement creates, if it is a `CREATE FEED`.
    pub fn created(&self) -> Option<&Create> {
        match self {
            Statement::Create(create) => Some(create),
            Statement::Drop(_) => None,
        }
    }
}

impl Condition {
    pub(crate) fn uses_article(&self) -> bool {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().any(Condition::uses_article)
            }
            Condition::Not(inner) => inner.uses_article(),
            Condition::Test(
                Test::Contains { field, .. }
                | Test::Near { field, .. }
                | Test::Matches { field, .. }
                | Test::Equals { field, .. },
            ) => *field == Field::Article,
            Condition::Test(_) => false,
        }
    }
}

impl Query {
    /// Returns a query that keeps entries of some sources by a condition, and does nothing else.
    pub(crate) fn plain(sources: Vec<QuerySource>, condition: Option<Condition>) -> Query {
        Query {
            sources,
            join: None,
            condition,
            distinct: None,
            count: None,
            window: None,
            access: Access::Private,
            with_articles: false,
            title: None,
            deliveries: Vec::new(),
        }
    }

    /// Returns whether a condition looks at the page behind the entry.
    pub fn uses_article(&self) -> bool {
        let sides = self.join.iter().flat_map(|join| [&join.left_condition, &join.right_condition]);
        let all = sides.chain([&self.condition]);
        all.flatten().any(Condition::uses_article)
    }

    /// Returns the queries that this one reads, each once, in order of mention.
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

    /// Returns the addresses that must be subscribed for this query, each once.
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
