//! Random histories of calls on SQLite and PostgreSQL side by side. Every answer must be the same,
//! and at the end every row. The test needs PostgreSQL. `PROPTEST_CASES` sets the number of
//! histories.

mod accounts;
mod articles;
mod complete;
mod feeds;
mod matcher;
mod more_questions;
mod people;
mod polls;
mod pushes;
mod queries;
mod questions;
mod rules;
mod statistics;
mod step;
mod subscribers;

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};
use store::{Location, OpenMode, Store, StoreError, testing};

use self::matcher::KeepsWords;
use self::step::{Act, Step};
use crate::sample::at;

/// Histories of one run, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 12;
const STEPS_MAX: usize = 60;
/// Attempts to make a history shorter that failed. Each takes seconds.
const SHRINKS_MAX: u32 = 60;
/// After so many steps, all questions are asked.
const ASK_EVERY: usize = 20;

/// A store, and a runtime for its asynchronous calls.
struct Side {
    store: Store,
    location: Location,
    /// The epoch in which it grants requests.
    epoch: i64,
    runtime: tokio::runtime::Runtime,
}

impl Side {
    fn open(location: Location) -> Side {
        let store = Store::open(location.clone(), OpenMode::ReadWrite).unwrap();
        store.install(Box::new(KeepsWords::default())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (epoch, _) = store.begin_granting().unwrap();
        Side { store, location, epoch, runtime }
    }

    /// Waits for an asynchronous call and returns its answer as a text.
    fn wait<T: Debug>(&self, call: impl Future<Output = Result<T, StoreError>>) -> String {
        said(self.runtime.block_on(call))
    }

    /// Makes the call of a step and returns its answer as a text.
    fn take(&self, step: &Step) -> String {
        let areas = [
            feeds::take,
            polls::take,
            pushes::take,
            people::take,
            accounts::take,
            subscribers::take,
            queries::take,
            rules::take,
            articles::take,
            statistics::take,
        ];
        let answers: Vec<String> = areas.iter().filter_map(|take| take(self, step)).collect();
        assert_eq!(answers.len(), 1, "one area makes the call of {:?}", step.act);
        answers.concat()
    }
}

/// Returns an answer as a text. Errors of both databases have the same kind; their words differ.
fn said<T: Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(error) => {
            let kind = error.kind();
            let text = format!("{error:?}");
            let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            format!("refused: {name} {kind:?}")
        }
    }
}

/// Returns an answer whose parts have no order as a text.
fn said_sorted<T: Debug>(answer: Result<impl IntoIterator<Item = T>, StoreError>) -> String {
    said(answer.map(|parts| {
        let mut texts: Vec<String> = parts.into_iter().map(|part| format!("{part:?}")).collect();
        texts.sort();
        texts
    }))
}

fn history(steps: &[Step]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Side::open(Location::Folder(folder.path().to_owned()));
    let postgres = Side::open(testing::location(folder.path()));
    for (n, step) in steps.iter().enumerate() {
        let (one, other) = (sqlite.take(step), postgres.take(step));
        prop_assert_eq!(&one, &other, "step {} of {:#?}", n, &steps[..=n]);
        if (n + 1) % ASK_EVERY == 0 || n + 1 == steps.len() {
            let ask = |side| [questions::ask(side, step), more_questions::ask(side, step)].concat();
            let both = ask(&sqlite).into_iter().zip(ask(&postgres));
            let different: Vec<_> = both.filter(|(one, other)| one != other).collect();
            prop_assert!(different.is_empty(), "{different:#?} after {:#?}", &steps[..=n]);
        }
    }
    let (one, other) = (rows(&sqlite), rows(&postgres));
    for (table, rows) in &one {
        prop_assert_eq!(rows, &other[table], "table {} after {:#?}", table, steps);
    }
    drop((sqlite, postgres));
    testing::drop_schema(folder.path());
    Ok(())
}

/// All rows, without what each store makes up for itself. The next numbers of PostgreSQL are not
/// those of SQLite where a statement gave the last number, or was undone.
fn rows(side: &Side) -> std::collections::BTreeMap<String, Vec<String>> {
    let mut rows = testing::rows(&side.location);
    if let Some(settings) = rows.get_mut("settings") {
        settings.retain(|row| !row.contains("\"instance\""));
    }
    for row in rows.get_mut("accounts").into_iter().flatten() {
        *row = without_present(row);
    }
    for rows in rows.values_mut() {
        rows.retain(|row| !row.starts_with("last number"));
        for row in rows {
            // The number of the epoch, which SQLite does not count.
            *row = row.replace("taken_by=Int(1)", "taken_by=Int(0)");
        }
    }
    rows
}

/// Removes a time of the clock of the database, which is later than all times of a history.
fn without_present(row: &str) -> String {
    let is_present = |part: &str| {
        let time = part.strip_prefix("read_at=Int(").and_then(|rest| rest.strip_suffix(')'));
        time.and_then(|time| time.parse::<i64>().ok())
            .is_some_and(|time| time > at(90 * 86_400).millis())
    };
    row.split(' ').filter(|part| !is_present(part)).collect::<Vec<_>>().join(" ")
}

#[test]
fn both_databases_give_the_same_answers() {
    if !testing::is_postgres() {
        eprintln!("skipped: this test needs PostgreSQL; see `xtask postgres`");
        return;
    }
    let mut config = Config { failure_persistence: None, ..Config::default() };
    // Without a number of cases, the histories are the same in every run.
    let chosen = std::env::var_os("PROPTEST_CASES").is_some();
    if !chosen {
        config.cases = CASES;
    }
    config.max_shrink_iters = config.max_shrink_iters.min(SHRINKS_MAX);
    let steps = step::history(STEPS_MAX);
    let mut runner = match chosen {
        true => TestRunner::new(config),
        false => {
            let rng = TestRng::deterministic_rng(config.rng_algorithm);
            TestRunner::new_with_rng(config, rng)
        }
    };
    let outcome = runner.run(&steps, |steps| history(&steps));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn every_act_is_drawn() {
    let mut runner = TestRunner::deterministic();
    let history = step::history(100);
    let histories: Vec<_> =
        (0..200).map(|_| history.new_tree(&mut runner).unwrap().current()).collect();
    for act in Act::AREAS.concat() {
        assert!(histories.iter().flatten().any(|step| step.act == act), "{act:?}");
    }
}
