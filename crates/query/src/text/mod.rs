//! Text as a reader sees it: without markup, folded, split into words. It does not know queries.

mod fold;
mod identity;
mod link;
mod markup;
mod phrase;
mod scan;
mod signature;

pub(crate) use identity::{folded, language_ranges};
pub(crate) use link::canonical as canonical_link;
pub(crate) use markup::{Markup, reduce};
pub use phrase::{Phrase, PhraseWord};
pub(crate) use scan::scan;
pub(crate) use signature::Signature;
