//! A written document and the places of its items, so that some of them can be written alone.

use std::ops::Range;

/// A document as text. The items stand one after another between a head and a tail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenDocument {
    pub text: String,
    /// The place of each item in the text, in order.
    pub items: Vec<Range<usize>>,
    /// The text between two items.
    pub separator: &'static str,
}

impl WrittenDocument {
    /// Returns the text of each item.
    pub fn item_texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|place| &self.text[place.clone()])
    }

    /// Returns the same document with only these items, given by their numbers in ascending order.
    pub fn with_items(&self, numbers: &[usize]) -> String {
        let (Some(first), Some(last)) = (self.items.first(), self.items.last()) else {
            return self.text.clone();
        };
        let kept = numbers.iter().filter_map(|number| self.items.get(*number));
        let kept: Vec<&str> = kept.map(|place| &self.text[place.clone()]).collect();
        let kept = kept.join(self.separator);
        [&self.text[..first.start], &kept, &self.text[last.end..]].concat()
    }
}
