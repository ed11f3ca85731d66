//! An instance's own history as a world: `lab export-trace` writes it down, `lab what-if` replays
//! it.
//!
//! What it cannot know: entries that were missed, and when an entry really appeared; its repaired
//! date stands for that.

use std::io::Write;
use std::time::Duration;

use feed::Time;
use lab::{EntryRow, Phases, Setting, World, WorldBuilder, what_if};
use polling::hints::HintReading;
use serde_json::json;
use store::{FeedFilter, FeedRow, Store};

use super::files::{Output, csv_field};
use crate::args::Network;
use crate::args::lab::{ExportTrace, WhatIf};
use crate::failure::{Failure, failed};
use crate::output::{print_json, spinner};
use crate::{access, config};

/// Polls whose windows are looked at: all that the store keeps singly.
const POLLS: u32 = 500;
/// A shorter history says nothing about days.
const HISTORY_MIN: Duration = Duration::from_secs(86_400);
/// Replays learn for a quarter of the history, a week at most.
const TRAIN_MAX: Duration = Duration::from_secs(7 * 86_400);

/// One feed with its remembered entries.
struct Own {
    row: FeedRow,
    entries: Vec<(Time, Time)>,
    /// How many entries its last window showed.
    window: Option<u32>,
}

fn histories(store: &Store) -> Result<Vec<Own>, Failure> {
    let mut all = Vec::new();
    for row in store.feeds(&FeedFilter::default())? {
        let entries = store.entry_times(row.id)?;
        let polls = store.polls(row.id, POLLS)?;
        let shown = polls.iter().filter(|p| p.window_len > 0).max_by_key(|p| p.at);
        let window = shown.and_then(|poll| u32::try_from(poll.window_len).ok());
        all.push(Own { row, entries, window });
    }
    Ok(all)
}

pub fn export(args: &ExportTrace) -> Result<(), Failure> {
    let config = config::read(&args.place, &Network::default())?;
    let own = histories(&access::read(&config)?)?;
    let mut out = Output::create(&args.out)?;
    writeln!(out, "feed,published,window,ttl,domain,weight,title")?;
    let mut n_entries = 0;
    for feed in &own {
        let row = &feed.row;
        let window = feed.window.map_or(String::new(), |w| w.to_string());
        let ttl = row.hints.ttl.map_or(String::new(), |t| t.as_secs().to_string());
        let weight = row.settings.weight.map_or(String::new(), |w| w.to_string());
        let (url, title) = (row.url.masked(), row.shown_title().unwrap_or_default());
        let (url, title) = (csv_field(&url), csv_field(title));
        for (published, _) in &feed.entries {
            let domain = &row.domain;
            writeln!(out, "{url},{published},{window},{ttl},{domain},{weight},{title}")?;
        }
        n_entries += feed.entries.len();
    }
    out.finish(&args.out)?;
    eprintln!(
        "{} feeds, {n_entries} entries. Not in it: entries that were missed, and when an entry \
         really appeared (its date, repaired, stands for that).",
        own.len()
    );
    Ok(())
}

pub fn what_if_here(args: &WhatIf) -> Result<(), Failure> {
    let config = config::read(&args.place, &Network::default())?;
    let own = histories(&access::read(&config)?)?;
    let (world, phases) = replayed(&own)?;
    let hints =
        if config.engine.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let bounds = config.engine.bounds;
    let setting = Setting { phases, bounds, hints, zone_secs: 0, threads: super::threads() };
    let waiting = spinner("replaying");
    let answer = what_if(&world, &config.engine.policy, &setting, args.budget);
    waiting.finish_and_clear();
    if args.json {
        let one = |a: &lab::Alternative| {
            json!({
                "name": a.name, "polls": a.polls, "delay_seconds": a.delay, "found": a.found,
                "missed": a.missed, "equal_cost": a.equal_cost,
            })
        };
        return print_json(&json!({
            "start": phases.test_start().to_string(),
            "end": phases.end().to_string(),
            "current": one(&answer.current),
            "alternatives": answer.others.iter().map(one).collect::<Vec<_>>(),
            "words": answer.sentences(),
        }));
    }
    let delay = answer.current.delay.map_or("–".to_owned(), super::tables::spoken);
    println!(
        "From {} to {}, replayed: `{}` made {} polls and saw entries after {delay}.\n",
        phases.test_start(),
        phases.end(),
        answer.current.name,
        answer.current.polls,
    );
    answer.sentences().iter().for_each(|sentence| println!("{sentence}"));
    println!("\nEntries that were missed at the time are in no history, and so in no figure here.");
    Ok(())
}

/// The world of the own history, from when it was first watched until now.
fn replayed(own: &[Own]) -> Result<(World, Phases), Failure> {
    let mut builder = WorldBuilder::default();
    for feed in own {
        let number = builder.feed(feed.row.url.as_str());
        builder.domain(number, &feed.row.domain);
        if let Some(ttl) = feed.row.hints.ttl {
            builder.ttl(number, ttl);
        }
        builder.weight(number, feed.row.settings.weight.unwrap_or(1.0));
        for (published, _) in &feed.entries {
            let (visible, claim) = (*published, Some(*published));
            builder.entry(number, EntryRow { visible, claim, window: feed.window, bytes: None });
        }
    }
    let seen = || own.iter().flat_map(|feed| feed.entries.iter().map(|(_, seen)| *seen));
    let (Some(start), Some(end)) = (seen().min(), seen().max()) else {
        return Err(failed("no entry was seen yet; let `tidings run` watch for a few days".into()));
    };
    let watched = end.since(start);
    if watched < HISTORY_MIN {
        let message = "the history is shorter than a day; let `tidings run` watch a while longer";
        return Err(failed(message.to_owned()));
    }
    let train = Duration::from_secs((watched / 4).min(TRAIN_MAX).as_secs());
    let test = Duration::from_secs((watched - train).as_secs());
    let world = builder.finish(super::stats::WINDOW);
    Ok((world, Phases { start, train, test, warm_up: true }))
}
