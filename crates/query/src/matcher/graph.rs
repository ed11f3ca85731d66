//! Conditions as a graph in which equal parts share a node, so that each is evaluated once per
//! entry. Nodes count their users, and release words and other nodes with the last user.

use super::dictionary::{Dictionary, TermId};
use super::table::NumberTable;
use crate::RegexPattern;
use crate::hash::{hash, mix};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// A set of fields of an entry, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldSet(pub(crate) u8);

impl FieldSet {
    pub(crate) const TITLE: FieldSet = FieldSet(1);
    pub(crate) const SUMMARY: FieldSet = FieldSet(2);
    pub(crate) const CONTENT: FieldSet = FieldSet(4);
    pub(crate) const AUTHOR: FieldSet = FieldSet(8);
    pub(crate) const CATEGORY: FieldSet = FieldSet(16);
    pub(crate) const LINK: FieldSet = FieldSet(32);
    pub(crate) const FEED: FieldSet = FieldSet(64);
    /// A whole value or a fact, not a text.
    pub(crate) const FACT: FieldSet = FieldSet(128);
    /// The same bit as [`FieldSet::FACT`]: no term is both a word of a text and a fact.
    pub(crate) const ARTICLE: FieldSet = FieldSet(128);
    pub(crate) const ITEM: FieldSet = FieldSet(31);
    /// All that people read.
    pub(crate) const READABLE: FieldSet = FieldSet(31 | 128);
    /// The fields with text, in the order of reading.
    pub(crate) const TEXTS: [FieldSet; 8] = [
        FieldSet::TITLE,
        FieldSet::SUMMARY,
        FieldSet::CONTENT,
        FieldSet::AUTHOR,
        FieldSet::CATEGORY,
        FieldSet::LINK,
        FieldSet::FEED,
        FieldSet::ARTICLE,
    ];

    pub(crate) const fn meets(self, other: FieldSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Word {
        term: TermId,
        fields: FieldSet,
    },
    Phrase(Box<Sequence>, FieldSet),
    Near(Box<Nearness>, FieldSet),
    Pattern(Box<RegexPattern>, FieldSet),
    /// A range in milliseconds; the second value is exclusive.
    Published(i64, i64),
    Recent(u64),
    Not(NodeId),
    /// An empty list is true.
    All(Box<[NodeId]>),
    Any(Box<[NodeId]>),
}

/// Words that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub words: Box<[TermId]>,
    /// Adjacent characters, used as anchors only.
    pub pairs: Box<[TermId]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nearness {
    pub first: Sequence,
    pub second: Sequence,
    pub words: u16,
}

impl Sequence {
    pub(super) fn terms(&self) -> impl Iterator<Item = TermId> {
        self.words.iter().chain(&self.pairs).copied()
    }
}

#[derive(Default)]
pub(crate) struct Graph {
    table: NumberTable,
    slots: Vec<NodeSlot>,
    free: Vec<u32>,
    /// The number of nodes that read each of [`FieldSet::TEXTS`] word by word.
    n_readers: [u32; 8],
}

struct NodeSlot {
    node: Node,
    n_users: u32,
}

impl Graph {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.slots[id.0 as usize].node
    }

    /// Returns the number of conditions and queries that share this node.
    #[inline]
    pub(crate) fn n_users(&self, id: NodeId) -> u32 {
        self.slots[id.0 as usize].n_users
    }

    /// Returns whether any node reads this field word by word.
    pub(crate) fn reads(&self, field: usize) -> bool {
        self.n_readers[field] > 0
    }

    /// Returns the number of nodes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn bound(&self) -> usize {
        self.slots.len()
    }

    /// Returns the node and adds a user. Takes over the words and nodes that `node` holds.
    pub(crate) fn acquire(&mut self, node: Node, dictionary: &mut Dictionary) -> NodeId {
        let hash = hash_of(&node);
        let known = self.table.find(hash, |id| self.slots[id as usize].node == node);
        if let Some(id) = known {
            self.slots[id as usize].n_users += 1;
            self.release_parts(&node, dictionary);
            return NodeId(id);
        }
        self.count_readers(&node, 1);
        let slot = NodeSlot { node, n_users: 1 };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.table.insert(hash, id);
        NodeId(id)
    }

    /// Adds a user of an existing node.
    pub(crate) fn share(&mut self, id: NodeId) {
        self.slots[id.0 as usize].n_users += 1;
    }

    pub(crate) fn release(&mut self, id: NodeId, dictionary: &mut Dictionary) {
        let slot = &mut self.slots[id.0 as usize];
        slot.n_users -= 1;
        if slot.n_users > 0 {
            return;
        }
        let node = std::mem::replace(&mut slot.node, Node::All(Box::default()));
        self.table.remove(hash_of(&node), id.0);
        self.free.push(id.0);
        self.count_readers(&node, u32::MAX);
        self.release_parts(&node, dictionary);
    }

    fn release_parts(&mut self, node: &Node, dictionary: &mut Dictionary) {
        match node {
            Node::Word { term, .. } => dictionary.release(*term),
            Node::Phrase(sequence, _) => sequence.terms().for_each(|t| dictionary.release(t)),
            Node::Near(near, _) => {
                near.first.terms().chain(near.second.terms()).for_each(|t| dictionary.release(t));
            }
            Node::Not(inner) => self.release(*inner, dictionary),
            Node::All(parts) | Node::Any(parts) => {
                parts.iter().for_each(|part| self.release(*part, dictionary));
            }
            Node::Pattern(..) | Node::Published(..) | Node::Recent(_) => {}
        }
    }

    /// Adds `by` (1, or −1 in two's complement) for every field that the node reads.
    fn count_readers(&mut self, node: &Node, by: u32) {
        let (Node::Word { fields, .. } | Node::Phrase(_, fields) | Node::Near(_, fields)) = node
        else {
            return;
        };
        for (count, field) in self.n_readers.iter_mut().zip(FieldSet::TEXTS) {
            if fields.meets(field) {
                *count = count.wrapping_add(by);
            }
        }
    }
}

fn hash_of(node: &Node) -> u64 {
    let list = |seed: u64, ids: &mut dyn Iterator<Item = u32>| {
        ids.fold(seed, |state, id| mix(state ^ 0x9e37_79b9, u64::from(id) + 0x1000_0001))
    };
    let terms = |seed: u64, s: &Sequence| list(seed, &mut s.words.iter().map(|t| t.0));
    match node {
        Node::Word { term, fields } => {
            list(1 + (u64::from(fields.0) << 8), &mut [term.0].into_iter())
        }
        Node::Phrase(sequence, fields) => terms(2 + (u64::from(fields.0) << 8), sequence),
        Node::Near(near, fields) => {
            let seed = 3 + (u64::from(fields.0) << 8) + (u64::from(near.words) << 32);
            terms(terms(seed, &near.first), &near.second)
        }
        Node::Pattern(pattern, fields) => {
            hash(4 + (u64::from(fields.0) << 8), pattern.written().as_bytes())
        }
        Node::Published(start, end) => mix(5 ^ *start as u64, *end as u64 | 1),
        Node::Recent(ms) => mix(6 ^ ms, 0x9e37_79b9_7f4a_7c15),
        Node::Not(inner) => list(7, &mut [inner.0].into_iter()),
        Node::All(parts) => list(8, &mut parts.iter().map(|p| p.0)),
        Node::Any(parts) => list(9, &mut parts.iter().map(|p| p.0)),
    }
}
