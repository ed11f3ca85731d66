//! Reads RSS, RDF and Atom: finds the root element of a feed and walks it once.

mod capture;
mod draft;
mod field;
mod hint;
mod media;
mod open;
mod vocabulary;
mod walk;

pub(crate) use draft::named;
use url::Url;

use crate::attribute::Attributes;
use crate::namespace::{Ns, Scopes, lower};
use crate::refusal::{NotAFeed, is_html_root};
use crate::scan::{MarkupToken, Scanner};
use crate::warning::{Defect, Warnings};
use crate::{Document, Format, Limits};

pub(crate) fn document(
    text: &str,
    base: Option<&Url>,
    limits: &Limits,
    mut warnings: Warnings,
) -> Result<Document, NotAFeed> {
    let root = find_root(text, &mut warnings)?;
    let mut walk = walk::Walk::new(text, &root, base, limits, warnings);
    walk.run();
    Ok(walk.into_document())
}

/// The root of a feed: its position and its format.
struct Root {
    at: usize,
    format: Format,
    /// Whether the root is of the Atom family. Elements of the other family are guests.
    atom: bool,
    /// The meaning of an undeclared or unknown default namespace.
    ns: Ns,
}

fn find_root(text: &str, warnings: &mut Warnings) -> Result<Root, NotAFeed> {
    // Faults before the root are reported once, as junk.
    let mut unheard = Warnings::default();
    let mut scanner = Scanner::new(text, 0);
    let mut junk_at = None;
    let first = loop {
        match scanner.next(&mut unheard) {
            None => return Err(NotAFeed::text(text)),
            Some(MarkupToken::Start { name, attrs, .. }) => {
                break (scanner.token_start(), name, attrs);
            }
            Some(MarkupToken::Text(t) | MarkupToken::Cdata(t)) if !t.trim().is_empty() => {
                let space = t.len() - t.trim_start().len();
                junk_at.get_or_insert(scanner.token_start() + space);
            }
            Some(_) => {}
        }
    };
    let (at, name, attrs) = first;
    let (root, junk_at) = match root(at, name, Attributes::new(attrs)) {
        Some(root) => (root, junk_at),
        None => (embedded_root(text, at, name, attrs)?, Some(junk_at.unwrap_or(at))),
    };
    if let Some(junk_at) = junk_at {
        warnings.note(Defect::JunkBefore, junk_at);
    }
    Ok(root)
}

/// Finds a feed after other markup, which is mostly error messages of the publisher's software. A
/// page whose root is HTML is a page, even if it quotes a feed.
fn embedded_root(text: &str, at: usize, name: &str, attrs: &str) -> Result<Root, NotAFeed> {
    let local = lower(name.rsplit(':').next().unwrap_or(name));
    let refusal = || NotAFeed::root(name, text);
    if is_html_root(&local, Attributes::new(attrs)) {
        return Err(refusal());
    }
    let found = ["<rss", "<feed", "<rdf:RDF"]
        .iter()
        .filter_map(|open| text[at..].find(open).map(|offset| at + offset))
        .min()
        .ok_or_else(refusal)?;
    if text[at..found].contains("<html") {
        return Err(refusal());
    }
    let mut scanner = Scanner::new(text, found);
    match scanner.next(&mut Warnings::default()) {
        Some(MarkupToken::Start { name, attrs, .. }) => {
            root(found, name, Attributes::new(attrs)).ok_or_else(refusal)
        }
        _ => Err(refusal()),
    }
}

/// Returns the format that a root element announces.
fn root(at: usize, name: &str, attrs: Attributes<'_>) -> Option<Root> {
    let mut scopes = Scopes::default();
    scopes.enter(0, attrs);
    let (ns, local) = scopes.resolve(name);
    let version = attrs.get("version").unwrap_or_default();
    let version = version.trim();
    let rss = |format, ns| Some(Root { at, format, atom: false, ns });
    match lower(local).as_ref() {
        "rss" if version.starts_with("0.9") => rss(Format::Rss09x, Ns::Rss),
        "rss" if version.starts_with("1.") => rss(Format::Rss10, Ns::Rss),
        "rss" => rss(Format::Rss20, Ns::Rss),
        "rdf" if scopes.declares(Ns::Rss090) => rss(Format::Rss09x, Ns::Rss090),
        "rdf" if ns == Ns::Rdf || ns == Ns::Rss || scopes.declares(Ns::Rss10) => {
            rss(Format::Rss10, Ns::Rss10)
        }
        "channel" if ns.is_rss() => rss(Format::Rss09x, Ns::Rss),
        "feed" | "entry" if ns.is_atom() || ns.is_rss() || attrs.get("version").is_some() => {
            let old = ns == Ns::Atom03 || (ns != Ns::Atom10 && version.starts_with("0."));
            let (format, ns) =
                if old { (Format::Atom03, Ns::Atom03) } else { (Format::Atom10, Ns::Atom10) };
            Some(Root { at, format, atom: true, ns })
        }
        _ => None,
    }
}
