//! Reads the `Link` header (RFC 8288) as far as feeds use it: the hub that pushes the document, and
//! the address under which the hub does. Other relations are ignored.

use feed::Links;
use reqwest::header::{self, HeaderMap};
use url::Url;

/// Further headers are ignored.
const HEADERS_MAX: usize = 16;

/// Reads the links of an answer to a request for `url`.
pub(crate) fn links(url: &Url, headers: &HeaderMap) -> Links {
    let mut links = Links::default();
    let values = headers.get_all(header::LINK).iter().take(HEADERS_MAX);
    for value in values.filter_map(|value| value.to_str().ok()) {
        let mut rest = value;
        while let Some((target, parameters, after)) = next(rest) {
            rest = after;
            let Ok(target) = url.join(target.trim()) else { continue };
            for rel in relations(parameters) {
                let place = match rel.to_ascii_lowercase().as_str() {
                    "hub" => &mut links.hub,
                    "self" => &mut links.own,
                    _ => continue,
                };
                place.get_or_insert_with(|| target.clone());
            }
        }
    }
    links
}

/// Returns the next link: its target, its parameters and the rest. A comma ends it, except in
/// quotes.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('<')? + 1;
    let end = start + text[start..].find('>')?;
    let (target, tail) = (&text[start..end], &text[end + 1..]);
    let mut quoted = false;
    let stop = tail.find(|c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    let stop = stop.unwrap_or(tail.len());
    Some((target, &tail[..stop], &tail[stop..]))
}

/// Returns the relations of the first `rel`, which may be several.
fn relations(parameters: &str) -> impl Iterator<Item = &str> {
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"'))
    });
    value.unwrap_or_default().split_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> (Option<String>, Option<String>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::LINK, header::HeaderValue::from_str(value).unwrap());
        }
        let links = links(&Url::parse("http://e.org/a/feed").unwrap(), &headers);
        (links.hub.map(Into::into), links.own.map(Into::into))
    }

    #[test]
    fn hub_and_self_are_found_however_they_are_written() {
        let both = (Some("http://hub.e.org/".to_owned()), Some("http://e.org/feed".to_owned()));
        for values in [
            &["<http://hub.e.org/>; rel=\"hub\", <http://e.org/feed>; rel=\"self\""][..],
            &["<http://hub.e.org/>; rel=hub", "</feed>; title=\"a, b\"; rel=self"],
            &[
                "</x>; rel=next, <http://hub.e.org>;REL=\"HUB\"; rel=self",
                "<../feed>; rel=\"self x\"",
            ],
            &[
                "<http://hub.e.org/>; rel=hub, <http://other/>; rel=hub",
                "<//e.org/feed>;rel='s';x, </feed>;rel=self",
            ],
        ] {
            assert_eq!(read(values), both, "{values:?}");
        }
    }

    #[test]
    fn what_is_no_link_names_nothing() {
        for value in ["", "<>", "<", "http://hub/; rel=hub", "<http://[>; rel=hub", "<a>; rel"] {
            assert_eq!(read(&[value]), (None, None), "{value}");
        }
    }
}
