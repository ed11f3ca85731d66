//! Polls a second with 1, 2, 4 and 8 terminals against servers with 200 ms latency. Also the
//! processor time of each part, bytes on the road, and the time of a takeover.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::house::{House, Part, TICKS_PER_SECOND};
use super::web::{Delays, Web};
use crate::bench::measure::now;

const LATENCY: Duration = Duration::from_millis(200);
/// Polls that one terminal makes at once. So one makes 80 polls a second, and eight make 640.
const ROOM: usize = 16;
/// Each domain is asked once a round; there are more than eight terminals can ask at once.
const FEEDS: usize = 2000;
const TAKEOVERS: usize = 5;
/// The polls before the measurement take less.
const FIRST_LIMIT: Duration = Duration::from_secs(180);

/// Every feed is due again after a second. So the terminals always have as much work as they take.
const ALWAYS_DUE: &str = "fix:1s";

/// The news of the feeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    /// Nothing new: every answer is 304.
    None,
    /// Every answer brings a new item.
    Always,
}

pub fn run(program: &Path, seconds: usize) -> Result<()> {
    println!("{FEEDS} feeds, {LATENCY:?} latency, room {ROOM} a terminal, {seconds} s each\n");
    println!(
        "| terminals | polls/s | of ideal | times one terminal | processors busy | CPU µs a poll: \
         controller | terminals | bus | database | bytes on the road a poll | messages a poll |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    );
    let mut alone = None;
    for n in [1, 2, 4, 8] {
        let rate = measure(program, n, seconds, News::None, alone)?;
        alone.get_or_insert(rate);
    }
    measure(program, 4, seconds, News::Always, alone)?;
    takeovers(program)
}

/// Prints the row of so many terminals. `alone` is the rate of one. Returns the polls a second.
fn measure(
    program: &Path,
    n_terminals: usize,
    seconds: usize,
    news: News,
    alone: Option<f64>,
) -> Result<f64> {
    let web = Web::start(FEEDS, Delays::Fixed(LATENCY))?;
    let mut house = House::start(program, true)?;
    house.controller("controller", ALWAYS_DUE, &["--role", "controller"])?;
    for n in 1..=n_terminals {
        house.terminal(&format!("terminal-{n}"), ROOM)?;
    }
    house.import(&web.opml())?;
    // Servers have given validators, and most terminals know the window of most feeds: a full
    // terminal leaves its feeds to others.
    let begun = now();
    while web.n_answers() < (2 * n_terminals * FEEDS) as u64 {
        ensure!(begun.elapsed() < FIRST_LIMIT, "only {} answers", web.n_answers());
        std::thread::sleep(Duration::from_millis(100));
    }
    web.set_always_new(news == News::Always);
    std::thread::sleep(Duration::from_secs(2));
    let parts = [Part::Controller, Part::Terminals, Part::Bus, Part::Database];
    let before = (web.n_answers(), parts.map(|part| house.cpu_seconds(part)), house.road());
    let busy = busy_seconds()?;
    let begun = now();
    std::thread::sleep(Duration::from_secs(seconds as u64));
    let took = begun.elapsed().as_secs_f64();
    let polls = (web.n_answers() - before.0) as f64;
    let busy = (busy_seconds()? - busy) / took;
    let cpu: Vec<f64> = parts
        .iter()
        .zip(before.1)
        .map(|(part, before)| (house.cpu_seconds(*part) - before) * 1e6 / polls)
        .collect();
    let road = house.road();
    let (rate, ideal) = (polls / took, (n_terminals * ROOM) as f64 / LATENCY.as_secs_f64());
    let news = if news == News::Always { ", a new item in every answer" } else { "" };
    println!(
        "| {n_terminals}{news} | {rate:.0} | {:.0} % | {:.2} | {busy:.1} of {} | {:.0} | {:.0} | \
         {:.0} | {:.0} | {:.0} | {:.2} |",
        100.0 * rate / ideal,
        rate / alone.unwrap_or(rate),
        std::thread::available_parallelism()?,
        cpu[0],
        cpu[1],
        cpu[2],
        cpu[3],
        (road.bytes - before.2.bytes) as f64 / polls,
        (road.messages - before.2.messages) as f64 / polls
    );
    Ok(rate)
}

/// The time that all processors of this machine together have worked, also for others.
fn busy_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let first = text.lines().next().context("an empty /proc/stat")?;
    let ticks: Vec<f64> = first.split_whitespace().skip(1).flat_map(str::parse).collect();
    // User, nice, system, idle, wait, interrupts.
    let idle: f64 = ticks.iter().skip(3).take(2).sum();
    Ok((ticks.iter().take(8).sum::<f64>() - idle) / TICKS_PER_SECOND)
}

/// Kills the process that records, again and again, and waits for the next epoch.
fn takeovers(program: &Path) -> Result<()> {
    let mut house = House::start(program, false)?;
    house.controller("all-0", ALWAYS_DUE, &[])?;
    let mut times = Vec::new();
    for n in 1..=TAKEOVERS {
        house.controller(&format!("all-{n}"), ALWAYS_DUE, &[])?;
        let epoch: i64 = house.sql("select epoch from seat")?.parse()?;
        let begun = now();
        house.kill_controller(n - 1)?;
        while house.sql("select epoch from seat")?.parse::<i64>()? == epoch {
            std::thread::sleep(Duration::from_millis(5));
        }
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let longest = times.last().context("one takeover at least")?;
    println!(
        "\nTakeover after a kill of the process that records: {:.2} s in the median of \
         {TAKEOVERS}, {longest:.2} s at most.",
        times[times.len() / 2]
    );
    Ok(())
}
