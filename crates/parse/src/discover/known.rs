//! Addresses of well-known sites, rewritten to the addresses of their feeds by plain rules.
//!
//! A rule is a row of a table: host, path, and the addresses of the feeds. There is no code per
//! site and no request. A rewritten address is a candidate: it counts when it answers with a feed.
//! The rules are here and not in `feed`, because `parse` already finds the feeds that a page names.

mod pattern;
mod rules;

use url::Url;

use pattern::PatternParts;
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
    let parts = PatternParts::matching(rule.hosts, rule.path, url, plain_host(url)?)?;
    let templates = rule.feeds.split_whitespace().take(FEEDS_MAX);
    let feeds: Vec<Url> = templates.filter_map(|template| parts.fill(template)).collect();
    (!feeds.is_empty()).then_some(feeds)
}

fn plain_host(url: &Url) -> Option<&str> {
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host))
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
        assert!(RULES.len() > 120);
        let mut wrong = Vec::new();
        for rule in RULES.iter() {
            let (page, feed) = rule.example;
            let url = Url::parse(page).unwrap();
            let found = if rule.is_guess() { likely_feeds(&url) } else { known_feeds(&url) };
            if !texts(&found).contains(&feed) {
                wrong.push(format!("{page}: {:?}, not {feed}", texts(&found)));
            }
            if matched(rule, &url).as_ref() != Some(&found) {
                wrong.push(format!("{page} matches another rule above its own"));
            }
            if rule.hosts.contains("*.") && rule.path.contains("{name}") {
                wrong.push(format!("{page}: {{name}} belongs to the host"));
            }
        }
        assert_eq!(wrong, [""; 0]);
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
            "https://www.flickr.com/photos/an-alias/",
            "https://www.youtube.com/@someone",
            "https://www.youtube.com/watch?v=abc",
            "https://mygitlab.example/a/b",
            "https://a.b.substack.com/",
            // The name of a person there is not that of a publication.
            "https://substack.com/@someone",
            "https://www.tumblr.com/tagged/cats",
            "https://www.tumblr.com/explore/trending",
            "https://www.tumblr.com/search/a",
            "https://vimeo.com/watch",
            "https://github.com/settings",
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
        for (page, feed) in [
            (
                "https://www.youtube.com/playlist?list=a%26channel_id=c%23d",
                "https://www.youtube.com/feeds/videos.xml?playlist_id=a%26channel_id%3Dc%23d",
            ),
            (
                "https://en.wikipedia.org/wiki/A&action=delete+b",
                "https://en.wikipedia.org/w/index.php?title=A%26action=delete%2Bb&action=history\
                 &feed=atom",
            ),
        ] {
            assert_eq!(texts(&known_feeds(&Url::parse(page).unwrap())), [feed]);
        }
        for page in
            ["https://substack.com/@evil.example%2F", "https://substack.com/@evil.example:1"]
        {
            assert_eq!(texts(&known_feeds(&Url::parse(page).unwrap())), [""; 0], "{page}");
        }
    }

    #[test]
    fn long_paths_are_not_compared() {
        let page = format!("https://gitlab.com/{}", "a/-/".repeat(2000));
        assert_eq!(known_feeds(&Url::parse(&page).unwrap()), []);
    }

    #[test]
    fn sites_without_feeds_say_so() {
        let why = |page: &str| why_no_feed(&Url::parse(page).unwrap());
        assert!(
            why("https://www.instagram.com/someone").is_some_and(|why| why.contains("no feeds"))
        );
        for host in ["facebook.com", "x.com", "www.tiktok.com", "t.me", "open.spotify.com"] {
            assert!(why(&format!("https://{host}/someone")).is_some(), "{host}");
        }
        assert!(why("https://groups.google.com/g/some").is_some());
        assert_eq!(why("https://example.org/"), None);
    }
}
