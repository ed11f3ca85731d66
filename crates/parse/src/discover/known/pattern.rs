//! Matches an address with the pattern of a rule, and fills the templates of its feeds. `rules.txt`
//! says what patterns and templates mean.

use url::{Url, form_urlencoded};

/// Longer paths match no rule, so that patterns with two rests stay cheap.
const SEGMENTS_MAX: usize = 32;

/// Words that stand where a site has the names of people, for pages of its own. They would make
/// the address of a stranger.
const NOT_USERS: &str = "\
    about dashboard explore features help jobs likes login logout messages new notifications \
    policy pricing privacy register search settings signup support tagged tags terms topics \
    trending upload watch";

/// A named part of an address.
struct AddressPart<'a> {
    name: &'a str,
    /// The text as it is written in a path.
    in_path: String,
    /// The same as the value of a parameter.
    in_query: String,
}

/// The named parts of an address that matches a pattern.
#[derive(Default)]
pub struct PatternParts<'a>(Vec<AddressPart<'a>>);

impl<'a> PatternParts<'a> {
    /// Compares an address with the hosts and the path of a rule.
    pub fn matching(hosts: &'a str, path: &'a str, url: &Url, host: &str) -> Option<Self> {
        let mut parts = PatternParts::default();
        parts.add("origin", url.origin().ascii_serialization());
        parts.match_hosts(hosts, host)?;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let named = |text: &'a str| text.split('/').filter(|part| !part.is_empty());
        let pattern: Vec<&'a str> = named(path).collect();
        let segments: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        (segments.len() <= SEGMENTS_MAX).then_some(())?;
        parts.match_path(&pattern, &segments)?;
        parts.match_query(query, url)?;
        Some(parts)
    }

    /// Fills the names of a template.
    pub fn fill(&self, template: &str) -> Option<Url> {
        let (path, query) = match template.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (template, None),
        };
        let mut address = self.filled(path, |part| &part.in_path);
        if let Some(query) = query {
            address.push('?');
            address.push_str(&self.filled(query, |part| &part.in_query));
        }
        Url::parse(&address).ok().filter(|_| !address.contains('{'))
    }

    fn filled(
        &self,
        template: &str,
        value: impl for<'p> Fn(&'p AddressPart<'a>) -> &'p String,
    ) -> String {
        self.0.iter().fold(template.to_owned(), |text, part| {
            let text = text.replace(&format!("{{{}}}", part.name), value(part));
            text.replace(&format!("{{+{}}}", part.name), &part.in_path)
        })
    }

    /// Adds a part of a path or a host.
    fn add(&mut self, name: &'a str, in_path: String) {
        // These have a meaning in a query. Everything else is escaped already.
        let in_query = in_path.replace('&', "%26").replace('+', "%2B");
        self.0.push(AddressPart { name, in_path, in_query });
    }

    /// Matches `host`, `*.host` (which keeps the name before it), `host.*` or `*`.
    fn match_hosts(&mut self, patterns: &str, host: &str) -> Option<()> {
        patterns.split(',').find_map(|pattern| {
            if let Some(domain) = pattern.strip_prefix("*.") {
                let name = host.strip_suffix(domain)?.strip_suffix('.')?;
                let is_one = !name.is_empty() && !name.contains('.');
                return is_one.then(|| self.add("name", name.to_owned()));
            }
            let matches = match pattern.strip_suffix(".*") {
                Some(start) => host.strip_prefix(start)?.starts_with('.'),
                None => pattern == "*" || pattern == host,
            };
            matches.then_some(())
        })
    }

    /// Matches a path part by part. The first rest is as short as possible.
    fn match_path(&mut self, pattern: &[&'a str], segments: &[&str]) -> Option<()> {
        let Some((first, others)) = pattern.split_first() else {
            return segments.is_empty().then_some(());
        };
        let rest = first.strip_prefix('{').and_then(|name| name.strip_suffix("*}"));
        let Some(rest) = rest else {
            let (segment, more) = segments.split_first()?;
            self.match_segment(first, segment)?;
            return self.match_path(others, more);
        };
        let n_parts = self.0.len();
        for n in 1..=segments.len() {
            self.add(rest, segments[..n].join("/"));
            if self.match_path(others, &segments[n..]).is_some() {
                return Some(());
            }
            self.0.truncate(n_parts);
        }
        None
    }

    /// Matches one part of a path. A name stands for the text up to the next letters of the
    /// pattern.
    fn match_segment(&mut self, pattern: &'a str, text: &str) -> Option<()> {
        let Some((before, named)) = pattern.split_once('{') else {
            return (pattern == text).then_some(());
        };
        let (name, after) = named.split_once('}')?;
        let text = text.strip_prefix(before)?;
        let next = after.split('{').next().unwrap_or_default();
        let end = if next.is_empty() { text.len() } else { text.find(next)? };
        let is_taken = name == "user" && NOT_USERS.split_whitespace().any(|word| word == text);
        (end > 0 && !is_taken).then(|| self.add(name, text[..end].to_owned()))?;
        self.match_segment(after, &text[end..])
    }

    /// Matches parameters such as `list={list}` or `action=history`, wherever they stand.
    fn match_query(&mut self, pattern: &'a str, url: &Url) -> Option<()> {
        for wanted in pattern.split('&').filter(|wanted| !wanted.is_empty()) {
            let (key, wanted) = wanted.split_once('=')?;
            let (_, value) = url.query_pairs().find(|(found, _)| found == key)?;
            let name = wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            match name {
                Some(name) if !value.is_empty() => {
                    let text: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
                    self.0.push(AddressPart { name, in_path: text.clone(), in_query: text });
                }
                None if value == wanted => {}
                _ => return None,
            }
        }
        Some(())
    }
}
