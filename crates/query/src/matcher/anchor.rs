//! By which words a query is found: some set of which at least one must occur in every match, the
//! one that occurs least.
//!
//! A query is looked at only when one of its anchors occurs, and only if its guards, other words
//! that every such match needs, occur too. A condition without such words (a negation, an
//! expression, a date) has no anchor and is checked for every entry.

use super::dictionary::{Dictionary, Kind, TermId};
use super::graph::{Graph, Node, NodeId};

/// A query in the list of a word, with what else must occur.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub query: u32,
    pub guards: [Option<Guard>; 2],
}

/// A word that must occur. Its number plus one, so that none takes no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard(std::num::NonZeroU32);

impl Guard {
    fn new(term: TermId) -> Option<Guard> {
        std::num::NonZeroU32::new(term.0.wrapping_add(1)).map(Guard)
    }

    #[inline]
    pub(crate) fn term(self) -> TermId {
        TermId(self.0.get() - 1)
    }
}

/// The anchors of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anchors {
    /// How often entries are expected to bring one of them, in sampled entries.
    pub cost: f32,
    pub terms: Vec<(TermId, [Option<Guard>; 2])>,
}

/// The anchors that occur least; `None` where a match needs no word.
pub(crate) fn choose(graph: &Graph, dictionary: &Dictionary, root: NodeId) -> Option<Anchors> {
    Chooser { graph, dictionary }.choose(root, &[])
}

struct Chooser<'a> {
    graph: &'a Graph,
    dictionary: &'a Dictionary,
}

impl Chooser<'_> {
    /// `needed` are words without which the whole condition cannot hold.
    fn choose(&self, id: NodeId, needed: &[TermId]) -> Option<Anchors> {
        match self.graph.node(id) {
            Node::Word { .. } | Node::Phrase(..) | Node::Near(..) => {
                let mut own = Vec::new();
                self.necessary(id, &mut own);
                let term = own.iter().copied().min_by(|a, b| self.compare(*a, *b))?;
                own.extend(needed);
                Some(Anchors { cost: self.cost(term), terms: vec![(term, self.guards(term, own))] })
            }
            Node::All(parts) => {
                let mut all = needed.to_vec();
                self.necessary(id, &mut all);
                let found = parts.iter().filter_map(|part| self.choose(*part, &all));
                found.min_by(|a, b| a.cost.total_cmp(&b.cost))
            }
            Node::Any(parts) => {
                let mut union = Anchors { cost: 0.0, terms: Vec::new() };
                for part in parts {
                    let anchors = self.choose(*part, needed)?;
                    union.cost += anchors.cost;
                    union.terms.extend(anchors.terms);
                }
                // One word may be the anchor of several parts; then its guards are the whole's.
                union.terms.sort_by_key(|(term, _)| *term);
                union.terms.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    if same {
                        kept.1 = self.guards(kept.0, needed.to_vec());
                    }
                    same
                });
                (!union.terms.is_empty()).then_some(union)
            }
            Node::Pattern(..) | Node::Published(..) | Node::Recent(_) | Node::Not(_) => None,
        }
    }

    /// Words that must all occur where the node holds.
    fn necessary(&self, id: NodeId, into: &mut Vec<TermId>) {
        match self.graph.node(id) {
            Node::Word { term, .. } => into.push(*term),
            Node::Phrase(sequence, _) => into.extend(sequence.terms()),
            Node::Near(near, _) => into.extend(near.first.terms().chain(near.second.terms())),
            Node::All(parts) => parts.iter().for_each(|part| self.necessary(*part, into)),
            _ => {}
        }
    }

    /// The two rarest of the needed words. Names of queries are known too late to guard.
    fn guards(&self, anchor: TermId, mut needed: Vec<TermId>) -> [Option<Guard>; 2] {
        needed.retain(|term| *term != anchor && self.dictionary.kind(*term) != Kind::Query);
        needed.sort_unstable();
        needed.dedup();
        needed.sort_by(|a, b| self.compare(*a, *b));
        let mut guards = needed.into_iter().filter_map(Guard::new);
        [guards.next(), guards.next()]
    }

    fn compare(&self, a: TermId, b: TermId) -> std::cmp::Ordering {
        self.cost(a).total_cmp(&self.cost(b)).then(a.cmp(&b))
    }

    /// What was counted, and before anything was counted the guess that long words are rare.
    fn cost(&self, term: TermId) -> f32 {
        let letters = self.dictionary.spelling(term).len().max(1) as f32;
        let guess = match self.dictionary.kind(term) {
            Kind::Prefix => 16.0 / (letters * letters),
            Kind::Word => 4.0 / (letters * letters),
            _ => 1.0 / (letters * letters),
        };
        self.dictionary.n_seen(term) as f32 + guess
    }
}
