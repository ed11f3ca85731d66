//! `tidings feed list`: lists feeds by state and tag, in any order. Rows are written one by one, so
//! a million feeds need no more memory than a few hundred.

use std::io::IsTerminal;

use engine::Clock;
use feed::Time;
use store::{AccountId, FeedFilter, FeedListFilter, FeedOrder, FeedRow, FeedState, Store};

use super::{list_json, next_poll};
use crate::args::feed_list::FeedList;
use crate::error::CliError;
use crate::output::{self, OutputRows, ahead, one_line, print_line, relative};
use crate::{access, config};

/// The limit on a terminal, if `--limit` is not given.
const ON_TERMINAL: u64 = 100;
/// Feeds that are read at once.
const CHUNK: u32 = 500;
/// Feeds in a table. The widest row sets its width, so a table needs all rows in memory.
const IN_TABLE_MAX: usize = 1000;

const HEADER: [&str; 7] = ["Id", "Title", "State", "Entries", "Last poll", "Next poll", "Problem"];

pub fn run(asked: FeedList) -> Result<(), CliError> {
    let config = config::read_offline(&asked.place)?;
    let store = access::read(&config)?;
    let is_terminal = std::io::stdout().is_terminal() && !asked.json;
    let limit = asked.limit.or(is_terminal.then_some(ON_TERMINAL)).unwrap_or(u64::MAX);
    let list = List {
        account: asked.whose.find(&store)?,
        state: asked.state.as_deref().and_then(FeedState::from_filter_word),
        tag: asked.tag,
        order: asked.sort.as_deref().map(order),
        limit,
    };
    if asked.json {
        let mut rows = OutputRows::new();
        let now = Clock::System.now();
        list.each(&store, |row| rows.json(&list_json(&row, now)))?;
        return rows.end_json();
    }
    let n = list.print(&store, Clock::System.now())?;
    if n == 0 && store.feed_count()? == 0 {
        return print_line(
            "No feeds yet. Add one: tidings feed add URL. Import many: tidings import FILE.opml",
        );
    }
    if n == 0 {
        return print_line("No feed has this state or tag.");
    }
    if n < limit {
        return Ok(());
    }
    match list.n_found(&store)? {
        Some(found) if found <= n => Ok(()),
        Some(found) => print_line(&format!("{} more; `--limit N` shows more", found - n)),
        None => print_line("There are more; `--limit N` shows them"),
    }
}

fn order(word: &str) -> FeedOrder {
    match word {
        "trouble" => FeedOrder::Trouble,
        "last" => FeedOrder::LastPoll,
        "next" => FeedOrder::NextPoll,
        _ => FeedOrder::Title,
    }
}

struct List {
    /// The account whose feeds are listed; account 0 lists all.
    account: AccountId,
    state: Option<FeedState>,
    tag: Option<String>,
    /// `None`: by number.
    order: Option<FeedOrder>,
    limit: u64,
}

impl List {
    /// Passes each feed to `take`, in order.
    fn each(
        &self,
        store: &Store,
        mut take: impl FnMut(FeedRow) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut left = self.limit;
        let (mut after, mut query) = (None, self.query());
        while left > 0 {
            let chunk = u32::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let (rows, is_last) = if self.order.is_some() {
                query.limit = chunk;
                let page = store.feed_list(&query)?;
                query.from = page.after;
                (page.lines, query.from.is_none())
            } else {
                let (tag, state) = (self.tag.clone(), self.state);
                let filter = FeedFilter { tag, state, after, limit: Some(chunk) };
                let rows = store.feeds_of(self.account, &filter)?;
                after = rows.last().map(|row| row.id);
                let is_last = rows.len() < chunk as usize;
                (rows, is_last)
            };
            left -= rows.len() as u64;
            rows.into_iter().try_for_each(&mut take)?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    fn query(&self) -> FeedListFilter {
        FeedListFilter {
            account: self.account,
            text: String::new(),
            tag: self.tag.clone(),
            state: self.state,
            order: self.order.unwrap_or(FeedOrder::Title),
            from: None,
            backwards: false,
            limit: 1,
        }
    }

    /// Returns the number of feeds in the whole list, if it was counted.
    fn n_found(&self, store: &Store) -> Result<Option<u64>, CliError> {
        let states = store.feed_list(&self.query())?.states;
        Ok(states.map(|states| states.of(self.state)))
    }

    /// Prints a table if the list is short, otherwise lines of fixed width. Returns the number of
    /// feeds.
    fn print(&self, store: &Store, now: Time) -> Result<u64, CliError> {
        let mut held: Vec<[String; 7]> = Vec::new();
        let mut rows: Option<OutputRows> = None;
        self.each(store, |row| {
            let cells = cells(&row, now);
            if let Some(rows) = &mut rows {
                return rows.line(&fixed(&cells));
            }
            held.push(cells);
            if held.len() > IN_TABLE_MAX {
                let mut out = OutputRows::new();
                out.line(&fixed(&HEADER.map(str::to_owned)))?;
                held.drain(..).try_for_each(|cells| out.line(&fixed(&cells)))?;
                rows = Some(out);
            }
            Ok(())
        })?;
        if let Some(mut rows) = rows {
            rows.flush()?;
            // The first line is the header.
            return Ok(rows.n() - 1);
        }
        let n = held.len() as u64;
        if n > 0 {
            let mut table = output::table(HEADER);
            table.add_rows(held);
            print_line(&table.to_string())?;
        }
        Ok(n)
    }
}

fn cells(f: &FeedRow, now: Time) -> [String; 7] {
    let title = f.shown_title().map_or_else(|| f.location.url.masked(), str::to_owned);
    [
        f.id.to_string(),
        one_line(&title, 40),
        f.state().word().to_owned(),
        f.entries.to_string(),
        f.history.last_poll_at.map_or_else(|| "never".to_owned(), |t| relative(t, now)),
        next_poll(f, now).map_or_else(|| "-".to_owned(), |t| ahead(t, now)),
        one_line(f.error().unwrap_or(""), 50),
    ]
}

fn fixed([id, title, state, entries, last, next, trouble]: &[String; 7]) -> String {
    let line = format!(
        " {id:<8}  {title:<40}  {state:<11}  {entries:<8}  {last:<14}  {next:<14}  {trouble}"
    );
    line.trim_end().to_owned()
}
