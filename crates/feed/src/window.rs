//! The window: the ordered entries a feed shows at one moment. Comparing it with the one before
//! tells what is new, what was edited, what came back, and whether some may have been missed.

use std::collections::HashMap;

use crate::identity::{Found, Identified};
use crate::{DocumentDates, EntryKey, Observation, Outcome, Time, late, repair};

/// The ordered entries a feed showed last. An empty document does not wipe it: some feeds
/// alternate with an empty one, and that must not look like a miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    entries: Vec<WindowEntry>,
    empty_now: bool,
}

/// One entry as the last window showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowEntry {
    pub key: EntryKey,
    pub content: u64,
    pub link: u64,
    /// The time we reckon with, as repaired when the entry was first seen.
    pub published_at: Time,
}

/// What we know of an entry that is not in the last window: its content then, its repaired time.
pub type Known = HashMap<EntryKey, (u64, Time)>;

/// How one item of a document relates to what we knew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// Never seen before.
    New,
    /// Seen before, unchanged.
    Known,
    /// Seen before, with other content: a revision.
    Edited,
    /// Seen before, not in the last window, unchanged: it came back.
    Returned,
}

/// What a document showed, compared with the window before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub window: Window,
    /// Index of the item in the document, what it is, and the entry; in document order.
    pub sightings: Vec<(usize, Sighting, WindowEntry)>,
    pub overlap: usize,
    pub suspected_miss: bool,
    pub partial: bool,
    window_times: Vec<Time>,
    new_times: Vec<Time>,
    late_times: Vec<Time>,
}

/// A stored window that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the stored window is damaged ({0}); the next poll rebuilds it")]
pub struct WindowError(&'static str);

impl Window {
    /// The entries of the last window that was not empty, in document order.
    pub fn entries(&self) -> &[WindowEntry] {
        &self.entries
    }

    /// Publication times of what the feed shows now, oldest first.
    pub fn times(&self) -> Vec<Time> {
        if self.empty_now {
            return Vec::new();
        }
        sorted(self.entries.iter().map(|e| e.published_at))
    }

    fn followed_by(&self, sightings: &[(usize, Sighting, WindowEntry)], partial: bool) -> Window {
        let mut entries: Vec<WindowEntry> = sightings.iter().map(|(_, _, e)| *e).collect();
        if partial {
            let shown: std::collections::HashSet<EntryKey> =
                entries.iter().map(|e| e.key).collect();
            let size = self.entries.len().max(entries.len());
            entries.extend(self.entries.iter().filter(|e| !shown.contains(&e.key)));
            entries.truncate(size);
        }
        if entries.is_empty() {
            return Window { entries: self.entries.clone(), empty_now: !partial };
        }
        Window { entries, empty_now: false }
    }

    /// The observation of a poll that brought no document: unchanged, refused, failed or gone.
    /// `times` is what [`Window::times`] gives.
    pub fn without_document(times: &[Time], at: Time, outcome: Outcome) -> Observation<'_> {
        Observation { outcome, ..Observation::unchanged(at, times) }
    }

    /// For the store: a version, a flag, then 40 bytes an entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 + self.entries.len() * 40);
        bytes.extend([1, u8::from(self.empty_now)]);
        for e in &self.entries {
            bytes.extend(e.key.bytes());
            bytes.extend(e.content.to_le_bytes());
            bytes.extend(e.link.to_le_bytes());
            bytes.extend(e.published_at.millis().to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Window, WindowError> {
        let [version, empty_now, rest @ ..] = bytes else {
            return if bytes.is_empty() {
                Ok(Window::default())
            } else {
                Err(WindowError("too short"))
            };
        };
        if *version != 1 {
            return Err(WindowError("unknown version"));
        }
        let (chunks, tail) = rest.as_chunks::<40>();
        if !tail.is_empty() {
            return Err(WindowError("cut off"));
        }
        let word = |c: &[u8; 40], at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&c[at..at + 8]);
            eight
        };
        let entries = chunks.iter().map(|c| {
            let mut key = [0; 16];
            key.copy_from_slice(&c[..16]);
            WindowEntry {
                key: EntryKey::from_bytes(key),
                content: u64::from_le_bytes(word(c, 16)),
                link: u64::from_le_bytes(word(c, 24)),
                published_at: Time::from_millis(i64::from_le_bytes(word(c, 32))),
            }
        });
        Ok(Window { entries: entries.collect(), empty_now: *empty_now != 0 })
    }
}

impl Identified<'_> {
    /// Compares the document with the window before. `known` holds what the store knows of the
    /// keys [beyond](Identified::beyond) it; `previous` is the last successful poll, if any;
    /// `partial` says that the document holds only what changed.
    pub fn observe(
        &self,
        known: &Known,
        dates: DocumentDates,
        at: Time,
        previous: Option<Time>,
        partial: bool,
    ) -> Observed {
        let Identified { items, window, before, found } = self;
        let mut sightings = Vec::with_capacity(found.len());
        let mut overlap = 0;
        for Found { index, key, content, link } in found {
            let in_window = before.get(key).map(|e| (e.content, e.published_at));
            overlap += usize::from(in_window.is_some());
            let remembered = in_window.or_else(|| known.get(key).copied());
            let sighting = match remembered {
                None => Sighting::New,
                Some((seen, _)) if seen != *content => Sighting::Edited,
                Some(_) if in_window.is_some() => Sighting::Known,
                Some(_) => Sighting::Returned,
            };
            let published_at = match remembered {
                Some((_, time)) => time,
                None => repair(&items[*index], dates, at, previous).at,
            };
            let entry = WindowEntry { key: *key, content: *content, link: *link, published_at };
            sightings.push((*index, sighting, entry));
        }
        let suspected_miss =
            !partial && overlap == 0 && !sightings.is_empty() && !window.entries.is_empty();
        let window = window.followed_by(&sightings, partial);
        let new_times = sorted(
            sightings.iter().filter(|s| s.1 == Sighting::New).map(|(_, _, e)| e.published_at),
        );
        let new_items = sightings.iter().filter(|s| s.1 == Sighting::New).map(|s| &items[s.0]);
        let late_times = sorted(new_items.filter_map(|item| late(item, dates, previous)));
        let window_times = window.times();
        Observed {
            window,
            sightings,
            overlap,
            suspected_miss,
            partial,
            window_times,
            new_times,
            late_times,
        }
    }
}

impl Observed {
    pub fn n_new(&self) -> usize {
        self.new_times.len()
    }

    /// What policies and models learn from it.
    pub fn observation(&self, at: Time) -> Observation<'_> {
        Observation {
            at,
            outcome: Outcome::Seen,
            window: &self.window_times,
            new: &self.new_times,
            overlap: self.overlap,
            suspected_miss: self.suspected_miss,
            partial: self.partial,
            late: &self.late_times,
        }
    }
}

fn sorted(times: impl Iterator<Item = Time>) -> Vec<Time> {
    let mut times: Vec<Time> = times.collect();
    times.sort_unstable();
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, identify};

    fn items(ids: &[&str]) -> Vec<Item> {
        ids.iter().map(|id| Item { id: Some((*id).to_owned()), ..Item::default() }).collect()
    }

    fn see(window: &Window, ids: &[&str]) -> Observed {
        let at = Time::from_secs(100);
        let dates = DocumentDates::default();
        identify(&items(ids), window).observe(&Known::new(), dates, at, None, false)
    }

    #[test]
    fn dates_before_the_last_poll_are_told_of_new_entries_alone() {
        let dated = |id: &str, secs| {
            let published = Some(Time::from_secs(secs));
            Item { id: Some(id.to_owned()), published, ..Item::default() }
        };
        let dates = DocumentDates::default();
        let (first, second) = (Time::from_secs(100), Time::from_secs(200));
        let window = Window::default();
        let (shown, none) = ([dated("a", 40)], Known::new());
        let seen = identify(&shown, &window).observe(&none, dates, first, None, false);
        assert!(seen.observation(first).late.is_empty());
        let shown = [dated("c", 150), dated("b", 60), dated("a", 40)];
        let seen = identify(&shown, &seen.window).observe(&none, dates, second, Some(first), false);
        let o = seen.observation(second);
        assert_eq!(o.late, [Time::from_secs(60)]);
        assert_eq!(o.new, [150, 200].map(Time::from_secs));
    }

    #[test]
    fn new_entries_and_overlap_are_counted() {
        let first = see(&Window::default(), &["b", "a"]);
        let second = see(&first.window, &["c", "b"]);
        assert_eq!((second.n_new(), second.overlap, second.suspected_miss), (1, 1, false));
    }

    #[test]
    fn windows_without_a_common_entry_are_a_suspected_miss() {
        let first = see(&Window::default(), &["a"]);
        assert!(!first.suspected_miss, "the first window misses nothing");
        assert!(see(&first.window, &["b"]).suspected_miss);
    }

    #[test]
    fn a_window_that_alternates_with_an_empty_one_fakes_no_miss() {
        let first = see(&Window::default(), &["a", "b"]);
        let empty = see(&first.window, &[]);
        assert_eq!((empty.suspected_miss, empty.window.times().len()), (false, 0));
        let third = see(&empty.window, &["a", "b"]);
        assert_eq!((third.n_new(), third.overlap, third.suspected_miss), (0, 2, false));
    }

    #[test]
    fn an_entry_that_comes_back_is_known_not_new() {
        let first = see(&Window::default(), &["a"]);
        let key = first.window.entries()[0];
        let known = Known::from([(key.key, (key.content, key.published_at))]);
        let second = see(&first.window, &["b"]);
        let dates = DocumentDates::default();
        let at = Time::from_secs(200);
        let both = items(&["a", "b"]);
        let identified = identify(&both, &second.window);
        assert_eq!(identified.beyond(), [key.key]);
        let third = identified.observe(&known, dates, at, None, false);
        assert_eq!(third.sightings[0].1, Sighting::Returned);
        assert_eq!(third.n_new(), 0);
    }

    #[test]
    fn changed_content_is_an_edit_under_the_same_key() {
        let first = see(&Window::default(), &["a"]);
        let mut edited = items(&["a"]);
        edited[0].title = Some("now with a title".to_owned());
        let at = Time::from_secs(200);
        let dates = DocumentDates::default();
        let second =
            identify(&edited, &first.window).observe(&Known::new(), dates, at, None, false);
        assert_eq!(second.sightings[0].1, Sighting::Edited);
    }

    #[test]
    fn a_partial_document_adds_to_the_window_and_judges_nothing() {
        let first = see(&Window::default(), &["b", "a"]);
        let at = Time::from_secs(200);
        let dates = DocumentDates::default();
        let second =
            identify(&items(&["c"]), &first.window).observe(&Known::new(), dates, at, None, true);
        assert_eq!((second.n_new(), second.suspected_miss), (1, false));
        assert_eq!(second.window.entries().len(), 2);
    }

    #[test]
    fn a_window_survives_being_stored() {
        let window = see(&Window::default(), &["b", "a"]).window;
        assert_eq!(Window::decode(&window.encode()).unwrap(), window);
        assert!(Window::decode(&[1]).is_err());
        assert!(Window::decode(&window.encode()[..50]).is_err());
    }
}
