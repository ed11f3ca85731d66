//! A matcher with state: a query matches titles that contain its text, joined with the entry that
//! it matched before.

use feed::{EntryId, QueryId};

use crate::{ArrivedEntry, EntryMatcher, QueryMatch, QueryStateChange, RelevantShare};

#[derive(Default)]
pub struct WordMatcher {
    /// Each query with its text, the number of its matches and the last one.
    queries: Vec<(QueryId, String, u64, Option<EntryId>)>,
    changes: Vec<QueryStateChange>,
}

impl EntryMatcher for WordMatcher {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(WordMatcher::default())
    }

    fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    fn clear(&mut self) {
        self.queries.clear();
        self.changes.clear();
    }

    fn put(&mut self, id: QueryId, _: &str, text: &str, records: &[(u64, Vec<u8>)]) -> Vec<u64> {
        self.remove_query(id);
        let (mut n, mut last) = (0, None);
        for (_, bytes) in records {
            let bytes: [u8; 16] = bytes.as_slice().try_into().unwrap();
            let bytes = u128::from_le_bytes(bytes);
            let this = u64::try_from(bytes >> 64).unwrap();
            if this > n {
                n = this;
                last = Some(EntryId(i64::try_from(bytes & u128::from(u64::MAX)).unwrap()));
            }
        }
        self.queries.push((id, text.to_owned(), n, last));
        Vec::new()
    }

    fn remove_query(&mut self, id: QueryId) {
        self.queries.retain(|query| query.0 != id);
    }

    fn reads(&self, _: &str, tags: &[String]) -> bool {
        tags.iter().any(|tag| tag == "read")
    }

    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        let title = entry.title.unwrap_or_default();
        assert!(!title.contains("panic"), "as the test wants it");
        let mut found = Vec::new();
        for (query, text, n, last) in &mut self.queries {
            let text = text.as_str();
            if !title.contains(text) && entry.language != Some(text) {
                continue;
            }
            found.push(QueryMatch { query: *query, partner: *last });
            *n += 1;
            *last = Some(entry.id);
            // Three records for each query. The last is kept, and another one is now and then
            // forgotten.
            let bytes = u128::from(*n) << 64 | u128::from(entry.id.0.unsigned_abs());
            let bytes = bytes.to_le_bytes().to_vec();
            self.changes.push(QueryStateChange::Remember { query: *query, number: *n % 3, bytes });
            if n.is_multiple_of(4) {
                let number = (*n + 1) % 3;
                self.changes.push(QueryStateChange::Forget { query: *query, number });
            }
        }
        found
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        std::mem::take(&mut self.changes)
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        let decayed = |before: f64, n: u32| before * 0.75 + f64::from(n);
        RelevantShare { seen: decayed(before.seen, n_seen), kept: decayed(before.kept, n_kept) }
    }
}
