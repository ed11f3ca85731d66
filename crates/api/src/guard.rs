//! What surrounds every answer: headers that keep a page from loading or leaking anything, and
//! the check of the name under which we are asked. It knows no users.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Nothing but our own stylesheet, pictures that come through us, and forms that lead back to us.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the headers to every answer; pages are always made anew.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests whose `Host` is not this machine's own.
pub async fn local_names_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok());
    // A request without a host comes from no browser.
    match host.or(request.uri().host()) {
        Some(host) if !is_local(host) => (
            StatusCode::MISDIRECTED_REQUEST,
            "This page answers on this machine only: open it as http://localhost or \
             http://127.0.0.1 with its port.\n",
        )
            .into_response(),
        _ => next.run(request).await,
    }
}

pub fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_names_are_local() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:8080", "[::1]"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["evil.test", "localhost.evil.test:80", "10.0.0.1", "[::2]", "", "127.0.0.1.nip.io"]
        {
            assert!(!is_local(host), "{host}");
        }
    }
}
