//! The query string of the page of accounts: search text and position. Values that cannot be read
//! are ignored.

use store::AccountListFilter;
use url::form_urlencoded;

use super::{PATH, ROWS};

/// No name is longer.
const TEXT_CHARS_MAX: usize = 64;

/// The part of the list that an address selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeopleParams {
    pub text: String,
    /// The name before the first row, or behind the last one if `backwards`.
    pub from: Option<String>,
    pub backwards: bool,
    /// The number of the page minus one, for display only. Names select the rows.
    pub n_before: u64,
}

impl PeopleParams {
    pub fn read(query: &str) -> PeopleParams {
        let mut params = PeopleParams::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "q" => params.text = value.trim().chars().take(TEXT_CHARS_MAX).collect(),
                "page" => {
                    let page: u64 = value.parse().unwrap_or(1);
                    params.n_before = page.clamp(1, 1_000_000) - 1;
                }
                "after" | "before" => {
                    params.from = Some(value.chars().take(TEXT_CHARS_MAX).collect());
                    params.backwards = name == "before";
                }
                _ => {}
            }
        }
        if params.from.is_none() {
            params.n_before = 0;
        }
        params
    }

    pub fn filter(&self) -> AccountListFilter {
        let PeopleParams { text, from, backwards, .. } = self.clone();
        AccountListFilter { text, from, backwards, limit: ROWS }
    }

    /// Returns the next page, or the previous one.
    pub fn turned(&self, from: &str, backwards: bool) -> PeopleParams {
        let n_before = if backwards { self.n_before.saturating_sub(1) } else { self.n_before + 1 };
        PeopleParams { from: Some(from.to_owned()), backwards, n_before, ..self.clone() }
    }

    /// Returns the address that selects this part.
    pub fn href(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if let Some(from) = &self.from {
            query.append_pair(if self.backwards { "before" } else { "after" }, from);
        }
        if self.n_before > 0 {
            query.append_pair("page", &(self.n_before + 1).to_string());
        }
        match query.finish() {
            query if query.is_empty() => PATH.to_owned(),
            query => format!("{PATH}?{query}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_selects_the_part_that_it_was_made_for() {
        let first = PeopleParams { text: "an & b".to_owned(), ..PeopleParams::default() };
        let second = first.turned("anna", false);
        let back = second.turned("anton", true);
        for params in [PeopleParams::default(), first, second, back] {
            let href = params.href();
            let query = href.strip_prefix(PATH).unwrap().trim_start_matches('?');
            assert_eq!(PeopleParams::read(query), params, "{href}");
        }
        assert_eq!(PeopleParams::read("page=7&q=%20x%20").href(), "/people?q=x");
    }
}
