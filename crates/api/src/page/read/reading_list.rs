//! The list of entries that the address of a page selects: scope, filter, search text and
//! position. Values that cannot be read are ignored.

use feed::{EntryId, FeedId, Time};
use store::ReadingPosition;
use url::form_urlencoded;

/// Longer search texts match nothing.
const TEXT_CHARS_MAX: usize = 200;

/// The feeds whose entries a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListScope {
    All,
    Feed(FeedId),
    Tag(String),
    Query(String),
    /// Entries with a label of the reader.
    Label(String),
    /// Entries that match a search text.
    Search(String),
    /// The stories that the most feeds had in the last day.
    Top,
}

/// The entries of the scope that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFilter {
    Unread,
    All,
    Starred,
    /// Entries that rules have hidden.
    Hidden,
}

impl ReadFilter {
    /// The filters that every list offers.
    pub const OFFERED: [ReadFilter; 3] = [ReadFilter::Unread, ReadFilter::All, ReadFilter::Starred];

    pub const fn word(self) -> &'static str {
        match self {
            ReadFilter::Unread => "unread",
            ReadFilter::All => "all",
            ReadFilter::Starred => "starred",
            ReadFilter::Hidden => "hidden",
        }
    }
}

/// A list of entries, with the position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingList {
    pub scope: ListScope,
    pub filter: ReadFilter,
    /// Oldest entries first. The address says so only with a position, because a position means
    /// another entry in the other order. Otherwise the reader's choice decides.
    pub oldest_first: bool,
    /// Only entries in this language.
    pub language: Option<String>,
    /// The list continues after this entry.
    pub from: Option<ReadingPosition>,
}

/// The end of a position in a list with the oldest entries first.
const UPWARDS: &str = ".up";

impl ReadingList {
    /// Returns the list of a scope with its default filter: unread entries, but all entries of a
    /// query or a search.
    pub fn of(scope: ListScope) -> ReadingList {
        let filter = default_filter(&scope);
        ReadingList { scope, filter, oldest_first: false, language: None, from: None }
    }

    /// Reads a query string. `oldest_first` is the reader's choice.
    pub fn read(query: Option<&str>, mut oldest_first: bool) -> ReadingList {
        let (mut scope, mut filter, mut from) = (ListScope::All, None, None);
        let mut language = None;
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            let text = || value.trim().chars().take(TEXT_CHARS_MAX).collect::<String>();
            match name.as_ref() {
                "feed" => scope = value.parse().map_or(scope, |id| ListScope::Feed(FeedId(id))),
                "tag" if !text().is_empty() => scope = ListScope::Tag(text()),
                "query" if !text().is_empty() => scope = ListScope::Query(text()),
                "label" if !text().is_empty() => scope = ListScope::Label(text()),
                "q" if !text().is_empty() => scope = ListScope::Search(text()),
                "top" => scope = ListScope::Top,
                "lang" => language = Some(value.to_lowercase()).filter(|tag| is_language(tag)),
                "show" => {
                    let mut all = ReadFilter::OFFERED.into_iter().chain([ReadFilter::Hidden]);
                    let known = all.find(|f| f.word() == value);
                    filter = known.or(filter);
                }
                "from" => {
                    let upwards = value.strip_suffix(UPWARDS);
                    from = reading_place(upwards.unwrap_or(&value));
                    oldest_first = from.map_or(oldest_first, |_| upwards.is_some());
                }
                _ => {}
            }
        }
        let filter = filter.unwrap_or_else(|| default_filter(&scope));
        ReadingList { scope, filter, oldest_first, language, from }
    }

    /// Returns the query string for this list; empty for the start page.
    pub fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match &self.scope {
            ListScope::All => {}
            ListScope::Feed(feed) => drop(query.append_pair("feed", &feed.to_string())),
            ListScope::Tag(tag) => drop(query.append_pair("tag", tag)),
            ListScope::Query(name) => drop(query.append_pair("query", name)),
            ListScope::Label(name) => drop(query.append_pair("label", name)),
            ListScope::Search(text) => drop(query.append_pair("q", text)),
            ListScope::Top => drop(query.append_pair("top", "1")),
        }
        if let Some(language) = &self.language {
            query.append_pair("lang", language);
        }
        if self.filter != default_filter(&self.scope) {
            query.append_pair("show", self.filter.word());
        }
        if let Some(from) = self.from {
            let end = if self.oldest_first { UPWARDS } else { "" };
            let from = format!("{}.{}{end}", from.published_at.millis(), from.entry);
            query.append_pair("from", &from);
        }
        query.finish()
    }

    /// Returns the address of the list.
    pub fn href(&self) -> String {
        match self.query() {
            query if query.is_empty() => "/".to_owned(),
            query => format!("/?{query}"),
        }
    }

    /// Returns the address of an entry of the list.
    pub fn entry_href(&self, entry: EntryId) -> String {
        match (ReadingList { from: None, ..self.clone() }).query() {
            query if query.is_empty() => format!("/entry/{entry}"),
            query => format!("/entry/{entry}?{query}"),
        }
    }

    /// Returns the start of the list with another filter.
    pub fn filtered(&self, filter: ReadFilter) -> ReadingList {
        ReadingList { filter, from: None, ..self.clone() }
    }
}

/// Whether a text is the primary part of a language tag.
fn is_language(tag: &str) -> bool {
    (2..=8).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_lowercase())
}

const fn default_filter(scope: &ListScope) -> ReadFilter {
    match scope {
        ListScope::All | ListScope::Feed(_) | ListScope::Tag(_) => ReadFilter::Unread,
        ListScope::Query(_) | ListScope::Label(_) | ListScope::Search(_) | ListScope::Top => {
            ReadFilter::All
        }
    }
}

fn reading_place(text: &str) -> Option<ReadingPosition> {
    let (millis, entry) = text.split_once('.')?;
    let published_at = Time::from_millis(millis.parse().ok()?);
    Some(ReadingPosition { published_at, entry: EntryId(entry.parse().ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_reading_and_writing() {
        for href in [
            "/",
            "/?tag=a%26b+%C3%A9",
            "/?feed=7&show=starred&from=1310792400000.12",
            "/?query=Volcano&show=unread",
            "/?label=to+read",
            "/?show=hidden",
            "/?q=iceland+ash",
            "/?top=1",
            "/?show=all",
            "/?tag=a&lang=de&show=all",
            "/?from=5.6.up",
        ] {
            let query = href.split_once('?').map(|(_, q)| q);
            assert_eq!(ReadingList::read(query, false).href(), href);
            assert_eq!(ReadingList::read(query, true).href(), href, "an address keeps its order");
        }
        assert_eq!(
            ReadingList::read(Some("show=unread"), false).href(),
            "/",
            "defaults are left out"
        );
    }

    #[test]
    fn unreadable_values_are_ignored() {
        let odd = "feed=x&lang=d-e&show=%00&from=1.&from=.2&from=.up&q=+&zz";
        assert_eq!(ReadingList::read(Some(odd), false).href(), "/");
        assert!(ReadingList::read(Some("from=x.up"), true).oldest_first);
        assert!(!ReadingList::read(Some("from=1.2"), true).oldest_first);
    }

    #[test]
    fn an_entry_keeps_the_list_it_was_opened_from() {
        let list = ReadingList::read(Some("tag=news&from=5.6"), false);
        assert_eq!(list.entry_href(EntryId(3)), "/entry/3?tag=news");
        assert_eq!(ReadingList::of(ListScope::All).entry_href(EntryId(3)), "/entry/3");
    }
}
