//! How somebody likes to read: time zone, order and size of the text. Choices belong to the
//! account; while there are no accounts, to the person at this machine. Every choice is a form.

use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::failed;
use super::frame::Sent;
use crate::Context;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::zone::Zone;

/// The cookie in which a script tells the time zone of the browser.
const ZONE_COOKIE: &str = "tidings_zone";

/// The size of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    Small,
    #[default]
    Normal,
    Large,
    Larger,
}

impl Size {
    pub const ALL: [Size; 4] = [Size::Small, Size::Normal, Size::Large, Size::Larger];

    pub const fn word(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Normal => "normal",
            Size::Large => "large",
            Size::Larger => "larger",
        }
    }
}

/// What an account has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// `None`: the browser's zone.
    pub zone: Option<Zone>,
    pub oldest_first: bool,
    pub size: Size,
}

impl Choices {
    fn read(stored: &BTreeMap<String, String>) -> Choices {
        let of = |name: &str| stored.get(name).map(String::as_str);
        let size = of("size").and_then(|word| Size::ALL.into_iter().find(|s| s.word() == word));
        Choices {
            zone: of("zone").and_then(Zone::named),
            oldest_first: of("order") == Some("oldest"),
            size: size.unwrap_or_default(),
        }
    }
}

/// The zone that the browser told.
pub fn zone_of(headers: &HeaderMap) -> Option<Zone> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        Zone::named(value).filter(|_| name == ZONE_COOKIE)
    })
}

/// Looks up the choices of the person who asks, once for each page.
pub async fn look_up(State(context): State<Context>, mut request: Request, next: Next) -> Response {
    if let Some(person) = request.extensions().get::<Person>() {
        let (store, account) = (context.store.clone(), person.account);
        // A page with the usual choices is better than none.
        let stored = run_blocking(move || store.choices(account)).await.unwrap_or_default();
        request.extensions_mut().insert(Choices::read(&stored));
    }
    next.run(request).await
}

/// Keeps what a form chose and leads back to where it was.
pub async fn choose(State(context): State<Context>, sent: Sent) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let choices = ["zone", "order", "size"].map(|name| {
        let value = sent.form.text(name).trim();
        let value = (!value.is_empty() && !is_default(name, value)).then(|| value.to_owned());
        sent.form.has(name).then_some((name, value))
    });
    let to = local_target(sent.form.text("back"));
    let kept = run_blocking(move || {
        let mut choices = choices.into_iter().flatten();
        choices.try_for_each(|(name, value)| store.choose(account, name, value.as_deref()))
    });
    match kept.await {
        Ok(()) => Redirect::to(&to).into_response(),
        Err(error) => failed(&context, sent.visitor, &error),
    }
}

fn is_default(name: &str, value: &str) -> bool {
    match name {
        "size" => value == Size::Normal.word(),
        "order" => value != "oldest",
        _ => Zone::named(value).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_the_default() {
        let stored = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let odd = stored(&[("zone", "Nowhere"), ("order", "x"), ("size", "999")]);
        assert_eq!(Choices::read(&odd), Choices::default());
        let chosen = stored(&[("zone", "Asia/Tokyo"), ("order", "oldest"), ("size", "large")]);
        let chosen = Choices::read(&chosen);
        assert_eq!((chosen.oldest_first, chosen.size), (true, Size::Large));
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
