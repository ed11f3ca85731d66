//! What a page's address asks for. Lenient: what is not understood is as if it were not said.

use store::{Order, State};
use url::form_urlencoded;

/// Longer texts find nothing, and cost a scan all the same.
const TEXT_CHARS_MAX: usize = 200;

/// The orders of the list, with the word in the address and the name on the page.
pub const ORDERS: [(Order, &str, &str); 6] = [
    (Order::LastChange, "new", "newest entries first"),
    (Order::Trouble, "trouble", "problems first"),
    (Order::Title, "title", "by title"),
    (Order::NextPoll, "next", "next poll first"),
    (Order::LastPoll, "last", "last poll first"),
    (Order::Entries, "entries", "most entries first"),
];

pub const STATES: [State; 5] =
    [State::Active, State::BackingOff, State::Damaged, State::Gone, State::Paused];

/// Which part of the list is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListParams {
    pub text: String,
    pub state: Option<State>,
    pub order: Order,
    /// From 1.
    pub page: u64,
}

impl ListParams {
    pub fn read(query: Option<&str>) -> ListParams {
        let mut params =
            ListParams { text: String::new(), state: None, order: Order::LastChange, page: 1 };
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            match name.as_ref() {
                "q" => params.text = value.trim().chars().take(TEXT_CHARS_MAX).collect(),
                "state" => params.state = STATES.into_iter().find(|s| s.word() == value),
                "sort" => {
                    let known = ORDERS.iter().find(|o| o.1 == value);
                    params.order = known.map_or(Order::LastChange, |o| o.0);
                }
                "page" => params.page = value.parse().unwrap_or(1).clamp(1, 1_000_000),
                _ => {}
            }
        }
        params
    }

    /// The address that asks for this.
    pub fn href(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if let Some(state) = self.state {
            query.append_pair("state", state.word());
        }
        if let Some((_, word, _)) = ORDERS[1..].iter().find(|o| o.0 == self.order) {
            query.append_pair("sort", word);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_reading_and_writing() {
        for href in [
            "/feeds",
            "/feeds?q=a%26b+%C3%A9&state=backing-off&sort=trouble&page=3",
            "/feeds?sort=title",
        ] {
            let query = href.split_once('?').map(|(_, q)| q);
            assert_eq!(ListParams::read(query).href(), href);
        }
    }

    #[test]
    fn nonsense_is_as_if_not_said() {
        assert_eq!(ListParams::read(Some("state=x&sort=%00&page=-1&page=0&zz")).href(), "/feeds");
    }
}
