//! Sample entries, and short ways to match them.

use feed::{EntryId, FeedId, Time};
use query::{Create, Entry, Matcher, QueryId, Scratch, Statement, States};

/// An entry that owns its texts.
#[derive(Clone, Default)]
pub struct Sample {
    pub name: &'static str,
    pub id: i64,
    pub feed: u32,
    pub feed_url: &'static str,
    pub tags: Vec<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub content: Option<String>,
    pub author: Option<String>,
    pub categories: Vec<String>,
    pub link: Option<String>,
    pub language: Option<String>,
    pub published: Option<Time>,
    pub seen: Time,
}

impl Sample {
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            id: EntryId(self.id),
            feed: FeedId(self.feed),
            feed_url: self.feed_url,
            tags: &self.tags,
            title: self.title.as_deref(),
            summary: self.summary.as_deref(),
            content: self.content.as_deref(),
            author: self.author.as_deref(),
            categories: &self.categories,
            link: self.link.as_deref(),
            language: self.language.as_deref(),
            published: self.published,
            seen: self.seen,
            topic: None,
            article: None,
        }
    }

    /// An entry with nothing but a title.
    pub fn titled(title: &str) -> Sample {
        let mut sample = Sample { id: 1, feed: 1, feed_url: WORLD, ..Sample::default() };
        sample.title = Some(title.to_owned());
        sample
    }
}

pub const WORLD: &str = "http://feeds.example.org/world/rss";
pub const FOOD: &str = "https://food.example.net/feed.xml";
pub const CODE: &str = "https://code.example.com/atom";

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

pub fn time(text: &str) -> Time {
    text.parse().unwrap()
}

/// Three entries that differ in everything.
pub fn samples() -> [Sample; 3] {
    let volcano = Sample {
        name: "volcano",
        id: 1,
        feed: 1,
        feed_url: WORLD,
        tags: list(&["news", "world"]),
        title: text("Iceland volcano erupts again"),
        summary: text("<p>Ash cloud over <b>Eyja</b>fjallajökull;<br>flights grounded</p>"),
        content: text("<p>The volcanic ash&nbsp;cloud reached Scotland's airports.</p>"),
        author: text("Jane O'Neill"),
        categories: list(&["Science", "Travel news"]),
        link: text("https://www.example.org/world/iceland-volcano/?utm_source=rss#top"),
        language: text("en-GB"),
        published: Some(time("2010-04-14T10:00:00Z")),
        seen: time("2010-04-14T12:00:00Z"),
    };
    let recipe = Sample {
        name: "recipe",
        id: 2,
        feed: 2,
        feed_url: FOOD,
        tags: list(&["food"]),
        title: text("Crème brûlée"),
        summary: text("Sugar again, and a cloud of cream. Ash-grey bowls."),
        content: None,
        author: text("Pierre Müller"),
        categories: list(&["Food"]),
        link: text("https://food.example.net/creme"),
        language: text("fr"),
        published: Some(time("2010-04-10T08:30:00Z")),
        seen: time("2010-04-14T12:00:05Z"),
    };
    let release = Sample {
        name: "release",
        id: 3,
        feed: 3,
        feed_url: CODE,
        title: text("Version 1.95: C++ &amp; R&D"),
        content: text("<script>iceland()</script><pre>fn main()</pre> talks to <code>C++</code>"),
        seen: time("2010-04-15T00:00:00Z"),
        ..Sample::default()
    };
    [volcano, recipe, release]
}

/// Parses a text with one statement.
#[track_caller]
pub fn created(statement: &str) -> Create {
    let mut statements = query::parse(statement).unwrap_or_else(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!("{statement}\n{}", faults.join("\n"))
    });
    match statements.pop() {
        Some(Statement::Create(create)) => *create,
        other => panic!("{other:?}"),
    }
}

/// Creates a matcher for a file of statements, numbered from one.
#[track_caller]
pub fn matcher(file: &str) -> Matcher {
    let mut matcher = Matcher::new();
    let statements = query::parse(file).unwrap_or_else(|faults| panic!("{file}\n{faults:?}"));
    for (n, statement) in statements.iter().enumerate() {
        let Statement::Create(create) = statement else { panic!("{statement}") };
        matcher.insert(QueryId(n as u32 + 1), &create.name.text, &create.query);
    }
    matcher
}

/// Returns whether a query with this text after `RETURN` keeps the entry.
#[track_caller]
pub fn keeps(query: &str, sample: &Sample) -> bool {
    let matcher = matcher(&format!("CREATE FEED q AS RETURN {query}"));
    let matches =
        matcher.matches(&sample.entry(), &mut States::default(), &mut Scratch::new()).len();
    matches == 1
}
