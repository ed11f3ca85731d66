//! Rules of people: `CREATE RULE name ON sources WHERE … DO …`. A rule has the sources and the
//! condition of a query, and actions instead of receivers. This module matches nothing and acts on
//! nothing.

use std::fmt::{self, Display};

use crate::language::ast::{Condition, Field, Query, QueryName, QuerySource, Test};
use crate::language::show::{Quoted, sources};

/// `CREATE [OR REPLACE] RULE name ON sources [WHERE …] DO action[, action]`
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub name: QueryName,
    pub replace: bool,
    /// Feeds by address, tags and all feeds; never another query.
    pub sources: Vec<QuerySource>,
    pub condition: Option<Condition>,
    /// At least one, each once.
    pub actions: Vec<RuleAction>,
    /// The statement as written, without leading comments and the `;`.
    pub text: String,
}

/// One thing that a rule does with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleAction {
    MarkRead,
    Star,
    /// Marks the entry read and leaves it out of every list.
    Hide,
    Label(String),
    /// Sends a notification to the devices of the person.
    Notify,
}

impl Rule {
    /// Returns the query that keeps the entries of this rule. `named` gives each tag the name under
    /// which entries carry it: the same tag of two people is not the same.
    pub fn query(&self, named: impl Fn(&str) -> String) -> Query {
        let source = |source: &QuerySource| match source {
            QuerySource::Tag(tag) => QuerySource::Tag(named(tag)),
            other => other.clone(),
        };
        let mut condition = self.condition.clone();
        if let Some(condition) = &mut condition {
            rename_tags(condition, &named);
        }
        Query::plain(self.sources.iter().map(source).collect(), condition)
    }
}

fn rename_tags(condition: &mut Condition, named: &impl Fn(&str) -> String) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter_mut().for_each(|part| rename_tags(part, named));
        }
        Condition::Not(inner) => rename_tags(inner, named),
        Condition::Test(Test::Tagged(tag)) => *tag = named(tag),
        Condition::Test(_) => {}
    }
}

/// Writes a rule that tests one field of the entries of some sources.
///
/// ```
/// use query::{Field, QuerySource, RuleAction, rule_text};
/// let text = rule_text(
///     "mute-sport", &[QuerySource::Tag("news".to_owned())], Field::Category, "Sport",
///     &[RuleAction::Hide],
/// );
/// let rule = query::parse_rule(&text.unwrap()).unwrap();
/// assert_eq!(rule.actions, [RuleAction::Hide]);
/// ```
pub fn rule_text(
    name: &str,
    read: &[QuerySource],
    field: Field,
    value: &str,
    actions: &[RuleAction],
) -> Option<String> {
    let sign = match field {
        Field::Author | Field::Category => "=",
        _ => "CONTAINS",
    };
    let mut text = format!("CREATE RULE {name}\nON ");
    sources(read, &mut text).ok()?;
    let actions = actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    text += &format!("\nWHERE {field} {sign} {}\nDO {actions}", Quoted(value));
    Some(text)
}

impl Display for RuleAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleAction::MarkRead => f.write_str("MARK READ"),
            RuleAction::Star => f.write_str("STAR"),
            RuleAction::Hide => f.write_str("HIDE"),
            RuleAction::Label(name) => write!(f, "LABEL {}", Quoted(name)),
            RuleAction::Notify => f.write_str("NOTIFY"),
        }
    }
}
