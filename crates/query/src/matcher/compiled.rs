//! What the matcher keeps of each query. Small: there may be a hundred thousand.

use super::dictionary::TermId;
use super::graph::NodeId;
use crate::QueryId;
use crate::state::Operators;

/// The part of a plan that is looked at for every entry that may match.
#[derive(Clone, Copy)]
pub(super) struct QueryHead {
    pub id: QueryId,
    pub root: NodeId,
    /// How many queries deep it reads: 0 for one that reads feeds only.
    pub level: u8,
    /// Other queries read this one.
    pub is_read: bool,
    pub is_stateful: bool,
}

/// A query, compiled. Most have one anchor, read all feeds and remember nothing; what else there
/// may be lies apart.
pub(super) struct CompiledQuery {
    pub name: Box<str>,
    pub anchors: AnchorTerms,
    pub more: Option<Box<RareParts>>,
}

/// Under which words a plan is listed.
pub(super) enum AnchorTerms {
    /// None: it is checked for every entry.
    Always,
    One(TermId),
    Many(Box<[TermId]>),
}

impl AnchorTerms {
    pub(super) fn terms(&self) -> &[TermId] {
        match self {
            AnchorTerms::Always => &[],
            AnchorTerms::One(term) => std::slice::from_ref(term),
            AnchorTerms::Many(terms) => terms,
        }
    }
}

/// What only some plans have.
pub(super) struct RareParts {
    pub stateful: Option<Stateful>,
    /// Names of the queries it reads.
    pub reads: Box<[Box<str>]>,
    pub sources: Sources,
}

impl CompiledQuery {
    pub(super) fn stateful(&self) -> Option<&Stateful> {
        self.more.as_ref()?.stateful.as_ref()
    }

    pub(super) fn reads(&self) -> &[Box<str>] {
        self.more.as_ref().map_or(&[], |more| &more.reads)
    }
}

/// What a plan reads by itself.
pub(super) enum Sources {
    All,
    Named(Box<[TermId]>),
}

/// The part that needs memory, and the two sides of its join.
pub(super) struct Stateful {
    pub operators: Operators,
    pub sides: Option<(NodeId, NodeId)>,
}
