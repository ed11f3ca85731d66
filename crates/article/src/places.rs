//! Keeps the places in a text that links lead to. Old pages name them by empty anchors, such as
//! `<a name="note1"></a>`, and the search for the main text removes empty elements. The element
//! around an anchor keeps the name meanwhile, in an attribute that has no influence on the search.

use dom_query::{Document, NodeRef, Selection};

use crate::cleaning::{folded, is_heading};
use crate::text;

const NAME: &str = "data-place";
/// Children of a section among which its heading is.
const CHILDREN_BEFORE_HEADING: usize = 3;

/// Gives the names of empty anchors to the elements around them.
pub fn note(document: &Document) {
    for anchor in document.select("a[name]:not([href]), a[id]:not([href])").nodes() {
        let name = anchor.attr("id").or_else(|| anchor.attr("name"));
        let (Some(name), Some(around)) = (name, anchor.parent()) else { continue };
        if anchor.text().trim().is_empty() && !around.has_attr("id") && !around.has_attr(NAME) {
            around.set_attr(NAME, &name);
        }
    }
}

/// Hides ids that only repeat the heading of their section. Programs that write documents make
/// them, so `comments` says no more than the heading does. The search and the cleaning judge by
/// ids.
pub fn hide_section_ids(root: &NodeRef<'_>) {
    for section in Selection::from(*root).select("section[id], div[id]").nodes() {
        let Some(id) = section.id_attr() else { continue };
        let children = section.element_children();
        let mut near = children.iter().take(CHILDREN_BEFORE_HEADING);
        let head = near.find(|child| child.node_name().is_some_and(|name| is_heading(&name)));
        if head.is_some_and(|head| folded(&text::line(head)) == folded(&id)) {
            section.remove_attr("id");
            section.set_attr(NAME, &id);
        }
    }
}

/// Turns the noted names into places.
pub fn restore(root: &NodeRef<'_>) {
    for element in Selection::from(*root).select("[data-place]").nodes() {
        if let Some(name) = element.attr(NAME).filter(|_| !element.has_attr("id")) {
            element.set_attr("id", &name);
        }
        element.remove_attr(NAME);
    }
}
