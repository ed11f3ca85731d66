//! The due times of all feeds, and the input of one poll. The engine decides which feed is polled.

use std::collections::{HashMap, HashSet};

use crate::db::sql::{Connection, OptionalExtension, Row, ToValue, Value};
use feed::{Domain, EntryKey, FeedId, Hints, Known, Time, Window};

use crate::db::columns::{hints, time, time_or_none, url, url_or_none, words};
use crate::error::DbError;
use crate::feeds::parts::{detected_language, gone, moved};
use crate::feeds::rows;
use crate::feeds::settings::{article_settings, of_all_tags, of_tags, settings};
use crate::push::subscriptions::{COLUMNS, push_row};
use crate::record::poll_record::body_hash;
use crate::{
    BodyHash, FeedLocation, NextPollReason, PollHistory, PushRow, RelevantShare, Settings, Store,
    StoreError, StoredSchedule, StoredValidators,
};

/// The due times of all polled feeds. It is small, because the engine keeps it in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueIndex {
    /// Each domain once. Feeds refer to it by index.
    pub domains: Vec<Domain>,
    /// In the order of feed numbers.
    pub due: Vec<FeedDueTime>,
}

/// The due time of one feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedDueTime {
    pub feed: FeedId,
    /// The index in [`DueIndex::domains`].
    pub domain: u32,
    pub generation: u32,
    /// `None`: never polled, due at once.
    pub next_at: Option<Time>,
    pub last_poll_at: Option<Time>,
}

/// The domain and the poll counter of a feed. The plan needs them to queue a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPlace {
    pub feed: FeedId,
    pub domain: Domain,
    pub generation: u32,
}

/// The state of a feed from which a poll starts.
#[derive(Clone, Debug, PartialEq)]
pub struct PollInput {
    pub id: FeedId,
    pub generation: u32,
    pub added_at: Time,
    pub location: FeedLocation,
    pub document: KnownDocument,
    /// The learned state of the policy.
    pub learned: Vec<u8>,
    pub settings: LayeredSettings,
    pub history: PollHistory,
    /// The cause in it is the reason for this poll; `None` for the first.
    pub schedule: StoredSchedule,
    /// The share of relevant entries, where queries read the feed.
    pub share: Option<RelevantShare>,
    /// How many people read the feed, as counted last.
    pub readers: Option<u64>,
    /// The subscription, where the feed has one at its hub.
    pub push: Option<PushInput>,
}

/// The last document of a feed, as far as the store knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownDocument {
    pub validators: StoredValidators,
    pub body_hash: Option<BodyHash>,
    /// Empty where nothing was seen, or where the stored window cannot be read: then the poll looks
    /// every entry up by its key, and writes a new window.
    pub window: Window,
    pub hints: Hints,
    /// The language of the texts of the last documents, with a confidence from 0 to 1000.
    pub detected_language: Option<(String, u16)>,
    /// The language and categories that the feed names, for pushes that say less.
    pub language: Option<String>,
    pub categories: Vec<String>,
}

/// The settings of a feed from the strongest to the weakest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayeredSettings {
    pub own: Settings,
    /// The settings of its tags, by tag.
    pub of_tags: Vec<(String, Settings)>,
    /// Whether one of them pauses the feed.
    pub paused: bool,
}

/// The subscription of a feed, and the entries that pushes brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushInput {
    pub subscription: PushRow,
    /// Publication times of the entries that pushes brought since the last successful poll, oldest
    /// first. The next poll learns from them.
    pub brought: Vec<Time>,
}

impl PollInput {
    /// Returns the publication times of the entries that pushes brought since the last success.
    pub fn pushed(&self) -> &[Time] {
        self.push.as_ref().map_or(&[], |push| &push.brought)
    }

    /// Returns the subscription at the feed's hub.
    pub fn subscription(&self) -> Option<&PushRow> {
        self.push.as_ref().map(|push| &push.subscription)
    }
}

impl Store {
    /// Returns the due times of all feeds that are neither paused nor gone.
    pub fn due_index(&self) -> Result<DueIndex, StoreError> {
        self.read(|conn| {
            let paused_by_tag = paused_by_tag(conn)?;
            let mut places = HashMap::new();
            let mut index = DueIndex::default();
            let sql = "select id, name from domains";
            let mut names: HashMap<i64, Domain> = HashMap::new();
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = &rows.next()? {
                names.insert(row.get(0)?, Domain::from_stored(row.get_ref(1)?.as_str()?));
            }
            let sql = "select feed, domain, generation, next_at, paused, last_poll_at \
                       from feed_state where gone_at is null order by feed";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = &rows.next()? {
                let feed: u32 = row.get(0)?;
                let own: Option<i64> = row.get(4)?;
                if own.map_or_else(|| paused_by_tag.contains(&feed), |paused| paused != 0) {
                    continue;
                }
                let domain: i64 = row.get(1)?;
                let place = *places.entry(domain).or_insert_with(|| {
                    // The foreign key guarantees that the domain exists.
                    let name = names.remove(&domain);
                    index.domains.push(name.unwrap_or_else(|| Domain::from_stored("")));
                    index.domains.len() - 1
                });
                index.due.push(FeedDueTime {
                    feed: FeedId(feed),
                    domain: u32::try_from(place).unwrap_or(u32::MAX),
                    generation: row.get(2)?,
                    next_at: time_or_none(row, 3)?,
                    last_poll_at: time_or_none(row, 5)?,
                });
            }
            Ok(index)
        })
    }

    /// Returns the domain and the due time of one feed; `None` if it is paused or gone. The index
    /// of the domain is 0.
    pub fn due(&self, feed: FeedId) -> Result<Option<(Domain, FeedDueTime)>, StoreError> {
        self.read(|conn| {
            let sql = "select d.name, s.generation, s.next_at, s.last_poll_at from feed_state s \
                       join domains d on d.id = s.domain \
                       where s.feed = $1 and s.gone_at is null and coalesce(s.paused, \
                       (select max(g.paused) from feed_tags t join tag_settings g \
                        on g.tag = t.tag where t.feed = s.feed), 0) = 0";
            let found = conn.prepare_cached(sql)?.query_row([feed.0], |row| {
                let domain = Domain::from_stored(row.get_ref(0)?.as_str()?);
                let generation = row.get(1)?;
                let (next_at, last_poll_at) = (time_or_none(row, 2)?, time_or_none(row, 3)?);
                Ok((domain, FeedDueTime { feed, domain: 0, generation, next_at, last_poll_at }))
            });
            Ok(found.optional()?)
        })
    }

    /// Returns the places of these feeds in the plan, in this order. It leaves out feeds that do
    /// not exist.
    pub fn places_of(&self, feeds: &[FeedId]) -> Result<Vec<FeedPlace>, StoreError> {
        self.read(|conn| {
            let sql = "select s.feed, d.name, s.generation from feed_state s \
                       join domains d on d.id = s.domain where s.feed = $1";
            let places = conn.prepare_cached(sql)?.each(&rows::keys(feeds), &[], |_, row| {
                let domain = Domain::from_stored(row.get_ref(1)?.as_str()?);
                Ok(FeedPlace { feed: FeedId(row.get(0)?), domain, generation: row.get(2)? })
            })?;
            Ok(places)
        })
    }

    pub fn poll_input(&self, feed: FeedId) -> Result<PollInput, StoreError> {
        self.poll_inputs_of(&[feed])?.pop().ok_or(StoreError::NoFeed(feed))
    }

    /// Returns the inputs of these feeds, in this order. PostgreSQL gets two questions, whatever
    /// the number of feeds. It leaves out feeds that do not exist.
    pub fn poll_inputs_of(&self, feeds: &[FeedId]) -> Result<Vec<PollInput>, StoreError> {
        self.read(|conn| {
            let sql = asking("f.id = $1");
            let inputs =
                conn.prepare_cached(&sql)?.each(&rows::keys(feeds), &[], |_, row| input(row))?;
            let of_tags = of_tags(conn, feeds)?;
            let all = inputs.into_iter().map(|input| {
                let tag_settings = of_tags.get(&input.id).cloned().unwrap_or_default();
                complete(conn, input, tag_settings)
            });
            all.collect()
        })
    }

    /// Visits the poll input of every feed that is polled, in the order of feed numbers.
    pub fn poll_inputs(&self, mut each: impl FnMut(PollInput)) -> Result<(), StoreError> {
        self.read(|conn| {
            let mut of_tags = of_all_tags(conn)?;
            let sql = asking("s.gone_at is null order by f.id");
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.scan([])?;
            while let Some(row) = &rows.next()? {
                let input = input(row)?;
                let tag_settings = of_tags.remove(&input.id).unwrap_or_default();
                let input = complete(conn, input, tag_settings)?;
                if !input.settings.paused {
                    each(input);
                }
            }
            Ok(())
        })
    }

    /// Returns the known entries among these keys.
    pub fn known(&self, feed: FeedId, keys: &[EntryKey]) -> Result<Known, StoreError> {
        self.read(|conn| {
            let sql = "select content_hash, published_at from entry_keys \
                       where key = $1 and feed = $2";
            let values: Vec<Value<'_>> = keys.iter().map(|key| key.bytes().to_value()).collect();
            let feed = [Value::Int(i64::from(feed.0))];
            let found = conn.prepare_cached(sql)?.each(&values, &feed, |place, row| {
                let hash = row.get::<_, i64>(0)?.cast_unsigned();
                Ok((keys[place], (hash, time(row, 1)?)))
            })?;
            Ok(found.into_iter().collect())
        })
    }
}

/// Adds the parts that are not in the row: the settings of the tags, and the entries that pushes
/// brought.
fn complete(
    conn: &Connection,
    mut input: PollInput,
    of_tags: Vec<(String, Settings)>,
) -> Result<PollInput, DbError> {
    let last_success_at = input.history.last_success_at;
    if let Some(push) = &mut input.push
        && push.subscription.pushed_at > last_success_at
    {
        push.brought = seen_since(conn, input.id, last_success_at)?;
    }
    let by_tag = of_tags.iter().any(|(_, s)| s.paused == Some(true));
    input.settings.paused = input.settings.own.paused.unwrap_or(by_tag);
    input.settings.of_tags = of_tags;
    Ok(input)
}

/// Returns the publication times of the entries seen after a time.
fn seen_since(conn: &Connection, feed: FeedId, since: Option<Time>) -> Result<Vec<Time>, DbError> {
    let since = since.map_or(i64::MIN, Time::millis);
    let sql = "select id, published_at, seen_at from entries where feed = $1 order by id desc";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.scan([feed.0])?;
    let mut times = Vec::new();
    while let Some(row) = &rows.next()? {
        // A feed's entries were seen in the order of their ids.
        if row.get::<_, i64>(2)? <= since {
            break;
        }
        times.push(time(row, 1)?);
    }
    times.sort_unstable();
    Ok(times)
}

fn paused_by_tag(conn: &Connection) -> Result<HashSet<u32>, DbError> {
    let sql = "select t.feed from tag_settings g join feed_tags t on t.tag = g.tag \
               where g.paused = 1";
    let mut statement = conn.prepare_cached(sql)?;
    let feeds = statement.query_map([], |row| row.get(0))?;
    Ok(feeds.collect::<Result<_, _>>()?)
}

/// Returns the SQL for the inputs of polls. `of` is the condition on the feeds.
fn asking(of: &str) -> String {
    format!(
        "select f.url, f.effective_url, f.added_at, f.hints, \
         f.policy, f.alpha_ms, f.beta_ms, f.weight, f.max_delay_ms, s.paused, \
         s.generation, s.etag, s.last_modified, s.body_hash, s.failures, s.next_at, \
         s.wanted_at, s.last_poll_at, s.last_success_at, s.last_change_at, \
         s.moved_to, s.moved_count, s.gone_at, s.gone_reason, w.shown, w.learned, s.cause, \
         r.seen, r.kept, s.reason, s.held, f.id, s.validators_of, f.articles, \
         f.article_selector, f.detected_language, f.detected_confidence, f.readers, \
         f.language, f.categories, {COLUMNS} \
         from feeds f join feed_state s on s.feed = f.id \
         left join feed_window w on w.feed = f.id \
         left join push_subscriptions p on p.feed = f.id \
         left join feed_relevance r on r.feed = f.id where {of}"
    )
}

/// Reads one row.
fn input(row: &Row<'_>) -> crate::db::sql::Result<PollInput> {
    let window = row.get_ref(24)?.as_blob_or_null()?.unwrap_or_default();
    let share = match (row.get(27)?, row.get(28)?) {
        (Some(seen), Some(kept)) => Some(RelevantShare { seen, kept }),
        _ => None,
    };
    let subscription = push_row(row, 40)?;
    let own = Settings { article: article_settings(row, 33)?, ..settings(row, 4)? };
    Ok(PollInput {
        id: FeedId(row.get(31)?),
        generation: row.get(10)?,
        added_at: time(row, 2)?,
        location: FeedLocation {
            url: url(row, 0)?,
            effective_url: url_or_none(row, 1)?,
            pending: moved(row, 20)?,
            gone: gone(row, 22)?,
        },
        document: KnownDocument {
            validators: StoredValidators {
                etag: row.get(11)?,
                last_modified: row.get(12)?,
                of: row.get(32)?,
            },
            body_hash: body_hash(row, 13)?,
            window: Window::decode(window).unwrap_or_default(),
            hints: hints(row, 3)?,
            detected_language: detected_language(row, 35)?,
            language: row.get(38)?,
            categories: words(row, 39)?,
        },
        learned: row.get::<_, Option<Vec<u8>>>(25)?.unwrap_or_default(),
        settings: LayeredSettings { own, ..LayeredSettings::default() },
        history: PollHistory {
            last_poll_at: time_or_none(row, 17)?,
            last_success_at: time_or_none(row, 18)?,
            last_change_at: time_or_none(row, 19)?,
            failures: row.get(14)?,
        },
        schedule: StoredSchedule {
            next_at: time_or_none(row, 15)?,
            wanted_at: time_or_none(row, 16)?,
            why: NextPollReason { cause: row.get(26)?, reason: row.get(29)?, held: row.get(30)? },
        },
        share,
        readers: row.get::<_, Option<i64>>(37)?.map(i64::unsigned_abs),
        push: subscription.map(|subscription| PushInput { subscription, brought: Vec::new() }),
    })
}
