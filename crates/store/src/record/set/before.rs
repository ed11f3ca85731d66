//! The first flight of a set: everything that the store must know about its feeds before it writes.

use std::collections::{HashMap, HashSet};

use crate::db::postgres::outcome::TRANSACTION;
use crate::db::postgres::{Flight, Lists, PgConnection};
use crate::db::sql::{Row, row, unnest};
use feed::{EntryKey, FeedId, Window};
use tokio_postgres::Row as PgRow;

use crate::error::DbError;
use crate::feeds::state::{FeedState, LOAD, STATE_OF_MANY};
use crate::matching::scope::{self, PrivateAddress, READ_BY};
use crate::queries::matches::{FeedView, private_address};
use crate::record::values;
use crate::{AccountId, PollRecord, RelevantShare, StoreError};

/// The stored rows that the records of a set depend on.
#[derive(Default)]
pub(super) struct SetBefore {
    /// By the place of the record. A missing feed has none.
    feeds: HashMap<usize, FeedBefore>,
    /// The keys that are known already.
    pub keys: HashSet<(FeedId, EntryKey)>,
    /// The keys of the previous windows.
    windows: HashMap<FeedId, HashSet<EntryKey>>,
    views: HashMap<FeedId, FeedView>,
    shares: HashMap<FeedId, RelevantShare>,
    /// The last entry number that was given. Only read if a record has new entries.
    pub last_entry: i64,
}

/// The state of a feed before a record, and the state and load after it.
pub(super) struct FeedBefore {
    generation: u32,
    pub is_first: bool,
    pub state: FeedState,
    pub load: i64,
    pub domain: String,
    pub state_after: FeedState,
    pub load_after: i64,
}

/// The places of the questions in the flight.
struct Questions {
    name: usize,
    feeds: usize,
    keys: Option<usize>,
    windows: Option<usize>,
    news: Option<(usize, usize, usize, usize)>,
}

impl SetBefore {
    pub fn read(conn: &PgConnection, records: &[&PollRecord]) -> Result<SetBefore, DbError> {
        let mut flight = Flight::default();
        let questions = ask(&mut flight, records);
        let answers = conn.fly(&flight)?;
        let mut before = SetBefore::default();
        for row in rows(&answers[questions.name]) {
            conn.name_transaction(row.get(0)?);
        }
        for row in rows(&answers[questions.feeds]) {
            before.feeds.insert(place(&row)?, FeedBefore::read(&row)?);
        }
        if let Some(at) = questions.keys {
            for row in rows(&answers[at]) {
                before.keys.insert((FeedId(row.get(0)?), EntryKey::from_bytes(row.get(1)?)));
            }
        }
        if let Some(at) = questions.windows {
            for row in rows(&answers[at]) {
                // If a window cannot be read, the polls are recorded one by one.
                let window = Window::decode(row.get_ref(1)?.as_blob()?)
                    .map_err(|e| crate::db::sql::SqlError::value(e.to_string()))?;
                before.windows.insert(FeedId(row.get(0)?), values::keys(&window));
            }
        }
        if let Some((stream, views, tags, read_by)) = questions.news {
            for row in rows(&answers[stream]) {
                before.last_entry = row.get(0)?;
            }
            before.read_views(&answers[views], &answers[tags], &answers[read_by])?;
        }
        Ok(before)
    }

    fn read_views(
        &mut self,
        views: &[PgRow],
        tags: &[PgRow],
        read_by: &[PgRow],
    ) -> Result<(), DbError> {
        let mut private: HashMap<FeedId, PrivateAddress> = HashMap::new();
        for row in rows(views) {
            let feed = FeedId(row.get(0)?);
            let view = FeedView { url: row.get(1)?, language: None, tags: Vec::new() };
            self.views.insert(feed, view);
            private.extend(private_address(&row, 4)?.map(|private| (feed, private)));
            if let Some(seen) = row.get(2)? {
                self.shares.insert(feed, RelevantShare { seen, kept: row.get(3)? });
            }
        }
        for row in rows(tags) {
            if let Some(view) = self.views.get_mut(&FeedId(row.get(0)?)) {
                view.tags.push(row.get(1)?);
            }
        }
        let mut readers: HashMap<FeedId, Vec<(AccountId, Option<String>)>> = HashMap::new();
        for row in rows(read_by) {
            let reader = (AccountId(row.get(1)?), row.get(2)?);
            readers.entry(FeedId(row.get(0)?)).or_default().push(reader);
        }
        for (feed, view) in &mut self.views {
            let (tags, read_by) = (std::mem::take(&mut view.tags), readers.remove(feed));
            let read_by = read_by.into_iter().flatten();
            view.tags = scope::complete_tags(tags, private.get(feed), read_by);
        }
        Ok(())
    }

    /// Refuses a record of a missing feed or of another generation.
    pub fn check(&self, place: usize, record: &PollRecord) -> Result<(), StoreError> {
        let PollRecord { feed, generation, .. } = *record;
        let found = self.feeds.get(&place).ok_or(StoreError::NoFeed(feed))?;
        if found.generation != generation {
            return Err(StoreError::Stale { feed, generation });
        }
        Ok(())
    }

    pub fn feed(&self, place: usize) -> Option<&FeedBefore> {
        self.feeds.get(&place)
    }

    /// The keys of the previous window.
    pub fn window(&self, feed: FeedId) -> Option<&HashSet<EntryKey>> {
        self.windows.get(&feed)
    }

    /// The data of a feed that queries use. Its language is the one that the document states.
    pub fn view(&self, record: &PollRecord) -> Result<FeedView, DbError> {
        let view = self.views.get(&record.feed).ok_or(StoreError::NoFeed(record.feed))?;
        let language = record.document().and_then(|document| document.facts.language.clone());
        Ok(FeedView { url: view.url.clone(), language, tags: view.tags.clone() })
    }

    /// The share of relevant entries before the record.
    pub fn share(&self, feed: FeedId) -> RelevantShare {
        self.shares.get(&feed).copied().unwrap_or_default()
    }
}

impl FeedBefore {
    fn read(row: &Row<'_>) -> Result<FeedBefore, DbError> {
        let state_after = FeedState::read(row, 6)?;
        let load: i64 = row.get(7)?;
        Ok(FeedBefore {
            generation: row.get(1)?,
            is_first: row.get(2)?,
            state: FeedState::read(row, 3)?,
            load: row.get(4)?,
            domain: row.get(5)?,
            state_after,
            load_after: state_after.load(load),
        })
    }
}

/// Reads the rows of an answer.
fn rows(answer: &[PgRow]) -> impl Iterator<Item = Row<'_>> {
    answer.iter().map(|row| Row::Postgres { row, first: 0 })
}

/// The place of a record, from the first column, which counts from 1.
fn place(row: &Row<'_>) -> Result<usize, DbError> {
    let place: i64 = row.get(0)?;
    Ok(usize::try_from(place - 1).unwrap_or(usize::MAX))
}

/// Adds the questions about the feeds of the records.
fn ask<'a>(flight: &mut Flight<'a>, records: &[&'a PollRecord]) -> Questions {
    let (mut states, mut keys) = (Lists::default(), Lists::default());
    let (mut windows, mut news) = (Lists::default(), Lists::default());
    for record in records {
        states.push(row![
            record.feed.0,
            record.decision.next.at.millis(),
            record.at.millis(),
            record.outcome.word(),
            record.location.gone.as_ref().map(|gone| gone.at.millis()),
            record.decision.failures,
        ]);
        let Some(document) = record.document() else { continue };
        for new in &document.entries.new {
            keys.push(row![record.feed.0, new.key.bytes()]);
        }
        if document.entries.window.is_some() {
            windows.push(row![record.feed.0]);
        }
        if !document.entries.new.is_empty() {
            news.push(row![record.feed.0]);
        }
    }
    // The commit needs the name, if its answer is lost.
    let name = flight.ask(format!("select {TRANSACTION}"), Lists::default());
    let feeds = flight.ask(states_sql(), states);
    let keys = (!keys.is_empty()).then(|| {
        let lists = unnest("feed bigint, key bytea");
        let sql = format!(
            "select k.feed, k.key from {lists} \
             join entry_keys k on k.feed = u.feed and k.key = u.key"
        );
        flight.ask(sql, keys)
    });
    let lists = unnest("feed bigint");
    let windows = (!windows.is_empty()).then(|| {
        let sql = format!("select w.feed, w.shown from {lists} join feed_window w using (feed)");
        flight.ask(sql, windows)
    });
    let news = (!news.is_empty()).then(|| {
        // Nobody else gives numbers until the commit.
        let stream = flight.ask("select last_entry from stream for update", Lists::default());
        let sql = format!(
            "select f.id, f.url, r.seen, r.kept, p.owner, p.url from {lists} \
             join feeds f on f.id = u.feed left join feed_relevance r on r.feed = u.feed \
             left join private_feeds p on p.feed = u.feed"
        );
        let views = flight.ask(sql, news.clone());
        let sql = format!(
            "select t.feed, t.tag from {lists} join feed_tags t using (feed) \
             order by t.feed, t.tag"
        );
        let tags = flight.ask(sql, news.clone());
        let sql = format!("select u.feed, s.account, a.tag from {lists} {READ_BY}");
        (stream, views, tags, flight.ask(sql, news))
    });
    Questions { name, feeds, keys, windows, news }
}

/// Asks for the state of feeds before the records, and for the state and load after them. The
/// inner rows `s` are those of `feed_state` as the records will leave them.
fn states_sql() -> String {
    let lists = unnest(
        "feed bigint, next_at bigint, last_poll_at bigint, last_outcome text, gone_at bigint, \
         failures bigint",
    );
    format!(
        "select s.place, s.generation, s.is_first, s.state_before, s.load_before, s.domain, \
         {STATE_OF_MANY}, {LOAD} from \
         (select u.*, o.generation, o.last_poll_at is null as is_first, \
         o.state as state_before, o.load as load_before, o.paused, d.name as domain from {lists} \
         join feed_state o on o.feed = u.feed join domains d on d.id = o.domain) as s"
    )
}
