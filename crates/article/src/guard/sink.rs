//! Receives the nodes of the HTML parser and counts them. It stores them in the tree of the
//! library, except comments, which no reader sees.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use dom_query::{Document, NodeData, NodeId};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};

/// Tags that add attributes to `<html>` and `<body>`. Each compares its attributes with all before.
const MERGED_TAGS_MAX: usize = 16;

pub struct LimitedSink {
    document: Document,
    /// Stands for all comments and is never part of the tree.
    comment: NodeId,
    /// The level of each element, counted from its parent at the time.
    levels: RefCell<HashMap<NodeId, usize>>,
    depth: Cell<usize>,
    n_elements: Cell<usize>,
    n_merged: Cell<usize>,
}

impl Default for LimitedSink {
    fn default() -> LimitedSink {
        let document = Document::default();
        let comment = document.tree.create_node(NodeData::Comment { contents: "".into() });
        LimitedSink {
            document,
            comment,
            levels: RefCell::default(),
            depth: Cell::new(0),
            n_elements: Cell::new(0),
            n_merged: Cell::new(0),
        }
    }
}

impl LimitedSink {
    pub fn n_elements(&self) -> usize {
        self.n_elements.get()
    }

    /// Returns the deepest level at which the parser put an element.
    pub fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Whether a node belongs into the tree. Its level is that of its parent, plus one.
    fn accepts(&self, parent: &NodeId, child: &NodeOrText<NodeId>) -> bool {
        let NodeOrText::AppendNode(child) = child else { return true };
        if *child == self.comment {
            return false;
        }
        let mut levels = self.levels.borrow_mut();
        let level = levels.get(parent).map_or(1, |level| level + 1);
        levels.insert(*child, level);
        self.depth.set(self.depth.get().max(level));
        true
    }
}

impl TreeSink for LimitedSink {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = <Document as TreeSink>::ElemName<'a>;

    fn finish(self) -> Document {
        self.document
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.document.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Self::ElemName<'a> {
        self.document.elem_name(target)
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        flags: ElementFlags,
    ) -> NodeId {
        self.n_elements.set(self.n_elements.get() + 1);
        self.document.create_element(name, attributes, flags)
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.comment
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.comment
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        if self.accepts(parent, &child) {
            self.document.append(parent, child);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        // The level of a node before `element` is at most one more than this.
        if self.accepts(element, &child) {
            self.document.append_based_on_parent_node(element, previous, child);
        }
    }

    fn append_doctype_to_document(
        &self,
        name: StrTendril,
        public_id: StrTendril,
        system_id: StrTendril,
    ) {
        self.document.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let contents = self.document.get_template_contents(target);
        let mut levels = self.levels.borrow_mut();
        // Contents are a tree of their own, which the library still walks from outside.
        let level = levels.get(target).copied().unwrap_or(0);
        levels.insert(contents, level);
        contents
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.document.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        if self.accepts(sibling, &child) {
            self.document.append_before_sibling(sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        self.n_merged.set(self.n_merged.get() + 1);
        if self.n_merged.get() <= MERGED_TAGS_MAX {
            self.document.add_attrs_if_missing(target, attributes);
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.document.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.document.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        self.document.is_mathml_annotation_xml_integration_point(handle)
    }
}
