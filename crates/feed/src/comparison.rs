//! Compares the keyed items of a document with the feed's last window. The result says what is new,
//! what was edited, what came back, and whether entries may have been missed. It reads no store:
//! the caller looks up the keys beyond the window.

use std::collections::HashMap;

use crate::window::sorted;
use crate::{
    DocumentDates, EntryKey, KeyedItem, Observation, Outcome, Time, Window, WindowEntry, late,
    repair,
};

/// Entries that the store knows beyond the last window: the content hash and the repaired time.
pub type Known = HashMap<EntryKey, (u64, Time)>;

/// The relation of one item of a document to what was seen before.
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

/// The result of comparing a document with the window before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub window: Window,
    /// The index of the keyed item, its relation, and the entry; in document order.
    pub sightings: Vec<(usize, Sighting, WindowEntry)>,
    pub overlap: usize,
    pub suspected_miss: bool,
    pub partial: bool,
    window_times: Vec<Time>,
    new_times: Vec<Time>,
    late_times: Vec<Time>,
}

/// The keyed items of a document and the window before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowComparison<'a> {
    items: &'a [KeyedItem],
    window: &'a Window,
    /// The window's entries by their keys.
    before: HashMap<EntryKey, &'a WindowEntry>,
}

impl<'a> WindowComparison<'a> {
    pub fn new(items: &'a [KeyedItem], window: &'a Window) -> WindowComparison<'a> {
        WindowComparison { items, window, before: window.by_key() }
    }

    /// Returns the items that the window does not hold, in document order. The caller looks up
    /// whether the store knows them.
    pub fn beyond(&self) -> impl Iterator<Item = &'a KeyedItem> {
        self.items.iter().filter(|keyed| !self.before.contains_key(&keyed.key))
    }

    /// Compares the document with the window before. `known` holds what the store knows about the
    /// keys [beyond](WindowComparison::beyond) it. `previous` is the last successful poll, if any.
    /// `partial` says that the document holds only what changed.
    pub fn observe(
        &self,
        known: &Known,
        dates: DocumentDates,
        at: Time,
        previous: Option<Time>,
        partial: bool,
    ) -> Observed {
        let WindowComparison { items, window, before } = self;
        let mut sightings = Vec::with_capacity(items.len());
        let (mut overlap, mut new_times, mut late_times) = (0, Vec::new(), Vec::new());
        for (index, KeyedItem { key, content, link, item }) in items.iter().enumerate() {
            let in_window = before.get(key).map(|e| (e.content, e.published_at));
            overlap += usize::from(in_window.is_some());
            let remembered = in_window.or_else(|| known.get(key).copied());
            let sighting = match remembered {
                None => Sighting::New,
                Some((seen, _)) if seen != *content => Sighting::Edited,
                Some(_) if in_window.is_some() => Sighting::Known,
                Some(_) => Sighting::Returned,
            };
            let published_at = remembered.map_or_else(
                || item.as_ref().map_or(at, |item| repair(item, dates, at, previous).at),
                |(_, time)| time,
            );
            if sighting == Sighting::New {
                new_times.push(published_at);
                late_times.extend(item.as_ref().and_then(|item| late(item, dates, previous)));
            }
            let entry = WindowEntry { key: *key, content: *content, link: *link, published_at };
            sightings.push((index, sighting, entry));
        }
        let suspected_miss =
            !partial && overlap == 0 && !sightings.is_empty() && !window.entries().is_empty();
        let entries = sightings.iter().map(|(_, _, entry)| *entry).collect();
        let window = window.followed_by(entries, partial);
        let window_times = window.times();
        Observed {
            window,
            sightings,
            overlap,
            suspected_miss,
            partial,
            window_times,
            new_times: sorted(new_times.into_iter()),
            late_times: sorted(late_times.into_iter()),
        }
    }
}

impl Observed {
    pub fn n_new(&self) -> usize {
        self.new_times.len()
    }

    /// Returns the observation from which policies and models learn.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, identify};

    fn observe(
        items: &[Item],
        window: &Window,
        at: Time,
        previous: Option<Time>,
        partial: bool,
    ) -> Observed {
        let keyed = identify(items.to_vec(), window);
        let comparison = WindowComparison::new(&keyed, window);
        comparison.observe(&Known::new(), DocumentDates::default(), at, previous, partial)
    }

    fn items(ids: &[&str]) -> Vec<Item> {
        ids.iter().map(|id| Item { id: Some((*id).to_owned()), ..Item::default() }).collect()
    }

    fn see(window: &Window, ids: &[&str]) -> Observed {
        observe(&items(ids), window, Time::from_secs(100), None, false)
    }

    #[test]
    fn only_new_entries_with_dates_before_the_last_poll_are_late() {
        let dated = |id: &str, secs| {
            let published = Some(Time::from_secs(secs));
            Item { id: Some(id.to_owned()), published, ..Item::default() }
        };
        let (first, second) = (Time::from_secs(100), Time::from_secs(200));
        let seen = observe(&[dated("a", 40)], &Window::default(), first, None, false);
        assert!(seen.observation(first).late.is_empty());
        let shown = [dated("c", 150), dated("b", 60), dated("a", 40)];
        let seen = observe(&shown, &seen.window, second, Some(first), false);
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
        let both = identify(items(&["a", "b"]), &second.window);
        let comparison = WindowComparison::new(&both, &second.window);
        assert_eq!(comparison.beyond().map(|keyed| keyed.key).collect::<Vec<_>>(), [key.key]);
        let third = comparison.observe(&known, dates, at, None, false);
        assert_eq!(third.sightings[0].1, Sighting::Returned);
        assert_eq!(third.n_new(), 0);
    }

    #[test]
    fn changed_content_is_an_edit_under_the_same_key() {
        let first = see(&Window::default(), &["a"]);
        let mut edited = items(&["a"]);
        edited[0].title = Some("now with a title".to_owned());
        let second = observe(&edited, &first.window, Time::from_secs(200), None, false);
        assert_eq!(second.sightings[0].1, Sighting::Edited);
    }

    #[test]
    fn a_partial_document_adds_to_the_window_and_judges_nothing() {
        let first = see(&Window::default(), &["b", "a"]);
        let second = observe(&items(&["c"]), &first.window, Time::from_secs(200), None, true);
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

    #[test]
    fn an_id_that_becomes_ambiguous_keeps_the_old_entry_known() {
        let item = |link: &str, title: &str| Item {
            id: Some("g".to_owned()),
            link: Some(link.to_owned()),
            title: Some(title.to_owned()),
            ..Item::default()
        };
        let at = Time::from_secs(1);
        let first = observe(&[item("l1", "a")], &Window::default(), at, None, false);
        let two = [item("l2", "b"), item("l1", "a")];
        let second = observe(&two, &first.window, at, Some(at), false);
        assert_eq!((second.n_new(), second.overlap), (1, 1));
        // The older of the two leaves: the other stays itself and is not an edit.
        let third = observe(&[item("l2", "b")], &second.window, at, Some(at), false);
        assert_eq!((third.n_new(), third.overlap), (0, 1));
    }
}
