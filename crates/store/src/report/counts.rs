//! Totals for metrics and pages. They are stored as feeds change, or counted in an index of few
//! rows. No table is scanned.

use feed::Time;

use crate::db::columns::count;
use crate::db::sql::Value;
use crate::error::DbError;
use crate::feeds::state::{self, FeedTotal};
use crate::{FeedState, StateCounts, Store, StoreError};

/// Totals over the whole instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub feeds: u64,
    pub states: StateCounts,
    /// Entries whose text is stored.
    pub entries: u64,
    /// Polls ever made of the existing feeds.
    pub polls: u64,
    pub never_polled: u64,
    /// Feeds never polled that are neither gone nor paused.
    pub first_polls: u64,
    /// Polled feeds whose last poll failed.
    pub failing: u64,
    /// Failing feeds whose last document was broken.
    pub damaged: u64,
    pub gone: u64,
    /// Paused by their own setting or by a tag.
    pub paused: u64,
    /// Due now, and neither gone nor paused.
    pub due: u64,
    /// Domains that must not get a request yet.
    pub domains_held: u64,
}

/// Due feeds of one state.
pub(crate) const DUE: &str =
    "select count(*) from feed_state where state = $1 and coalesce(next_at, 0) <= $2";

pub(crate) const DOMAINS_HELD: &str =
    "select count(*) from domains where not_before is not null and not_before > $1";

impl Store {
    pub fn counts(&self, now: Time) -> Result<Counts, StoreError> {
        self.read(|conn| {
            let states = state::counts(conn)?;
            let kept = |total: FeedTotal| -> Result<u64, DbError> {
                Ok(total.stored(conn)?.max(0).unsigned_abs())
            };
            let polled = FeedState::ALL.into_iter().filter(|state| state.is_polled());
            let polled: Vec<Value<'_>> = polled.map(|state| Value::Int(state.code())).collect();
            let mut statement = conn.prepare_cached(DUE)?;
            let until = [Value::Int(now.millis())];
            let due = statement.each(&polled, &until, |_, row| count(row, 0))?.into_iter().sum();
            let mut statement = conn.prepare_cached(DOMAINS_HELD)?;
            Ok(Counts {
                feeds: states.of(None),
                states,
                entries: kept(FeedTotal::Entries)?,
                polls: kept(FeedTotal::Polls)?,
                never_polled: kept(FeedTotal::NeverPolled)?,
                first_polls: states.of(Some(FeedState::Never)),
                failing: states.of(Some(FeedState::BackingOff))
                    + states.of(Some(FeedState::Damaged)),
                damaged: states.of(Some(FeedState::Damaged)),
                gone: states.of(Some(FeedState::Gone)),
                paused: states.of(Some(FeedState::Paused)),
                due,
                domains_held: statement.query_row([now.millis()], |row| count(row, 0))?,
            })
        })
    }

    pub fn feed_count(&self) -> Result<u64, StoreError> {
        self.read(|conn| Ok(state::counts(conn)?.of(None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feeds::list_order::FeedListPart;
    use crate::report::overview::BUSIEST;
    use crate::report::status::{FIRST_DUE, failing_ever, failing_within};
    use crate::{FeedOrder, OpenMode};

    /// With a million feeds a scan of a table takes seconds.
    #[test]
    fn pages_and_metrics_walk_over_no_table() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let mut asked: Vec<String> = [DUE, DOMAINS_HELD, FIRST_DUE].map(str::to_owned).into();
        let composed = store.read(|conn| {
            asked.extend([failing_ever(conn), failing_within(conn)]);
            for order in FeedOrder::ALL {
                for (backwards, cursor) in [(false, false), (false, true), (true, true)] {
                    let (state, from, limit) = (None, None, 50);
                    let part = FeedListPart { order, state, from, backwards, limit };
                    asked.push(part.sql(conn, cursor));
                }
            }
            Ok(())
        });
        composed.unwrap();
        let plan = |sql: &str| -> Vec<String> {
            let read = store.read(|conn| {
                let conn = conn.sqlite()?;
                let mut statement = conn.prepare_cached(&format!("explain query plan {sql}"))?;
                for n in 1..=statement.parameter_count() {
                    statement.raw_bind_parameter(n, 1)?;
                }
                let mut rows = statement.raw_query();
                let mut plan = Vec::new();
                while let Some(row) = rows.next()? {
                    plan.push(row.get::<_, String>(3)?);
                }
                Ok(plan)
            });
            read.unwrap()
        };
        for sql in asked {
            let plan = plan(&sql);
            let is_search = plan.iter().all(|step| step.starts_with("SEARCH"));
            assert!(is_search && plan.len() == 1, "{sql}: {plan:?}");
        }
        // This one reads an index in order and stops early.
        let busiest = plan(BUSIEST);
        assert!(busiest.len() == 1 && busiest[0].contains("domains_by_load"), "{busiest:?}");
    }
}
