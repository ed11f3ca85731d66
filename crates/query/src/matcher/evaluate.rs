//! Evaluates conditions for one entry. Parts that several queries share are evaluated once.

use super::graph::{FieldSet, Graph, Nearness, Node, NodeId, Sequence};
use super::index::{EntryIndex, EntryTexts};
use crate::Entry;

/// The results for the current entry: for each node the number of the entry and the result.
#[derive(Default)]
pub(super) struct Memo {
    answers: Vec<u32>,
    /// Twice the number of the entry; the lowest bit of a record is the result.
    entry: u32,
}

impl Memo {
    /// Discards all results by advancing the number.
    pub(super) fn start(&mut self, n_nodes: usize) {
        if self.entry >= u32::MAX - 3 {
            self.answers.fill(0);
            self.entry = 0;
        }
        self.entry += 2;
        if self.answers.len() < n_nodes {
            self.answers.resize(n_nodes, 0);
        }
    }

    fn answer(&self, id: NodeId) -> Option<bool> {
        let noted = self.answers[id.0 as usize];
        (noted & !1 == self.entry).then_some(noted & 1 == 1)
    }

    fn note(&mut self, id: NodeId, answer: bool) {
        self.answers[id.0 as usize] = self.entry | u32::from(answer);
    }
}

/// One entry, ready for evaluation.
pub(super) struct Evaluation<'a> {
    pub graph: &'a Graph,
    pub index: &'a EntryIndex,
    pub texts: &'a EntryTexts<'a>,
    pub entry: &'a Entry<'a>,
}

impl Evaluation<'_> {
    pub(super) fn holds(&self, id: NodeId, memo: &mut Memo) -> bool {
        match self.graph.node(id) {
            // Evaluating a word is as fast as reading a stored result.
            Node::Word { term, fields } => return self.index.has_in(*term, *fields),
            Node::Not(inner) => return !self.holds(*inner, memo),
            _ => {}
        }
        // The names of queries that kept the entry become known during matching, but always before
        // a node needs them, so a result stays valid.
        let shared = self.graph.n_users(id) > 1;
        if shared && let Some(answer) = memo.answer(id) {
            return answer;
        }
        let answer = match self.graph.node(id) {
            Node::All(parts) => parts.iter().all(|part| self.holds(*part, memo)),
            Node::Any(parts) => parts.iter().any(|part| self.holds(*part, memo)),
            Node::Phrase(sequence, fields) => self.ends(sequence, *fields).next().is_some(),
            Node::Near(near, fields) => self.is_near(near, *fields),
            Node::Pattern(pattern, fields) => {
                self.texts.in_fields(*fields).any(|(_, text)| pattern.is_found_in(text))
            }
            Node::Published(from, to) => {
                self.entry.published.is_some_and(|t| (*from..*to).contains(&t.millis()))
            }
            Node::Recent(ms) => self.entry.published.is_some_and(|published| {
                let age = self.entry.seen.millis_since(published);
                u64::try_from(age).unwrap_or(0) <= *ms
            }),
            Node::Word { .. } | Node::Not(_) => false,
        };
        if shared {
            memo.note(id, answer);
        }
        answer
    }

    /// Returns the occurrences of a sequence: the text, its first and its last position.
    fn ends(&self, sequence: &Sequence, fields: FieldSet) -> impl Iterator<Item = (u32, u32, u32)> {
        let (first, rest) = match sequence.words.split_first() {
            Some((first, rest)) => (Some(*first), rest),
            None => (None, &[][..]),
        };
        let all_there = sequence.words.iter().all(|word| self.index.has_in(*word, fields));
        let starts = first.filter(|_| all_there).into_iter();
        starts.flat_map(|first| self.index.places(first)).filter_map(move |at| {
            let start = self.index.occurrences()[at];
            if !start.field.meets(fields) {
                return None;
            }
            let mut place = (at, start.position);
            for word in rest {
                place = self.follower(place, start.text, *word)?;
            }
            Some((start.text, start.position, place.1))
        })
    }

    /// Returns the occurrence of `word` right after a position of the same text.
    fn follower(
        &self,
        (at, position): (usize, u32),
        text: u32,
        word: super::dictionary::TermId,
    ) -> Option<(usize, u32)> {
        let following = self.index.occurrences().iter().enumerate().skip(at + 1);
        following
            .take_while(|(_, o)| o.text == text && o.position <= position + 1)
            .find(|(_, o)| o.term == word && o.position == position + 1)
            .map(|(at, o)| (at, o.position))
    }

    /// Returns whether both sequences occur in one text, at most `near.words` words apart.
    fn is_near(&self, near: &Nearness, fields: FieldSet) -> bool {
        let seconds: Vec<(u32, u32, u32)> = self.ends(&near.second, fields).collect();
        let reach = u32::from(near.words);
        self.ends(&near.first, fields).any(|(text, start, end)| {
            // Both lists are in the order of the text. The search skips sequences that end too
            // early and stops at one that begins too late.
            let from = seconds.partition_point(|s| (s.0, s.2 + reach) < (text, start));
            let candidates = seconds[from..].iter();
            let mut near = candidates.take_while(|s| (s.0, s.1) <= (text, end + reach));
            near.any(|s| (s.1, s.2) != (start, end))
        })
    }
}
