//! By which words a query is found: some set of which at least one must occur in every match, the
//! one that occurs least.
//!
//! A query is looked at only when one of its anchors occurs, and only if its guards, other words
//! that every such match needs, occur too. A condition without such words (a negation, an
//! expression, a date) has no anchor and is checked for every entry.

use super::dictionary::{Dictionary, TermId, TermKind};
use super::graph::{FieldSet, Graph, Node, NodeId};

/// A query in the list of a word, with what else must occur. Sixteen bytes: lists are read from
/// one end to the other for every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub query: u32,
    /// Where the word itself must stand.
    pub fields: FieldSet,
    /// What the guards ask is all that the query asks.
    pub is_whole: bool,
    guard_fields: [FieldSet; 2],
    guards: [TermId; 2],
}

/// A word that must occur, and in which fields.
pub(crate) type Need = (TermId, FieldSet);

impl Posting {
    fn new(query: u32, fields: FieldSet, guards: &[Need]) -> Posting {
        // No guard is one that may stand nowhere.
        let guard = |n: usize| guards.get(n).copied().unwrap_or((TermId(0), NOWHERE));
        Posting {
            query,
            fields,
            is_whole: false,
            guard_fields: [guard(0).1, guard(1).1],
            guards: [guard(0).0, guard(1).0],
        }
    }

    /// The guards, at most two.
    #[inline]
    pub(crate) fn needs(&self) -> impl Iterator<Item = Need> {
        let both = self.guards.into_iter().zip(self.guard_fields);
        both.take_while(|(_, fields)| *fields != NOWHERE)
    }
}

const NOWHERE: FieldSet = FieldSet(0);

/// The anchors of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anchors {
    /// How often entries are expected to bring one of them, in sampled entries.
    pub cost: f32,
    /// The words, and what stands in their lists.
    pub postings: Vec<(TermId, Posting)>,
}

/// The anchors of a query that occur least; `None` where a match needs no word.
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
    fn choose(&self, id: NodeId, needed: &[Need]) -> Option<Anchors> {
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

    /// Each part must be found by itself.
    fn any(&self, parts: &[NodeId], needed: &[Need]) -> Option<Anchors> {
        let mut union = Anchors { cost: 0.0, postings: Vec::new() };
        for part in parts {
            let anchors = self.choose(*part, needed)?;
            union.cost += anchors.cost;
            union.postings.extend(anchors.postings);
        }
        // One word may be the anchor of several parts: then what is needed is what all need.
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

    /// Words that must all occur where the node holds.
    fn necessary(&self, id: NodeId, into: &mut Vec<Need>) {
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

    /// The two rarest of the needed words. Names of queries are known too late to guard.
    fn guards(&self, anchor: TermId, mut needed: Vec<Need>) -> Vec<Need> {
        needed
            .retain(|(term, _)| *term != anchor && self.dictionary.kind(*term) != TermKind::Query);
        needed.sort_by(|a, b| self.compare(a, b));
        needed.dedup();
        needed.truncate(2);
        needed
    }

    fn compare(&self, a: &Need, b: &Need) -> std::cmp::Ordering {
        let order = self.cost(a.0).total_cmp(&self.cost(b.0));
        order.then(a.0.cmp(&b.0)).then(a.1.0.cmp(&b.1.0))
    }

    /// What was counted, and before anything was counted the guess that long words are rare.
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
