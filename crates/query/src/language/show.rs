//! Writes statements as text that parses to the same statement. Secrets in addresses are not
//! masked; the plan of a query masks them.

use std::fmt::{self, Display};
use std::time::Duration;

use crate::language::ast::{
    Access, Comparison, Condition, Create, Deliver, Drop, Field, Likeness, LookBack, Query,
    QuerySource, Statement, Test,
};
use crate::limits::NEAR_WORDS_DEFAULT;

impl Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Create(create) => create.fmt(f),
            Statement::Drop(drop) => drop.fmt(f),
        }
    }
}

impl Display for Create {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replace = if self.replace { " OR REPLACE" } else { "" };
        write!(f, "CREATE{replace} FEED {} AS\n{}", self.name.text, self.query)
    }
}

impl Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_exists = if self.if_exists { " IF EXISTS" } else { "" };
        write!(f, "DROP FEED{if_exists} {}", self.name.text)
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RETURN ")?;
        sources(&self.sources, f)?;
        if let Some(join) = &self.join {
            if let Some(condition) = &join.left_condition {
                write!(f, "\nWHERE {condition}")?;
            }
            f.write_str("\nJOIN ")?;
            sources(&join.sources, f)?;
            if let Some(condition) = &join.right_condition {
                write!(f, "\nWHERE {condition}\n")?;
            }
            let space = if join.right_condition.is_some() { "" } else { " " };
            write!(f, "{space}ON {} WITHIN {}", join.on, join.within)?;
        }
        if let Some(condition) = &self.condition {
            write!(f, "\nWHERE {condition}")?;
        }
        if let Some(distinct) = &self.distinct {
            write!(f, "\nDISTINCT ON {} WITHIN {}", distinct.on, distinct.within)?;
        }
        if let Some(count) = &self.count {
            write!(f, "\nCOUNT >= {} WITHIN {}", count.at_least, duration(count.within))?;
        }
        if let Some(window) = &self.window {
            write!(f, "\nWINDOW {window}")?;
        }
        if let Some(title) = &self.title {
            write!(f, "\nTITLED {}", Quoted(title))?;
        }
        f.write_str(match self.access {
            Access::Private => "",
            Access::SecretLink => "\nPUBLISH BY SECRET LINK",
            Access::Public => "\nPUBLISH",
        })?;
        f.write_str(if self.with_articles { " WITH ARTICLES" } else { "" })?;
        self.deliveries.iter().try_for_each(|deliver| write!(f, "\nDELIVER TO {deliver}"))
    }
}

pub(crate) fn sources(sources: &[QuerySource], f: &mut impl fmt::Write) -> fmt::Result {
    for (i, source) in sources.iter().enumerate() {
        f.write_str(if i > 0 { " | " } else { "" })?;
        match source {
            QuerySource::Url(url) => write!(f, "{}", Quoted(url.as_str()))?,
            QuerySource::Feed(name) => write!(f, "FEED {}", name.text)?,
            QuerySource::Tag(tag) => write!(f, "TAG {}", Quoted(tag))?,
            QuerySource::AllFeeds => f.write_str("ALL FEEDS")?,
        }
    }
    Ok(())
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Condition], word: &str, f: &mut fmt::Formatter<'_>| {
            parts.iter().enumerate().try_for_each(|(i, part)| {
                f.write_str(if i > 0 { word } else { "" })?;
                match part {
                    Condition::All(_) | Condition::Any(_) => write!(f, "({part})"),
                    _ => part.fmt(f),
                }
            })
        };
        match self {
            Condition::All(parts) => joined(parts, " AND ", f),
            Condition::Any(parts) => joined(parts, " OR ", f),
            Condition::Not(inner) => match **inner {
                Condition::All(_) | Condition::Any(_) => write!(f, "NOT ({inner})"),
                _ => write!(f, "NOT {inner}"),
            },
            Condition::Test(test) => test.fmt(f),
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Test::Contains { field, phrase } => {
                write!(f, "{field} CONTAINS {}", Quoted(phrase.written()))
            }
            Test::Near { field, first, second, words } => {
                write!(f, "{field} CONTAINS {} NEAR", Quoted(first.written()))?;
                if *words != NEAR_WORDS_DEFAULT {
                    write!(f, "/{words}")?;
                }
                write!(f, " {}", Quoted(second.written()))
            }
            Test::Matches { field, pattern } => {
                let flag = if pattern.ignores_case() { "i" } else { "" };
                write!(f, "{field} MATCHES /{}/{flag}", pattern.written())
            }
            Test::Equals { field, value } => write!(f, "{field} = {}", Quoted(value)),
            Test::Tagged(tag) => write!(f, "FEED TAGGED {}", Quoted(tag)),
            Test::Published { comparison, date } => {
                write!(f, "PUBLISHED {comparison} {}", Quoted(&date.written))
            }
            Test::Recent(within) => write!(f, "PUBLISHED WITHIN {}", duration(*within)),
        }
    }
}

impl Display for Deliver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deliver::Webhook { url, signed_by } => {
                write!(f, "WEBHOOK {}", Quoted(url.as_str()))?;
                signed_by.as_ref().map_or(Ok(()), |key| write!(f, " SIGNED BY {}", Quoted(key)))
            }
            Deliver::File { path, rolling } => {
                write!(f, "FILE {}", Quoted(path))?;
                rolling.map_or(Ok(()), |each| write!(f, " ROLLING EVERY {}", duration(each)))
            }
            Deliver::Email { to, every, at_minute } => {
                write!(f, "EMAIL {} EVERY {}", Quoted(to), duration(*every))?;
                let clock = |m: u16| write!(f, " AT \"{:02}:{:02}\"", m / 60, m % 60);
                at_minute.map_or(Ok(()), clock)
            }
        }
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::Item => "ITEM",
            Field::Title => "TITLE",
            Field::Summary => "SUMMARY",
            Field::Content => "CONTENT",
            Field::Author => "AUTHOR",
            Field::Category => "CATEGORY",
            Field::Link => "LINK",
            Field::Language => "LANGUAGE",
            Field::Feed => "FEED",
            Field::Article => "ARTICLE",
            Field::Topic => "TOPIC",
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Before => "<",
            Comparison::Until => "<=",
            Comparison::After => ">",
            Comparison::Since => ">=",
            Comparison::On => "=",
        })
    }
}

impl Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Likeness::Link => "LINK",
            Likeness::Title => "TITLE SIMILAR",
        })
    }
}

impl Display for LookBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookBack::Time(time) => f.write_str(&duration(*time)),
            LookBack::Items(n) => write!(f, "LAST {n} ITEM{}", if *n == 1 { "" } else { "S" }),
        }
    }
}

/// `1 DAY`, `24 HOURS`: the largest unit without a remainder.
pub(crate) fn duration(duration: Duration) -> String {
    let secs = duration.as_secs();
    let units = [(604_800, "WEEK"), (86_400, "DAY"), (3600, "HOUR"), (60, "MINUTE"), (1, "SECOND")];
    let (unit, word) = units
        .into_iter()
        .find(|(unit, _)| secs > 0 && secs.is_multiple_of(*unit))
        .unwrap_or((1, "SECOND"));
    let n = secs / unit;
    format!("{n} {word}{}", if n == 1 { "" } else { "S" })
}

/// A text in quotes, escaped for the lexer.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
