//! The pages for reading: lists of entries, single entries, marks and live updates. A list shows
//! all feeds, one feed, a tag, a query or a search. No page counts rows that grow with the store.

mod article;
mod entry;
mod files;
mod list;
mod live_updates;
mod marks;
mod reading_list;
mod share;
mod sidebar;
mod story;
mod whole_text;

pub use article::{feed_title, published_note, shown_text, teaser, title, web_link};
pub use entry::entry;
pub use list::list;
pub use live_updates::live_updates;
pub use marks::{mark, mark_all, undo};
pub use reading_list::{ListScope, ReadFilter, ReadingList};
pub use share::send;
pub use sidebar::fold;
pub use whole_text::{StoredPage, TextChoice, article_mode, load as load_article};

use store::{AccountId, ReadingFilter, Scope, Store, StoreError};

/// Entries on one page: a few screens, and far below 100 KB.
const LINES: u32 = 40;

/// Returns the request to the store for a list. `None` for a query or a label that does not exist,
/// for a search, which uses the index, and for top stories, which are a ranking.
fn store_reading(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
) -> Result<Option<ReadingFilter>, StoreError> {
    let scope = match &list.scope {
        ListScope::All => Scope::All,
        ListScope::Feed(feed) => Scope::Feed(*feed),
        ListScope::Tag(tag) => Scope::Tag(tag.clone()),
        ListScope::Query(name) => match store.query_of(account, name)? {
            Some(row) => Scope::Query(row.id),
            None => return Ok(None),
        },
        ListScope::Label(name) => match store.label(account, name)? {
            Some(label) => Scope::Label(label),
            None => return Ok(None),
        },
        ListScope::Search(_) | ListScope::Top => return Ok(None),
    };
    let mut reading = ReadingFilter::newest(account, scope, LINES);
    reading.from = list.from;
    reading.language.clone_from(&list.language);
    reading.oldest_first = list.oldest_first;
    match list.filter {
        ReadFilter::Unread => reading.read = Some(false),
        ReadFilter::Starred => reading.starred = Some(true),
        ReadFilter::Hidden => reading.hidden = true,
        ReadFilter::All => {}
    }
    Ok(Some(reading))
}
