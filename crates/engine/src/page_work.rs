//! The pages behind entries that are being loaded, so that no page is loaded twice at once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use feed::EntryId;
use tokio::sync::Notify;

/// The pages under way.
#[derive(Default)]
pub struct ArticleWork {
    entries: Mutex<HashSet<EntryId>>,
    /// Wakes the loop: somebody asked for a page.
    pub asked: Notify,
}

/// A page under way. It ends with this value.
pub struct PageUnderWay<'a> {
    work: &'a ArticleWork,
    entry: EntryId,
}

impl ArticleWork {
    /// Begins a page; `None`: it is under way already.
    pub fn begin(&self, entry: EntryId) -> Option<PageUnderWay<'_>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(entry).then_some(PageUnderWay { work: self, entry })
    }
}

impl Drop for PageUnderWay<'_> {
    fn drop(&mut self) {
        let mut entries = self.work.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.remove(&self.entry);
    }
}
