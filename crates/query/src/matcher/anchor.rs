//! Chooses the anchors of a query: a set of words so that every match contains at least one.
//! Prefers words that occur rarely.
//!
//! The matcher evaluates a query only if one of its anchors occurs and its guards occur too. Guards
//! are other words that every such match contains. A condition without such words (a negation, an
//! expression, a date) has no anchor and is evaluated for every entry.

use super::dictionary::{Dictionary, TermId, TermKind};
use super::graph::{FieldSet, Graph, Node, NodeId};

/// A query in the list of a word, with the other words that must occur. It takes 16 bytes, because
/// the matcher reads whole lists for every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub query: u32,
    /// The fields in which the word must occur.
    pub fields: FieldSet,
    /// The anchor and the guards are the whole condition.
    pub is_whole: bool,
    guard_fields: [FieldSet; 2],
    guards: [TermId; 2],
}

/// A word that must occur, and the fields for it.
pub(crate) type RequiredWord = (TermId, FieldSet);

impl Posting {
    fn new(query: u32, fields: FieldSet, guards: &[RequiredWord]) -> Posting {
        // An unused guard has no field.
        let guard = |n: usize| guards.get(n).copied().unwrap_or((TermId(0), NOWHERE));
        Posting {
            query,
            fields,
            is_whole: false,
            guard_fields: [guard(0).1, guard(1).1],
            guards: [guard(0).0, guard(1).0],
        }
    }

    /// Returns the guards, at most two.
    #[inline]
    pub(crate) fn needs(&self) -> impl Iterator<Item = RequiredWord> {
        let both = self.guards.into_iter().zip(self.guard_fields);
        both.take_while(|(_, fields)| *fields != NOWHERE)
    }
}

const NOWHERE: FieldSet = FieldSet(0);

/// The anchors of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anchors {
    /// The expected number of sampled entries with one of the anchors.
    pub cost: f32,
    /// The words, each with the posting for its list.
    pub postings: Vec<(TermId, Posting)>,
}

/// Returns the rarest anchors of a query; `None` if a match needs no word.
pub(crate) fn choose(
    graph: &Graph,
    dictionary: &Dictionary,
    query: u32,
    root: NodeId,
) -> Option<Anchors> {
    let mut anchors = AnchorChooser { graph, dictionary, query }.choose(root, &[])?;
    let n_words = match graph.node(root) {
        Node::Word { .. } => 1,
        Node::All(parts) if parts.iter().all(|part| is_word(graph.node(*part))) => parts.len(),
        _ => usize::MAX,
    };
    if let [(_, posting)] = &mut anchors.postings[..] {
        posting.is_whole = n_words == 1 + posting.needs().count();
    }
    Some(anchors)
}

fn is_word(node: &Node) -> bool {
    matches!(node, Node::Word { .. })
}

struct AnchorChooser<'a> {
    graph: &'a Graph,
    dictionary: &'a Dictionary,
    query: u32,
}

impl AnchorChooser<'_> {
    /// `needed` are words without which the whole condition cannot hold.
    fn choose(&self, id: NodeId, needed: &[RequiredWord]) -> Option<Anchors> {
        match self.graph.node(id) {
            Node::Word { .. } | Node::Phrase(..) | Node::Near(..) => {
                let mut own = Vec::new();
                self.necessary(id, &mut own);
                let (term, fields) = own.iter().copied().min_by(|a, b| self.compare(a, b))?;
                own.extend(needed);
                let posting = Posting::new(self.query, fields, &self.guards(term, own));
                Some(Anchors { cost: self.cost(term), postings: vec![(term, posting)] })
            }
            Node::All(parts) => {
                let mut all = needed.to_vec();
                self.necessary(id, &mut all);
                let found = parts.iter().filter_map(|part| self.choose(*part, &all));
                found.min_by(|a, b| a.cost.total_cmp(&b.cost))
            }
            Node::Any(parts) => self.any(parts, needed),
            Node::Pattern(..) | Node::Published(..) | Node::Recent(_) | Node::Not(_) => None,
        }
    }

    /// Each part needs anchors of its own.
    fn any(&self, parts: &[NodeId], needed: &[RequiredWord]) -> Option<Anchors> {
        let mut union = Anchors { cost: 0.0, postings: Vec::new() };
        for part in parts {
            let anchors = self.choose(*part, needed)?;
            union.cost += anchors.cost;
            union.postings.extend(anchors.postings);
        }
        // If one word is the anchor of several parts, its guards are those that all parts need.
        union.postings.sort_by_key(|(term, _)| *term);
        union.postings.dedup_by(|(next, posting), (kept, merged)| {
            if next != kept {
                return false;
            }
            let fields = FieldSet(merged.fields.0 | posting.fields.0);
            *merged = Posting::new(self.query, fields, &self.guards(*kept, needed.to_vec()));
            true
        });
        (!union.postings.is_empty()).then_some(union)
    }

    /// Collects words that all occur if the node holds.
    fn necessary(&self, id: NodeId, into: &mut Vec<RequiredWord>) {
        match self.graph.node(id) {
            Node::Word { term, fields } => into.push((*term, *fields)),
            Node::Phrase(sequence, fields) => into.extend(sequence.terms().map(|t| (t, *fields))),
            Node::Near(near, fields) => {
                let terms = near.first.terms().chain(near.second.terms());
                into.extend(terms.map(|term| (term, *fields)));
            }
            Node::All(parts) => parts.iter().for_each(|part| self.necessary(*part, into)),
            _ => {}
        }
    }

    /// Returns the two rarest of the needed words. Names of queries become known too late to be
    /// guards.
    fn guards(&self, anchor: TermId, mut needed: Vec<RequiredWord>) -> Vec<RequiredWord> {
        needed
            .retain(|(term, _)| *term != anchor && self.dictionary.kind(*term) != TermKind::Query);
        needed.sort_by(|a, b| self.compare(a, b));
        needed.dedup();
        needed.truncate(2);
        needed
    }

    fn compare(&self, a: &RequiredWord, b: &RequiredWord) -> std::cmp::Ordering {
        let order = self.cost(a.0).total_cmp(&self.cost(b.0));
        order.then(a.0.cmp(&b.0)).then(a.1.0.cmp(&b.1.0))
    }

    /// Returns the sampled count. Before there are samples, it assumes that long words are rare.
    fn cost(&self, term: TermId) -> f32 {
        let letters = self.dictionary.spelling(term).len().max(1) as f32;
        let guess = match self.dictionary.kind(term) {
            TermKind::Prefix => 16.0 / (letters * letters),
            TermKind::Word => 4.0 / (letters * letters),
            _ => 1.0 / (letters * letters),
        };
        self.dictionary.n_seen(term) as f32 + guess
    }
}
