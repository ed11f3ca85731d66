//! `tidings entries --query NAME`: prints the entries that a query kept, by its own cursors, oldest
//! first.

use engine::MatchMessages;
use serde_json::{Value, json};
use store::{Store, StreamCursor};

use crate::args::EntriesArgs;
use crate::command::entries::{BATCH, say_gap, wait};
use crate::error::{CliError, failed, input_error};
use crate::output::print_json_line;

pub fn run(args: &EntriesArgs, store: &Store, name: &str) -> Result<(), CliError> {
    let query = super::find(store, args.whose.find(store)?, name)?;
    let cursor = args.after.as_deref().map(|text| match text.parse() {
        Ok(StreamCursor::Query(id, position)) => Ok((id, position)),
        _ => {
            let advice = "copy it from the output of an entry of this query";
            Err(input_error(format!("--after {text} is not a cursor of a query; {advice}")))
        }
    });
    // A cursor of a query that was dropped and created again is older than all stored entries. A
    // cursor ahead of the query is from another store.
    let (mut after, mut foreign) = match cursor.transpose()? {
        Some((id, at)) if id == query.id && at <= query.last_position => (at, false),
        Some(_) => (0, true),
        None => (0, false),
    };
    let mut messages = MatchMessages::default();
    let mut left = args.limit.unwrap_or(u64::MAX);
    let asked = after > 0;
    // Set until an output line has reported the gap.
    let mut gap = false;
    while left > 0 {
        let limit = BATCH.min(u32::try_from(left).unwrap_or(BATCH));
        let page = store.query_entries(query.id, after, limit)?;
        if (page.gap && asked) || std::mem::take(&mut foreign) {
            say_gap(&mut gap);
        }
        for found in &page.entries {
            let mut line = messages.entry(store, &found.entry)?;
            if let Value::Object(fields) = &mut line {
                let cursor = StreamCursor::Query(query.id, found.position).to_string();
                fields.insert("cursor".to_owned(), json!(cursor));
                fields.insert("joined_with".to_owned(), json!(found.partner.map(|id| id.0)));
                if std::mem::take(&mut gap) {
                    fields.insert("gap".to_owned(), json!(true));
                }
            }
            print_json_line(&line)?;
        }
        after = page.next;
        left -= page.entries.len() as u64;
        if page.entries.is_empty() {
            if !args.follow {
                break;
            }
            if store.last_position(query.id)?.is_none() {
                return Err(failed(format!("the query {name} was deleted")));
            }
            wait(store)?;
        }
    }
    Ok(())
}
