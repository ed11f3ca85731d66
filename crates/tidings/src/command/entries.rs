//! `tidings entries`: prints the stream as JSON lines, oldest first.

use std::time::Duration;

use engine::MatchMessages;
use feed::EntryId;
use serde_json::json;
use store::{EntryFilter, Store, StreamCursor};

use crate::args::EntriesArgs;
use crate::error::{CliError, failed, input_error};
use crate::output::{print_json_line, shown_url};
use crate::{access, config};

/// Entries read at once: enough to be fast, few enough to need little memory.
pub const BATCH: u32 = 500;
/// The interval at which `--follow` looks for new entries.
const FOLLOW_POLL: Duration = Duration::from_millis(200);

pub fn run(args: &EntriesArgs) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    let store = access::read(&config)?;
    if let Some(name) = &args.query {
        return super::query::entries::run(args, &store, name);
    }
    let account = args.whose.find(&store)?;
    let feed = match &args.feed {
        None => None,
        Some(name) => Some(store.find_feed_of(account, name)?.ok_or_else(|| {
            input_error(format!(
                "there is no feed {}; list all with: tidings feed list",
                shown_url(name)
            ))
        })?),
    };
    let cursor = args.after.as_deref().map(position).transpose()?.unwrap_or(EntryId(0));
    // A cursor ahead of all entries is from another store. All stored entries follow.
    let foreign = cursor > store.last_entry_id()?;
    let mut after = if foreign { EntryId(0) } else { cursor };
    let asked = after > EntryId(0);
    // Set until an output line has reported the gap.
    let mut gap = false;
    if foreign {
        say_gap(&mut gap);
    }
    let mut messages = MatchMessages::default();
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let limit = BATCH.min(u32::try_from(left).unwrap_or(BATCH));
        let batch = match feed {
            None => {
                let page = store.stream_of(account, after, limit)?;
                if page.gap && asked {
                    say_gap(&mut gap);
                }
                after = page.next;
                page.entries
            }
            Some(feed) => {
                let rows = store.entries(after, &EntryFilter { feed: Some(feed), limit })?;
                after = rows.last().map_or(after, |row| row.id);
                rows
            }
        };
        for entry in &batch {
            let mut shown = messages.entry(&store, entry)?;
            shown["cursor"] = json!(StreamCursor::Stream(entry.id).to_string());
            if std::mem::take(&mut gap) {
                shown["gap"] = json!(true);
            }
            print_json_line(&shown)?;
        }
        left -= batch.len() as u64;
        if batch.is_empty() {
            if !args.follow {
                break;
            }
            wait(&store)?;
        }
    }
    Ok(())
}

/// Waits until the next look for new entries.
pub fn wait(store: &Store) -> Result<(), CliError> {
    if store.is_lost() {
        let file = store.location().shown();
        let remedy = "start this command again once the daemon is ready";
        return Err(failed(format!("{file} was removed or replaced; {remedy}")));
    }
    std::thread::sleep(FOLLOW_POLL);
    Ok(())
}

/// Reports that entries after a cursor are gone. The next line reports it too.
pub fn say_gap(gap: &mut bool) {
    *gap = true;
    eprintln!("gap: the entries after this cursor were deleted; the oldest that is left follows");
}

fn position(text: &str) -> Result<EntryId, CliError> {
    match text.parse() {
        Ok(StreamCursor::Stream(entry)) => Ok(entry),
        _ => {
            let advice = "copy it from the output of an entry";
            Err(input_error(format!("--after {text} is not a cursor; {advice}")))
        }
    }
}
