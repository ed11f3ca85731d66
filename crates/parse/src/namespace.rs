//! Finds the vocabulary of an element: by its namespace URI, or by the usual prefix if the
//! publisher did not declare it.

use std::borrow::Cow;

use crate::attribute::{Attributes, value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ns {
    /// No namespace, or one of those used for RSS over the years.
    Rss,
    /// RSS 0.90. It is separate because it identifies the format.
    Rss090,
    Rss10,
    Atom10,
    Atom03,
    Rdf,
    Dc,
    DcTerms,
    Content,
    Media,
    Itunes,
    /// The podcast namespace of podcastindex.org.
    Podcast,
    /// Podlove Simple Chapters.
    Chapters,
    Sy,
    FeedBurner,
    Xhtml,
    Other,
}

impl Ns {
    pub(crate) fn is_rss(self) -> bool {
        matches!(self, Ns::Rss | Ns::Rss090 | Ns::Rss10)
    }

    pub(crate) fn is_atom(self) -> bool {
        matches!(self, Ns::Atom10 | Ns::Atom03)
    }

    fn of_uri(uri: &str) -> Ns {
        let uri = uri.trim().to_ascii_lowercase();
        let bare = uri.trim_start_matches("https://").trim_start_matches("http://");
        match bare.trim_end_matches(['/', '#']) {
            "" | "backend.userland.com/rss" | "backend.userland.com/rss2" => Ns::Rss,
            "backend.userland.com/rss091" | "backend.userland.com/rss092" => Ns::Rss,
            "blogs.law.harvard.edu/tech/rss" | "cyber.law.harvard.edu/rss" => Ns::Rss,
            "www.rssboard.org/rss-specification" => Ns::Rss,
            "purl.org/net/rss1.1" | "purl.org/rss/1.0" => Ns::Rss10,
            "my.netscape.com/rdf/simple/0.9" | "channel.netscape.com/rdf/simple/0.9" => Ns::Rss090,
            "my.netscape.com/publish/formats/rss-0.91.dtd" => Ns::Rss,
            "www.w3.org/2005/atom" => Ns::Atom10,
            "purl.org/atom/ns" => Ns::Atom03,
            "www.w3.org/1999/02/22-rdf-syntax-ns" => Ns::Rdf,
            "purl.org/dc/elements/1.0" | "purl.org/dc/elements/1.1" => Ns::Dc,
            "purl.org/dc/terms" => Ns::DcTerms,
            "purl.org/rss/1.0/modules/content" => Ns::Content,
            "search.yahoo.com/mrss" | "www.rssboard.org/media-rss" => Ns::Media,
            "www.itunes.com/dtds/podcast-1.0.dtd" | "example.com/dtds/podcast-1.0.dtd" => {
                Ns::Itunes
            }
            "podcastindex.org/namespace/1.0"
            | "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md" => Ns::Podcast,
            "podlove.org/simple-chapters" => Ns::Chapters,
            "purl.org/rss/1.0/modules/syndication" => Ns::Sy,
            "rssnamespace.org/feedburner/ext/1.0" => Ns::FeedBurner,
            "www.w3.org/1999/xhtml" | "www.w3.org/tr/rec-html40" => Ns::Xhtml,
            other if other.starts_with("purl.org/atom/") => Ns::Atom03,
            _ => Ns::Other,
        }
    }

    fn of_prefix(prefix: &str) -> Ns {
        match prefix.to_ascii_lowercase().as_str() {
            "rss" => Ns::Rss,
            "atom" | "atom10" | "a10" => Ns::Atom10,
            "atom03" => Ns::Atom03,
            "rdf" => Ns::Rdf,
            "dc" => Ns::Dc,
            "dcterms" | "dct" | "dcq" => Ns::DcTerms,
            "content" => Ns::Content,
            "media" => Ns::Media,
            "itunes" => Ns::Itunes,
            "podcast" => Ns::Podcast,
            "psc" => Ns::Chapters,
            "sy" => Ns::Sy,
            "feedburner" => Ns::FeedBurner,
            "xhtml" | "html" | "body" => Ns::Xhtml,
            _ => Ns::Other,
        }
    }
}

/// The declarations in force, the innermost last.
#[derive(Default)]
pub(crate) struct Scopes<'a> {
    declared: Vec<(usize, &'a str, Ns)>,
}

/// Real feeds declare fewer namespaces. The limit bounds the work for each element.
const DECLARED_MAX: usize = 256;

impl<'a> Scopes<'a> {
    /// Adds the declarations of an element opened at `depth`.
    pub(crate) fn enter(&mut self, depth: usize, attrs: Attributes<'a>) {
        for (name, raw) in attrs.iter() {
            let Some(rest) = name.strip_prefix("xmlns") else { continue };
            let prefix = match rest.strip_prefix(':') {
                Some(prefix) => prefix,
                None if rest.is_empty() => "",
                None => continue,
            };
            if self.declared.len() < DECLARED_MAX {
                self.declared.push((depth, prefix, Ns::of_uri(&value(raw))));
            }
        }
    }

    /// Removes the declarations of elements at `depth` and below.
    pub(crate) fn leave(&mut self, depth: usize) {
        while self.declared.last().is_some_and(|(d, _, _)| *d >= depth) {
            self.declared.pop();
        }
    }

    /// Treats the default namespace of the root as that of its format, whichever it is.
    pub(crate) fn adopt_default(&mut self, ns: Ns) {
        for row in self
            .declared
            .iter_mut()
            .filter(|(_, prefix, known)| prefix.is_empty() && *known == Ns::Other)
        {
            row.2 = ns;
        }
    }

    /// Whether any declaration names this namespace.
    pub(crate) fn declares(&self, ns: Ns) -> bool {
        self.declared.iter().any(|(_, _, known)| *known == ns)
    }

    /// Returns the namespace and the local name of an element.
    pub(crate) fn resolve(&self, name: &'a str) -> (Ns, &'a str) {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let found = self.declared.iter().rev().find(|(_, p, _)| *p == prefix);
        let ns = match found {
            Some((_, _, ns)) => *ns,
            None if prefix.is_empty() => Ns::Rss,
            None => Ns::of_prefix(prefix),
        };
        (ns, local)
    }
}

/// Returns a name in lower case, for matching. Names longer than any known one are not changed.
pub(crate) fn lower(local: &str) -> Cow<'_, str> {
    if local.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(local.to_ascii_lowercase())
    } else {
        Cow::Borrowed(local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_uris_win_over_prefixes_and_end_with_their_element() {
        let mut scopes = Scopes::default();
        scopes.enter(0, Attributes::new(" xmlns='http://www.w3.org/2005/Atom' xmlns:media='x'"));
        scopes.enter(1, Attributes::new(" xmlns:foo=\"http://purl.org/dc/elements/1.1/\""));
        assert_eq!(scopes.resolve("title"), (Ns::Atom10, "title"));
        assert_eq!(scopes.resolve("foo:date"), (Ns::Dc, "date"));
        assert_eq!(scopes.resolve("media:title"), (Ns::Other, "title"));
        scopes.leave(1);
        assert_eq!(scopes.resolve("foo:date"), (Ns::Other, "date"));
        assert_eq!(scopes.resolve("dc:date"), (Ns::Dc, "date"));
    }
}
