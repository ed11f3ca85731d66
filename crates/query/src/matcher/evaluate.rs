//! Whether a condition holds for an entry. Parts that several queries share are asked once.

use super::graph::{FieldSet, Graph, Nearness, Node, NodeId, Sequence};
use super::index::{Index, Texts};
use crate::Entry;

/// What was already answered for the entry at hand: per node the entry's number and the answer.
#[derive(Default)]
pub(super) struct Memo {
    answers: Vec<u32>,
    /// Twice the number of the entry, so that the answer fits beside it.
    entry: u32,
}

impl Memo {
    /// Forgets all answers by taking the next number.
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

/// One entry, ready to be asked.
pub(super) struct Evaluation<'a> {
    pub graph: &'a Graph,
    pub index: &'a Index,
    pub texts: &'a Texts<'a>,
    pub entry: &'a Entry<'a>,
}

impl Evaluation<'_> {
    pub(super) fn holds(&self, id: NodeId, memo: &mut Memo) -> bool {
        match self.graph.node(id) {
            // As quick to ask again as to remember.
            Node::Word { term, fields } => return self.index.has_in(*term, *fields),
            Node::Not(inner) => return !self.holds(*inner, memo),
            _ => {}
        }
        // Facts that come up while matching (which queries kept the entry) are settled before
        // anybody asks for them, so an answer stays true.
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

    /// Where a sequence stands: its text, its first and its last position.
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

    /// The occurrence of `word` right behind a place of the same text.
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

    /// Whether two sequences stand in one text with at most so many words from the end of one to
    /// the start of the other.
    fn is_near(&self, near: &Nearness, fields: FieldSet) -> bool {
        let seconds: Vec<(u32, u32, u32)> = self.ends(&near.second, fields).collect();
        let reach = u32::from(near.words);
        self.ends(&near.first, fields).any(|(text, start, end)| {
            // Both lists are in the order of the text: what ends too early is stepped over, and
            // what begins too late ends the search.
            let from = seconds.partition_point(|s| (s.0, s.2 + reach) < (text, start));
            let candidates = seconds[from..].iter();
            let mut near = candidates.take_while(|s| (s.0, s.1) <= (text, end + reach));
            near.any(|s| (s.1, s.2) != (start, end))
        })
    }
}
