//! Compares the items of a document with the feed's window and with what the store knows of them.
//! It reads the store and writes nothing.

use feed::{DocumentDates, EntryKey, KeyedItem, Observed, Time, WindowComparison, repair};
use store::{PollInput, Store, StoreError};

/// Observes a document of a poll or a push at `at`.
pub fn observe(
    store: &Store,
    input: &PollInput,
    items: &[KeyedItem],
    dates: DocumentDates,
    at: Time,
    partial: bool,
) -> Result<Observed, StoreError> {
    let comparison = WindowComparison::new(items, &input.document.window);
    let keys: Vec<EntryKey> = comparison.beyond().map(|keyed| keyed.key).collect();
    let mut known = store.known(input.id, &keys)?;
    let previous = input.history.last_success_at;
    // A copy of an entry that this instance has already is not new.
    let claims = comparison.beyond().filter(|keyed| !known.contains_key(&keyed.key));
    let claims = claims.filter_map(|keyed| Some((keyed.key, keyed.content, keyed.item.as_ref()?)));
    let claims: Vec<_> = claims.filter(|(_, _, item)| item.source.is_some()).collect();
    let copies = store.known_copies(input.id, &claims)?;
    for (key, content, item) in claims.into_iter().filter(|(key, _, _)| copies.contains(key)) {
        known.insert(key, (content, repair(item, dates, at, previous).at));
    }
    Ok(comparison.observe(&known, dates, at, previous, partial))
}
