//! Compiled queries. They are small, because there may be a hundred thousand.

use super::dictionary::TermId;
use super::graph::NodeId;
use crate::QueryId;
use crate::state::Operators;

/// The part of a compiled query that the matcher reads for every candidate.
#[derive(Clone, Copy)]
pub(super) struct QueryHead {
    pub id: QueryId,
    pub root: NodeId,
    /// The depth in the chain of queries: 0 for one that reads only feeds.
    pub level: u8,
    /// Other queries read this one.
    pub is_read: bool,
    pub is_stateful: bool,
}

/// A compiled query. Most have one anchor, read all feeds and keep no state; `more` holds the rest.
pub(super) struct CompiledQuery {
    pub name: Box<str>,
    pub anchors: AnchorTerms,
    pub more: Option<Box<RareParts>>,
}

/// The words under which a query is listed.
pub(super) enum AnchorTerms {
    /// No words: the query is evaluated for every entry.
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

/// The parts that only some queries have.
pub(super) struct RareParts {
    pub stateful: Option<Stateful>,
    /// The names of the queries that this one reads.
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

/// The feeds and tags that a query reads directly.
pub(super) enum Sources {
    All,
    Named(Box<[TermId]>),
}

/// The operators with a state, and the two sides of a join.
pub(super) struct Stateful {
    pub operators: Operators,
    pub sides: Option<(NodeId, NodeId)>,
}
