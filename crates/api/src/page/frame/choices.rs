//! The reader's choices: time zone, order of entries and size of the text. They belong to the
//! account, or to the local person while there are no accounts.

use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use store::{COUNTED_CHOICE, STORIES_CHOICE};

use super::WriteForm;
use crate::ServerContext;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::page::notice::store_error;
use crate::zone::Zone;

/// The cookie with the browser's time zone, set by the script.
const ZONE_COOKIE: &str = "tidings_zone";

/// The name of the choice of the text that reader apps get.
pub const ARTICLES_IN_APPS: &str = "apps";

/// The names of all choices.
const NAMES: [&str; 7] =
    ["zone", "order", "size", "width", ARTICLES_IN_APPS, STORIES_CHOICE.0, COUNTED_CHOICE.0];

/// The size of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextSize {
    Small,
    #[default]
    Normal,
    Large,
    Larger,
}

impl TextSize {
    pub const ALL: [TextSize; 4] =
        [TextSize::Small, TextSize::Normal, TextSize::Large, TextSize::Larger];

    pub const fn word(self) -> &'static str {
        match self {
            TextSize::Small => "small",
            TextSize::Normal => "normal",
            TextSize::Large => "large",
            TextSize::Larger => "larger",
        }
    }
}

/// The width of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextWidth {
    Narrow,
    #[default]
    Normal,
    Wide,
}

impl TextWidth {
    pub const ALL: [TextWidth; 3] = [TextWidth::Narrow, TextWidth::Normal, TextWidth::Wide];

    pub const fn word(self) -> &'static str {
        match self {
            TextWidth::Narrow => "narrow",
            TextWidth::Normal => "normal",
            TextWidth::Wide => "wide",
        }
    }
}

/// The choices of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// `None`: use the browser's zone.
    pub zone: Option<Zone>,
    pub oldest_first: bool,
    pub size: TextSize,
    pub width: TextWidth,
    /// Reader apps get the whole article as the content of an entry, if it is there.
    pub articles_in_apps: bool,
    /// Reading one entry of a story marks all of them as read.
    pub stories_together: bool,
    /// The person does not want to be counted in figures that others see.
    pub uncounted: bool,
}

impl Choices {
    fn read(stored: &BTreeMap<String, String>) -> Choices {
        let of = |name: &str| stored.get(name).map(String::as_str);
        let size = of("size").and_then(|word| TextSize::ALL.into_iter().find(|s| s.word() == word));
        let width = of("width");
        let width = width.and_then(|w| TextWidth::ALL.into_iter().find(|one| one.word() == w));
        Choices {
            zone: of("zone").and_then(Zone::named),
            oldest_first: of("order") == Some("oldest"),
            size: size.unwrap_or_default(),
            width: width.unwrap_or_default(),
            articles_in_apps: of(ARTICLES_IN_APPS) == Some("article"),
            stories_together: of(STORIES_CHOICE.0) == Some(STORIES_CHOICE.1),
            uncounted: of(COUNTED_CHOICE.0) == Some(COUNTED_CHOICE.1),
        }
    }
}

/// Returns the zone in the cookie that the script sets.
pub fn zone_of(headers: &HeaderMap) -> Option<Zone> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        Zone::named(value).filter(|_| name == ZONE_COOKIE)
    })
}

/// Adds the choices of the visitor to the request, once for each page.
pub async fn look_up(
    State(context): State<ServerContext>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(person) = request.extensions().get::<Person>() {
        let (store, account) = (context.store.clone(), person.account);
        // A page with default choices is better than an error.
        let stored = run_blocking(move || store.choices(account)).await.unwrap_or_default();
        request.extensions_mut().insert(Choices::read(&stored));
    }
    next.run(request).await
}

/// Stores the choices of a form and redirects to the page with the form.
pub async fn choose(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let choices = NAMES.map(|name| {
        let value = sent.form.text(name).trim();
        let value = (!value.is_empty() && !is_default(name, value)).then(|| value.to_owned());
        sent.form.has(name).then_some((name, value))
    });
    let to = local_target(sent.form.text("back"));
    let kept = run_blocking(move || {
        let mut choices = choices.into_iter().flatten();
        choices.try_for_each(|(name, value)| match name {
            // The figures of the instance are calculated again.
            _ if name == COUNTED_CHOICE.0 => store.count_account(account, value.is_none()),
            _ => store.choose(account, name, value.as_deref()),
        })
    });
    match kept.await {
        Ok(()) => Redirect::to(&to).into_response(),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

fn is_default(name: &str, value: &str) -> bool {
    match name {
        "size" => value == TextSize::Normal.word(),
        "order" => value != "oldest",
        "width" => value == TextWidth::Normal.word(),
        ARTICLES_IN_APPS => value != "article",
        _ if name == STORIES_CHOICE.0 => value != STORIES_CHOICE.1,
        _ if name == COUNTED_CHOICE.0 => value != COUNTED_CHOICE.1,
        _ => Zone::named(value).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_choices_are_the_default() {
        let stored = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let odd = stored(&[("zone", "Nowhere"), ("order", "x"), ("size", "999")]);
        assert_eq!(Choices::read(&odd), Choices::default());
        let chosen = stored(&[("zone", "Asia/Tokyo"), ("order", "oldest"), ("size", "large")]);
        let chosen = Choices::read(&chosen);
        assert_eq!((chosen.oldest_first, chosen.size), (true, TextSize::Large));
        assert_eq!(chosen.zone.map(Zone::name), Some("Asia/Tokyo"));
    }

    #[test]
    fn the_zone_of_the_browser_is_found_among_other_cookies() {
        let zone = |text: &str| {
            let headers = HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
            zone_of(&headers).map(Zone::name)
        };
        assert_eq!(zone("a=b; tidings_zone=Europe/Berlin"), Some("Europe/Berlin"));
        assert_eq!(zone("tidings_zone=\"><script>; other=UTC"), None);
    }
}
