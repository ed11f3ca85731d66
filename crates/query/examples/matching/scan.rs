//! The comparison: an Aho–Corasick automaton over all words, and a count of words per query.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use query::{Condition, Matcher, Scratch, Statement, States, Test};

use crate::{entry, per_second, spent_ns};

/// The scan is slow, so it reads only a part of the entries.
const SCANNED: usize = 500;

/// Finds the same queries by scanning for all words at once and counting words per query.
pub fn scan(n: usize, statements: &[String], texts: &[String], matcher: &Matcher, ours: f64) {
    let mut numbers = HashMap::new();
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

/// Returns folded words with single spaces. Uses phrases, which fold as the library does.
fn folded(text: &str) -> String {
    let text = text.replace("<p>", " ").replace("</p>", " ").replace(['"', '\\', '*'], " ");
    let mut out = String::new();
    for piece in text.split_whitespace() {
        let statement =
            format!("CREATE FEED f AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"{piece}\"");
        let Ok(mut statements) = query::parse(&statement) else { continue };
        let Some(Statement::Create(create)) = statements.pop() else { continue };
        if let Some(Condition::Test(Test::Contains { phrase, .. })) = create.query.condition {
            for word in phrase.words() {
                out.push_str(&word.letters);
                out.push(' ');
            }
        }
    }
    out.trim_end().to_owned()
}
