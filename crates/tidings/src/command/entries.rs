//! `tidings entries`: the stream as JSON lines, oldest first.

use std::collections::HashMap;
use std::time::Duration;

use feed::{EntryId, FeedId};
use serde_json::json;
use store::{Cursor, EntryFilter, EntryRow, Store};

use crate::args::Entries;
use crate::failure::{Failure, input_error};
use crate::output::{print_json_line, shown_url};
use crate::{access, config};

/// Entries read at a time: enough to be quick, few enough to stay small.
pub const BATCH: u32 = 500;
/// How often `--follow` looks for new entries.
pub const FOLLOW_POLL: Duration = Duration::from_millis(200);

pub fn run(args: &Entries) -> Result<(), Failure> {
    let config = config::read_offline(&args.place)?;
    let store = access::read(&config)?;
    if let Some(name) = &args.query {
        return super::query::entries::run(args, &store, name);
    }
    let feed = match &args.feed {
        None => None,
        Some(name) => Some(store.find_feed(name)?.ok_or_else(|| {
            input_error(format!(
                "there is no feed `{}`; `tidings feed list` shows those there are",
                shown_url(name)
            ))
        })?),
    };
    let cursor = args.after.as_deref().map(position).transpose()?.unwrap_or(EntryId(0));
    // One that lies ahead of all that was given is of another store: all that is kept follows.
    let foreign = cursor > store.last_entry_id()?;
    let mut after = if foreign { EntryId(0) } else { cursor };
    let asked = after > EntryId(0);
    // Until a line says so.
    let mut gap = false;
    if foreign {
        say_gap(&mut gap);
    }
    let mut urls = Urls::default();
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let limit = BATCH.min(u32::try_from(left).unwrap_or(BATCH));
        let batch = match feed {
            None => {
                let page = store.stream(after, limit)?;
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
            let mut shown = line(entry, urls.of(&store, entry.feed));
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
            std::thread::sleep(FOLLOW_POLL);
        }
    }
    Ok(())
}

/// Entries behind a reader's cursor are gone. The next line says so too.
pub fn say_gap(gap: &mut bool) {
    *gap = true;
    eprintln!("gap: entries after this cursor are no longer kept; here is the oldest");
}

/// The URLs of the feeds met so far, masked.
#[derive(Default)]
struct Urls(HashMap<FeedId, String>);

impl Urls {
    fn of(&mut self, store: &Store, feed: FeedId) -> &str {
        self.0.entry(feed).or_insert_with(|| {
            // A feed removed meanwhile takes its entries along; this one was read before.
            store.feed(feed).map(|f| f.url.masked()).unwrap_or_default()
        })
    }
}

/// The contract's line.
fn line(entry: &EntryRow, feed_url: &str) -> serde_json::Value {
    json!({
        "cursor": Cursor::Stream(entry.id).to_string(),
        "id": entry.id.0,
        "feed": feed_url,
        "title": entry.title,
        "link": entry.link,
        "author": entry.author,
        "summary": entry.summary,
        "published_at": entry.published_at.to_string(),
        "seen_at": entry.seen_at.to_string(),
    })
}

fn position(text: &str) -> Result<EntryId, Failure> {
    match text.parse() {
        Ok(Cursor::Stream(entry)) => Ok(entry),
        _ => {
            let advice = "take it from the line of an entry";
            Err(input_error(format!("--after `{text}` is no cursor; {advice}")))
        }
    }
}
