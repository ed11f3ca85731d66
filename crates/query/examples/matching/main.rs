//! Measures matching: entries per second on one core, bytes per query, and the time to add one
//! query. Compares with an Aho–Corasick scan of the same queries and entries.
//!
//! `cargo run --release -p query --example matching [QUERIES…] [FOLDER]`
//!
//! Words and entries come from the documents in a folder, or from syllables of real alphabets, with
//! capitals, accents and Zipf frequencies. An entry has 1.5 KB. Figures are per core second. The
//! scan gets folded text, and both must find the same entries.

mod scan;
mod words;

use std::hint::black_box;
use std::path::Path;

use feed::{EntryId, FeedId, Time};
use query::{Entry, Matcher, QueryId, Scratch, Statement, States};

use words::{Chance, entry_text, from_folder, statement, vocabulary};

const ENTRIES: usize = 4000;
/// Enough that every table grows once.
const ADDED: usize = 20_000;
const ROUNDS: usize = 5;

/// Returns the CPU time of this thread in nanoseconds, so that other processes do not count. Falls
/// back to real time.
fn spent_ns() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_core = told.and_then(|text| text.split(' ').next()?.parse().ok());
    on_core.unwrap_or_else(real_ns)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn real_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_nanos() as u64)
}

/// Returns the memory of this process in bytes, as the system counts it.
fn resident() -> u64 {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn parsed(statement: &str) -> query::Create {
    match query::parse(statement).map(|mut statements| statements.remove(0)) {
        Ok(Statement::Create(create)) => *create,
        other => panic!("{statement}: {other:?}"),
    }
}

fn entry(text: &str) -> Entry<'_> {
    let url = "https://example.org/feed";
    let mut entry = Entry::bare(EntryId(1), FeedId(1), url, Time::from_secs(1_700_000_000));
    entry.content = Some(text);
    entry
}

fn per_second(n: usize, ns: u64) -> f64 {
    n as f64 * 1e9 / ns.max(1) as f64
}

fn measure(n: usize, folder: Option<&Path>) {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let (words, texts) = match folder {
        Some(folder) => from_folder(folder, ENTRIES),
        None => {
            let words = vocabulary(&mut chance);
            let texts = (0..ENTRIES).map(|_| entry_text(&words, &mut chance)).collect();
            (words, texts)
        }
    };
    let statements: Vec<String> =
        (0..n + ADDED).map(|i| statement(i, &words, &mut chance)).collect();

    let started = spent_ns();
    let creates: Vec<query::Create> = statements[..n].iter().map(|s| parsed(s)).collect();
    let read = spent_ns() - started;
    // The parsed statements stay, so that the queries need memory of their own.
    let before = resident();
    let mut matcher = Matcher::new();
    let started = spent_ns();
    for (i, create) in creates.iter().enumerate() {
        matcher.insert(QueryId(i as u32), &create.name.text, &create.query);
    }
    let added = spent_ns() - started;
    let bytes = resident().saturating_sub(before) / n as u64;
    let (read, added) = (read as f64 / 1e9, added as f64 / 1e9);
    println!("{n} queries of three words, read in {read:.2} s, added in {added:.2} s");
    println!("  memory            {bytes} bytes a query");

    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let pass = |matcher: &Matcher, states: &mut States, scratch: &mut Scratch| {
        let started = spent_ns();
        let mut n_matches = 0;
        for text in &texts {
            n_matches += black_box(matcher.matches(&entry(text), states, scratch)).len();
        }
        (spent_ns() - started, n_matches)
    };
    let (cold, _) = pass(&matcher, &mut states, &mut scratch);
    let started = spent_ns();
    matcher.learn(&mut scratch, usize::MAX);
    let learned = spent_ns() - started;
    let best = (0..5).map(|_| pass(&matcher, &mut states, &mut scratch)).min();
    let (warm, n_matches) = best.unwrap_or((1, 0));
    println!("  before learning   {:.0} entries/s", per_second(ENTRIES, cold));
    println!(
        "  after learning    {:.0} entries/s ({n_matches} matches; learning took {:.0} ms)",
        per_second(ENTRIES, warm),
        learned as f64 / 1e6
    );
    adding(&creates, &statements[n..]);
    scan::scan(n, &statements, &texts, &matcher, per_second(ENTRIES, warm));
}

/// Measures adding one query, in real time. Takes the best of several rounds, because other
/// programs run in between.
fn adding(creates: &[query::Create], statements: &[String]) {
    let mut best = vec![u64::MAX; statements.len()];
    for _ in 0..ROUNDS {
        let mut matcher = Matcher::new();
        for (i, create) in creates.iter().enumerate() {
            matcher.insert(QueryId(i as u32), &create.name.text, &create.query);
        }
        for (i, statement) in statements.iter().enumerate() {
            let started = real_ns();
            let create = parsed(statement);
            let id = QueryId((creates.len() + i) as u32);
            matcher.insert(id, &create.name.text, &create.query);
            best[i] = best[i].min(real_ns() - started);
        }
    }
    let mean = best.iter().sum::<u64>() as f64 / best.len() as f64 / 1e3;
    let worst = best.iter().max().copied().unwrap_or(0) as f64 / 1e6;
    println!("  adding one        {mean:.1} µs, the longest of {ADDED} {worst:.2} ms");
}

fn main() {
    let (numbers, folders): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.parse::<usize>().is_ok());
    let asked: Vec<usize> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
    let asked = if asked.is_empty() { vec![10_000, 100_000] } else { asked };
    let folder = folders.first().map(Path::new);
    asked.into_iter().for_each(|n| measure(n, folder));
}
