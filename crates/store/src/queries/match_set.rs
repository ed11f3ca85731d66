//! Stores the matches of many polls together (PostgreSQL): the rows of outboxes, the states of
//! queries, and the feeds' shares of relevant entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{row, unnest};
use feed::{EntryId, FeedId};

use crate::RelevantShare;
use crate::matching::QueryStateChange;
use crate::queries::matches::{FoundMatches, ShareChange, share_assignments};

/// The matches of a set of polls.
#[derive(Default)]
pub(crate) struct MatchSet<'a> {
    /// Query, place among the matches of the query, entry, partner.
    matches: Lists<'a>,
    /// The number of matches of each query.
    n_matches: BTreeMap<u32, i64>,
    /// The last state of each record; `None`: it is deleted.
    states: BTreeMap<(u32, i64), Option<Vec<u8>>>,
    /// Feeds that had no share before.
    first_shares: Lists<'a>,
    /// Feed, share before, share after.
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
            Some(ShareChange { before, after }) => {
                if before == RelevantShare::default() {
                    self.first_shares.push(row![feed.0]);
                }
                let values = row![feed.0, before.seen, before.kept, after.seen, after.kept];
                self.shares.push(values);
            }
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
        write_shares(flight, self.first_shares, self.shares);
        let mut unread = Lists::default();
        self.unread.iter().for_each(|feed| unread.push(row![feed.0]));
        let sql = format!(
            "delete from feed_relevance r using {} where r.feed = u.feed",
            unnest("feed bigint")
        );
        flight.add(sql, unread);
    }
}

/// Adds the statements for the shares of relevant entries.
fn write_shares<'a>(flight: &mut Flight<'a>, first_shares: Lists<'a>, shares: Lists<'a>) {
    let sql = format!(
        "insert into feed_relevance (feed, seen, kept) select u.feed, 0, 0 from {} \
         on conflict (feed) do nothing",
        unnest("feed bigint")
    );
    flight.add(sql, first_shares);
    let before = ["u.seen_before", "u.kept_before"];
    let sql = format!(
        "update feed_relevance r set {} from {} where r.feed = u.feed",
        share_assignments("r", before, ["u.seen", "u.kept"]),
        unnest(
            "feed bigint, seen_before double precision, kept_before double precision, \
             seen double precision, kept double precision"
        )
    );
    flight.add_exact(sql, shares);
}
