//! The query string of the page of feeds: search text, tag, state, order and position. Values that
//! cannot be read are ignored.

use store::{FeedCursor, FeedOrder, FeedState};
use url::form_urlencoded;

/// Longer texts match nothing, but still cost a scan.
const TEXT_CHARS_MAX: usize = 200;

/// The orders of the list, with the word in the address and the name on the page.
pub const ORDERS: [(FeedOrder, &str, &str); 6] = [
    (FeedOrder::LastChange, "new", "newest entries first"),
    (FeedOrder::Trouble, "trouble", "problems first"),
    (FeedOrder::Title, "title", "by title"),
    (FeedOrder::NextPoll, "next", "next poll first"),
    (FeedOrder::LastPoll, "last", "last poll first"),
    (FeedOrder::Entries, "entries", "most entries first"),
];

/// The part of the list that an address selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedListParams {
    pub text: String,
    pub tag: Option<String>,
    pub state: Option<FeedState>,
    pub order: FeedOrder,
    /// The cursor at which the page starts, or ends if `backwards`.
    pub from: Option<FeedCursor>,
    pub backwards: bool,
    /// Every feed of the instance, for administrators.
    pub everyone: bool,
    /// The number of the page, from 1, for display only. Cursors select the rows.
    pub page: u64,
}

impl FeedListParams {
    pub fn read(query: Option<&str>) -> FeedListParams {
        let mut params = FeedListParams::of(String::new());
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            match name.as_ref() {
                "q" => params.text = value.trim().chars().take(TEXT_CHARS_MAX).collect(),
                "tag" => params.tag = Some(value.chars().take(TEXT_CHARS_MAX).collect()),
                "state" => params.state = FeedState::from_filter_word(&value),
                "sort" => {
                    let known = ORDERS.iter().find(|o| o.1 == value);
                    params.order = known.map_or(FeedOrder::LastChange, |o| o.0);
                }
                "whose" => params.everyone = value == "all",
                "page" => params.page = value.parse().unwrap_or(1).clamp(1, 1_000_000),
                "after" | "before" => {
                    params.from = FeedCursor::parse(&value);
                    params.backwards = name == "before" && params.from.is_some();
                }
                _ => {}
            }
        }
        if params.from.is_none() {
            params.page = 1;
        }
        params
    }

    /// Returns the first page of the feeds that match a text.
    fn of(text: String) -> FeedListParams {
        let (order, page) = (FeedOrder::LastChange, 1);
        let (from, backwards, everyone) = (None, false, false);
        FeedListParams { text, tag: None, state: None, order, from, backwards, everyone, page }
    }

    /// Returns the first page of the feeds with a tag.
    fn of_tag(tag: String) -> FeedListParams {
        FeedListParams { tag: Some(tag), ..FeedListParams::of(String::new()) }
    }

    /// Returns the first page of the same list.
    pub fn first(&self) -> FeedListParams {
        FeedListParams { from: None, backwards: false, page: 1, ..self.clone() }
    }

    /// Returns the next page, or the previous one.
    pub fn turned(&self, from: FeedCursor, backwards: bool) -> FeedListParams {
        let page = if backwards { self.page.saturating_sub(1).max(1) } else { self.page + 1 };
        FeedListParams { from: Some(from), backwards, page, ..self.clone() }
    }

    /// Returns the address that selects this part.
    pub fn href(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if self.everyone {
            query.append_pair("whose", "all");
        }
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if let Some(tag) = &self.tag {
            query.append_pair("tag", tag);
        }
        if let Some(state) = self.state {
            query.append_pair("state", state.filter_word());
        }
        if let Some((_, word, _)) = ORDERS[1..].iter().find(|o| o.0 == self.order) {
            query.append_pair("sort", word);
        }
        if let Some(from) = &self.from {
            let name = if self.backwards { "before" } else { "after" };
            query.append_pair(name, &from.to_string());
        }
        if self.page > 1 {
            query.append_pair("page", &self.page.to_string());
        }
        match query.finish() {
            query if query.is_empty() => "/feeds".to_owned(),
            query => format!("/feeds?{query}"),
        }
    }
}

/// Returns the address of the list of feeds with a tag.
pub fn tag_href(tag: String) -> String {
    FeedListParams::of_tag(tag).href()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_reading_and_writing() {
        for href in [
            "/feeds",
            "/feeds?q=a%26b+%C3%A9&state=backing-off&sort=trouble&after=0.17.n3&page=3",
            "/feeds?tag=a+b&state=never&sort=title&before=0.9.tb%26c.d",
            "/feeds?sort=title",
            "/feeds?whose=all&q=x",
        ] {
            let query = href.split_once('?').map(|(_, q)| q);
            assert_eq!(FeedListParams::read(query).href(), href);
        }
    }

    #[test]
    fn unreadable_values_are_ignored() {
        assert_eq!(
            FeedListParams::read(Some("state=x&sort=%00&page=-1&page=7&after=1.2.x&zz")).href(),
            "/feeds"
        );
    }
}
