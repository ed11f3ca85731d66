//! The colour theme of the pages. A cookie keeps the choice, so that a page without scripts and
//! the login page can use it.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::form::SignedForm;
use crate::http::paths::local_target;

/// The cookie with the theme. The system's theme needs no cookie.
const THEME_COOKIE: &str = "tidings_light";

/// One year, so that people choose once.
const COOKIE_SECS: u32 = 365 * 86_400;

/// A colour theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The theme of the operating system.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    /// Returns the word in the cookie and in the form.
    pub const fn word(self) -> &'static str {
        match self {
            Theme::System => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// Returns the name on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn from_word(word: &str) -> Theme {
        Theme::ALL.into_iter().find(|theme| theme.word() == word).unwrap_or_default()
    }

    /// Reads the theme from the cookies of a request.
    pub fn of(headers: &HeaderMap) -> Theme {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == THEME_COOKIE).then_some(value)
        });
        pairs.next().map_or(Theme::System, Theme::from_word)
    }
}

/// Stores the chosen theme in the cookie and redirects to the page with the form.
pub async fn choose(form: SignedForm) -> Response {
    let (value, max_age) = match Theme::from_word(form.text("light")) {
        Theme::System => ("", 0),
        chosen => (chosen.word(), COOKIE_SECS),
    };
    let cookie =
        format!("{THEME_COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}");
    // The text is our own and always a valid header value.
    let cookie = HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""));
    let to = local_target(form.text("back"));
    ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theme_is_found_among_other_cookies_and_nonsense_follows_the_system() {
        let theme = |text: &str| {
            Theme::of(&HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]))
        };
        assert_eq!(theme("a=b; tidings_light=dark"), Theme::Dark);
        assert_eq!(theme("tidings_light=light; a=b"), Theme::Light);
        assert_eq!(theme("tidings_light=\"><script>"), Theme::System);
        assert_eq!(Theme::of(&HeaderMap::new()), Theme::System);
    }
}
