//! Both ways of recording give the same rows: random groups of jobs go through the writer in sets,
//! and one by one into another schema. Needs PostgreSQL (`TIDINGS_TEST_STORE`).

mod random;
mod words;

use std::sync::mpsc::channel;
use std::time::Duration;

use feed::{FeedId, Time};

use self::random::{Dice, FEEDS, T0};
use self::words::WordMatcher;
use super::{RecordJob, record_jobs};
use crate::db::sql::Connection;
use crate::db::writer::{JobWork, SetJob, WriteJob};
use crate::error::DbError;
use crate::record::apply;
use crate::{NewFeed, OpenMode, PollRecord, RecordResult, Store, StoreError, testing};

/// A job of a group.
#[derive(Clone, Debug)]
enum Act {
    Record(PollRecord),
    /// Recorded by a job of another type, which decides the next poll in the transaction.
    Deciding(PollRecord),
}

type Answers = Vec<Result<RecordResult, StoreError>>;

struct Both {
    sets: Store,
    rows: Store,
    _folders: [tempfile::TempDir; 2],
}

impl Both {
    fn new() -> Both {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let open = |folder: &tempfile::TempDir| {
            let store = Store::open(testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
            fill(&store);
            store
        };
        Both { sets: open(&folders[0]), rows: open(&folders[1]), _folders: folders }
    }

    fn run(&self, sql: &'static str) {
        for store in [&self.sets, &self.rows] {
            store.write(move |conn| Ok(conn.execute_batch(sql)?)).unwrap();
        }
    }
}

fn fill(store: &Store) {
    let feed = |n| NewFeed {
        url: random::url(n),
        title: None,
        site: None,
        tags: if n % 3 == 0 { vec!["read".into(), "a".into()] } else { vec!["b".into()] },
    };
    store.add_feeds(&(0..FEEDS).map(feed).collect::<Vec<_>>(), T0).unwrap();
    let slot = store.matcher();
    let made = store.write(move |conn| {
        conn.execute_batch(
            "insert into queries (name, text, created_at, changed_at, link_key, signing_key) \
             values ('a', 'alpha', 0, 0, '', ''), ('b', 'beta', 0, 0, '', ''), \
             ('c', 'de', 0, 0, '', ''); \
             insert into deliveries (query, receiver, position) values (1, 'x', 0), (3, 'y', 0); \
             insert into tag_settings (tag, paused) values ('b', 1); \
             update feed_state set generation = 548 where feed = 2; \
             update totals set n = 548 where name = 'polls'; \
             insert into polls (feed, generation, at, outcome, n_new, window_len, overlap, \
             suspected_miss, bytes, elapsed_ms) select 2, g, g * 9000000::bigint, 'seen', \
             g % 3, 1, 1, 0, 5, 5 from generate_series(1, 547) as g; \
             insert into poll_days values (2, 0, 1, 1, 1, 1, 1, 1), \
             (2, -2000, 1, 1, 1, 1, 1, 1); \
             insert into push_subscriptions (feed, token, secret, hub, topic, next_at) \
             values (1, 'a', '', '', '', 0), (2, 'b', '', '', '', 0); \
             insert into feed_window (feed, shown, learned) values (5, 'broken', 'x')",
        )?;
        slot.install(conn, Box::new(WordMatcher::default()))
    });
    made.unwrap();
}

/// Returns every row of every table. Domains are known by their names, because sets give other
/// numbers to new ones.
fn dump(store: &Store) -> Vec<String> {
    let tables = "select table_name from information_schema.tables \
                  where table_schema = current_schema() \
                  and table_name not in ('seat', 'domains', 'feed_state') order by 1";
    let found = store.read(|conn| {
        let mut statement = conn.prepare_cached(tables)?;
        let names: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut all = Vec::new();
        let plain = names.iter().map(|name| (name.as_str(), "to_jsonb(t)", format!("{name} t")));
        let state = "to_jsonb(t) - 'domain' || jsonb_build_object('domain', d.name)";
        let joined = "feed_state t join domains d on d.id = t.domain".to_owned();
        let others = [
            ("domains", "to_jsonb(t) - 'id'", "domains t".to_owned()),
            ("feed_state", state, joined),
        ];
        for (name, row, from) in plain.chain(others) {
            let sql = format!("select ({row})::text from {from} order by 1");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
            for row in rows {
                let row = row?;
                if !(name == "settings" && row.contains("\"instance\"")) {
                    all.push(format!("{name} {row}"));
                }
            }
        }
        Ok(all)
    });
    found.unwrap()
}

/// Sends jobs so that the writer takes them as one group.
fn in_one_group(store: &Store, acts: &[Act]) -> Answers {
    let (begun, has_begun) = channel();
    let (go, may_go) = channel::<()>();
    let held = store.clone();
    let holder = std::thread::spawn(move || {
        held.write(move |_| {
            begun.send(()).unwrap();
            let _ = may_go.recv();
            Ok(())
        })
    });
    has_begun.recv().unwrap();
    let (tell, told) = channel();
    for (place, act) in acts.iter().cloned().enumerate() {
        let tell = tell.clone();
        let reply = move |result| tell.send((place, result)).unwrap();
        match act {
            Act::Record(record) => {
                let (slot, file) = (store.matcher(), store.file().clone());
                let job = RecordJob::new(record, slot, file, Box::new(reply));
                let work = JobWork::Set(Box::new(job));
                store.queue(WriteJob { work, patient: false }).unwrap();
            }
            Act::Deciding(record) => {
                let slot = store.matcher();
                store.send(false, move |conn| deciding(conn, record, &slot), reply).unwrap();
            }
        }
    }
    go.send(()).unwrap();
    holder.join().unwrap().unwrap();
    let mut answers: Vec<_> = told.iter().take(acts.len()).collect();
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

fn deciding(
    conn: &Connection,
    record: PollRecord,
    slot: &crate::matching::MatcherSlot,
) -> Result<RecordResult, DbError> {
    let decided = apply::record_poll(conn, record, slot, |_, record| {
        record.decision.next.at = record.at + Duration::from_secs(77);
        Ok(())
    });
    decided.map(|(recorded, ())| recorded)
}

/// Records one by one, each in a transaction of its own.
fn one_by_one(store: &Store, acts: &[Act]) -> Answers {
    let record = |act: &Act| {
        let (slot, act) = (store.matcher(), act.clone());
        store.write(move |conn| match act {
            Act::Record(record) => {
                apply::record_poll(conn, record, &slot, |_, _| Ok(())).map(|(kept, ())| kept)
            }
            Act::Deciding(record) => deciding(conn, record, &slot),
        })
    };
    acts.iter().map(record).collect()
}

/// A random group. `generations` are those of the feeds before it.
fn group(dice: &mut Dice, generations: &[u32], at: Time) -> Vec<Act> {
    let mut generations = generations.to_vec();
    let n = 1 + dice.below(40);
    let mut acts = Vec::new();
    for n in 0..n {
        let feed = dice.below(FEEDS) as usize;
        let at = at + Duration::from_secs(u64::from(n));
        let feed_id = FeedId(u32::try_from(feed).unwrap() + 1);
        let (feed_id, generation) = match dice.below(40) {
            0 => (FeedId(999), 0),
            1 => (feed_id, generations[feed] + 1),
            _ => {
                generations[feed] += 1;
                (feed_id, generations[feed] - 1)
            }
        };
        let record = random::record(dice, feed_id, generation, at);
        acts.push(if dice.percent(3) { Act::Deciding(record) } else { Act::Record(record) });
    }
    acts
}

fn shown(answers: &Answers) -> Vec<String> {
    let one = |answer: &Result<RecordResult, StoreError>| match answer {
        Ok(recorded) => format!("{recorded:?}"),
        Err(error) => error.to_string(),
    };
    answers.iter().map(one).collect()
}

#[test]
fn sets_and_single_records_leave_the_same_rows() {
    if !testing::is_postgres() {
        return;
    }
    let rounds = std::env::var("TIDINGS_SET_ROUNDS").ok().and_then(|n| n.parse().ok());
    for round in 0..rounds.unwrap_or(3) {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ ((round + 1) * 0x1234_5678_9abc));
        let both = Both::new();
        for n in 0..7 {
            let generations: Vec<u32> = (1..=FEEDS)
                .map(|feed| both.rows.poll_input(FeedId(feed)).unwrap().generation)
                .collect();
            let acts = group(&mut dice, &generations, T0 + Duration::from_secs(n * 1000));
            let (sets, rows) = (in_one_group(&both.sets, &acts), one_by_one(&both.rows, &acts));
            assert_eq!(shown(&sets), shown(&rows), "round {round}, group {n}: {acts:#?}");
            let (sets, rows) = (dump(&both.sets), dump(&both.rows));
            assert!(
                sets == rows,
                "round {round}, group {n}: {:#?} instead of {:#?}",
                sets.iter().filter(|line| !rows.contains(line)).collect::<Vec<_>>(),
                rows.iter().filter(|line| !sets.contains(line)).collect::<Vec<_>>()
            );
            both.run(
                "insert into articles (entry, fetched_at, url, extractor, why_not, n_words, \
                 noarchive) select id, 0, '', '', case when id % 4 = 0 then 'gone' end, 1, 0 \
                 from entries where id % 2 = 0 on conflict do nothing; \
                 delete from entries where id % 7 = 3; \
                 update search_progress set indexed_to = (select last_entry - 3 from stream)",
            );
        }
        no_holes(&both.sets);
    }
}

/// Every number up to the last belongs to one key. Keys are never deleted here.
fn no_holes(store: &Store) {
    let sql = "select count(*), count(distinct entry), max(entry), (select last_entry from stream) \
               from entry_keys";
    let found = store.read(|conn| {
        Ok(conn.query_row(sql, [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?])
        })?)
    });
    let [n, n_distinct, last, given] = found.unwrap();
    assert!(
        n > 20 && n == n_distinct && n == last && n == given,
        "{n} {n_distinct} {last} {given}"
    );
}

#[test]
fn a_set_takes_refused_and_edited_records_and_ends_at_the_second_of_a_feed() {
    if !testing::is_postgres() {
        return;
    }
    let both = Both::new();
    let mut dice = Dice(99);
    let mut plain = |feed, generation| loop {
        let record = random::record(&mut dice, FeedId(feed), generation, T0);
        let edits = record.document().is_some_and(|document| !document.entries.edited.is_empty());
        if edits && super::is_plain(&record) {
            break record;
        }
    };
    let records = vec![plain(1, 0), plain(2, 5), plain(999, 0), plain(3, 0), plain(1, 1)];
    let (slot, file) = (both.sets.matcher(), both.sets.file().clone());
    let taken = both.sets.write(move |conn| {
        let mut jobs: Vec<RecordJob> = records
            .into_iter()
            .map(|record| RecordJob::new(record, slot.clone(), file.clone(), Box::new(|_| ())))
            .collect();
        let n = record_jobs(conn, jobs.iter_mut().map(|job| job as &mut dyn SetJob).collect())?;
        let plans = conn.query_row("select current_setting('enable_seqscan')", [], |row| {
            row.get::<_, String>(0)
        })?;
        assert_eq!(plans, "on", "the settings of the set have ended");
        Ok((n, jobs.into_iter().map(|job| job.result.map(|one| one.is_ok())).collect::<Vec<_>>()))
    });
    let expected = vec![Some(true), Some(false), Some(false), Some(true), None];
    assert_eq!(taken.unwrap(), (4, expected));
}

#[test]
fn a_set_of_a_process_that_lost_the_seat_is_undone() {
    if !testing::is_postgres() {
        return;
    }
    let both = Both::new();
    let crate::Location::Postgres(address) = both.sets.location() else { unreachable!() };
    let other = crate::db::postgres::connect::writing(address).unwrap();
    other.execute("update seat set epoch = epoch + 1", []).unwrap();
    let before = dump(&both.sets);
    let record = PollRecord::empty(FeedId(1), 0, T0, feed::Outcome::Unchanged, T0);
    let refused = both.sets.record_blocking(record);
    assert!(matches!(refused, Err(StoreError::SeatLost { .. })), "{refused:?}");
    assert_eq!(dump(&both.sets), before);
}
