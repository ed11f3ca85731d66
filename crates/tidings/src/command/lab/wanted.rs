//! Reads a world in which it is known which entries somebody wants: by the trace's own column, or
//! by queries that read the texts of the trace. The queries see the entries in the order in which
//! they appeared, as live ones do.

use std::io::BufReader;
use std::path::Path;

use feed::{EntryId, FeedId, Time};
use lab::world::trace::{RowText, read_judged};
use lab::{LearnsFrom, World, WorldBuilder};
use query::{Catalog, Create, Entry, Statement, Trial};

use super::files::{BUFFER_BYTES, finish, open, read_world as read_plain};
use crate::args::lab::TraceArgs;
use crate::args::wanted::WantedArgs;
use crate::command::query::text;
use crate::error::{CliError, input_error};
use crate::output::{complain, spinner};

/// Texts are held in memory until all are read. Ten million titles have about half of this.
const TEXT_BYTES_MAX: usize = 2 << 30;

/// Reads all traces into one world, and judges their entries if there are queries.
pub fn read_world(traces: &TraceArgs, wanted: &WantedArgs, window: u32) -> Result<World, CliError> {
    let Some(file) = &wanted.queries else { return read_plain(traces, window) };
    let queries = queries(file)?;
    let mut builder = WorldBuilder::default();
    let mut rows = TraceTexts::default();
    let waiting = spinner("reading");
    for file in &traces.files {
        let shown = file.display().to_string();
        let reader = BufReader::with_capacity(BUFFER_BYTES, open(file)?);
        let mut visit = |row: RowText<'_>| rows.take(&row);
        read_judged(&shown, reader, &mut builder, Some(&mut visit))
            .map_err(|e| input_error(e.to_string()))?;
        if rows.n_bytes > TEXT_BYTES_MAX {
            let message = "the texts of the traces have more than 2 GB; use a part of them";
            return Err(input_error(format!("{shown}: {message}")));
        }
    }
    rows.judge(&queries, &mut builder);
    waiting.finish_and_clear();
    finish(builder, traces, window)
}

/// Reads the statements of a file. Faults go to standard error, one a line.
fn queries(file: &Path) -> Result<Vec<Create>, CliError> {
    let statements = query::parse(&text(file)?).and_then(|statements| {
        Catalog::new().check(&statements)?;
        Ok(statements)
    });
    let statements = statements.map_err(|faults| {
        complain(&engine::command::queries::located(&file.display().to_string(), &faults));
        input_error(String::new())
    })?;
    let created = statements.into_iter().filter_map(|statement| match statement {
        Statement::Create(create) => Some(*create),
        Statement::Drop(_) => None,
    });
    let created: Vec<Create> = created.collect();
    if created.is_empty() {
        let message = "no query; write CREATE FEED name AS RETURN …";
        return Err(input_error(format!("{}:1:1: {message}", file.display())));
    }
    Ok(created)
}

/// The texts of all entries of the traces.
#[derive(Default)]
struct TraceTexts {
    rows: Vec<TraceText>,
    n_bytes: usize,
}

/// The texts of one entry.
struct TraceText {
    place: (usize, usize),
    at: Time,
    published: Option<Time>,
    feed: String,
    /// Title, summary, content, author, link and language; empty ones are absent.
    texts: [Option<Box<str>>; 6],
    categories: Vec<String>,
    tags: Vec<String>,
}

impl TraceTexts {
    fn take(&mut self, row: &RowText<'_>) {
        let texts = [row.title, row.summary, row.content, row.author, row.link, row.language];
        self.n_bytes += texts.iter().map(|text| text.len()).sum::<usize>() + row.feed.len();
        let list = |text: &str| -> Vec<String> {
            let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        self.rows.push(TraceText {
            place: row.place,
            at: row.at,
            published: row.published,
            feed: row.feed.to_owned(),
            texts: texts.map(|text| Some(text).filter(|t| !t.is_empty()).map(Into::into)),
            categories: list(row.categories),
            tags: list(row.tags),
        });
    }

    /// Shows the entries to the queries in the order of appearance. An entry is wanted if any
    /// query keeps it.
    fn judge(mut self, queries: &[Create], builder: &mut WorldBuilder) {
        self.rows.sort_by_key(|row| (row.at, row.place));
        let mut trial = Trial::new(&[], queries);
        for (number, row) in self.rows.iter().enumerate() {
            let is_wanted = trial.run(&row.entry(number)) > 0;
            builder.judge(row.place.0, row.place.1, is_wanted);
        }
    }
}

impl TraceText {
    fn entry(&self, number: usize) -> Entry<'_> {
        let feed = u32::try_from(self.place.0 + 1).unwrap_or(u32::MAX);
        let id = EntryId(i64::try_from(number + 1).unwrap_or(i64::MAX));
        let [title, summary, content, author, link, language] =
            self.texts.each_ref().map(Option::as_deref);
        Entry {
            tags: &self.tags,
            title,
            summary,
            content,
            author,
            categories: &self.categories,
            link,
            language,
            published: self.published,
            ..Entry::bare(id, FeedId(feed), &self.feed, self.at)
        }
    }
}

/// The ways in which each policy or strategy runs: twice if some entries are wanted.
pub fn ways(world: &World) -> &'static [LearnsFrom] {
    if world.has_relevance() { &[LearnsFrom::All, LearnsFrom::Wanted] } else { &[LearnsFrom::All] }
}

/// The word of a way in JSON.
pub const fn word(learns: LearnsFrom) -> &'static str {
    match learns {
        LearnsFrom::All => "all",
        LearnsFrom::Wanted => "wanted",
    }
}

/// The name of a run in tables.
pub fn label(name: &str, learns: LearnsFrom) -> String {
    match learns {
        LearnsFrom::All => name.to_owned(),
        LearnsFrom::Wanted => format!("{name} (wanted)"),
    }
}

/// Counts the entries of a world, and the wanted ones.
pub fn n_wanted(world: &World) -> (usize, usize) {
    let wanted = world.feeds.iter().map(|feed| {
        let all = feed.visible().len();
        feed.relevance().map_or(all, |relevance| relevance.n_wanted(0..all))
    });
    (world.n_entries(), wanted.sum())
}

/// The cost and the result of a run: polls, mean delay in seconds, recall.
#[derive(Clone, Copy)]
pub struct RunFigures {
    pub polls: u64,
    pub delay: Option<f64>,
    pub recall: Option<f64>,
}

/// Says what it gains to poll by wanted entries instead of all.
pub fn gain_in_words(name: &str, all: RunFigures, wanted: RunFigures) -> String {
    let change = |before: f64, after: f64, less: &str, more: &str| {
        let percent = (after / before - 1.0) * 100.0;
        match percent.round() as i64 {
            0 => "as many".to_owned(),
            n if n < 0 => format!("{} % {less}", -n),
            n => format!("{n} % {more}"),
        }
    };
    let polls = match all.polls {
        0 => "no polls".to_owned(),
        _ => format!("{} polls", change(all.polls as f64, wanted.polls as f64, "fewer", "more")),
    };
    let delay = match (all.delay, wanted.delay) {
        (Some(before), Some(after)) if before > 0.0 => {
            let percent = (after / before - 1.0) * 100.0;
            match percent.round() as i64 {
                0 => "wanted entries wait as long".to_owned(),
                n if n < 0 => format!("wanted entries wait {} % less", -n),
                n => format!("wanted entries wait {n} % longer"),
            }
        }
        _ => "no delay to compare".to_owned(),
    };
    let recall = match (all.recall, wanted.recall) {
        (Some(before), Some(after)) => {
            format!("recall {:.1} % instead of {:.1} %", after * 100.0, before * 100.0)
        }
        _ => "no recall to compare".to_owned(),
    };
    format!("{name}, polled by wanted entries: {polls}, {delay}, {recall}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_and_losses_are_said_in_words() {
        let of = |polls, delay, recall| RunFigures { polls, delay: Some(delay), recall };
        let said = gain_in_words("mavsync", of(1000, 600.0, Some(0.9)), of(750, 300.0, Some(0.95)));
        assert_eq!(
            said,
            "mavsync, polled by wanted entries: 25 % fewer polls, wanted entries wait 50 % less, \
             recall 95.0 % instead of 90.0 %."
        );
        let said = gain_in_words("x", of(100, 60.0, None), of(100, 66.0, None));
        assert!(said.contains("as many polls, wanted entries wait 10 % longer"), "{said}");
    }
}
