//! Feeds as the page lists them: found by text and state, in an order, one page at a time. Only
//! the rows of that page are read in full; nothing here grows with what a feed has kept.

use feed::{FeedId, FeedUrl, Outcome, Time, Trouble};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::columns::{count, outcome, time, time_or_none, trouble, url};
use crate::error::Fault;
use crate::{State, Store, StoreError};

/// More than fits on any page that is read by a person.
const LINES_MAX: u32 = 500;

/// Which feeds the page lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedQuery {
    /// Part of a title, a URL or a tag, in whatever case; empty for all.
    pub text: String,
    pub state: Option<State>,
    pub order: Order,
    pub offset: u64,
    pub limit: u32,
    /// Entries published since then are counted for each line.
    pub since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that brought new entries last come first.
    LastChange,
    /// Backing off, then damaged, gone and paused, then the others.
    Trouble,
    Title,
    NextPoll,
    LastPoll,
    Entries,
}

/// One page of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPage {
    pub lines: Vec<FeedLine>,
    /// Feeds with this text, by state.
    pub states: StateCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    pub active: u64,
    pub backing_off: u64,
    pub damaged: u64,
    pub gone: u64,
    pub paused: u64,
}

impl StateCounts {
    pub const fn of(&self, state: Option<State>) -> u64 {
        match state {
            Some(State::Active) => self.active,
            Some(State::BackingOff) => self.backing_off,
            Some(State::Damaged) => self.damaged,
            Some(State::Gone) => self.gone,
            Some(State::Paused) => self.paused,
            None => self.active + self.backing_off + self.damaged + self.gone + self.paused,
        }
    }
}

/// What the list says of one feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedLine {
    pub id: FeedId,
    pub url: FeedUrl,
    /// The given title, or else the publisher's.
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub state: State,
    pub entries: u64,
    /// Entries published since the query's `since`.
    pub n_since: u64,
    pub added_at: Time,
    pub last_poll_at: Option<Time>,
    pub last_outcome: Option<Outcome>,
    pub last_status: Option<u16>,
    pub next_at: Option<Time>,
    pub failures: u32,
    pub error: Option<String>,
    pub trouble: Option<Trouble>,
    pub gone_reason: Option<String>,
}

/// Every feed that has the text `$1` (a pattern), with its state.
const FOUND: &str = "select f.id as id, case when s.gone_at is not null then 'gone' \
    when coalesce(s.paused, case when f.id in (select t.feed from tag_settings g join feed_tags t \
      on t.tag = g.tag where g.paused = 1) then 1 else 0 end) = 1 then 'paused' \
    when s.failures > 0 and s.last_outcome = 'damaged' then 'damaged' \
    when s.failures > 0 then 'backing-off' else 'active' end as state, \
    coalesce(f.given_title, f.title, f.url) as title, s.next_at as next_at, \
    s.last_poll_at as last_poll_at, s.last_change_at as last_change_at, s.entries as entries, \
    s.failures as failures \
    from feeds f join feed_state s on s.feed = f.id \
    where $1 = '%%' or lower(f.url) like $1 escape '\\' \
    or lower(coalesce(f.given_title, '')) like $1 escape '\\' \
    or lower(coalesce(f.title, '')) like $1 escape '\\' \
    or exists (select 1 from feed_tags t where t.feed = f.id and lower(t.tag) like $1 escape '\\')";

impl Store {
    /// One page of the list, with the number of feeds in each state.
    pub fn feed_page(&self, query: &FeedQuery) -> Result<FeedPage, StoreError> {
        let pattern = pattern(&query.text);
        self.read(|conn| {
            let (states, found) = found(conn, &pattern, query)?;
            let mut lines = Vec::new();
            for (id, state) in found {
                lines.extend(line(conn, id, state, query.since)?);
            }
            Ok(FeedPage { lines, states })
        })
    }

    /// When the entries of a feed were published (as repaired) and seen, last seen first.
    pub fn recent_times(&self, feed: FeedId, limit: u32) -> Result<Vec<(Time, Time)>, StoreError> {
        self.read(|conn| {
            let sql = "select published_at, seen_at from entry_keys where feed = $1 \
                       order by seen_at desc, published_at desc limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let limit = limit.min(LINES_MAX);
            let rows =
                statement.query_map([feed.0, limit], |row| Ok((time(row, 0)?, time(row, 1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Feeds with this text, counted by state, and those of the page in their order. One walk over all
/// feeds answers both: with many of them the walk is what takes the time.
fn found(
    conn: &Connection,
    pattern: &str,
    query: &FeedQuery,
) -> Result<(StateCounts, Vec<(FeedId, State)>), Fault> {
    let order = match query.order {
        Order::LastChange => "coalesce(last_change_at, 0) desc",
        Order::Trouble => {
            "case state when 'backing-off' then 0 when 'damaged' then 1 when 'gone' then 2 \
             when 'paused' then 3 else 4 end, failures desc"
        }
        Order::Title => "lower(title)",
        Order::NextPoll => {
            "case when state in ('gone', 'paused') then 1 else 0 end, coalesce(next_at, 0)"
        }
        Order::LastPoll => "coalesce(last_poll_at, 0) desc",
        Order::Entries => "entries desc",
    };
    let sql = format!("select id, state from ({FOUND}) as found order by {order}, id");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([pattern])?;
    let (mut counts, mut shown, mut passed) = (StateCounts::default(), Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let state = state(row, 1)?;
        *match state {
            State::Active => &mut counts.active,
            State::BackingOff => &mut counts.backing_off,
            State::Damaged => &mut counts.damaged,
            State::Gone => &mut counts.gone,
            State::Paused => &mut counts.paused,
        } += 1;
        if query.state.is_some_and(|wanted| wanted != state) {
            continue;
        }
        passed += 1;
        if passed > query.offset && shown.len() < query.limit.min(LINES_MAX) as usize {
            shown.push((FeedId(row.get(0)?), state));
        }
    }
    Ok((counts, shown))
}

fn line(
    conn: &Connection,
    id: FeedId,
    state: State,
    since: Time,
) -> Result<Option<FeedLine>, Fault> {
    let sql = "select f.url, coalesce(f.given_title, f.title), s.entries, f.added_at, \
               s.last_poll_at, s.last_outcome, s.next_at, s.failures, s.error, s.gone_reason, \
               (select p.status from polls p where p.feed = f.id \
                order by p.generation desc limit 1), \
               (select count(*) from entry_keys k where k.feed = f.id and k.published_at >= $1), \
               s.trouble from feeds f join feed_state s on s.feed = f.id where f.id = $2";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params![since.millis(), id.0], |row| {
        Ok(FeedLine {
            id,
            url: url(row, 0)?,
            title: row.get(1)?,
            tags: Vec::new(),
            state,
            entries: count(row, 2)?,
            added_at: Time::from_millis(row.get(3)?),
            last_poll_at: time_or_none(row, 4)?,
            last_outcome: outcome(row, 5)?,
            next_at: time_or_none(row, 6)?,
            failures: row.get(7)?,
            error: row.get(8)?,
            gone_reason: row.get(9)?,
            last_status: row.get(10)?,
            n_since: count(row, 11)?,
            trouble: trouble(row, 12)?,
        })
    });
    let Some(mut line) = found.optional()? else { return Ok(None) };
    let mut statement =
        conn.prepare_cached("select tag from feed_tags where feed = $1 order by tag")?;
    line.tags = statement.query_map([id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(Some(line))
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<State> {
    let word = row.get_ref(column)?.as_str()?;
    let states = [State::BackingOff, State::Damaged, State::Gone, State::Paused];
    Ok(states.into_iter().find(|s| s.word() == word).unwrap_or(State::Active))
}

/// What a person typed, as a pattern. Folded as SQL folds: the letters of ASCII only.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.trim().to_ascii_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{FeedSettings, Gone, Mode, NewFeed, PollRecord};

    const NOW: Time = Time::from_secs(1_310_792_400);

    struct Filled {
        store: Store,
        _folder: tempfile::TempDir,
    }

    /// Feeds 1 to 5: active, backing off, gone, paused by its tag, never polled.
    fn filled() -> Filled {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        let names = ["b_ta", "Alpha", "gamma", "delta", "omega"];
        for name in names {
            let url = FeedUrl::parse(&format!("https://{name}.example/f?token=x")).unwrap();
            let tags = if name == "delta" { vec!["Rest".to_owned()] } else { vec![] };
            let new = NewFeed { url, title: Some(format!("{name} 100%")), site: None, tags };
            store.add_feed(&new, NOW).unwrap();
        }
        let at = |s: u64| NOW + Duration::from_secs(s);
        let mut record = PollRecord::empty(FeedId(1), 0, at(1), Outcome::Unchanged, at(100));
        record.status = Some(304);
        store.record_blocking(record).unwrap();
        let mut record = PollRecord::empty(FeedId(2), 0, at(2), Outcome::Failed, at(50));
        (record.failures, record.error, record.status) = (3, Some("it broke".into()), Some(500));
        store.record_blocking(record).unwrap();
        let mut record = PollRecord::empty(FeedId(3), 0, at(3), Outcome::Gone, at(10));
        record.gone = Some(Gone { at: at(3), reason: "410".to_owned() });
        store.record_blocking(record).unwrap();
        let pause = FeedSettings { paused: Some(Some(true)), ..FeedSettings::default() };
        store.set_tag("Rest", &pause).unwrap();
        Filled { store, _folder: folder }
    }

    fn all() -> FeedQuery {
        FeedQuery {
            text: String::new(),
            state: None,
            order: Order::Title,
            offset: 0,
            limit: 10,
            since: NOW,
        }
    }

    fn ids(store: &Store, query: &FeedQuery) -> Vec<u32> {
        store.feed_page(query).unwrap().lines.iter().map(|l| l.id.0).collect()
    }

    #[test]
    fn states_are_those_of_the_feeds_own_rows() {
        let filled = filled();
        let page = filled.store.feed_page(&all()).unwrap();
        for line in &page.lines {
            assert_eq!(line.state, filled.store.feed(line.id).unwrap().state(), "{}", line.id);
        }
        let expect = StateCounts { active: 2, backing_off: 1, damaged: 0, gone: 1, paused: 1 };
        assert_eq!(page.states, expect);
        assert_eq!(page.states.of(None), 5);
        for state in [State::Active, State::BackingOff, State::Gone, State::Paused] {
            let query = FeedQuery { state: Some(state), ..all() };
            let lines = filled.store.feed_page(&query).unwrap().lines;
            assert_eq!(lines.len() as u64, page.states.of(Some(state)), "{state:?}");
            assert!(lines.iter().all(|l| l.state == state));
        }
    }

    #[test]
    fn every_order_is_what_its_name_says() {
        let filled = filled();
        let in_order = |order| ids(&filled.store, &FeedQuery { order, ..all() });
        assert_eq!(in_order(Order::Title), [2, 1, 4, 3, 5]);
        assert_eq!(in_order(Order::Trouble), [2, 3, 4, 1, 5]);
        assert_eq!(in_order(Order::NextPoll), [5, 2, 1, 4, 3]);
        assert_eq!(in_order(Order::LastPoll), [3, 2, 1, 4, 5]);
    }

    #[test]
    fn text_is_found_in_titles_urls_and_tags_and_taken_literally() {
        let filled = filled();
        let with = |text: &str| ids(&filled.store, &FeedQuery { text: text.to_owned(), ..all() });
        assert_eq!(with("ALPHA"), [2]);
        assert_eq!(with("gamma.example"), [3]);
        assert_eq!(with("rest"), [4]);
        assert_eq!(with("100%").len(), 5);
        assert_eq!(with("b_t"), [1]);
        assert_eq!(with("_"), [1], "an underscore is no joker");
        assert!(with("nowhere").is_empty());
    }

    #[test]
    fn a_line_says_what_the_last_poll_said() {
        let filled = filled();
        let query = FeedQuery { state: Some(State::BackingOff), ..all() };
        let line = filled.store.feed_page(&query).unwrap().lines.remove(0);
        assert_eq!((line.last_status, line.failures), (Some(500), 3));
        assert_eq!(line.error.as_deref(), Some("it broke"));
        assert_eq!(line.last_outcome, Some(Outcome::Failed));
        assert_eq!(line.title.as_deref(), Some("Alpha 100%"));
    }

    #[test]
    fn pages_follow_each_other_without_gap() {
        let filled = filled();
        let page = |offset| ids(&filled.store, &FeedQuery { offset, limit: 2, ..all() });
        assert_eq!([page(0), page(2), page(4)].concat(), [2, 1, 4, 3, 5]);
        assert!(page(6).is_empty());
    }
}
