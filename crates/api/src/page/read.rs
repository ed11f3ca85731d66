//! Reading: the entries of all feeds, of one, of a tag, of a query or of a search, the newest
//! first, one page behind the other. Nothing is counted that grows with what is kept.

mod article;
mod entry;
mod list;
mod marks;
mod place;
mod scopes;

pub use article::{delay, published_note, teaser, title, web_link};
pub use entry::entry;
pub use list::list;
pub use marks::{mark, mark_all};
pub use place::{Of, Place, Show};

use feed::EntryId;
use store::{AccountId, QueryId, ReadEntry, Reading, Scope, Store, StoreError};

/// Some screens long; first paint stays far below 100 KB.
const LINES: u32 = 40;

/// What a place means to the store.
enum Asked {
    Reading(Reading),
    Search {
        expression: String,
        below: Option<EntryId>,
    },
    /// A query that does not exist, or words of which nothing is left to search for.
    Nothing,
}

fn asked(store: &Store, account: AccountId, place: &Place) -> Result<Asked, StoreError> {
    let scope = match &place.of {
        Of::All => Scope::All,
        Of::Feed(feed) => Scope::Feed(*feed),
        Of::Tag(tag) => Scope::Tag(tag.clone()),
        Of::Query(name) => match store.query(name)? {
            Some(row) => Scope::Query(QueryId(row.id.0)),
            None => return Ok(Asked::Nothing),
        },
        Of::Search(text) => {
            let below = place.from.map(|from| from.entry);
            let found = expression(text);
            return Ok(found.map_or(Asked::Nothing, |e| Asked::Search { expression: e, below }));
        }
    };
    let mut reading = Reading::newest(account, scope, LINES);
    reading.from = place.from;
    match place.show {
        Show::Unread => reading.read = Some(false),
        Show::Starred => reading.starred = Some(true),
        Show::All => {}
    }
    Ok(Asked::Reading(reading))
}

/// Some entries of a place, and whether there are more behind them.
fn entries(
    store: &Store,
    account: AccountId,
    place: &Place,
) -> Result<(Vec<ReadEntry>, bool), StoreError> {
    // One more than is shown tells whether there are older ones.
    let mut found = match asked(store, account, place)? {
        Asked::Reading(reading) => {
            store.reading(&Reading { limit: reading.limit + 1, ..reading })?
        }
        Asked::Search { expression, below } => {
            store.search(account, &expression, below, LINES + 1)?
        }
        Asked::Nothing => Vec::new(),
    };
    let more = found.len() > LINES as usize;
    found.truncate(LINES as usize);
    Ok((found, more))
}

/// What a person typed, as the index is asked for it: every word must be there.
fn expression(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{}\"", word.to_lowercase()))
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}
