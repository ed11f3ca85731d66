//! Answers whether any query reads a feed.

use super::Matcher;
use super::compiled::Sources;
use super::dictionary::{TermId, TermKind};
use crate::language::ast::{Query, QuerySource};

impl Matcher {
    /// Returns whether any query reads this feed. A feed that none reads has selectivity 0.
    pub fn reads(&self, feed_url: &str, tags: &[String]) -> bool {
        let is_read = |kind, name: &str| {
            let term = self.dictionary.find(kind, name.as_bytes());
            term.is_some_and(|term| self.sources.contains_key(&term))
        };
        self.n_reading_all > 0
            || is_read(TermKind::Feed, feed_url)
            || tags.iter().any(|tag| is_read(TermKind::Tag, tag))
    }

    pub(super) fn note_sources(&mut self, query: &Query) -> Sources {
        let joined = query.join.iter().flat_map(|join| &join.sources);
        let sources: Vec<&QuerySource> = query.sources.iter().chain(joined).collect();
        if sources.contains(&&QuerySource::AllFeeds) {
            self.n_reading_all += 1;
            return Sources::All;
        }
        let named = sources.into_iter().filter_map(|source| match source {
            QuerySource::Url(url) => self.dictionary.find(TermKind::Feed, url.as_str().as_bytes()),
            QuerySource::Tag(tag) => self.dictionary.find(TermKind::Tag, tag.as_bytes()),
            QuerySource::Feed(_) | QuerySource::AllFeeds => None,
        });
        let named: Box<[TermId]> = named.collect();
        for term in &named {
            *self.sources.entry(*term).or_insert(0) += 1;
        }
        Sources::Named(named)
    }

    pub(super) fn forget_sources(&mut self, sources: &Sources) {
        let Sources::Named(named) = sources else {
            self.n_reading_all -= 1;
            return;
        };
        for term in named {
            let left = self.sources.get(term).map_or(0, |n| n - 1);
            match left {
                0 => self.sources.remove(term),
                n => self.sources.insert(*term, n),
            };
        }
    }
}
