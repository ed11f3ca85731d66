//! Judges suggestions by lists of subscriptions (OPML): hides one of five feeds of each list and
//! looks for it among the first twenty suggestions and the twenty most popular feeds.
//!
//! `cargo run --release -p suggest --example hidden_subscriptions FOLDER`
//!
//! Copies are dropped: a list whose feeds are all in another list, and feeds that a list names
//! twice. Addresses are compared without scheme, `www.` and a slash at the end.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

#[path = "../tests/draws/mod.rs"]
mod draws;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use feed::{FeedId, FeedUrl};
use suggest::hidden::{HIDDEN_ONE_OF, HiddenResult, SHOWN, judge};

use draws::Draws;

/// Drawings of the hidden feeds.
const RUNS: u64 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder with OPML files")?;
    let mut files = Vec::new();
    find(Path::new(&folder), &mut files)?;
    files.sort();
    let mut lists: Vec<BTreeSet<String>> = Vec::new();
    for file in &files {
        if let Ok(opml) = parse::opml::read(&std::fs::read(file)?) {
            lists.push(opml.outlines.iter().filter_map(|one| plain(&one.url)).collect());
        }
    }
    let n_read = lists.len();
    let lists = without_copies(lists);
    println!("{} files, {n_read} lists, {} without copies", files.len(), lists.len());
    let mut n_lists: BTreeMap<&String, usize> = BTreeMap::new();
    for feed in lists.iter().flatten() {
        *n_lists.entry(feed).or_default() += 1;
    }
    println!("{} feeds", n_lists.len());
    for least in 2..=4 {
        let n = n_lists.values().filter(|n| **n >= least).count();
        println!("{n} feeds in at least {least} lists");
    }
    let number: BTreeMap<&String, FeedId> =
        n_lists.keys().copied().zip((1..).map(FeedId)).collect();
    let lists: Vec<BTreeSet<FeedId>> =
        lists.iter().map(|list| list.iter().map(|feed| number[feed]).collect()).collect();
    let mut sum = HiddenResult::default();
    for seed in 1..=RUNS {
        let mut draws = Draws(seed);
        let one = judge(&lists, |n| draws.below(n));
        sum.lists += one.lists;
        sum.hidden += one.hidden;
        sum.reachable += one.reachable;
        sum.suggested += one.suggested;
        sum.popular += one.popular;
    }
    println!("{RUNS} drawings, one of {HIDDEN_ONE_OF} feeds hidden, first {SHOWN} shown: {sum:?}");
    let share = |n: usize| 100.0 * n as f64 / sum.hidden.max(1) as f64;
    println!("reachable {:.2} %", share(sum.reachable));
    println!("hit by suggestions {:.2} %", share(sum.suggested));
    println!("hit by popularity {:.2} %", share(sum.popular));
    Ok(())
}

/// Collects the OPML files of a folder and of those below it.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "opml" || end == "xml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns an address in the form that is compared.
fn plain(url: &str) -> Option<String> {
    let url = FeedUrl::parse(url).ok()?;
    let (_, rest) = url.as_str().split_once("://")?;
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    Some(rest.trim_end_matches('/').to_owned())
}

/// Drops lists whose feeds are all in a larger one, or in an equal one that comes first.
fn without_copies(lists: Vec<BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let is_copy = |place: usize| {
        lists.iter().enumerate().any(|(other, larger)| {
            let comes_first = larger.len() > lists[place].len() || other < place;
            other != place && comes_first && lists[place].is_subset(larger)
        })
    };
    let kept: Vec<bool> =
        (0..lists.len()).map(|place| !lists[place].is_empty() && !is_copy(place)).collect();
    lists.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|(list, _)| list).collect()
}
