//! The parts around every page: visitor, navigation, theme, choices, form extractors and assets.

pub mod assets;
pub mod choices;
mod forms;
mod section;
pub mod theme;
mod visitor;

pub use forms::{AdminForm, AdminVisitor, OwnForm, WriteForm, forbidden};
pub use section::NavSection;
pub use visitor::Visitor;

use store::TokenScope;

use crate::ServerContext;
use crate::words::{span, strftime};
use choices::{TextSize, TextWidth};
use theme::Theme;

/// The values that the layout template shows around the content of a page.
pub struct Frame {
    pub style: String,
    pub script: String,
    pub app: String,
    pub icon: String,
    pub version: &'static str,
    pub demo: bool,
    pub now: String,
    pub now_exact: String,
    pub outage: Option<String>,
    pub uptime: String,
    pub visitor: Visitor,
    pub section: Option<NavSection>,
}

impl Frame {
    pub fn new(context: &ServerContext, visitor: Visitor, section: Option<NavSection>) -> Frame {
        let (now, live) = (visitor.now(context), (context.live)());
        Frame {
            style: assets::STYLE.address(),
            script: assets::SCRIPT.address(),
            app: assets::APP.address(),
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

    /// Returns the key that every form on this page must carry.
    pub fn form_key(&self) -> &str {
        let person = self.visitor.person.as_ref();
        person.and_then(|person| person.form_key.as_deref()).unwrap_or("")
    }

    /// Returns the number of the account whose page this is; `None` for a stranger.
    pub fn account(&self) -> Option<i64> {
        self.visitor.person.as_ref().map(|person| person.account.0)
    }

    /// Returns whether the visitor may see the navigation.
    pub fn is_known(&self) -> bool {
        self.visitor.person.is_some()
    }

    /// Returns the name of the account that is logged in.
    pub fn name(&self) -> Option<&str> {
        self.visitor.person.as_ref().and_then(|person| person.name.as_deref())
    }

    /// Returns whether the visitor may change feeds, queries and the budget.
    pub fn is_admin(&self) -> bool {
        self.visitor.may(TokenScope::Admin)
    }

    /// Returns whether the visitor may change their own subscriptions, marks and queries.
    pub fn may_write(&self) -> bool {
        self.visitor.may(TokenScope::Write)
    }

    /// Returns whether there are accounts, each with its own subscriptions.
    pub fn has_accounts(&self) -> bool {
        self.visitor.subscriber().is_some()
    }

    pub fn navigation(&self) -> [NavSection; 6] {
        NavSection::NAVIGATION
    }

    pub fn is_at(&self, section: &NavSection) -> bool {
        self.section == Some(*section)
    }

    pub fn is_at_account(&self) -> bool {
        self.is_at(&NavSection::Account)
    }

    /// Returns the name of the zone in which the page shows times.
    pub fn zone(&self) -> &'static str {
        self.visitor.zone().name()
    }

    /// Returns the zone that the script compares with the browser's zone. `None` if the account
    /// chose a zone, or if the page answers a form and cannot be reloaded.
    pub fn guessed_zone(&self) -> Option<&'static str> {
        let guessed = self.visitor.reloads && self.visitor.choices.zone.is_none();
        guessed.then(|| self.zone())
    }

    pub fn sizes(&self) -> [TextSize; 4] {
        TextSize::ALL
    }

    pub fn is_sized(&self, size: &TextSize) -> bool {
        self.visitor.choices.size == *size
    }

    pub fn widths(&self) -> [TextWidth; 3] {
        TextWidth::ALL
    }

    pub fn is_wide(&self, width: &TextWidth) -> bool {
        self.visitor.choices.width == *width
    }

    pub fn themes(&self) -> [Theme; 3] {
        Theme::ALL
    }

    pub fn is_theme(&self, theme: &Theme) -> bool {
        self.visitor.theme == *theme
    }
}
