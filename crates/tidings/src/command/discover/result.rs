//! The result of a long discovery: the table of steps, the list of feeds, and the dropped addresses
//! with their reasons.

use std::io::Write;
use std::path::{Path, PathBuf};

use api::plural;
use dataset::discovery::{DroppedAddress, Funnel, FunnelResult, left_percent};
use parse::opml::Outline;
use serde_json::{Value, json};

use super::journal::Journal;
use crate::args::discover::DiscoverArgs;
use crate::command::lab::files::{self, csv_field};
use crate::error::{CliError, failed};
use crate::output::{print_json, print_line, shown_url, table};

/// Removes duplicates, and writes and prints everything. Then the journal has done its duty.
pub fn show(mut journal: Journal, args: &DiscoverArgs) -> Result<(), CliError> {
    let file = args.out.as_deref().filter(|out| *out != Path::new("-")).map(dropped_file);
    let mut dropped = file.as_deref().map(DroppedFile::create).transpose()?;
    let mut funnel = Funnel::default();
    journal.each(|line| {
        let gone = funnel.add(line);
        dropped.as_mut().map_or(Ok(()), |dropped| dropped.write(&gone))
    })?;
    let result = funnel.run(args.sample, &args.seed);
    if let Some(mut dropped) = dropped {
        dropped.write(&result.dropped)?;
        dropped.finish()?;
    }
    if let Some(out) = &args.out {
        write_feeds(&result, out)?;
    }
    journal.remove()?;
    if args.json {
        return print_json(&as_json(&result)?);
    }
    tell(&result, args, file.as_deref());
    if args.out.is_none() {
        for feed in &result.feeds {
            print_line(&shown_url(&feed.url))?;
        }
    }
    Ok(())
}

/// Tells the steps on standard error.
fn tell(result: &FunnelResult, args: &DiscoverArgs, dropped: Option<&Path>) {
    eprintln!("{}", steps(result));
    let mut rows = table(["dropped because", "addresses"]);
    for (why, n) in result.counts.drops() {
        rows.add_row([why.to_owned(), n.to_string()]);
    }
    eprintln!("{rows}");
    eprintln!(
        "Addresses that are the beginning of another one (the printed rule drops them): {}.",
        result.counts.printed_prefixes
    );
    if args.sample.is_some() {
        eprintln!("Sample: seed {}, population {}.", args.seed, result.population);
    }
    if let (Some(out), Some(dropped)) = (&args.out, dropped) {
        let feeds = plural(result.feeds.len() as u64, "feed", "feeds");
        eprintln!("{}: {feeds}.", out.display());
        eprintln!("{}: every dropped address, with the reason.", dropped.display());
    }
}

/// The answer of the contract: the counts, and the feeds.
fn as_json(result: &FunnelResult) -> Result<Value, CliError> {
    let mut answer = serde_json::to_value(&result.counts)?;
    let feeds: Vec<Value> = result
        .feeds
        .iter()
        .map(|feed| {
            json!({
                "url": shown_url(&feed.url), "title": feed.title, "format": feed.format,
                "found_on": shown_url(&feed.found_on),
            })
        })
        .collect();
    answer["feeds"] = feeds.into();
    Ok(answer)
}

/// Table 3.2 of the dissertation, ours next to the published one.
fn steps(result: &FunnelResult) -> String {
    let mut rows = table(["list", "addresses", "here", "left", "published", "left"]);
    let (mut before, mut published_before) = (None, None);
    for step in result.counts.table() {
        let left = |before: Option<u64>, now: Option<u64>| {
            let left = before.zip(now).and_then(|(before, now)| left_percent(before, now));
            left.map_or(String::new(), |left| format!("{left:.1} %"))
        };
        rows.add_row([
            step.list.map_or(String::new(), |list| list.to_string()),
            step.name.to_owned(),
            step.ours.to_string(),
            left(before, Some(step.ours)),
            step.published.map_or(String::new(), |n| n.to_string()),
            left(published_before, step.published),
        ]);
        before = Some(step.ours);
        published_before = step.published.or(published_before);
    }
    rows.to_string()
}

/// Writes the feeds: OPML if the name ends so, else one address a line.
fn write_feeds(result: &FunnelResult, out: &Path) -> Result<(), CliError> {
    let wrong = |e: std::io::Error| unwritable(out, &e);
    let mut file = files::Output::create(out)?;
    if out.extension().is_some_and(|extension| extension == "opml") {
        let outlines: Vec<Outline> = result
            .feeds
            .iter()
            .map(|feed| Outline {
                url: feed.url.clone(),
                title: feed.title.clone(),
                ..Outline::default()
            })
            .collect();
        let text = parse::opml::write("Discovered feeds", &outlines);
        file.write_all(text.as_bytes()).map_err(wrong)?;
    } else {
        for feed in &result.feeds {
            writeln!(file, "{}", feed.url).map_err(wrong)?;
        }
    }
    file.finish(out)
}

fn dropped_file(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".dropped.csv");
    name.into()
}

/// The table of dropped addresses.
struct DroppedFile<'a> {
    path: &'a Path,
    file: files::Output,
}

impl<'a> DroppedFile<'a> {
    fn create(path: &'a Path) -> Result<DroppedFile<'a>, CliError> {
        let mut file = files::Output::create(path)?;
        writeln!(file, "address,reason,detail").map_err(|e| unwritable(path, &e))?;
        Ok(DroppedFile { path, file })
    }

    fn write(&mut self, dropped: &[DroppedAddress]) -> Result<(), CliError> {
        for one in dropped {
            let (address, detail) = (csv_field(&one.address), csv_field(&one.detail));
            writeln!(self.file, "{address},{},{detail}", one.reason.word())
                .map_err(|e| unwritable(self.path, &e))?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), CliError> {
        self.file.finish(self.path)
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    failed(format!("{}: cannot be written: {error}", path.display()))
}
