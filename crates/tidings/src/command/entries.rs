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
    let mut after = args.after.as_deref().map(position).transpose()?.unwrap_or(EntryId(0));
    let mut urls = Urls::default();
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let filter = EntryFilter { feed, limit: BATCH.min(u32::try_from(left).unwrap_or(BATCH)) };
        let batch = store.entries(after, &filter)?;
        for entry in &batch {
            let url = urls.of(&store, entry.feed);
            print_json_line(&line(entry, url))?;
            after = entry.id;
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
