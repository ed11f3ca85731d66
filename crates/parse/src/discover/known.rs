//! Addresses of well-known sites, rewritten to the addresses of their feeds by plain rules.
//!
//! A rule is a row of a table: host, path, and the addresses of the feeds. There is no code per
//! site and no request. A rewritten address is a candidate: it counts when it answers with a feed.
//! The rules are here and not in `feed`, because `parse` already finds the feeds that a page names.

mod rules;

use url::Url;

use rules::{RULES, SILENT, SiteRule};

/// Feeds that a rule may name. More would be a directory.
const FEEDS_MAX: usize = 8;

/// Returns the feeds of an address on a well-known site, best first, without a request.
pub fn known_feeds(url: &Url) -> Vec<Url> {
    first_match(url, false)
}

/// Returns the addresses where software that runs on many hosts has its feeds, judged by the path
/// alone. Another site may use the same path for something else.
pub fn likely_feeds(url: &Url) -> Vec<Url> {
    first_match(url, true)
}

/// Returns why a site has no feeds, in words for a person.
pub fn why_no_feed(url: &Url) -> Option<&'static str> {
    let host = plain_host(url)?;
    let row = SILENT.iter().find(|(hosts, _)| hosts.split(' ').any(|known| known == host));
    row.filter(|_| !is_feed_path(url)).map(|(_, why)| *why)
}

fn first_match(url: &Url, guess: bool) -> Vec<Url> {
    if !matches!(url.scheme(), "http" | "https") || is_feed_path(url) {
        return Vec::new();
    }
    let rules = RULES.iter().filter(|rule| rule.is_guess() == guess);
    let found = rules.filter_map(|rule| matched(rule, url)).next();
    found.unwrap_or_default()
}

/// Whether an address already looks like that of a feed. It is never rewritten.
fn is_feed_path(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let ends = [".rss", ".atom", ".xml", ".rdf", ".json", "/feed", "/feed/", "/rss", "/rss/"];
    ends.iter().any(|end| path.ends_with(end))
        || path.split('/').any(|part| matches!(part, "feed" | "feeds"))
}

/// Returns the feeds of a rule, if the address matches it.
fn matched(rule: &SiteRule, url: &Url) -> Option<Vec<Url>> {
    let mut parts: Vec<(&str, String)> = vec![("origin", url.origin().ascii_serialization())];
    match_host(rule.hosts, plain_host(url)?, &mut parts)?;
    let (path, query) = rule.path.split_once('?').unwrap_or((rule.path, ""));
    match_path(path, url, &mut parts)?;
    match_query(query, url, &mut parts)?;
    let filled = rule.feeds.split_whitespace().take(FEEDS_MAX);
    let feeds: Vec<Url> = filled.filter_map(|template| fill(template, &parts)).collect();
    (!feeds.is_empty()).then_some(feeds)
}

fn plain_host(url: &Url) -> Option<&str> {
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host))
}

type Parts<'a> = Vec<(&'a str, String)>;

/// Matches `host`, `*.host` (which keeps the name before it) or `*`.
fn match_host<'a>(pattern: &'a str, host: &str, parts: &mut Parts<'a>) -> Option<()> {
    if pattern == "*" {
        return Some(());
    }
    pattern.split(',').find_map(|one| match one.strip_prefix("*.") {
        Some(domain) => {
            let name = host.strip_suffix(domain)?.strip_suffix('.')?;
            (!name.is_empty() && !name.contains('.')).then(|| parts.push(("name", name.to_owned())))
        }
        None => (one == host).then_some(()),
    })
}

/// Matches a path part by part. `{x}` stands for one part or the end of one, `{x*}` for the rest.
fn match_path<'a>(pattern: &'a str, url: &Url, parts: &mut Parts<'a>) -> Option<()> {
    let mut segments = url.path_segments()?.filter(|part| !part.is_empty()).peekable();
    for wanted in pattern.split('/').filter(|part| !part.is_empty()) {
        let Some((before, name)) = wanted.split_once('{') else {
            (segments.next()? == wanted).then_some(())?;
            continue;
        };
        let name = name.trim_end_matches('}');
        if let Some(name) = name.strip_suffix('*') {
            let rest: Vec<&str> = segments.by_ref().collect();
            (!rest.is_empty()).then(|| parts.push((name, rest.join("/"))))?;
            continue;
        }
        let value = segments.next()?.strip_prefix(before)?;
        (!value.is_empty()).then(|| parts.push((name, value.to_owned())))?;
    }
    segments.peek().is_none().then_some(())
}

/// Matches one parameter of the query, such as `list={list}`.
fn match_query<'a>(pattern: &'a str, url: &Url, parts: &mut Parts<'a>) -> Option<()> {
    let Some((key, name)) = pattern.split_once('=') else { return Some(()) };
    let (_, value) = url.query_pairs().find(|(found, _)| found == key)?;
    let name = name.trim_start_matches('{').trim_end_matches('}');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+@:".contains(c);
    (!value.is_empty() && value.chars().all(is_plain)).then(|| parts.push((name, value.into())))
}

/// Fills the names of a template.
fn fill(template: &str, parts: &Parts<'_>) -> Option<Url> {
    let mut address = String::from(template);
    for (name, value) in parts {
        address = address.replace(&format!("{{{name}}}"), value);
    }
    Url::parse(&address).ok().filter(|_| !address.contains('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    #[test]
    fn every_rule_has_an_example_that_it_rewrites() {
        assert_eq!(RULES.len(), rules::rows().count(), "a row has five columns");
        assert!(RULES.len() > 60);
        for rule in RULES.iter() {
            let (page, feed) = rule.example;
            let url = Url::parse(page).unwrap();
            let found = if rule.is_guess() { likely_feeds(&url) } else { known_feeds(&url) };
            assert!(texts(&found).contains(&feed), "{page}: {:?}, not {feed}", texts(&found));
            let own = matched(rule, &url).unwrap_or_else(|| panic!("{page} matches another rule"));
            assert_eq!(texts(&own), texts(&found), "{page} matches a rule above its own");
        }
    }

    #[test]
    fn feeds_and_other_pages_are_left_alone() {
        for page in [
            "https://www.youtube.com/feeds/videos.xml?channel_id=UC1",
            "https://www.reddit.com/r/rust.rss",
            "https://www.reddit.com/r/rust/.rss",
            "https://github.com/rust-lang/rust/releases.atom",
            "https://github.com/",
            "https://github.com/settings/profile/a/b/c/d",
            "https://example.org/r/rust",
            "https://news.example/2026/11/story",
            "https://medium.com/feed/@someone",
            "https://someone.substack.com/feed",
            "https://evil.example/?u=https://github.com/a/b",
            "ftp://github.com/a/b",
        ] {
            assert_eq!(texts(&known_feeds(&Url::parse(page).unwrap())), [""; 0], "{page}");
        }
    }

    #[test]
    fn names_cannot_break_out_of_their_place() {
        let page = Url::parse("https://www.reddit.com/r/a%2F..%2Fb?x=1#y").unwrap();
        for feed in known_feeds(&page) {
            assert_eq!(feed.host_str(), Some("www.reddit.com"), "{feed}");
            assert!(feed.path().starts_with("/r/a%2F..%2Fb"), "{feed}");
        }
        let page = Url::parse("https://www.youtube.com/playlist?list=a%26b=c").unwrap();
        assert_eq!(known_feeds(&page), []);
    }

    #[test]
    fn sites_without_feeds_say_so() {
        let why = |page: &str| why_no_feed(&Url::parse(page).unwrap());
        assert!(
            why("https://www.instagram.com/someone").is_some_and(|why| why.contains("no feeds"))
        );
        assert_eq!(why("https://example.org/"), None);
    }
}
