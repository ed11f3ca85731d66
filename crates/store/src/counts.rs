//! Totals for metrics and page, in one pass over the small rows; no entry and no poll is touched.

use feed::Time;

use crate::columns::count;
use crate::{Store, StoreError};

/// How things stand in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub feeds: u64,
    /// Entries whose text is kept.
    pub entries: u64,
    /// Polls ever made of the feeds there are.
    pub polls: u64,
    pub never_polled: u64,
    /// Those of them that are neither gone nor paused: their first poll comes.
    pub first_polls: u64,
    /// Feeds whose last poll did not succeed and that are not gone.
    pub failing: u64,
    /// Those of them whose last document was broken.
    pub damaged: u64,
    pub gone: u64,
    /// Paused by their own setting; by tag is not counted.
    pub paused: u64,
    /// Neither gone nor paused, and their time has come.
    pub due: u64,
    /// Domains that want to be left alone for now.
    pub domains_held: u64,
}

/// That a row of `feed_state` is polled: neither gone nor paused, by its own setting or, where it
/// has none, by a tag's.
pub(crate) const POLLED: &str = "gone_at is null and coalesce(paused, case when feed in \
    (select t.feed from tag_settings g join feed_tags t on t.tag = g.tag where g.paused = 1) \
    then 1 else 0 end) = 0";

impl Store {
    pub fn counts(&self, now: Time) -> Result<Counts, StoreError> {
        self.read(|conn| {
            let n = |what: &str| format!("coalesce(sum(case when {what} then 1 else 0 end), 0)");
            let sql = [
                "select count(*), coalesce(sum(entries), 0), coalesce(sum(generation), 0)",
                &n("last_poll_at is null"),
                &n(&format!("last_poll_at is null and {POLLED}")),
                &n("failures > 0 and gone_at is null"),
                &n("failures > 0 and gone_at is null and last_outcome = 'damaged'"),
                &n("gone_at is not null"),
                &n("paused = 1"),
                &n(&format!("{POLLED} and coalesce(next_at, $1) <= $1")),
            ];
            let sql = format!("{} from feed_state", sql.join(", "));
            let mut counts = conn.prepare_cached(&sql)?.query_row([now.millis()], |row| {
                Ok(Counts {
                    feeds: count(row, 0)?,
                    entries: count(row, 1)?,
                    polls: count(row, 2)?,
                    never_polled: count(row, 3)?,
                    first_polls: count(row, 4)?,
                    failing: count(row, 5)?,
                    damaged: count(row, 6)?,
                    gone: count(row, 7)?,
                    paused: count(row, 8)?,
                    due: count(row, 9)?,
                    domains_held: 0,
                })
            })?;
            let sql = "select count(*) from domains where not_before > $1";
            counts.domains_held =
                conn.prepare_cached(sql)?.query_row([now.millis()], |row| count(row, 0))?;
            Ok(counts)
        })
    }
}
