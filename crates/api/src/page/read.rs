//! Reading: the entries of all feeds, of one, of a tag, of a query or of a search, in the order
//! that the reader chose, one page behind the other. Nothing is counted that grows with what is
//! kept.

mod article;
mod entry;
mod list;
mod marks;
mod news;
mod place;
mod sidebar;

pub use article::{published_note, teaser, title, web_link};
pub use entry::entry;
pub use list::list;
pub use marks::{mark, mark_all, undo};
pub use news::news;
pub use place::{Of, Place, Show};
pub use sidebar::fold;

use store::{AccountId, ReadingFilter, Scope, Store, StoreError};

/// Some screens long; first paint stays far below 100 KB.
const LINES: u32 = 40;

/// What a place asks of the store; `None` for a query that does not exist, and for a search, which
/// is a question of its own.
fn asked(
    store: &Store,
    account: AccountId,
    place: &Place,
) -> Result<Option<ReadingFilter>, StoreError> {
    let scope = match &place.of {
        Of::All => Scope::All,
        Of::Feed(feed) => Scope::Feed(*feed),
        Of::Tag(tag) => Scope::Tag(tag.clone()),
        Of::Query(name) => match store.query(name)? {
            Some(row) => Scope::Query(row.id),
            None => return Ok(None),
        },
        Of::Search(_) => return Ok(None),
    };
    let mut reading = ReadingFilter::newest(account, scope, LINES);
    reading.from = place.from;
    reading.oldest_first = place.oldest_first;
    match place.show {
        Show::Unread => reading.read = Some(false),
        Show::Starred => reading.starred = Some(true),
        Show::All => {}
    }
    Ok(Some(reading))
}
