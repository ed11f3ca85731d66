//! The main text of a web page, and facts about it.
//!
//! [`extract`] takes the bytes and the address of a page. It returns an [`ExtractedArticle`], or
//! the reason why there is none. Every input has a limit, and no page makes it panic. The crate
//! fetches nothing, reads no clock and does not sanitise: the HTML of an article passes
//! `api::sanitise` before anybody sees it, as the HTML of feeds does.

mod base;
pub mod category;
mod cleaning;
mod decoding;
pub mod embed;
mod extraction;
mod guard;
pub mod icon;
pub mod language;
mod limits;
mod metadata;
mod places;
mod refusal;
mod text;
pub mod topic;

use feed::Time;

pub use decoding::self_contained;
pub use extraction::{ExtractionRule, extract};
pub use limits::PAGE_BYTES_MAX;
pub use refusal::NoArticle;

/// The main text of a page, with the facts that the page declares about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedArticle {
    pub title: Option<String>,
    pub byline: Option<String>,
    /// The name of the site.
    pub site: Option<String>,
    /// The page's own description, or its first paragraph.
    pub excerpt: Option<String>,
    pub published: Option<Time>,
    /// The address of the lead image.
    pub image: Option<String>,
    /// The address that the page gives as its own.
    pub canonical: Option<String>,
    /// The section of the site: `article:section` or `articleSection`.
    pub section: Option<String>,
    /// The language that the page declares, as it is written.
    pub declared_language: Option<String>,
    /// The language of the text, declared or detected.
    pub language: Option<language::TextLanguage>,
    pub direction: Option<TextDirection>,
    /// The page asks that copies of it are not shown elsewhere.
    pub noarchive: bool,
    /// The icons of the site that the page declares, best first.
    pub icons: Vec<icon::DeclaredIcon>,
    /// The players of other sites. The HTML has links in their places.
    pub embeds: Vec<embed::Embed>,
    /// Plain text, one line per block.
    pub text: String,
    /// The same text as HTML. It is not sanitised.
    pub html: String,
}

/// The direction of a text, if the page declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextDirection {
    LeftToRight,
    RightToLeft,
}

impl TextDirection {
    pub const fn word(self) -> &'static str {
        match self {
            TextDirection::LeftToRight => "ltr",
            TextDirection::RightToLeft => "rtl",
        }
    }
}
