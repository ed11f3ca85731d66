//! What surrounds every page: who looks at it, in which light, and where else one can go.

use std::convert::Infallible;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use store::TokenScope;

use super::choices::{Choices, Size, zone_of};
use crate::auth::Person;
use crate::form::Signed;
use crate::words::{Now, span, strftime};
use crate::zone::Zone;
use crate::{Context, assets};

/// The cookie that remembers the light; `auto` follows the system and needs none.
pub const LIGHT_COOKIE: &str = "tidings_light";

/// In which light pages are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Light {
    /// As the system has it.
    #[default]
    System,
    Bright,
    Dark,
}

impl Light {
    pub const ALL: [Light; 3] = [Light::System, Light::Bright, Light::Dark];

    pub const fn word(self) -> &'static str {
        match self {
            Light::System => "auto",
            Light::Bright => "light",
            Light::Dark => "dark",
        }
    }

    /// What it is called on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Light::System => "system",
            Light::Bright => "light",
            Light::Dark => "dark",
        }
    }

    pub fn from_word(word: &str) -> Light {
        Light::ALL.into_iter().find(|light| light.word() == word).unwrap_or_default()
    }

    fn of(headers: &HeaderMap) -> Light {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == LIGHT_COOKIE).then_some(value)
        });
        pairs.next().map_or(Light::System, Light::from_word)
    }
}

/// Whoever looks at a page.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// `None` for strangers.
    pub person: Option<Person>,
    pub light: Light,
    /// Whether the browser says that somebody means to see the page: it was not prefetched, and
    /// no other site sent them here.
    pub on_purpose: bool,
    /// The address of the page, or of the one that a form was on.
    pub at: String,
    pub choices: Choices,
    /// The zone that the browser told.
    pub browser_zone: Option<Zone>,
    /// Whether the page can be loaded again: it does not answer a form.
    pub reloads: bool,
}

impl Visitor {
    /// Whoever sent this; the person is the one that the gate found.
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
            light: Light::of(headers),
            on_purpose,
            at,
            choices: Choices::default(),
            browser_zone: zone_of(headers),
            reloads: *method == Method::GET,
        }
    }

    /// In which zone times are shown: the one that the account chose, else the browser's.
    pub fn zone(&self) -> Zone {
        self.choices.zone.or(self.browser_zone).unwrap_or(Zone::UTC)
    }

    /// The present moment where the visitor is.
    pub fn now(&self, context: &Context) -> Now {
        Now { at: (context.now)(), zone: self.zone() }
    }

    /// Whose marks are shown. Strangers are stopped at the gate.
    pub fn account(&self) -> store::AccountId {
        self.person.as_ref().map_or(store::AccountId::LOCAL, |person| person.account)
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

/// The page that a form is on: where it is sent there is nothing to look at.
fn page_of(path: &str) -> &str {
    let first_two = || path.match_indices('/').nth(2).map_or(path, |(end, _)| &path[..end]);
    match path.split('/').nth(1) {
        Some("feed" | "query") => first_two(),
        Some("feeds" | "import") => Section::Feeds.path(),
        Some("queries") => Section::Queries.path(),
        Some("budget" | "what-if") => Section::Budget.path(),
        Some("account") => Section::Account.path(),
        _ => Section::Read.path(),
    }
}

/// A form of ours, from somebody who may mark entries. What changes feeds, queries or the budget
/// asks for [`TokenScope::Admin`] too.
pub struct Sent {
    pub visitor: Visitor,
    pub form: Signed,
}

impl FromRequest<Context> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, context: &Context) -> Result<Sent, Response> {
        let (mut parts, body) = request.into_parts();
        // Cannot fail.
        let Ok(visitor) = Visitor::from_request_parts(&mut parts, context).await;
        if !visitor.may(TokenScope::Write) {
            return Err(may_not());
        }
        let form = Signed::from_request(Request::from_parts(parts, body), context).await?;
        Ok(Sent { visitor, form })
    }
}

/// The same, from somebody who may change feeds, queries and the budget.
pub struct Ordered(pub Visitor, pub Signed);

impl FromRequest<Context> for Ordered {
    type Rejection = Response;

    async fn from_request(request: Request, context: &Context) -> Result<Ordered, Response> {
        let Sent { visitor, form } = Sent::from_request(request, context).await?;
        if visitor.may(TokenScope::Admin) { Ok(Ordered(visitor, form)) } else { Err(may_not()) }
    }
}

fn may_not() -> Response {
    (StatusCode::FORBIDDEN, "This token does not allow that.\n").into_response()
}

/// The places of the page, in the order of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Read,
    Feeds,
    Queries,
    Budget,
    Lab,
    Health,
    Account,
}

impl Section {
    const NAVIGATION: [Section; 6] = [
        Section::Read,
        Section::Feeds,
        Section::Queries,
        Section::Budget,
        Section::Lab,
        Section::Health,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Section::Read => "Read",
            Section::Feeds => "Feeds",
            Section::Queries => "Queries",
            Section::Budget => "Budget",
            Section::Lab => "Lab",
            Section::Health => "Health",
            Section::Account => "Account",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            Section::Read => "/",
            Section::Feeds => "/feeds",
            Section::Queries => "/queries",
            Section::Budget => "/budget",
            Section::Lab => "/lab",
            Section::Health => "/health",
            Section::Account => "/account",
        }
    }
}

/// What every page shows around its own matter.
pub struct Frame {
    pub style: String,
    pub script: String,
    pub icon: String,
    pub version: &'static str,
    pub demo: bool,
    pub now: String,
    pub now_exact: String,
    pub outage: Option<String>,
    pub uptime: String,
    pub visitor: Visitor,
    pub section: Option<Section>,
}

impl Frame {
    pub fn new(context: &Context, visitor: Visitor, section: Option<Section>) -> Frame {
        let (now, live) = (visitor.now(context), (context.live)());
        Frame {
            style: assets::STYLE.address(),
            script: assets::SCRIPT.address(),
            icon: assets::ICON.address(),
            version: context.version,
            demo: live.demo,
            now: strftime(now.at, "%-d %b %Y, %H:%M", now.zone),
            now_exact: now.at.to_string(),
            outage: live.outage,
            uptime: span(now.at.since(live.started_at)),
            visitor,
            section,
        }
    }

    /// What a form on this page must carry.
    pub fn form_key(&self) -> &str {
        let person = self.visitor.person.as_ref();
        person.and_then(|person| person.form_key.as_deref()).unwrap_or("")
    }

    /// Whether there is anybody to show the navigation to.
    pub fn is_known(&self) -> bool {
        self.visitor.person.is_some()
    }

    /// Who has logged in.
    pub fn name(&self) -> Option<&str> {
        self.visitor.person.as_ref().and_then(|person| person.name.as_deref())
    }

    pub fn navigation(&self) -> [Section; 6] {
        Section::NAVIGATION
    }

    pub fn is_at(&self, section: &Section) -> bool {
        self.section == Some(*section)
    }

    pub fn is_at_account(&self) -> bool {
        self.is_at(&Section::Account)
    }

    /// The zone of the times on the page.
    pub fn zone(&self) -> &'static str {
        self.visitor.zone().name()
    }

    /// The zone that a script compares with the browser's: only where nobody chose one, and only
    /// on a page that can be loaded again.
    pub fn guessed_zone(&self) -> Option<&'static str> {
        let guessed = self.visitor.reloads && self.visitor.choices.zone.is_none();
        guessed.then(|| self.zone())
    }

    pub fn sizes(&self) -> [Size; 4] {
        Size::ALL
    }

    pub fn is_sized(&self, size: &Size) -> bool {
        self.visitor.choices.size == *size
    }

    pub fn lights(&self) -> [Light; 3] {
        Light::ALL
    }

    pub fn is_lit(&self, light: &Light) -> bool {
        self.visitor.light == *light
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_light_is_found_among_other_cookies_and_nonsense_follows_the_system() {
        let light = |text: &str| {
            Light::of(&HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]))
        };
        assert_eq!(light("a=b; tidings_light=dark"), Light::Dark);
        assert_eq!(light("tidings_light=light; a=b"), Light::Bright);
        assert_eq!(light("tidings_light=\"><script>"), Light::System);
        assert_eq!(Light::of(&HeaderMap::new()), Light::System);
    }
}
