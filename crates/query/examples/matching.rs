//! What matching costs: entries a second on one core, bytes a query, the time to add one more, and
//! how an Aho–Corasick scan does on the same queries and entries.
//!
//! `cargo run --release -p query --example matching [QUERIES…]`
//!
//! The words are made up of syllables of real alphabets, with capitals, accents and the frequencies
//! of a real text (Zipf); an entry has 1.5 KB. Figures are per core second. The scan is given its
//! text folded already, and both must find the same: the count is a test, not decoration.

use std::collections::HashSet;
use std::hint::black_box;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use feed::{EntryId, FeedId, Time};
use query::{Entry, Matcher, QueryId, Scratch, Statement, States};

const WORDS: usize = 60_000;
const ENTRIES: usize = 4000;
const ENTRY_BYTES: usize = 1500;
/// The scan is slow; a part of the entries tells its speed.
const SCANNED: usize = 500;
const ADDED: usize = 2000;

/// Xorshift: the same words and entries in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A rank after Zipf: the share of rank r falls with 1/r.
    fn rank(&mut self, n: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((n as f64).powf(unit) - 1.0) as usize
    }
}

/// A language: its syllables, and how large its share of the entries is.
const LANGUAGES: [(&[&str], usize); 4] = [
    (
        &[
            "an", "ber", "ca", "de", "er", "fo", "gra", "ha", "ing", "ja", "ko", "li", "mo", "ne",
            "or", "pla", "qui", "re", "st", "tion", "um", "ver", "wa", "xy", "yo", "ze",
        ],
        50,
    ),
    (
        &[
            "é", "à", "tion", "ment", "ç", "aï", "que", "eur", "ñ", "ó", "gen", "ü", "ber", "ö",
            "ß", "ä", "la", "le", "re", "st", "mi", "ø", "å", "ł", "ž", "ček",
        ],
        25,
    ),
    (&["ва", "го", "ен", "ие", "ка", "ло", "не", "ост", "пр", "сто", "ть", "ё", "й", "щи"], 15),
    (&["αι", "ος", "ερ", "τη", "κα", "λό", "γο", "ις", "πο", "ρά", "σμ", "ού", "ών", "θε"], 10),
];

/// The words of each language, common ones first and short.
fn vocabulary(chance: &mut Chance) -> Vec<Vec<String>> {
    let mut known = HashSet::new();
    LANGUAGES
        .iter()
        .map(|(syllables, share)| {
            let mut words = Vec::new();
            while words.len() < WORDS * share / 100 {
                let n = 1 + (words.len() + 20).ilog10() as usize / 2 + chance.below(4);
                let word: String =
                    (0..n).map(|_| syllables[chance.below(syllables.len())]).collect();
                if known.insert(word.clone()) {
                    words.push(word);
                }
            }
            words
        })
        .collect()
}

fn language(chance: &mut Chance) -> usize {
    let mut left = chance.below(100);
    LANGUAGES
        .iter()
        .position(|(_, share)| {
            let here = left < *share;
            left = left.wrapping_sub(*share);
            here
        })
        .unwrap_or(0)
}

fn entry_text(words: &[Vec<String>], chance: &mut Chance) -> String {
    let words = &words[language(chance)];
    let mut text = String::from("<p>");
    while text.len() < ENTRY_BYTES {
        let word = &words[chance.rank(words.len())];
        match chance.below(12) {
            0 => text.extend(word.chars().flat_map(char::to_uppercase)),
            1 => {
                let mut letters = word.chars();
                text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                text.push_str(letters.as_str());
            }
            _ => text.push_str(word),
        }
        text.push_str(match chance.below(14) {
            0 => ". ",
            1 => ", ",
            2 => "</p>\n<p>",
            _ => " ",
        });
    }
    text
}

/// Three words, of which one is rarely among the most common.
fn statement(n: usize, words: &[Vec<String>], chance: &mut Chance) -> String {
    let words = &words[language(chance)];
    let mut word = || {
        let common = 20;
        &words[common + chance.rank(words.len() - common)]
    };
    let (a, b, c) = (word(), word(), word());
    format!(
        "CREATE FEED q{n} AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"{a}\" AND \"{b}\" AND \"{c}\""
    )
}

/// Nanoseconds that this thread has spent on a core: other processes do not count. Where the
/// system does not tell, real time.
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

/// Memory of this process in bytes, as the system counts it.
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

fn measure(n: usize) {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let words = vocabulary(&mut chance);
    let texts: Vec<String> = (0..ENTRIES).map(|_| entry_text(&words, &mut chance)).collect();
    let statements: Vec<String> =
        (0..n + ADDED).map(|i| statement(i, &words, &mut chance)).collect();

    let before = resident();
    let mut matcher = Matcher::new();
    let started = spent_ns();
    for (i, statement) in statements[..n].iter().enumerate() {
        let create = parsed(statement);
        matcher.insert(QueryId(i as u32), &create.name.text, &create.query);
    }
    let loaded = spent_ns() - started;
    let bytes = resident().saturating_sub(before) / n as u64;
    println!("{n} queries of three words, read and added in {:.2} s", loaded as f64 / 1e9);
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
    adding(&mut matcher, n, &statements[n..]);
    scan(n, &statements, &texts, &matcher, per_second(ENTRIES, warm));
}

/// One query more, again and again, each measured in real time.
fn adding(matcher: &mut Matcher, n: usize, statements: &[String]) {
    let mut worst = 0;
    let mut total = 0;
    for (i, statement) in statements.iter().enumerate() {
        let started = real_ns();
        let create = parsed(statement);
        matcher.insert(QueryId((n + i) as u32), &create.name.text, &create.query);
        let took = real_ns() - started;
        (worst, total) = (worst.max(took), total + took);
    }
    let mean = total as f64 / statements.len() as f64 / 1e3;
    println!(
        "  adding one        {mean:.1} µs, the longest of {ADDED} {:.2} ms",
        worst as f64 / 1e6
    );
    for i in 0..statements.len() {
        matcher.remove(QueryId((n + i) as u32));
    }
}

/// The same queries by scanning for all words at once and counting words per query.
fn scan(n: usize, statements: &[String], texts: &[String], matcher: &Matcher, ours: f64) {
    let mut numbers = std::collections::HashMap::new();
    let mut needs: Vec<Vec<u32>> = Vec::new();
    for statement in &statements[..n] {
        let mut terms: Vec<u32> = statement
            .split('"')
            .skip(1)
            .step_by(2)
            .map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(folded(word)).or_insert(next)
            })
            .collect();
        terms.sort_unstable();
        terms.dedup();
        needs.push(terms);
    }
    let mut words: Vec<(&String, &u32)> = numbers.iter().collect();
    words.sort_by_key(|(_, number)| **number);
    let scanner = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(words.iter().map(|(word, _)| word.as_str()));
    let Ok(scanner) = scanner else { return println!("  the scan has no room") };
    let mut queries_of: Vec<Vec<u32>> = vec![Vec::new(); words.len()];
    for (query, terms) in needs.iter().enumerate() {
        terms.iter().for_each(|term| queries_of[*term as usize].push(query as u32));
    }
    let texts: Vec<String> = texts[..SCANNED].iter().map(|text| folded(text)).collect();
    let mut hits = vec![0_u8; n];
    let mut seen = vec![usize::MAX; words.len()];
    let mut touched = Vec::new();
    let mut found = 0;
    let started = spent_ns();
    for (i, text) in texts.iter().enumerate() {
        let bytes = text.as_bytes();
        for hit in scanner.find_overlapping_iter(text) {
            let whole = (hit.start() == 0 || bytes[hit.start() - 1] == b' ')
                && (hit.end() == bytes.len() || bytes[hit.end()] == b' ');
            let term = hit.pattern().as_usize();
            if !whole || std::mem::replace(&mut seen[term], i) == i {
                continue;
            }
            for query in &queries_of[term] {
                hits[*query as usize] += 1;
                touched.push(*query);
                found +=
                    usize::from(usize::from(hits[*query as usize]) == needs[*query as usize].len());
            }
        }
        touched.drain(..).for_each(|query: u32| hits[query as usize] = 0);
    }
    let theirs = per_second(SCANNED, spent_ns() - started);
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let expected: usize = texts
        .iter()
        .map(|text| matcher.matches(&entry(text), &mut states, &mut scratch).len())
        .sum();
    assert_eq!(found, expected, "both must find the same");
    println!(
        "  Aho–Corasick      {theirs:.0} entries/s of folded text, so ours is {:.1} times as fast",
        ours / theirs
    );
}

/// Folded words with single spaces, by way of a phrase: the library's own folding.
fn folded(text: &str) -> String {
    let text = text.replace("<p>", " ").replace("</p>", " ");
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let create =
            parsed(&format!("CREATE FEED f AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"{word}\""));
        if let Some(query::Condition::Test(query::Test::Contains { phrase, .. })) =
            create.query.condition
        {
            out.push_str(&phrase.words()[0].letters);
            out.push(' ');
        }
    }
    out.trim_end().to_owned()
}

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let asked = if asked.is_empty() { vec![10_000, 100_000] } else { asked };
    asked.into_iter().for_each(measure);
}
