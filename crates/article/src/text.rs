//! The text of a tree: one line per block, without markup.

use std::collections::HashSet;

use dom_query::{NodeData, NodeId, NodeRef};

/// Elements whose text nobody reads.
const SILENT: &str = "audio canvas embed head iframe input noembed noframes object \
    script select style svg template textarea video";

/// Elements that stand in a line of text. All others begin a line of their own.
const INLINE: &str = "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins \
    kbd label map mark math meter nobr noscript output picture progress q rp rt ruby s samp small \
    source span strike strong sub sup time tt u var wbr mi mo mn ms mtext mrow msub msup msubsup \
    mfrac msqrt mstyle semantics";

/// Returns the text of a node and everything in it but `without`, one line per block.
pub fn lines(root: &NodeRef<'_>, without: &HashSet<NodeId>) -> String {
    let mut lines = TextLines::default();
    walk(root, without, &mut |step| match step {
        TextStep::Text(text, is_preformatted) => lines.push(text, is_preformatted),
        TextStep::Break => lines.end(),
    });
    lines.end();
    lines.text
}

/// Returns the text of a node in one line.
pub fn line(root: &NodeRef<'_>) -> String {
    let mut words = String::new();
    walk(root, &HashSet::new(), &mut |step| match step {
        TextStep::Text(text, _) => words.push_str(text),
        TextStep::Break => words.push(' '),
    });
    one_line(&words)
}

/// Returns a text with each run of white space as one space.
pub fn one_line(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

/// Whether an element begins a line of its own.
pub fn is_block(name: &str) -> bool {
    !INLINE.split_whitespace().any(|inline| inline == name)
}

fn is_silent(name: &str) -> bool {
    SILENT.split_whitespace().any(|silent| silent == name)
}

enum TextStep<'a> {
    Text(&'a str, bool),
    Break,
}

/// Visits the text in the order of reading, without recursion.
fn walk(root: &NodeRef<'_>, without: &HashSet<NodeId>, visit: &mut dyn FnMut(TextStep<'_>)) {
    let mut at = *root;
    let mut n_preformatted = 0_usize;
    loop {
        let is_open = !without.contains(&at.id) && enter(&at, n_preformatted > 0, visit);
        if is_open && let Some(child) = at.first_child() {
            n_preformatted += usize::from(at.has_name("pre"));
            at = child;
            continue;
        }
        leave(&at, visit);
        loop {
            if at.id == root.id {
                return;
            }
            if let Some(next) = at.next_sibling() {
                at = next;
                break;
            }
            let Some(parent) = at.parent() else { return };
            n_preformatted -= usize::from(parent.has_name("pre") && n_preformatted > 0);
            leave(&parent, visit);
            at = parent;
        }
    }
}

/// Returns whether the children of a node are to be visited.
fn enter(node: &NodeRef<'_>, is_preformatted: bool, visit: &mut dyn FnMut(TextStep<'_>)) -> bool {
    node.query_or(false, |node| match &node.data {
        NodeData::Text { contents } => {
            visit(TextStep::Text(contents, is_preformatted));
            false
        }
        NodeData::Element(element) => {
            let name: &str = &element.name.local;
            if is_silent(name) {
                return false;
            }
            if is_block(name) {
                visit(TextStep::Break);
            }
            true
        }
        NodeData::Document | NodeData::Fragment => true,
        _ => false,
    })
}

fn leave(node: &NodeRef<'_>, visit: &mut dyn FnMut(TextStep<'_>)) {
    let breaks = |name: &str| is_block(name) && !is_silent(name);
    if node.is_element() && node.qual_name_ref().is_some_and(|name| breaks(&name.local)) {
        visit(TextStep::Break);
    }
}

/// TextLines under construction.
#[derive(Default)]
struct TextLines {
    text: String,
    line: String,
    /// Whether white space came since the last word.
    is_spaced: bool,
}

impl TextLines {
    fn push(&mut self, text: &str, is_preformatted: bool) {
        if is_preformatted && text.contains('\n') {
            for (n, line) in text.split('\n').enumerate() {
                if n > 0 {
                    self.end();
                }
                self.push_words(line);
            }
        } else {
            self.push_words(text);
        }
    }

    fn push_words(&mut self, text: &str) {
        let begins_spaced = text.starts_with(char::is_whitespace);
        self.is_spaced |= begins_spaced;
        for word in text.split_whitespace() {
            if self.is_spaced && !self.line.is_empty() {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.is_spaced = true;
        }
        if !text.is_empty() {
            let ends_spaced = text.ends_with(char::is_whitespace);
            let is_blank = text.trim().is_empty();
            self.is_spaced = ends_spaced || is_blank;
        }
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&self.line);
            self.line.clear();
        }
        self.is_spaced = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expect: &str) {
        let document = crate::guard::tree(html).unwrap();
        assert_eq!(lines(&document.root(), &HashSet::new()), expect);
    }

    #[test]
    fn each_block_is_a_line_and_inline_elements_glue() {
        check("<p>One <b>t</b>wo</p>\n<p>three<br>four</p>", "One two\nthree\nfour");
        check("<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>", "a\nb\nc\nd");
        check("<p> a\n\tb  <i> c</i> d </p>", "a b c d");
        check("<div><div><p></p></div>x<p>y</div>z", "x\ny\nz");
    }

    #[test]
    fn scripts_and_players_are_silent() {
        check("<p>a<script>b</script><style>c</style><svg><text>d</text></svg>e</p>", "ae");
        check("<title>t</title><p>a<iframe src=x>b</iframe></p>", "a");
    }

    #[test]
    fn preformatted_lines_stay_apart() {
        check("<pre>let a = 1;\n  let b;</pre><p>x\ny</p>", "let a = 1;\nlet b;\nx y");
    }
}
