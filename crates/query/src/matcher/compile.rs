//! Compiles statements to nodes. It looks up every word once, so that matching compares numbers.

use super::dictionary::{Dictionary, TermId, TermKind};
use super::graph::{FieldSet, Graph, Nearness, Node, NodeId, Sequence};
use crate::language::ast::{Comparison, Condition, Date, Field, Join, Query, QuerySource, Test};
use crate::text::{Phrase, PhraseWord, canonical_link, folded, language_ranges};

/// A compiler of conditions.
pub(super) struct Compiler<'a> {
    pub dictionary: &'a mut Dictionary,
    pub graph: &'a mut Graph,
}

impl Compiler<'_> {
    /// Compiles the condition that an entry must meet to reach the operators of a query, and the
    /// conditions of the two sides of its join.
    pub(super) fn query(&mut self, query: &Query) -> (NodeId, Option<(NodeId, NodeId)>) {
        let sides = query.join.as_ref().map(|join| {
            let left = self.side(&query.sources, join.left_condition.as_ref());
            (left, self.side(&join.sources, join.right_condition.as_ref()))
        });
        let mut parts = vec![self.either_side(query, sides)];
        if let Some(condition) = &query.condition {
            parts.push(self.condition(condition));
        }
        (self.all(parts), sides)
    }

    /// Compiles the test whether an entry is on one side of a join.
    fn side(&mut self, sources: &[QuerySource], condition: Option<&Condition>) -> NodeId {
        let sources: Vec<&QuerySource> = sources.iter().collect();
        let mut parts = vec![self.sources(&sources)];
        parts.extend(condition.map(|condition| self.condition(condition)));
        self.all(parts)
    }

    /// Compiles the test whether an entry is on any side. Sides without a condition of their own
    /// become one list of sources, so that a source on both sides is tested once.
    fn either_side(&mut self, query: &Query, sides: Option<(NodeId, NodeId)>) -> NodeId {
        let joined = query.join.iter().flat_map(|join| &join.sources);
        let sources: Vec<&QuerySource> = query.sources.iter().chain(joined).collect();
        let is_plain =
            |join: &Join| join.left_condition.is_none() && join.right_condition.is_none();
        let Some((left, right)) = sides.filter(|_| !query.join.as_ref().is_none_or(is_plain))
        else {
            return self.sources(&sources);
        };
        // A side without any test takes every entry.
        let is_open =
            |id: NodeId| matches!(self.graph.node(id), Node::All(parts) if parts.is_empty());
        if is_open(left) || is_open(right) {
            return self.all(Vec::new());
        }
        self.graph.share(left);
        self.graph.share(right);
        self.any(vec![left, right])
    }

    /// Compiles the test whether an entry comes from one of the sources.
    fn sources(&mut self, sources: &[&QuerySource]) -> NodeId {
        if sources.contains(&&QuerySource::AllFeeds) {
            return self.all(Vec::new());
        }
        let parts = sources.iter().map(|source| match source {
            QuerySource::Url(url) => self.fact(TermKind::Feed, url.as_str()),
            QuerySource::Tag(tag) => self.fact(TermKind::Tag, tag),
            QuerySource::Feed(name) => self.fact(TermKind::Query, &name.text),
            QuerySource::AllFeeds => self.all(Vec::new()),
        });
        let parts = parts.collect();
        self.any(parts)
    }

    fn condition(&mut self, condition: &Condition) -> NodeId {
        match condition {
            Condition::All(parts) => {
                let parts = parts.iter().map(|part| self.condition(part)).collect();
                self.all(parts)
            }
            Condition::Any(parts) => {
                let parts = parts.iter().map(|part| self.condition(part)).collect();
                self.any(parts)
            }
            Condition::Not(inner) => {
                let inner = self.condition(inner);
                self.node(Node::Not(inner))
            }
            Condition::Test(test) => self.test(test),
        }
    }

    fn test(&mut self, test: &Test) -> NodeId {
        match test {
            Test::Contains { field, phrase } => self.contains(phrase, fields(*field)),
            Test::Near { field, first, second, words } => {
                let (first, second) = (self.sequence(first), self.sequence(second));
                let near = Nearness { first, second, words: *words };
                self.node(Node::Near(Box::new(near), fields(*field)))
            }
            Test::Matches { field, pattern } => {
                self.node(Node::Pattern(Box::new(pattern.clone()), fields(*field)))
            }
            Test::Equals { field, value } => self.equals(*field, value),
            Test::Tagged(tag) => self.fact(TermKind::Tag, tag),
            Test::Published { comparison, date } => {
                let (from, to) = range(*comparison, date);
                self.node(Node::Published(from, to))
            }
            Test::Recent(within) => {
                let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
                self.node(Node::Recent(ms))
            }
        }
    }

    fn contains(&mut self, phrase: &Phrase, fields: FieldSet) -> NodeId {
        // Most Chinese words have two characters. A pair is one term, so it needs no search for
        // positions.
        if let [first, second] = phrase.words()
            && first.unit
            && second.unit
        {
            let term = self.pair(first, second);
            return self.node(Node::Word { term, fields });
        }
        let sequence = self.sequence(phrase);
        match *sequence.words {
            [term] => self.node(Node::Word { term, fields }),
            _ => self.node(Node::Phrase(Box::new(sequence), fields)),
        }
    }

    fn pair(&mut self, first: &PhraseWord, second: &PhraseWord) -> TermId {
        let pair = [first.letters.as_bytes(), second.letters.as_bytes()].concat();
        self.dictionary.acquire(TermKind::Pair, &pair)
    }

    fn equals(&mut self, field: Field, value: &str) -> NodeId {
        match field {
            Field::Feed => self.fact(TermKind::Feed, value),
            // The parser accepts only web addresses here.
            Field::Link => self.fact(TermKind::Link, &canonical_link(value).unwrap_or_default()),
            Field::Language => {
                let tag = language_ranges(value).into_iter().next().unwrap_or_default();
                self.fact(TermKind::Language, &tag)
            }
            Field::Author => self.fact(TermKind::Author, &folded(value)),
            Field::Category => self.fact(TermKind::Category, &folded(value)),
            Field::Title => self.fact(TermKind::Title, &folded(value)),
            // The grammar does not allow to compare long texts.
            Field::Item | Field::Summary | Field::Content | Field::Article => self.any(Vec::new()),
            Field::Topic => self.fact(TermKind::Topic, &folded(value)),
        }
    }

    fn fact(&mut self, kind: TermKind, value: &str) -> NodeId {
        let term = self.dictionary.acquire(kind, value.as_bytes());
        self.node(Node::Word { term, fields: FieldSet::FACT })
    }

    fn sequence(&mut self, phrase: &Phrase) -> Sequence {
        let words: Vec<TermId> = phrase
            .words()
            .iter()
            .map(|word| {
                let kind = if word.prefix { TermKind::Prefix } else { TermKind::Word };
                self.dictionary.acquire(kind, word.letters.as_bytes())
            })
            .collect();
        let signs = phrase.words().windows(2).filter(|two| two.iter().all(|w| w.unit));
        let pairs: Vec<TermId> = signs.map(|two| self.pair(&two[0], &two[1])).collect();
        Sequence { words: words.into(), pairs: pairs.into() }
    }

    fn node(&mut self, node: Node) -> NodeId {
        self.graph.acquire(node, self.dictionary)
    }

    fn all(&mut self, parts: Vec<NodeId>) -> NodeId {
        let parts = self.flattened(parts);
        self.joined(parts, Node::All)
    }

    fn any(&mut self, parts: Vec<NodeId>) -> NodeId {
        self.joined(parts, Node::Any)
    }

    /// Flattens `AND` inside `AND`.
    fn flattened(&mut self, parts: Vec<NodeId>) -> Vec<NodeId> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            let Node::All(inner) = self.graph.node(part) else {
                flat.push(part);
                continue;
            };
            let inner = inner.clone();
            for &id in &inner {
                self.graph.share(id);
                flat.push(id);
            }
            self.graph.release(part, self.dictionary);
        }
        flat
    }

    /// Returns one node for a list, sorted and without duplicates, so that equal lists share a
    /// node.
    fn joined(&mut self, mut parts: Vec<NodeId>, many: fn(Box<[NodeId]>) -> Node) -> NodeId {
        parts.sort_unstable();
        let mut distinct: Vec<NodeId> = Vec::with_capacity(parts.len());
        for part in parts {
            if distinct.last() == Some(&part) {
                self.graph.release(part, self.dictionary);
            } else {
                distinct.push(part);
            }
        }
        match *distinct {
            [one] => one,
            _ => self.node(many(distinct.into())),
        }
    }
}

fn fields(field: Field) -> FieldSet {
    match field {
        Field::Item => FieldSet::ITEM,
        Field::Title => FieldSet::TITLE,
        Field::Summary => FieldSet::SUMMARY,
        Field::Content => FieldSet::CONTENT,
        Field::Author => FieldSet::AUTHOR,
        Field::Category => FieldSet::CATEGORY,
        Field::Link => FieldSet::LINK,
        Field::Feed => FieldSet::FEED,
        // The grammar does not allow to search languages.
        Field::Language | Field::Topic => FieldSet(0),
        Field::Article => FieldSet::ARTICLE,
    }
}

/// Returns the range of moments for which a comparison with a date holds, in milliseconds.
fn range(comparison: Comparison, date: &Date) -> (i64, i64) {
    let (start, end) = (date.start.millis(), date.end.millis());
    match comparison {
        Comparison::Before => (i64::MIN, start),
        Comparison::Until => (i64::MIN, end),
        Comparison::After => (end, i64::MAX),
        Comparison::Since => (start, i64::MAX),
        Comparison::On => (start, end),
    }
}
