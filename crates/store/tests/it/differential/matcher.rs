//! A matcher of queries: a query keeps the entries whose title contains its text. It remembers the
//! number of its matches, so that states are stored too.

use std::collections::BTreeMap;

use feed::QueryId;
use store::{ArrivedEntry, EntryMatcher, QueryMatch, QueryStateChange, RelevantShare};

#[derive(Default)]
pub struct KeepsWords {
    queries: BTreeMap<QueryId, (String, u64)>,
    changes: Vec<QueryStateChange>,
}

impl EntryMatcher for KeepsWords {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(KeepsWords::default())
    }

    fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    fn clear(&mut self) {
        self.queries.clear();
        self.changes.clear();
    }

    fn put(
        &mut self,
        query: QueryId,
        _name: &str,
        text: &str,
        records: &[(u64, Vec<u8>)],
    ) -> Vec<u64> {
        let last = records.iter().map(|(number, _)| *number).max().unwrap_or(0);
        self.queries.insert(query, (text.to_owned(), last));
        records.iter().map(|(number, _)| *number).filter(|number| *number < last).collect()
    }

    fn remove_query(&mut self, query: QueryId) {
        self.queries.remove(&query);
    }

    fn reads(&self, _feed_url: &str, _tags: &[String]) -> bool {
        true
    }

    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        let title = entry.title.unwrap_or_default();
        let mut found = Vec::new();
        for (&query, (text, n)) in &mut self.queries {
            if title.contains(text.as_str()) {
                *n += 1;
                let bytes = entry.id.0.to_le_bytes().to_vec();
                self.changes.push(QueryStateChange::Remember { query, number: *n, bytes });
                if *n > 3 {
                    self.changes.push(QueryStateChange::Forget { query, number: *n - 3 });
                }
                let partner = (n.is_multiple_of(2)).then_some(entry.id);
                found.push(QueryMatch { query, partner });
            }
        }
        found
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        std::mem::take(&mut self.changes)
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        RelevantShare {
            seen: before.seen * 0.5 + f64::from(n_seen),
            kept: before.kept * 0.5 + f64::from(n_kept),
        }
    }
}
