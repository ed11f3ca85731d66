//! Which entries a page is about, as its address says it: the scope, unread or all or starred,
//! words to search for, and the place to go on from. Lenient: nonsense is as if not said.

use feed::{EntryId, FeedId, Time};
use store::ReadingPosition;
use url::form_urlencoded;

/// Longer texts find nothing.
const TEXT_CHARS_MAX: usize = 200;

/// Whose entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    All,
    Feed(FeedId),
    Tag(String),
    Query(String),
    /// Those in which words are found.
    Search(String),
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Unread,
    All,
    Starred,
}

impl Show {
    pub const ALL: [Show; 3] = [Show::Unread, Show::All, Show::Starred];

    pub const fn word(self) -> &'static str {
        match self {
            Show::Unread => "unread",
            Show::All => "all",
            Show::Starred => "starred",
        }
    }
}

/// A list of entries, and where in it one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub of: Of,
    pub show: Show,
    /// The oldest come first. Only a place to go on from says it in the address, because it means
    /// another entry in the other order; else the reader's choice holds.
    pub oldest_first: bool,
    /// Goes on behind this one.
    pub from: Option<ReadingPosition>,
}

/// Ends the place to go on from where the oldest come first.
const UPWARDS: &str = ".up";

impl Place {
    /// The unread of a scope; for a search and a query, which one asks on purpose, all.
    pub fn of(of: Of) -> Place {
        let show = default_show(&of);
        Place { of, show, oldest_first: false, from: None }
    }

    /// What an address asks for, in the order that the reader chose.
    pub fn read(query: Option<&str>, mut oldest_first: bool) -> Place {
        let (mut of, mut show, mut from) = (Of::All, None, None);
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            let text = || value.trim().chars().take(TEXT_CHARS_MAX).collect::<String>();
            match name.as_ref() {
                "feed" => of = value.parse().map_or(of, |id| Of::Feed(FeedId(id))),
                "tag" if !text().is_empty() => of = Of::Tag(text()),
                "query" if !text().is_empty() => of = Of::Query(text()),
                "q" if !text().is_empty() => of = Of::Search(text()),
                "show" => show = Show::ALL.into_iter().find(|s| s.word() == value).or(show),
                "from" => {
                    let down = value.strip_suffix(UPWARDS);
                    from = reading_place(down.unwrap_or(&value));
                    oldest_first = from.map_or(oldest_first, |_| down.is_some());
                }
                _ => {}
            }
        }
        let show = show.unwrap_or_else(|| default_show(&of));
        Place { of, show, oldest_first, from }
    }

    /// What stands behind the `?` of an address that asks for this; empty for the start.
    pub fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match &self.of {
            Of::All => {}
            Of::Feed(feed) => drop(query.append_pair("feed", &feed.to_string())),
            Of::Tag(tag) => drop(query.append_pair("tag", tag)),
            Of::Query(name) => drop(query.append_pair("query", name)),
            Of::Search(text) => drop(query.append_pair("q", text)),
        }
        if self.show != default_show(&self.of) {
            query.append_pair("show", self.show.word());
        }
        if let Some(from) = self.from {
            let end = if self.oldest_first { UPWARDS } else { "" };
            let from = format!("{}.{}{end}", from.published_at.millis(), from.entry);
            query.append_pair("from", &from);
        }
        query.finish()
    }

    /// The address of the list.
    pub fn href(&self) -> String {
        match self.query() {
            query if query.is_empty() => "/".to_owned(),
            query => format!("/?{query}"),
        }
    }

    /// The address of an entry of the list.
    pub fn entry_href(&self, entry: EntryId) -> String {
        match (Place { from: None, ..self.clone() }).query() {
            query if query.is_empty() => format!("/entry/{entry}"),
            query => format!("/entry/{entry}?{query}"),
        }
    }

    pub fn shown(&self, show: Show) -> Place {
        Place { show, from: None, ..self.clone() }
    }
}

const fn default_show(of: &Of) -> Show {
    match of {
        Of::All | Of::Feed(_) | Of::Tag(_) => Show::Unread,
        Of::Query(_) | Of::Search(_) => Show::All,
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
            "/?q=iceland+ash",
            "/?show=all",
            "/?from=5.6.up",
        ] {
            let query = href.split_once('?').map(|(_, q)| q);
            assert_eq!(Place::read(query, false).href(), href);
            assert_eq!(Place::read(query, true).href(), href, "an address keeps its order");
        }
        assert_eq!(
            Place::read(Some("show=unread"), false).href(),
            "/",
            "what is usual is not said"
        );
    }

    #[test]
    fn nonsense_is_as_if_not_said() {
        let odd = "feed=x&show=%00&from=1.&from=.2&from=.up&q=+&zz";
        assert_eq!(Place::read(Some(odd), false).href(), "/");
        assert!(Place::read(Some("from=x.up"), true).oldest_first);
        assert!(!Place::read(Some("from=1.2"), true).oldest_first);
    }

    #[test]
    fn an_entry_keeps_the_list_it_was_opened_from() {
        let place = Place::read(Some("tag=news&from=5.6"), false);
        assert_eq!(place.entry_href(EntryId(3)), "/entry/3?tag=news");
        assert_eq!(Place::of(Of::All).entry_href(EntryId(3)), "/entry/3");
    }
}
