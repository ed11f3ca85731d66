//! One spelling of a path. Reader apps append a path to the address that people gave them, and a
//! slash at the end of that address makes `//v1/feeds`. Repeated slashes become one, and a slash at
//! the end of an API path is dropped. This happens before the gate and the routes see the path, so
//! that both judge the same one.

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// Paths where a slash at the end means nothing.
const APIS: [&str; 4] = ["/api/", "/v1/", "/reader/", "/accounts/"];
/// The rest of these paths is the name of a stream, which may be a feed's address. It stays
/// unchanged.
const STREAMS: [&str; 2] = ["/reader/api/0/stream/contents/", "/reader/atom/"];
/// The prefix of the same API for apps that expect FreshRSS.
const FRESHRSS: &str = "/api/greader.php";

/// Replaces the path of a request by its plain spelling.
pub async fn plain(mut request: Request) -> Request {
    if let Some(uri) = straightened(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

fn straightened(uri: &Uri) -> Option<Uri> {
    let path = plain_path(uri.path())?;
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(text).ok()?);
    Uri::from_parts(parts).ok()
}

/// Returns the plain spelling, or `None` if the path is plain already.
fn plain_path(path: &str) -> Option<String> {
    if !path.contains("//") && !path.ends_with('/') {
        return None;
    }
    let mut plain = String::with_capacity(path.len());
    for (at, c) in path.char_indices() {
        if c == '/' && plain.ends_with('/') {
            continue;
        }
        plain.push(c);
        let within = plain.strip_prefix(FRESHRSS).unwrap_or(&plain);
        if c == '/' && STREAMS.contains(&within) {
            plain.push_str(path[at..].trim_start_matches('/'));
            return Some(plain).filter(|plain| plain != path);
        }
    }
    let short = plain.trim_end_matches('/');
    if APIS.iter().any(|start| short.starts_with(start)) {
        plain.truncate(short.len());
    }
    Some(plain).filter(|plain| plain != path)
}

/// Returns the address that a form leads back to. Anything but a path on this server becomes `/`.
pub fn local_target(to: &str) -> String {
    let ours = to.starts_with('/')
        && !to.starts_with("//")
        && !to.contains('\\')
        && to.bytes().all(|byte| byte.is_ascii_graphic())
        && to.len() <= 2000;
    if ours { to.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_outside_of_this_server_becomes_the_start_page() {
        assert_eq!(local_target("/feed/3?before=9"), "/feed/3?before=9");
        for to in ["", "//evil.test", "https://evil.test", "/\\evil.test", "/a\r\nSet-Cookie: x"] {
            assert_eq!(local_target(to), "/", "{to}");
        }
    }

    #[test]
    fn slashes_are_made_one_and_dropped_at_the_end_of_apis() {
        for (path, expect) in [
            ("//v1/feeds", "/v1/feeds"),
            ("///api//v1/feeds//", "/api/v1/feeds"),
            ("/v1/entries/", "/v1/entries"),
            ("//fever//", "/fever/"),
            ("//", "/"),
            ("//login", "/login"),
            ("/feeds//x.atom", "/feeds/x.atom"),
            ("//accounts/ClientLogin", "/accounts/ClientLogin"),
            ("/reader/api/0//tag/list", "/reader/api/0/tag/list"),
            (
                "//reader//api/0/stream/contents//feed/https://a.org//x/",
                "/reader/api/0/stream/contents/feed/https://a.org//x/",
            ),
            (
                "/api/greader.php//reader/atom/feed/http://a/",
                "/api/greader.php/reader/atom/feed/http://a/",
            ),
        ] {
            assert_eq!(plain_path(path).as_deref(), Some(expect), "{path}");
        }
    }

    #[test]
    fn a_plain_path_stays_as_it_is() {
        for path in [
            "/",
            "/v1/",
            "/fever/",
            "/v1/feeds",
            "/lab/x/",
            "/reader/atom/feed/https://a.org/x/",
            "/reader/api/0/stream/contents/feed/https://a.org//",
            "/api/greader.php/reader/api/0/stream/contents/feed/https://a.org/",
            "/%2F%2Fv1",
        ] {
            assert_eq!(plain_path(path), None, "{path}");
        }
    }

    #[test]
    fn the_query_stays_and_the_absolute_form_is_understood() {
        let plain = |text: &str| straightened(&text.parse().unwrap()).unwrap().to_string();
        assert_eq!(plain("//v1/feeds?a=//b/"), "/v1/feeds?a=//b/");
        assert_eq!(plain("http://host//v1//feeds"), "http://host/v1/feeds");
    }
}
