//! Stores the matches of many polls together (PostgreSQL): the rows of outboxes, the states of
//! queries, and the feeds' shares of relevant entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{row, unnest};
use feed::{EntryId, FeedId};

use crate::matching::QueryStateChange;
use crate::queries::matches::FoundMatches;

/// The matches of a set of polls.
#[derive(Default)]
pub(crate) struct MatchSet<'a> {
    /// Query, place among the matches of the query, entry, partner.
    matches: Lists<'a>,
    /// The number of matches of each query.
    n_matches: BTreeMap<u32, i64>,
    /// The last state of each record; `None`: it is deleted.
    states: BTreeMap<(u32, i64), Option<Vec<u8>>>,
    shares: Lists<'a>,
    unread: BTreeSet<FeedId>,
}

impl<'a> MatchSet<'a> {
    /// Adds the matches of one poll.
    pub fn add(&mut self, feed: FeedId, found: FoundMatches) {
        for (one, EntryId(entry)) in found.matches {
            let nth = self.n_matches.entry(one.query.0).or_default();
            *nth += 1;
            self.matches.push(row![one.query.0, *nth, entry, one.partner.map(|id| id.0)]);
        }
        for change in found.changes {
            let (query, number, bytes) = match change {
                QueryStateChange::Remember { query, number, bytes } => (query, number, Some(bytes)),
                QueryStateChange::Forget { query, number } => (query, number, None),
            };
            self.states.insert((query.0, number.cast_signed()), bytes);
        }
        match found.share {
            None => {
                self.unread.insert(feed);
            }
            Some(share) => self.shares.push(row![feed.0, share.seen, share.kept]),
        }
    }

    /// Adds the statements.
    pub fn write(self, flight: &mut Flight<'a>) {
        let sql = format!(
            "insert into query_entries (query, position, entry, partner) \
             select q.id, q.last_position + u.nth, u.entry, u.partner from {} \
             join queries q on q.id = u.query",
            unnest("query bigint, nth bigint, entry bigint, partner bigint")
        );
        flight.add_exact(sql, self.matches);
        let (mut counts, mut queries) = (Lists::default(), Lists::default());
        for (query, n) in self.n_matches {
            counts.push(row![query, n]);
            queries.push(row![query]);
        }
        let sql = format!(
            "update queries q set last_position = q.last_position + u.n from {} \
             where q.id = u.query",
            unnest("query bigint, n bigint")
        );
        flight.add_exact(sql, counts);
        let sql = format!(
            "update deliveries d set waits = 1 from {} where d.query = u.query and d.waits = 0",
            unnest("query bigint")
        );
        flight.add(sql, queries);
        let (mut remembered, mut forgotten) = (Lists::default(), Lists::default());
        for ((query, number), bytes) in self.states {
            match bytes {
                Some(bytes) => remembered.push(row![query, number, bytes]),
                None => forgotten.push(row![query, number]),
            }
        }
        let sql = format!(
            "insert into query_states (query, number, bytes) \
             select u.query, u.number, u.bytes from {} \
             on conflict (query, number) do update set bytes = excluded.bytes",
            unnest("query bigint, number bigint, bytes bytea")
        );
        flight.add(sql, remembered);
        let sql = format!(
            "delete from query_states s using {} where s.query = u.query and s.number = u.number",
            unnest("query bigint, number bigint")
        );
        flight.add(sql, forgotten);
        let sql = format!(
            "insert into feed_relevance (feed, seen, kept) select u.feed, u.seen, u.kept from {} \
             on conflict (feed) do update set seen = excluded.seen, kept = excluded.kept",
            unnest("feed bigint, seen double precision, kept double precision")
        );
        flight.add(sql, self.shares);
        let mut unread = Lists::default();
        self.unread.iter().for_each(|feed| unread.push(row![feed.0]));
        let sql = format!(
            "delete from feed_relevance r using {} where r.feed = u.feed",
            unnest("feed bigint")
        );
        flight.add(sql, unread);
    }
}
