//! The owners of queries and the people who see their matches: decides whether a query may keep an
//! entry of a private feed. It reads no feed and no store: the owner is in the tags of the feed.

use std::collections::HashMap;

use store::{AccountId, QueryId, QueryScope};

/// The people behind queries.
#[derive(Default)]
pub struct MatchAudience {
    /// The owner of each query.
    scopes: HashMap<QueryId, QueryScope>,
    /// The queries whose matches others see too, with the private feeds that they may read.
    seen_by_others: HashMap<QueryId, Vec<String>>,
}

impl MatchAudience {
    pub fn scope(&self, query: QueryId) -> QueryScope {
        self.scopes.get(&query).copied().unwrap_or_default()
    }

    pub fn set_scope(&mut self, query: QueryId, scope: QueryScope) {
        self.scopes.insert(query, scope);
    }

    /// Notes who sees the matches of a query. `None`: only its owner. Otherwise others do, and the
    /// query may read these private feeds.
    pub fn show(&mut self, query: QueryId, named: Option<Vec<String>>) {
        match named {
            Some(named) => self.seen_by_others.insert(query, named),
            None => self.seen_by_others.remove(&query),
        };
    }

    pub fn remove(&mut self, query: QueryId) {
        self.scopes.remove(&query);
        self.seen_by_others.remove(&query);
    }

    pub fn others_see(&self, query: QueryId) -> bool {
        self.seen_by_others.contains_key(&query)
    }

    /// Returns the test whether a query may keep an entry of a feed with these tags. A query must
    /// not keep one of a private feed that its owner, or the others who see its matches, may not
    /// see. Such an entry comes through another query. If the query remembered it, a later match
    /// of a `JOIN` could name it.
    pub fn keepers<'a>(&'a self, tags: &'a [String]) -> impl Fn(QueryId) -> bool + 'a {
        let private_to = store::private_owner(tags);
        move |query| {
            let Some(owner) = private_to else { return true };
            let named = self.seen_by_others.get(&query);
            let is_named = |named: &Vec<String>| named.iter().any(|private| tags.contains(private));
            let is_owner = self.scope(query).owner.unwrap_or(AccountId::LOCAL) == owner;
            is_owner && named.is_none_or(is_named)
        }
    }
}
