//! The visitor of a page: the person, if known, and how they want to see it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri};
use store::TokenScope;

use super::NavSection;
use super::choices::{Choices, zone_of};
use super::theme::Theme;
use crate::ServerContext;
use crate::auth::Person;
use crate::words::LocalNow;
use crate::zone::Zone;

/// The visitor of a page.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// `None`: not logged in.
    pub person: Option<Person>,
    pub theme: Theme,
    /// Whether a person opened the page. Prefetches and links from other sites do not count.
    pub on_purpose: bool,
    /// The address of the page, or of the page with the form that was sent.
    pub at: String,
    pub choices: Choices,
    /// The zone in the cookie that the script sets.
    pub browser_zone: Option<Zone>,
    /// Whether the page can be loaded again. The answer to a form cannot.
    pub reloads: bool,
}

impl Visitor {
    /// Reads the visitor from a request. `person` is the result of the login check.
    pub fn of(method: &Method, uri: &Uri, headers: &HeaderMap, person: Option<Person>) -> Visitor {
        let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
        let from_elsewhere =
            text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let on_purpose = text("sec-purpose").is_none() && !from_elsewhere;
        let at = match *method {
            Method::POST => page_of(uri.path()),
            _ => uri.path_and_query().map_or("/", |p| p.as_str()),
        };
        let at = at.to_owned();
        Visitor {
            person,
            theme: Theme::of(headers),
            on_purpose,
            at,
            choices: Choices::default(),
            browser_zone: zone_of(headers),
            reloads: *method == Method::GET,
        }
    }

    /// Returns the zone in which times are shown: the account's choice, else the browser's zone.
    pub fn zone(&self) -> Zone {
        self.choices.zone.or(self.browser_zone).unwrap_or(Zone::UTC)
    }

    /// Returns the present moment in the zone of the visitor.
    pub fn now(&self, context: &ServerContext) -> LocalNow {
        LocalNow { at: (context.now)(), zone: self.zone() }
    }

    /// Returns the account whose marks are shown. The login check stops visitors without one.
    pub fn account(&self) -> store::AccountId {
        self.person.as_ref().map_or(store::AccountId::LOCAL, |person| person.account)
    }

    /// Returns the account for which commands act; `None` without accounts.
    pub fn subscriber(&self) -> Option<i64> {
        self.person.as_ref().and_then(Person::subscriber)
    }

    pub fn may(&self, scope: TokenScope) -> bool {
        self.person.as_ref().is_some_and(|person| person.may(scope))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Infallible> {
        let person = parts.extensions.get::<Person>().cloned();
        let choices = parts.extensions.get::<Choices>().copied().unwrap_or_default();
        let visitor = Visitor::of(&parts.method, &parts.uri, &parts.headers, person);
        Ok(Visitor { choices, ..visitor })
    }
}

/// Returns the page that holds the form, given the path to which the form is sent.
fn page_of(path: &str) -> &str {
    let first_two = || path.match_indices('/').nth(2).map_or(path, |(end, _)| &path[..end]);
    match path.split('/').nth(1) {
        Some("feed" | "query") => first_two(),
        Some("feeds" | "import" | "feed-order") => NavSection::Feeds.path(),
        Some("rules" | "rule") => "/rules",
        Some("discover") => "/discover",
        Some("queries") => NavSection::Queries.path(),
        Some("budget" | "what-if") => NavSection::Budget.path(),
        Some("machines") => "/machines",
        Some("account" | "people") => NavSection::Account.path(),
        _ => NavSection::Read.path(),
    }
}
