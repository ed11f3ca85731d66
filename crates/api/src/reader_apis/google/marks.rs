//! `edit-tag` and `mark-all-as-read`: read and starred marks, and labels of entries.

use feed::{EntryId, Time};
use store::TokenScope;

use super::GoogleRequest;
use super::item::numbers;
use super::stream::{GoogleStream, label_name};
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::view::OF_QUERY;

/// The answer after success.
pub const OK: &str = "OK";

/// The marks that a request sets. Later values win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EntryMarks {
    read: Option<bool>,
    starred: Option<bool>,
    /// Labels that are added or removed.
    labels: Vec<(String, bool)>,
}

impl EntryMarks {
    /// Reads one state: `a` adds it to entries and `r` removes it.
    fn note(&mut self, stream: &str, added: bool) -> Result<(), ReaderApiError> {
        if let Some(label) = label_name(stream) {
            let label = Some(label).filter(|label| !label.starts_with(OF_QUERY));
            let label = label.and_then(query::label_name).ok_or_else(|| {
                ReaderApiError::bad_request("a label has 1 to 100 letters and is not a query")
            })?;
            self.labels.push((label, added));
            return Ok(());
        }
        let rest = stream.strip_prefix("user/").and_then(|rest| rest.split_once('/'));
        match rest.map(|(_, rest)| rest).and_then(|rest| rest.strip_prefix("state/com.google/")) {
            Some("read") => self.read = Some(added),
            // Apps send both states when an entry is marked, and `read` decides.
            Some("kept-unread" | "fresh" | "unread") if added => self.read = Some(false),
            Some("kept-unread" | "fresh" | "unread" | "tracking-kept-unread") => {}
            Some("starred") => self.starred = Some(added),
            _ => {
                return Err(ReaderApiError::bad_request(
                    "only read, starred and labels can be set on an entry",
                ));
            }
        }
        Ok(())
    }
}

pub async fn edit_tag(request: GoogleRequest) -> Result<&'static str, InText> {
    request.needs(TokenScope::Write)?;
    let now = (request.context.now)();
    request
        .with_store(move |store, request| {
            let (entries, account) = (numbers(request)?, request.person.account);
            let mut marks = EntryMarks::default();
            for (name, added) in [("r", false), ("a", true)] {
                for stream in request.params.all(name).filter(|stream| !stream.is_empty()) {
                    marks.note(stream, added)?;
                }
            }
            match marks.read {
                Some(true) => store.open_entries(account, &entries, now)?,
                Some(false) => store.mark_read(account, &entries, false)?,
                None => {}
            }
            if let Some(starred) = marks.starred {
                store.star(account, &entries, starred, now)?;
            }
            for (label, added) in &marks.labels {
                if !store.label_entries(account, label, &entries, *added, now)? {
                    return Err(ReaderApiError::bad_request("there are too many labels"));
                }
            }
            Ok(OK)
        })
        .await
        .map_err(InText)
}

/// Marks a stream as read, up to the entries seen at `ts`. Newer entries were not shown yet.
pub async fn all_as_read(request: GoogleRequest) -> Result<&'static str, InText> {
    request.needs(TokenScope::Write)?;
    request
        .with_store(|store, request| {
            let name = request.params.text("s");
            let name = name.ok_or_else(|| ReaderApiError::bad_request("name a stream: s=ID"))?;
            let scope = match GoogleStream::find(store, request.person.account, name)? {
                GoogleStream::Read | GoogleStream::Nothing => None,
                GoogleStream::Starred => {
                    return Err(ReaderApiError::bad_request("mark starred entries one by one"));
                }
                stream => stream.scope(),
            };
            let until = request.params.number::<i64>("ts")?.map(micros);
            let up_to = match until {
                // An entry that was seen in the same millisecond has been shown.
                Some(time) => Some(store.last_seen_before(time + MILLISECOND)?),
                None => None,
            };
            if let Some(scope) = scope.filter(|_| up_to != Some(EntryId(0))) {
                store.mark_scope_read(request.person.account, &scope, None, up_to)?;
            }
            Ok(OK)
        })
        .await
        .map_err(InText)
}

const MILLISECOND: std::time::Duration = std::time::Duration::from_millis(1);

fn micros(micros: i64) -> Time {
    Time::from_millis(micros / 1000).clamp(Time::MIN, Time::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_understood_as_the_apps_send_them() {
        let check = |removed: &[&str], added: &[&str], expect: (Option<bool>, Option<bool>)| {
            let mut marks = EntryMarks::default();
            let full = |name: &&str| format!("user/-/state/com.google/{name}");
            removed.iter().for_each(|name| marks.note(&full(name), false).unwrap());
            added.iter().for_each(|name| marks.note(&full(name), true).unwrap());
            assert_eq!((marks.read, marks.starred), expect, "{removed:?} {added:?}");
        };
        // newsboat: read, and unread again.
        check(&["kept-unread"], &["read"], (Some(true), None));
        check(&["read"], &["kept-unread", "tracking-kept-unread"], (Some(false), None));
        check(&["starred"], &[], (None, Some(false)));
        check(&[], &["starred", "read"], (Some(true), Some(true)));
        check(&["read"], &[], (Some(false), None));
        let mut marks = EntryMarks::default();
        for other in ["user/-/state/com.google/broadcast", "user/-/label/ ", "read", ""] {
            assert!(marks.note(other, true).is_err(), "{other}");
        }
        marks.note("user/1/label/to read", true).unwrap();
        assert_eq!(marks.labels, [("to read".to_owned(), true)]);
    }
}
