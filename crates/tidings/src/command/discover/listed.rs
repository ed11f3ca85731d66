//! `tidings discover --from FILE`: finds the feeds of a long list of addresses. The list is read as
//! a stream. A journal next to the output holds the result of every line, so that a run continues
//! after it was interrupted. The plan gives every request its turn: one at a time for each
//! registrable domain, with the gap.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dataset::discovery::{DropReason, DroppedAddress, JournalLine, address_digest, as_feed};
use engine::Errands;
use feed::{Domain, FeedUrl};
use parse::discover;
use tokio::task::JoinSet;
use url::Url;

use super::fetched_page;
use super::journal::Journal;
use super::progress::ListProgress;
use crate::args::discover::DiscoverArgs;
use crate::command::lab::files;
use crate::command::run::wait_for_signal;
use crate::error::{CliError, failed};

/// Lines that are read ahead. Lists are often sorted by site, and other sites must not wait.
const LINES_AHEAD: usize = 50_000;
/// Lines that are asked at the same time. Most of them wait for the gap of their domain.
const LINES_UNDER_WAY: usize = 1000;
/// The longest line; longer ones are not addresses.
const LINE_BYTES_MAX: usize = 16_384;

/// A line of the list.
struct ListLine {
    number: u64,
    text: String,
}

/// The addresses that this run has asked.
#[derive(Default)]
struct AskedAddresses(Mutex<HashSet<u128>>);

impl AskedAddresses {
    /// Returns whether the address is new, and remembers it.
    fn insert(&self, url: &str) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(address_digest(url))
    }
}

/// Asks all lines that the journal does not hold yet. Returns the journal, which then has all.
pub async fn run(
    errands: &Errands,
    args: &DiscoverArgs,
    file: &Path,
    longest_gap: Duration,
) -> Result<Journal, CliError> {
    let list = Journal::describe(file)?;
    let mut journal = Journal::open(args.out.as_deref(), &list)?;
    let asked = Arc::new(AskedAddresses::default());
    let mut done = HashSet::new();
    journal.each(|line| {
        done.insert(line.line);
        remember(&asked, &line);
        Ok(())
    })?;
    if journal.is_continued() {
        // The run before may have asked any domain a moment ago.
        tokio::time::sleep(longest_gap).await;
    }
    let mut progress = ListProgress::new(list.lines, done.len() as u64);
    let mut lines = numbered(file)?.peekable();
    let mut waiting = WaitingLines::default();
    let mut under_way: JoinSet<(Domain, JournalLine)> = JoinSet::new();
    let signal = wait_for_signal();
    tokio::pin!(signal);
    loop {
        while waiting.n < LINES_AHEAD
            && let Some(line) = lines.next()
        {
            let line = line?;
            if !done.contains(&line.number) {
                waiting.push(line);
            }
        }
        while under_way.len() < LINES_UNDER_WAY
            && let Some((domain, line)) = waiting.next()
        {
            let (errands, asked) = (errands.clone(), Arc::clone(&asked));
            under_way.spawn(async move { (domain, ask(&errands, &asked, line).await) });
        }
        let joined = tokio::select! {
            joined = under_way.join_next() => joined,
            interrupted = &mut signal => {
                interrupted?;
                return Err(failed(progress.interrupted(journal.is_kept())));
            }
        };
        let Some(joined) = joined else { break };
        let (domain, line) = joined.map_err(|_| failed(super::INTERNAL_ERROR.to_owned()))?;
        journal.write(&line)?;
        waiting.free(&domain);
        progress.line_done(&line);
    }
    progress.finish();
    Ok(journal)
}

/// Remembers the addresses that an earlier run asked for a line.
fn remember(asked: &AskedAddresses, line: &JournalLine) {
    for feed in &line.feeds {
        asked.insert(&feed.facts.url);
    }
    for dropped in line.dropped.iter().filter(|dropped| dropped.reason.was_asked()) {
        asked.insert(&dropped.address);
    }
    asked.insert(&line.address);
}

/// Returns the lines of the list with their numbers, without empty ones and comments.
fn numbered(
    file: &Path,
) -> Result<impl Iterator<Item = Result<ListLine, CliError>> + use<>, CliError> {
    let mut reader = BufReader::with_capacity(files::BUFFER_BYTES, files::open(file)?);
    let shown = file.display().to_string();
    let mut number = 0;
    Ok(std::iter::from_fn(move || {
        loop {
            match next_line(&mut reader) {
                Ok(None) => return None,
                Ok(Some(text)) => {
                    number += 1;
                    let text = text.trim();
                    if !text.is_empty() && !text.starts_with('#') {
                        return Some(Ok(ListLine { number, text: text.to_owned() }));
                    }
                }
                Err(error) => {
                    let at = number + 1;
                    return Some(Err(failed(format!("{shown}:{at}:1: cannot be read: {error}"))));
                }
            }
        }
    }))
}

/// Reads one line; the part beyond the limit is left out.
pub(super) fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line: Vec<u8> = Vec::new();
    loop {
        let part = reader.fill_buf()?;
        if part.is_empty() {
            let text = String::from_utf8_lossy(&line).into_owned();
            return Ok(Some(text).filter(|_| !line.is_empty()));
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = &part[..end.unwrap_or(part.len())];
        let room = LINE_BYTES_MAX.saturating_sub(line.len());
        line.extend(&taken[..taken.len().min(room)]);
        let n = taken.len() + usize::from(end.is_some());
        reader.consume(n);
        if end.is_some() {
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
    }
}

/// The lines that wait, by domain. One line of each domain is under way at a time.
#[derive(Default)]
struct WaitingLines {
    by_domain: HashMap<Domain, VecDeque<ListLine>>,
    /// The domains without a line under way.
    ready: VecDeque<Domain>,
    busy: HashSet<Domain>,
    n: usize,
}

impl WaitingLines {
    fn push(&mut self, line: ListLine) {
        let domain = FeedUrl::parse(&line.text).map_or_else(|_| Domain::default(), |u| u.domain());
        let lines = self.by_domain.entry(domain.clone()).or_default();
        if lines.is_empty() && !self.busy.contains(&domain) {
            self.ready.push_back(domain);
        }
        lines.push_back(line);
        self.n += 1;
    }

    fn next(&mut self) -> Option<(Domain, ListLine)> {
        let domain = self.ready.pop_front()?;
        let line = self.by_domain.get_mut(&domain)?.pop_front()?;
        self.n -= 1;
        self.busy.insert(domain.clone());
        Some((domain, line))
    }

    /// Frees a domain whose line has ended.
    fn free(&mut self, domain: &Domain) {
        self.busy.remove(domain);
        match self.by_domain.get(domain) {
            Some(lines) if !lines.is_empty() => self.ready.push_back(domain.clone()),
            _ => {
                self.by_domain.remove(domain);
            }
        }
    }
}

/// Finds the feeds of one line.
async fn ask(errands: &Errands, asked: &AskedAddresses, line: ListLine) -> JournalLine {
    let mut found = JournalLine { line: line.number, ..JournalLine::default() };
    let url = match FeedUrl::parse(&line.text) {
        Ok(url) => url.url().clone(),
        Err(error) => {
            found.address = feed::mask_text(&line.text);
            found.drop(DropReason::NotAnAddress, error.to_string());
            return found;
        }
    };
    found.address = url.as_str().to_owned();
    if !asked.insert(url.as_str()) {
        found.drop(DropReason::ExactDuplicate, "already in the list".to_owned());
        return found;
    }
    if discover::has_session_id(url.as_str()) {
        found.drop(DropReason::SessionId, "carries a session id".to_owned());
        return found;
    }
    let known = discover::known_feeds(&url);
    if !known.is_empty() {
        ask_links(errands, asked, known, &mut found).await;
        return found;
    }
    let answer = match fetched_page(errands, url.clone()).await {
        // A bare host name may be served without TLS only.
        Err(_) if !line.text.contains("://") => match http_twin(&url) {
            Some(plain) => fetched_page(errands, plain).await,
            None => return found,
        },
        answer => answer,
    };
    let (final_url, bytes, content_type) = match answer {
        Ok(answer) => answer,
        Err(why) => {
            found.drop(DropReason::Unreachable, why);
            return found;
        }
    };
    if let Some(feed) = as_feed(&url, &final_url, &bytes, content_type.as_deref()) {
        found.links = 1;
        found.feeds.push(feed);
        return found;
    }
    let links = discover::links(&bytes, content_type.as_deref(), &final_url);
    let guesses = discover::likely_feeds(&final_url);
    let links: Vec<Url> =
        links.into_iter().map(|link| link.url).filter(|url| !guesses.contains(url)).collect();
    drop(bytes);
    if links.is_empty() {
        found.drop(DropReason::NotAFeed, "neither a feed nor a link to one".to_owned());
        return found;
    }
    ask_links(errands, asked, links, &mut found).await;
    found
}

fn http_twin(url: &Url) -> Option<Url> {
    let mut url = url.clone();
    url.set_scheme("http").ok()?;
    Some(url)
}

/// Asks the links of a page, each once in the whole run.
async fn ask_links(
    errands: &Errands,
    asked: &AskedAddresses,
    links: Vec<Url>,
    found: &mut JournalLine,
) {
    found.links = links.len() as u64;
    for mut url in links {
        url.set_fragment(None);
        let dropped = |reason, detail: String| DroppedAddress {
            address: url.as_str().to_owned(),
            reason,
            detail,
        };
        if discover::has_session_id(url.as_str()) {
            found.dropped.push(dropped(DropReason::SessionId, "carries a session id".to_owned()));
        } else if !asked.insert(url.as_str()) {
            let detail = "found before".to_owned();
            found.dropped.push(dropped(DropReason::ExactDuplicate, detail));
        } else {
            match fetched_page(errands, url.clone()).await {
                Err(why) => found.dropped.push(dropped(DropReason::Unreachable, why)),
                Ok((final_url, bytes, content_type)) => {
                    match as_feed(&url, &final_url, &bytes, content_type.as_deref()) {
                        Some(feed) => found.feeds.push(feed),
                        None => {
                            let detail = "the answer is not a feed".to_owned();
                            found.dropped.push(dropped(DropReason::NotAFeed, detail));
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, text: &str) -> ListLine {
        ListLine { number, text: text.to_owned() }
    }

    #[test]
    fn one_line_of_each_domain_is_under_way() {
        let mut waiting = WaitingLines::default();
        for (i, text) in ["http://a.example/1", "http://a.example/2", "http://b.example/", "?"]
            .iter()
            .enumerate()
        {
            waiting.push(line(i as u64, text));
        }
        let mut taken = Vec::new();
        while let Some((domain, line)) = waiting.next() {
            taken.push((domain, line.number));
        }
        assert_eq!(taken.iter().map(|t| t.1).collect::<Vec<_>>(), [0, 2, 3]);
        waiting.free(&taken[0].0);
        assert_eq!(waiting.next().map(|(_, line)| line.number), Some(1));
        waiting.free(&taken[0].0);
        assert!(waiting.next().is_none() && waiting.n == 0);
        assert_eq!(waiting.by_domain.len(), 2, "the domains under way");
    }

    #[test]
    fn long_lines_are_cut_and_the_next_one_is_whole() {
        let text = format!("{}\nhttp://b.example/", "a".repeat(3 * LINE_BYTES_MAX));
        let mut reader = BufReader::with_capacity(1000, text.as_bytes());
        let first = next_line(&mut reader).unwrap().unwrap();
        assert_eq!(first.len(), LINE_BYTES_MAX);
        assert_eq!(next_line(&mut reader).unwrap().as_deref(), Some("http://b.example/"));
        assert_eq!(next_line(&mut reader).unwrap(), None);
    }
}
