//! Compares texts as multisets of words.

use std::collections::HashMap;

use dom_query::{Document, NodeData};

/// Precision, recall and their harmonic mean.
#[derive(Clone, Copy, Debug)]
pub struct Overlap {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// The words of a text: runs of letters and digits; each character of Chinese and Japanese.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if ('\u{3040}'..'\u{a000}').contains(&c) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            words.push(c.to_string());
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

pub fn overlap(found: &[String], expected: &[String]) -> Overlap {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for word in expected {
        *counts.entry(word).or_default() += 1;
    }
    let mut n_common = 0_u32;
    for word in found {
        if let Some(left) = counts.get_mut(word.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            n_common += 1;
        }
    }
    let share = |of: usize| if of == 0 { 1.0 } else { f64::from(n_common) / of as f64 };
    let (precision, recall) = (share(found.len()), share(expected.len()));
    let sum = precision + recall;
    Overlap { precision, recall, f1: if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum } }
}

/// The text of a piece of HTML. Every element separates words, except those inside a line.
pub fn text_of_html(html: &str) -> String {
    const INLINE: [&str; 14] = [
        "a", "abbr", "b", "cite", "code", "em", "i", "mark", "small", "span", "strong", "sub",
        "sup", "u",
    ];
    let document = Document::from(html);
    let mut text = String::new();
    for node in document.root().descendants() {
        node.query(|inner| match &inner.data {
            NodeData::Text { contents } => {
                let parent = node.parent().and_then(|parent| parent.node_name());
                let name = parent.as_deref().unwrap_or_default();
                if !["script", "style", "title"].contains(&name) {
                    text.push_str(contents);
                }
            }
            NodeData::Element(element) if !INLINE.contains(&&*element.name.local) => {
                text.push(' ');
            }
            _ => {}
        });
    }
    text
}
