//! Bytes to documents, and documents to bytes.
//!
//! [`document`] reads RSS 0.90 to 2.0, RSS 1.0, Atom 0.3 and 1.0 and JSON Feed, even if they are
//! broken. Its warnings say what it repaired. It invents neither identities nor dates and does not
//! sanitise. It expands only the entities of XML and HTML, opens no other resource, reads no clock
//! and does not panic. One bad item never fails a document.

mod attribute;
mod base64;
pub mod date;
pub mod discover;
mod encoding;
mod entity;
mod json;
mod language;
pub mod media;
mod namespace;
pub mod opml;
mod parsed;
mod refusal;
mod resolve;
mod room;
mod scan;
mod warning;
pub mod write;
mod xml;

use url::Url;

pub use parsed::{Document, Format, Limits};
pub use refusal::{NotAFeed, NotAFeedKind};

use warning::{Defect, Warnings};

/// Reads a document. `content_type` is the HTTP header, if there was one. `base` is the address of
/// the document, against which relative links are resolved.
pub fn document(
    bytes: &[u8],
    content_type: Option<&str>,
    base: Option<&Url>,
    limits: &Limits,
) -> Result<Document, NotAFeed> {
    if let Some(refusal) = refusal::binary(bytes).filter(|_| !encoding::is_wide(bytes)) {
        return Err(refusal);
    }
    let decoded = encoding::decode(bytes, content_type);
    let mut warnings = Warnings::default();
    if let Some(warning) = &decoded.warning {
        warnings.note_whole(Defect::Encoding, warning);
    }
    let base = base.and_then(resolve::outermost);
    let base = base.as_deref();
    let text = decoded.text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with(['{', '[']) {
        return json::document(text, base, limits, warnings);
    }
    xml::document(text, base, limits, warnings)
}
