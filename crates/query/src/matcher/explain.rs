//! Describes the plan of a query: its anchors, its conditions and its state. It shows the compiled
//! query, so that people can compare it with the statement.

use std::fmt::Write;

use super::Matcher;
use super::compiled::CompiledQuery;
use super::dictionary::{TermId, TermKind};
use super::graph::{FieldSet, Node, NodeId, Sequence};
use crate::QueryId;
use crate::language::show;
use crate::state::Operators;

impl Matcher {
    /// Returns the plan of a query; `None` if it does not exist.
    pub fn explain(&self, id: QueryId) -> Option<String> {
        let (head, plan) = self.plan(id)?;
        let mut text = format!("{}\n", plan.name);
        let mut line = |head: &str, body: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {head:<9} {body}");
        };
        line("found by", &self.found_by(plan));
        line("checks", &self.condition(head.root));
        if let Some(stateful) = plan.stateful() {
            for step in steps(&stateful.operators) {
                line("then", &step);
            }
        }
        if head.level > 0 {
            let names: Vec<&str> = plan.reads().iter().map(|name| &**name).collect();
            line("after", &names.join(", "));
        }
        let readers = self.readers.get(&plan.name).map_or(0, Vec::len);
        if readers > 0 {
            line("read by", &format!("{readers} other queries"));
        }
        let shared = self.graph.n_users(head.root) - 1;
        if shared > 0 {
            line("shared", &format!("the whole condition, with {shared} others"));
        }
        Some(text)
    }

    fn found_by(&self, plan: &CompiledQuery) -> String {
        let anchors = plan.anchors.terms();
        if anchors.is_empty() {
            return "every entry: the condition needs no word".to_owned();
        }
        const SHOWN_MAX: usize = 8;
        let shown = anchors.iter().take(SHOWN_MAX).map(|term| {
            let share = f64::from(self.dictionary.n_seen(*term)) / f64::from(self.n_sampled.max(1));
            match self.n_sampled {
                0 => self.term(*term),
                _ => format!("{} (in {:.2} % of entries)", self.term(*term), share * 100.0),
            }
        });
        let mut shown: Vec<String> = shown.collect();
        if anchors.len() > SHOWN_MAX {
            shown.push(format!("{} more", anchors.len() - SHOWN_MAX));
        }
        shown.join(", ")
    }

    fn term(&self, term: TermId) -> String {
        let spelling = String::from_utf8_lossy(self.dictionary.spelling(term));
        match self.dictionary.kind(term) {
            TermKind::Word | TermKind::Pair => format!("\"{spelling}\""),
            TermKind::Prefix => format!("\"{spelling}*\""),
            TermKind::Title => format!("TITLE = \"{spelling}\""),
            TermKind::Author => format!("AUTHOR = \"{spelling}\""),
            TermKind::Category => format!("CATEGORY = \"{spelling}\""),
            TermKind::Link => format!("LINK = \"{spelling}\""),
            TermKind::Topic => format!("TOPIC = \"{spelling}\""),
            TermKind::Language => format!("LANGUAGE = \"{spelling}\""),
            TermKind::Feed => format!("the feed {}", feed::FeedUrl::mask(&spelling)),
            TermKind::Tag => format!("the tag \"{spelling}\""),
            TermKind::Query => format!("FEED {spelling}"),
        }
    }

    fn condition(&self, id: NodeId) -> String {
        match self.graph.node(id) {
            Node::Word { term, fields: FieldSet::FACT } => self.term(*term),
            Node::Word { term, fields } => format!("{} in {}", self.term(*term), named(*fields)),
            Node::Phrase(sequence, fields) => {
                format!("{} in {}", self.sequence(sequence), named(*fields))
            }
            Node::Near(near, fields) => format!(
                "{} within {} words of {} in {}",
                self.sequence(&near.first),
                near.words,
                self.sequence(&near.second),
                named(*fields)
            ),
            Node::Pattern(pattern, fields) => {
                let flag = if pattern.ignores_case() { "i" } else { "" };
                format!("/{}/{flag} in {}", pattern.written(), named(*fields))
            }
            Node::Published(from, to) => published(*from, *to),
            Node::Recent(ms) => {
                let within = std::time::Duration::from_millis(*ms);
                format!("published within {} before it was seen", show::duration(within))
            }
            Node::Not(inner) => format!("not {}", self.condition(*inner)),
            Node::All(parts) if parts.is_empty() => "nothing: every entry passes".to_owned(),
            Node::All(parts) => self.joined(parts, " and "),
            Node::Any(parts) => self.joined(parts, " or "),
        }
    }

    fn joined(&self, parts: &[NodeId], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.condition(*part)).collect();
        format!("({})", parts.join(word))
    }

    fn sequence(&self, sequence: &Sequence) -> String {
        let spelled = sequence.words.iter().map(|word| {
            let star = if self.dictionary.kind(*word) == TermKind::Prefix { "*" } else { "" };
            format!("{}{star}", String::from_utf8_lossy(self.dictionary.spelling(*word)))
        });
        format!("\"{}\"", spelled.collect::<Vec<_>>().join(" "))
    }
}

fn named(fields: FieldSet) -> &'static str {
    match fields {
        FieldSet::ITEM => "item",
        FieldSet::TITLE => "title",
        FieldSet::SUMMARY => "summary",
        FieldSet::CONTENT => "content",
        FieldSet::AUTHOR => "author",
        FieldSet::CATEGORY => "category",
        FieldSet::LINK => "link",
        FieldSet::ARTICLE => "article",
        _ => "feed",
    }
}

fn published(from: i64, to: i64) -> String {
    let shown = |ms: i64| feed::Time::from_millis(ms).to_string();
    match (from, to) {
        (i64::MIN, to) => format!("published before {}", shown(to)),
        (from, i64::MAX) => format!("published from {} on", shown(from)),
        (from, to) => format!("published from {} to {}", shown(from), shown(to)),
    }
}

fn steps(operators: &Operators) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some((on, within)) = operators.join {
        steps.push(format!("joins both sides on {on} within {within}"));
    }
    if let Some(distinct) = operators.distinct {
        steps.push(format!("keeps the first on {} within {}", distinct.on, distinct.within));
    }
    if let Some(count) = operators.count {
        let within = show::duration(count.within);
        steps.push(format!("waits until there are {} within {within}", count.at_least));
    }
    if let Some(window) = operators.window {
        steps.push(format!("shows {window}"));
    }
    steps
}
