//! Figures over all feeds, for people who weigh polls against delay. The cost is bounded: delay
//! comes from a sample, and the load of a domain is stored with the domain.

use std::time::Duration;

use crate::db::sql::{Connection, Value};
use feed::{EntryId, Time};

use crate::db::columns::{count, time};
use crate::error::DbError;
use crate::reading::entries::position_before;
use crate::{Store, StoreError};

/// Entries in the sample of a day.
const SAMPLE: i64 = 200;
const DAY: Duration = Duration::from_secs(86_400);

/// The delay of the entries of one day, by their claimed times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayDay {
    /// The start of the day.
    pub day: Time,
    /// Entries with a claimed time after their feed was added.
    pub n: u64,
    pub mean: Option<Duration>,
}

/// The load of one domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainLoad {
    pub domain: String,
    pub feeds: u64,
    /// Calculated from the present intervals.
    pub polls_per_day: f64,
}

/// Polls update the loads.
pub(crate) const BUSIEST: &str = "select name, feeds, load from domains where feeds > 0 \
    order by load desc, feeds desc, id desc limit $1";

impl Store {
    /// Returns the delay of the last days, the oldest first. Entries from before their feed was
    /// added are left out, because no poll could see them earlier.
    pub fn delay_days(&self, now: Time, days: u32) -> Result<Vec<DelayDay>, StoreError> {
        self.read(|conn| {
            let newest: i64 = conn
                .prepare_cached("select coalesce(max(id), 0) from entries")?
                .query_row([], |row| row.get(0))?;
            let mut shown = Vec::new();
            for ago in (0..days).rev() {
                let day = now - DAY * (ago + 1);
                let EntryId(first) = position_before(conn, day)?;
                let EntryId(last) = position_before(conn, day + DAY)?;
                // The search for a position is inexact within the last hour.
                let last = if ago == 0 { newest } else { last };
                let (n, mean) = sampled(conn, first, last)?;
                shown.push(DelayDay { day, n, mean });
            }
            Ok(shown)
        })
    }

    /// Returns the domains with the most polls.
    pub fn domain_loads(&self, limit: u32) -> Result<Vec<DomainLoad>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(BUSIEST)?;
            let rows = statement.query_map([limit], |row| {
                let (domain, feeds) = (row.get(0)?, count(row, 1)?);
                Ok(DomainLoad { domain, feeds, polls_per_day: count(row, 2)? as f64 / 1000.0 })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Returns the size and the mean delay of an even sample of the entries after `first` up to `last`.
fn sampled(conn: &Connection, first: i64, last: i64) -> Result<(u64, Option<Duration>), DbError> {
    let sql = "select e.id, e.published_claim, e.published_at, e.seen_at, f.added_at \
               from entries e join feeds f on f.id = e.feed \
               where e.id >= $1 and e.id <= $2 order by e.id limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let step = ((last - first) / SAMPLE).max(1);
    let starts = (0..=SAMPLE).map(|n| first + 1 + n * step).take_while(|start| *start <= last);
    let starts: Vec<Value<'_>> = starts.map(Value::Int).collect();
    let sampled = statement.each(&starts, &[Value::Int(last)], |_, row| {
        let (id, claim): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
        Ok((id, claim, time(row, 2)?, time(row, 3)?, time(row, 4)?))
    })?;
    let (mut sum, mut n, mut before) = (Duration::ZERO, 0_u32, 0);
    for (id, claim, published, seen, added) in sampled {
        let honest = claim == Some(published.millis());
        // After deleted entries, several starts find the same entry.
        let is_new = id != std::mem::replace(&mut before, id);
        if is_new && honest && published >= added && published <= seen {
            sum += seen.since(published);
            n += 1;
        }
    }
    Ok((n.into(), sum.checked_div(n)))
}
