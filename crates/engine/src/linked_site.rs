//! The sites that an entry links to. Pure: links in, sites out.

use feed::{Domain, site_of};
use parse::discover::why_no_feed;
use store::LinkedSite;
use url::Url;

/// Registrable domains that everybody links to and that are not one publication: networks, shops,
/// stores of programs and videos, shorteners of addresses, archives and encyclopedias.
const PLATFORMS: [&str; 39] = [
    "amazon.co.uk",
    "amazon.com",
    "amazon.de",
    "amzn.to",
    "apple.com",
    "archive.org",
    "archive.ph",
    "archive.today",
    "bit.ly",
    "bsky.app",
    "discord.gg",
    "doi.org",
    "ebay.com",
    "facebook.com",
    "flickr.com",
    "github.com",
    "gitlab.com",
    "goo.gl",
    "google.com",
    "imgur.com",
    "instagram.com",
    "linkedin.com",
    "medium.com",
    "patreon.com",
    "pinterest.com",
    "reddit.com",
    "soundcloud.com",
    "spotify.com",
    "t.co",
    "t.me",
    "threads.net",
    "tiktok.com",
    "tinyurl.com",
    "twitter.com",
    "vimeo.com",
    "wikipedia.org",
    "x.com",
    "youtu.be",
    "youtube.com",
];
/// Bytes of a host name, as DNS allows.
const HOST_BYTES_MAX: usize = 253;

/// Returns the sites of an entry's page and of the links in its text, each once. The page of an
/// entry may be on another site than its feed. Platforms, addresses with numbers and local names
/// are left out.
pub fn linked_sites(page: Option<&str>, links: &[String]) -> Vec<LinkedSite> {
    let mut sites: Vec<LinkedSite> = Vec::new();
    for link in page.into_iter().chain(links.iter().map(String::as_str)) {
        let Some(url) = Url::parse(link).ok().filter(is_publication) else { continue };
        let Some(site) = site_of(link) else { continue };
        if sites.iter().all(|one| one.site != site) {
            let origin = url.origin().ascii_serialization();
            sites.push(LinkedSite { site, origin });
        }
    }
    sites
}

/// Returns whether a link may lead to a publication with a feed of its own.
fn is_publication(url: &Url) -> bool {
    let is_named = match url.host() {
        Some(url::Host::Domain(host)) => host.contains('.') && host.len() <= HOST_BYTES_MAX,
        _ => false,
    };
    is_named && !PLATFORMS.contains(&Domain::of(url).as_str()) && why_no_feed(url).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sites_are_found_once_and_platforms_never() {
        let links = [
            "https://www.other.example.org/a",
            "http://other.example.org/b",
            "https://m.youtube.com/watch?v=1",
            "https://x.com/somebody",
            "http://192.0.2.7/",
            "http://[::1]/",
            "http://intranet/wiki",
            "https://second.example:8443/",
            "mailto:a@b.org",
            "https://page.example/",
        ]
        .map(str::to_owned);
        let found = linked_sites(Some("https://page.example/1"), &links);
        let site = |site: &str, origin: &str| LinkedSite {
            site: site.to_owned(),
            origin: origin.to_owned(),
        };
        assert_eq!(
            found,
            [
                site("page.example", "https://page.example"),
                site("other.example.org", "https://www.other.example.org"),
                site("second.example", "https://second.example:8443"),
            ]
        );
    }

    #[test]
    fn the_list_of_platforms_has_an_order() {
        assert!(PLATFORMS.is_sorted());
    }
}
