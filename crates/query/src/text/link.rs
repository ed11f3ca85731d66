//! One form for links to the same page, so that the same story is recognised in two feeds.
//!
//! It does not follow redirects, so shortened links stay as they are.

/// Parameters that tell where a reader came from and do not change the page.
const TRACKING: [&str; 12] = [
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "mc_cid",
    "mc_eid",
    "igshid",
    "yclid",
    "ref_src",
    "cmpid",
    "at_medium",
    "at_campaign",
];

/// Returns the link without scheme, `www.`, default port, fragment, tracking parameters and last
/// slash, with its host in lower case. Returns `None` if it is not a web address.
pub(crate) fn canonical(link: &str) -> Option<String> {
    let link = link.trim();
    let (scheme, rest) = link.split_once("://")?;
    let port = match scheme.to_ascii_lowercase().as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let rest = rest.split('#').next().unwrap_or(rest);
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(port).unwrap_or(&host);
    let host = host.strip_prefix("www.").unwrap_or(host);
    if host.is_empty() {
        return None;
    }
    let mut out = host.to_owned();
    let path = path.trim_end_matches('/');
    if !path.is_empty() {
        out.push('/');
        out.push_str(path);
    }
    let mut joint = '?';
    for parameter in query.split('&').filter(|p| !p.is_empty() && !is_tracking(p)) {
        out.push(joint);
        out.push_str(parameter);
        joint = '&';
    }
    Some(out)
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or(parameter).to_ascii_lowercase();
    name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_one_page_have_one_form() {
        let same = [
            "http://www.Example.org/a/b/",
            "https://example.org/a/b",
            "https://example.org:443/a/b?utm_source=rss&utm_medium=feed#top",
            " HTTPS://example.org/a/b?fbclid=1 ",
        ];
        for link in same {
            assert_eq!(canonical(link).as_deref(), Some("example.org/a/b"), "{link}");
        }
        for other in ["https://example.org/a/c", "https://example.org/A/b", "https://e.org/a/b"] {
            assert_ne!(canonical(other).as_deref(), Some("example.org/a/b"), "{other}");
        }
        assert_eq!(canonical("https://e.org/?id=1&utm_x=2&b").as_deref(), Some("e.org?id=1&b"));
    }

    #[test]
    fn what_is_no_web_address_has_no_form() {
        for link in ["", "example.org", "mailto:a@b.c", "urn://x", "http://", "https://www./x"] {
            assert_eq!(canonical(link), None, "{link}");
        }
    }
}
