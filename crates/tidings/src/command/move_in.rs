//! `tidings move-in`: takes over subscriptions, folders, read marks and stars from another reader.
//! Marks wait in the store until their entries are recorded here. A call that was interrupted
//! continues where it stopped.

mod client;
mod source;

use std::collections::HashMap;

use api::plural;
use dispatch::command::{Command, CommandResult, ImportedFeed};
use engine::Clock;
use feed::FeedId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use source::{MarkList, MarkedEntry, OtherServer};
use store::{AccountId, PendingMark, Store};

use crate::access::CommandRunner;
use crate::args::move_in::MoveInArgs;
use crate::config;
use crate::error::{CliError, failed, input_error};
use crate::output::{self, one_line, print_json, print_line};

/// Starred entries that were not found and are listed.
const LISTED: u32 = 20;
/// Feeds that are polled by one command.
const POLLED_AT_ONCE: usize = 200;
/// A secret is one line.
const SECRET_BYTES_MAX: usize = 4096;

/// How far the move has come. It is stored with every page of marks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
struct MoveProgress {
    /// The list that is read now; `None`: all lists are read.
    list: Option<MarkList>,
    /// The place in it from which the next call continues.
    after: Option<String>,
    /// Entries of this list that were read.
    n_looked_at: u64,
    n_read: u64,
    n_starred: u64,
    /// Marks of feeds that are not in the subscriptions.
    n_foreign: u64,
}

pub async fn run(args: MoveInArgs) -> Result<(), CliError> {
    let config = config::read(&args.place, &args.network)?;
    let secret = secret(&args)?;
    let mut source = OtherServer::open(&args, &secret, &config).await?;
    let feeds = source.subscriptions().await?;
    let runner = CommandRunner::open(&config).await?;
    let moved = move_in(&args, &source, feeds, &runner).await;
    runner.close().await;
    moved
}

fn secret(args: &MoveInArgs) -> Result<String, CliError> {
    let bytes = output::read_input(&args.secret)?;
    let text = String::from_utf8_lossy(&bytes);
    match text.trim() {
        "" => Err(input_error("--secret: the file is empty".to_owned())),
        text if text.len() > SECRET_BYTES_MAX || text.contains('\n') => {
            Err(input_error("--secret: put only the password or the token there".to_owned()))
        }
        text => Ok(text.to_owned()),
    }
}

async fn move_in(
    args: &MoveInArgs,
    source: &OtherServer,
    feeds: Vec<ImportedFeed>,
    runner: &CommandRunner,
) -> Result<(), CliError> {
    let account = account(runner.store(), args.account.as_deref())?;
    // Another Tidings shows no secrets of addresses.
    let (masked, feeds): (Vec<_>, Vec<_>) =
        feeds.into_iter().partition(|feed| feed.url.contains("***"));
    for feed in &masked {
        let text = "skipped: its address has a secret that the other server does not give";
        output::complain(&format!("{}: {text}; add it by hand", feed.url));
    }
    let subscriber = (account != AccountId::LOCAL).then_some(account.0);
    let urls: Vec<String> = feeds.iter().map(|feed| feed.url.clone()).collect();
    let done = runner.carry_out(Command::Import { feeds, account: subscriber }, &|_, _| ()).await?;
    let CommandResult::Imported { added, known, refused } = done else {
        return Err(failed("the daemon gave an unexpected answer".to_owned()));
    };
    refused.iter().for_each(|why| output::complain(&format!("skipped: {why}")));
    let mut ids = HashMap::with_capacity(urls.len());
    for url in &urls {
        if let Some(id) = runner.store().find_feed_of(account, url)? {
            ids.insert(url.clone(), id);
        }
    }
    let progress = take_marks(args, source, runner.store(), account, &ids).await?;
    if !args.no_poll {
        poll_new(runner, ids.values().copied().collect()).await?;
    }
    let (store, now) = (runner.store(), Clock::System.now());
    for waiting in store.waiting_marks()?.into_iter().filter(|one| one.account == account) {
        store.apply_pending_marks(account, waiting.feed, now)?;
    }
    let (n_waiting, stars) = store.unmatched_marks(account, LISTED)?;
    let n_skipped = refused.len() + masked.len();
    if args.json {
        let stars: Vec<_> =
            stars.iter().map(|mark| json!({"link": mark.link, "title": mark.title})).collect();
        return print_json(&json!({
            "feeds_added": added,
            "feeds_known": known,
            "feeds_skipped": n_skipped,
            "read": progress.n_read,
            "starred": progress.n_starred,
            "of_other_feeds": progress.n_foreign,
            "not_found_yet": n_waiting,
            "stars_not_found_yet": stars,
        }));
    }
    report(&progress, (added, known, n_skipped), n_waiting, &stars)
}

fn report(
    progress: &MoveProgress,
    (added, known, n_skipped): (usize, usize, usize),
    n_waiting: u64,
    stars: &[PendingMark],
) -> Result<(), CliError> {
    print_line(&format!(
        "{} added, {known} already there, {n_skipped} skipped.",
        plural(added as u64, "feed", "feeds")
    ))?;
    print_line(&format!(
        "{} and {} were found there.",
        plural(progress.n_read, "read entry", "read entries"),
        plural(progress.n_starred, "star", "stars")
    ))?;
    if progress.n_foreign > 0 {
        let marks = plural(progress.n_foreign, "mark belongs", "marks belong");
        print_line(&format!("{marks} to feeds that are not subscribed there any more."))?;
    }
    if n_waiting == 0 {
        return print_line("All of them are set here.");
    }
    print_line(&format!(
        "{} for an entry that no feed has shown here yet. Each is set when its entry appears, \
         within 90 days.",
        plural(n_waiting, "mark waits", "marks wait")
    ))?;
    for mark in stars {
        let title = mark.title.as_deref().unwrap_or("(no title)");
        let link = mark.link.as_deref().unwrap_or("");
        print_line(&format!("  star not found: {} {link}", one_line(title, 100)))?;
    }
    Ok(())
}

/// Returns the account that gets the marks.
fn account(store: &Store, name: Option<&str>) -> Result<AccountId, CliError> {
    match name {
        Some(name) => {
            let found = store.account(name)?;
            let missing = || input_error(format!("--account: there is no account {name}"));
            found.map(|row| row.id).ok_or_else(missing)
        }
        None if store.has_accounts()? => Err(input_error(
            "this instance has accounts; name the one that gets the marks with --account NAME"
                .to_owned(),
        )),
        None => Ok(AccountId::LOCAL),
    }
}

/// Reads both lists and stores their marks page by page.
async fn take_marks(
    args: &MoveInArgs,
    source: &OtherServer,
    store: &Store,
    account: AccountId,
    ids: &HashMap<String, FeedId>,
) -> Result<MoveProgress, CliError> {
    let name = format!("{:?} {}", args.reader, feed::mask_text(&args.url));
    let stored = store.move_in_state(account, &name)?.filter(|_| !args.restart);
    let stored = stored.and_then(|text| serde_json::from_str::<MoveProgress>(&text).ok());
    let begun = MoveProgress { list: Some(MarkList::Starred), ..MoveProgress::default() };
    // A move that ended begins again: there may be new marks.
    let mut progress = stored.filter(|stored| stored.list.is_some()).unwrap_or(begun);
    let spinner = output::spinner("reading marks");
    while let Some(list) = progress.list {
        let page = source.page(list, progress.after.as_deref()).await?;
        let mut marks = Vec::with_capacity(page.entries.len());
        for entry in page.entries {
            progress.n_looked_at += 1;
            progress.take(list, entry, ids, &mut marks);
        }
        let is_enough = list == MarkList::Read && progress.n_looked_at >= args.entries;
        match page.next.filter(|_| !is_enough) {
            Some(next) => progress.after = Some(next),
            None => progress.next_list(),
        }
        let state = serde_json::to_string(&progress)?;
        store.add_pending_marks(account, (&name, &state), marks, Clock::System.now())?;
        spinner.set_message(format!(
            "reading marks: {} read, {} starred",
            progress.n_read, progress.n_starred
        ));
    }
    spinner.finish_and_clear();
    Ok(progress)
}

impl MoveProgress {
    fn take(
        &mut self,
        list: MarkList,
        entry: MarkedEntry,
        ids: &HashMap<String, FeedId>,
        marks: &mut Vec<PendingMark>,
    ) {
        // The list of stars has all stars, so the other list brings read marks only.
        let starred_at = entry.starred_at.filter(|_| list == MarkList::Starred);
        let is_read = entry.is_read && list == MarkList::Read;
        if !is_read && starred_at.is_none() {
            return;
        }
        let Some(&feed) = ids.get(&entry.feed) else {
            self.n_foreign += 1;
            return;
        };
        self.n_read += u64::from(is_read);
        self.n_starred += u64::from(starred_at.is_some());
        let (link, title) = (entry.link, entry.title);
        marks.push(PendingMark { feed, link, guid: None, title, is_read, starred_at });
    }

    fn next_list(&mut self) {
        self.list = match self.list {
            Some(MarkList::Starred) => Some(MarkList::Read),
            _ => None,
        };
        self.after = None;
        self.n_looked_at = 0;
    }
}

/// Polls the feeds that were never polled, so that their entries are there.
async fn poll_new(runner: &CommandRunner, feeds: Vec<FeedId>) -> Result<(), CliError> {
    let mut new = Vec::new();
    for feed in feeds {
        if runner.store().feed(feed)?.history.last_poll_at.is_none() {
            new.push(feed.to_string());
        }
    }
    let bar = output::bar("polling", new.len() as u64);
    for part in new.chunks(POLLED_AT_ONCE) {
        let done = runner.carry_out(Command::Poll { feeds: Some(part.to_vec()) }, &|_, _| ()).await;
        // A feed that cannot be polled now is polled later; the page says what is wrong with it.
        if let Err(error) = done {
            output::complain(&format!("tidings: {error}"));
        }
        bar.inc(part.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_brings_its_own_marks() {
        let ids = HashMap::from([("https://e.org/f".to_owned(), FeedId(3))]);
        let entry = MarkedEntry {
            feed: "https://e.org/f".to_owned(),
            is_read: true,
            starred_at: Some(feed::Time::from_secs(5)),
            ..MarkedEntry::default()
        };
        let (mut progress, mut marks) = (MoveProgress::default(), Vec::new());
        progress.take(MarkList::Starred, entry.clone(), &ids, &mut marks);
        progress.take(MarkList::Read, entry.clone(), &ids, &mut marks);
        assert_eq!((marks[0].is_read, marks[0].starred_at.is_some()), (false, true));
        assert_eq!((marks[1].is_read, marks[1].starred_at), (true, None));
        let other = MarkedEntry { feed: "https://other.example/".to_owned(), ..entry };
        progress.take(MarkList::Read, other, &ids, &mut marks);
        assert_eq!((progress.n_read, progress.n_starred, progress.n_foreign), (1, 1, 1));
    }

    #[test]
    fn progress_survives_its_text() {
        let mut progress = MoveProgress {
            list: Some(MarkList::Starred),
            after: Some("7".to_owned()),
            ..MoveProgress::default()
        };
        let text = serde_json::to_string(&progress).unwrap();
        assert_eq!(serde_json::from_str::<MoveProgress>(&text).unwrap(), progress);
        progress.next_list();
        assert_eq!((progress.list, progress.after.as_deref()), (Some(MarkList::Read), None));
        progress.next_list();
        assert_eq!(progress.list, None);
    }
}
