//! Figure 3 of the advaRSS paper: the time to poll 793 feeds once, with three set-ups.
//!
//! 1. One machine polls one feed at a time. Servers give no validators, all bodies differ, and
//!    every item is looked up in the database: the program uses neither hashes nor windows.
//! 2. Four terminals with room for 16 polls each; otherwise the same, so every item travels.
//! 3. The same terminals. Servers give validators, and terminals compare hashes and windows.
//!
//! The server has the delays of real ones, and every domain may be asked at any time. Before each
//! round, every twentieth feed gets a new item.

use std::path::Path;

use anyhow::Result;

use super::house::{House, Part};
use super::web::{Delays, Web};
use crate::bench::measure::now;

/// The feeds of the paper, and the seconds that it published for its best set-up.
const FEEDS: usize = 793;
const PUBLISHED_SECONDS: f64 = 10.0;
const TERMINALS: usize = 4;
const ROOM: usize = 16;
/// Feeds are polled when the command asks for it, and hardly ever by themselves.
const ON_REQUEST: &str = "fix:28d";

/// The cost of one set-up, a round.
struct RoundCost {
    seconds: f64,
    requests: f64,
    road_messages: f64,
    road_bytes: f64,
    statements: f64,
    lookups: f64,
    cpu_seconds: f64,
}

pub fn run(program: &Path, rounds: usize) -> Result<()> {
    println!("{FEEDS} feeds, {rounds} rounds each, a twentieth of the feeds changed before each\n");
    println!(
        "| set-up | seconds a round | requests | road messages | road KB | statements | lookups of \
         keys | CPU s |\n|---|---|---|---|---|---|---|---|"
    );
    let names = ["1 one machine, one worker", "2 four terminals", "3 validators, hash, windows"];
    for (number, name) in names.iter().enumerate() {
        let cost = set_up(program, number, rounds)?;
        println!(
            "| {name} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} |",
            cost.seconds,
            cost.requests,
            cost.road_messages,
            cost.road_bytes / 1000.0,
            cost.statements,
            cost.lookups,
            cost.cpu_seconds
        );
    }
    println!("| the paper's advaRSS with terminals | {PUBLISHED_SECONDS:.0} | | | | | | |");
    killed(program)
}

/// Starts the processes of a set-up, with all feeds polled once.
fn begin(program: &Path, number: usize) -> Result<(House, Web)> {
    let web = Web::start(FEEDS, Delays::Real)?;
    web.set_validators(number == 2);
    let mut house = House::start(program, number > 0)?;
    house.reads_whole = number < 2;
    if number == 0 {
        house.controller("alone", ON_REQUEST, &["--workers", "1"])?;
    } else {
        house.controller("controller", ON_REQUEST, &["--role", "controller"])?;
        for n in 1..=TERMINALS {
            house.terminal(&format!("terminal-{n}"), ROOM)?;
        }
    }
    house.import(&web.opml())?;
    // The daemon polls new feeds by itself; this command waits for all of them.
    house.command(&["feed", "poll", "--all", "--json"])?;
    web.take_asked();
    Ok((house, web))
}

fn set_up(program: &Path, number: usize, rounds: usize) -> Result<RoundCost> {
    let (house, web) = begin(program, number)?;
    let (road, statements) = (house.road(), house.statements()?);
    let cpu = cpu(&house);
    let mut seconds = 0.0;
    for round in 0..rounds {
        web.change_some(round);
        let begun = now();
        house.command(&["feed", "poll", "--all", "--json"])?;
        seconds += begun.elapsed().as_secs_f64();
    }
    let (road_after, statements_after) = (house.road(), house.statements()?);
    let each = |total: f64| total / rounds.max(1) as f64;
    Ok(RoundCost {
        seconds: each(seconds),
        requests: each(web.take_asked().0 as f64),
        road_messages: each((road_after.messages - road.messages) as f64),
        road_bytes: each((road_after.bytes - road.bytes) as f64),
        statements: each((statements_after.0 - statements.0) as f64),
        lookups: each((statements_after.1 - statements.1) as f64),
        cpu_seconds: each(self::cpu(&house) - cpu),
    })
}

fn cpu(house: &House) -> f64 {
    let parts = [Part::Controller, Part::Terminals, Part::Bus, Part::Database];
    parts.into_iter().map(|part| house.cpu_seconds(part)).sum()
}

/// A round in which one of four terminals is killed: its polls are made again by others.
fn killed(program: &Path) -> Result<()> {
    let (mut house, web) = begin(program, 2)?;
    let begun = now();
    std::thread::scope(|scope| -> Result<()> {
        let polled = {
            let house = &house;
            scope.spawn(|| house.command(&["feed", "poll", "--all", "--json"]).map(drop))
        };
        while web.n_answers() < (FEEDS + FEEDS / 4) as u64 && !polled.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // The process is killed by its id, because the other thread borrows the house.
        let pid = house.terminals[0].id().to_string();
        std::process::Command::new("kill").args(["-9", &pid]).status()?;
        polled.join().unwrap_or_else(|_| anyhow::bail!("the round panicked"))
    })?;
    house.kill_terminal(0)?;
    let (requests, again) = web.take_asked();
    println!(
        "\nOne of four terminals killed in the middle of a round: {requests} requests, {again} of \
         them again, {:.1} s (the sites of its requests wait until these have certainly ended).",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
