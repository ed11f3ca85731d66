//! Keeps the places in a text that links lead to. Old pages name them by empty anchors, such as
//! `<a name="note1"></a>`, and the search for the main text removes empty elements. The element
//! around an anchor keeps the name meanwhile, in an attribute that has no influence on the search.

use dom_query::{Document, NodeRef, Selection};

const NAME: &str = "data-place";

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

/// Turns the noted names into places.
pub fn restore(root: &NodeRef<'_>) {
    for element in Selection::from(*root).select("[data-place]").nodes() {
        if let Some(name) = element.attr(NAME).filter(|_| !element.has_attr("id")) {
            element.set_attr("id", &name);
        }
        element.remove_attr(NAME);
    }
}
