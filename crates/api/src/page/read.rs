//! The pages for reading: lists of entries, single entries, marks and live updates. A list shows
//! all feeds, one feed, a tag, a query or a search. No page counts rows that grow with the store.

mod article;
mod entry;
mod list;
mod live_updates;
mod marks;
mod reading_list;
mod sidebar;

pub use article::{published_note, teaser, title, web_link};
pub use entry::entry;
pub use list::list;
pub use live_updates::live_updates;
pub use marks::{mark, mark_all, undo};
pub use reading_list::{ListScope, ReadFilter, ReadingList};
pub use sidebar::fold;

use store::{AccountId, ReadingFilter, Scope, Store, StoreError};

/// Entries on one page: a few screens, and far below 100 KB.
const LINES: u32 = 40;

/// Returns the request to the store for a list. `None` for a query that does not exist, and for a
/// search, which uses the index.
fn store_reading(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
) -> Result<Option<ReadingFilter>, StoreError> {
    let scope = match &list.scope {
        ListScope::All => Scope::All,
        ListScope::Feed(feed) => Scope::Feed(*feed),
        ListScope::Tag(tag) => Scope::Tag(tag.clone()),
        ListScope::Query(name) => match store.query(name)? {
            Some(row) => Scope::Query(row.id),
            None => return Ok(None),
        },
        ListScope::Search(_) => return Ok(None),
    };
    let mut reading = ReadingFilter::newest(account, scope, LINES);
    reading.from = list.from;
    reading.oldest_first = list.oldest_first;
    match list.filter {
        ReadFilter::Unread => reading.read = Some(false),
        ReadFilter::Starred => reading.starred = Some(true),
        ReadFilter::All => {}
    }
    Ok(Some(reading))
}
