//! Turns an answer into an outcome: a document, a redirect, a refusal or a failure. It does not
//! follow redirects.

use std::time::Duration;

use feed::{ERROR_BYTES_MAX, ExchangeFacts, RawAnswer, Validators};
use reqwest::Response;
use reqwest::header::{self, HeaderMap};
use url::Url;

use crate::decode::{DecodeError, Decoder};
use crate::limits::ExchangeLimits;
use crate::{Failure, FailureKind, Fetched, causes, header as read};

/// The bytes that are read of an answer without a document, so that the connection can be reused.
const LEFTOVER_BYTES_MAX: u64 = 32 * 1024;
const LEFTOVER_TIMEOUT: Duration = Duration::from_millis(500);
/// The bytes of a chunk that are decompressed before the beginning of a body is looked at. Deflate
/// makes at most a thousand bytes of one, so an honest body does not jump over the limit.
const STEP_BYTES: usize = 256;
/// How long a recording waits for the page of an error.
const ERROR_TIMEOUT: Duration = Duration::from_secs(10);
/// The same limit as for the URL of a feed: it is stored, shown and compared.
pub const LOCATION_BYTES_MAX: usize = 8192;
/// Content types are shown and searched for a charset. Real ones are shorter.
const CONTENT_TYPE_CHARS_MAX: usize = 256;

/// Reads the answer to a request for `url`. A recording keeps the beginning of an error's body in
/// `raw`.
pub(crate) async fn fetched(
    mut response: Response,
    url: &Url,
    sent: &Validators,
    limits: &ExchangeLimits,
    facts: &mut ExchangeFacts,
    raw: Option<&mut RawAnswer>,
) -> Fetched {
    let status = response.status().as_u16();
    let outcome = match status {
        200 | 203 => return body(response, false, limits, facts).await,
        226 => match instance(response.headers()) {
            Ok(()) => return body(response, true, limits, facts).await,
            Err(failure) => Fetched::Failed(failure),
        },
        304 if !sent.is_empty() => {
            return Fetched::NotModified { validators: read::validators(response.headers()) };
        }
        301 | 302 | 303 | 307 | 308 => match target(url, response.headers()) {
            Ok(to) => Fetched::Moved { to, permanent: matches!(status, 301 | 308) },
            Err(failure) => Fetched::Failed(failure),
        },
        410 => Fetched::Gone,
        401 | 403 | 429 | 451 => Fetched::Refused { status },
        _ => Fetched::Failed(Failure::new(FailureKind::Status(status), status_words(status))),
    };
    if let Some(raw) = raw.filter(|_| status >= 400) {
        let reading = read_error(&mut response, limits, &mut facts.wire_bytes);
        let limit = ERROR_TIMEOUT.min(limits.body_timeout);
        // A body that is late or damaged is not kept. The poll has failed in any case.
        raw.body = tokio::time::timeout(limit, reading).await.ok().flatten();
    } else {
        facts.wire_bytes += read_leftover(&mut response).await;
    }
    outcome
}

/// Reads the beginning of an error's body, decompressed; `None` if there is none.
async fn read_error(
    response: &mut Response,
    limits: &ExchangeLimits,
    wire_bytes: &mut u64,
) -> Option<Vec<u8>> {
    let encodings = encodings(response.headers());
    let decoder = Decoder::new(&encodings, limits.body_bytes_max).ok()?;
    let reading = read_beginning(response, decoder, ERROR_BYTES_MAX, limits, wire_bytes);
    reading.await.ok().filter(|body| !body.is_empty())
}

/// Reads at most so many bytes of a body, decompressed. The rest is not read.
async fn read_beginning(
    response: &mut Response,
    mut decoder: Decoder,
    first_bytes: usize,
    limits: &ExchangeLimits,
    wire_bytes: &mut u64,
) -> Result<Vec<u8>, Fetched> {
    let refuse = |e: DecodeError| Fetched::Failed(e.failure(limits.body_bytes_max));
    let mut body = 'body: loop {
        match response.chunk().await.map_err(|e| causes::outcome(&e, limits))? {
            Some(chunk) => {
                *wire_bytes += chunk.len() as u64;
                for step in chunk.chunks(STEP_BYTES) {
                    decoder.push(step).map_err(refuse)?;
                    if decoder.so_far().len() >= first_bytes {
                        break 'body decoder.so_far().to_vec();
                    }
                }
            }
            None => break decoder.finish().map_err(refuse)?,
        }
    };
    body.truncate(first_bytes);
    Ok(body)
}

/// Returns all content encodings of an answer, the first one first.
fn encodings(headers: &HeaderMap) -> String {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let labels: Vec<&str> = values.map(|value| value.to_str().unwrap_or("unreadable")).collect();
    labels.join(",")
}

async fn body(
    response: Response,
    partial: bool,
    limits: &ExchangeLimits,
    facts: &mut ExchangeFacts,
) -> Fetched {
    let content_type = read::text(response.headers(), &header::CONTENT_TYPE)
        .map(|t| t.chars().take(CONTENT_TYPE_CHARS_MAX).collect());
    let validators = read::validators(response.headers());
    let reading = read_body(response, limits, &mut facts.wire_bytes);
    match tokio::time::timeout(limits.body_timeout, reading).await {
        Ok(Ok(bytes)) => Fetched::Body { bytes, content_type, validators, partial },
        Ok(Err(outcome)) => outcome,
        Err(_) => Fetched::Failed(Failure::new(
            FailureKind::Timeout,
            format!("the body did not end within {} s", limits.body_timeout.as_secs_f64()),
        )),
    }
}

async fn read_body(
    mut response: Response,
    limits: &ExchangeLimits,
    wire_bytes: &mut u64,
) -> Result<Vec<u8>, Fetched> {
    let refuse = |e: DecodeError| Fetched::Failed(e.failure(limits.body_bytes_max));
    let encodings = encodings(response.headers());
    let claimed = response.content_length().unwrap_or(0);
    if let Some(first_bytes) = limits.first_bytes {
        let decoder = Decoder::new(&encodings, limits.body_bytes_max).map_err(refuse)?;
        return read_beginning(&mut response, decoder, first_bytes, limits, wire_bytes).await;
    }
    // A body that is too long even before decompression is not read at all.
    if claimed > limits.body_bytes_max as u64 {
        return Err(refuse(DecodeError::TooLarge));
    }
    let mut decoder = Decoder::new(&encodings, limits.body_bytes_max).map_err(refuse)?;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                *wire_bytes += chunk.len() as u64;
                decoder.push(&chunk).map_err(refuse)?;
            }
            Ok(None) => return decoder.finish().map_err(refuse),
            Err(e) => return Err(causes::outcome(&e, limits)),
        }
    }
}

/// Reads the rest of a body, if it is short. Failures are ignored. Returns the number of bytes.
pub(crate) async fn read_leftover(response: &mut Response) -> u64 {
    let mut n_bytes = 0;
    let reading = async {
        while n_bytes < LEFTOVER_BYTES_MAX {
            match response.chunk().await {
                Ok(Some(chunk)) => n_bytes += chunk.len() as u64,
                Ok(None) | Err(_) => break,
            }
        }
    };
    // If the time is over, the connection is not reused. That has no other effect.
    let _ = tokio::time::timeout(LEFTOVER_TIMEOUT, reading).await;
    n_bytes
}

/// Refuses instance manipulations (RFC 3229) other than `feed`, the only one that we request.
fn instance(headers: &HeaderMap) -> Result<(), Failure> {
    let applied = headers.get_all("im").iter().filter_map(|v| v.to_str().ok());
    let mut tokens = applied.flat_map(|v| v.split(',')).map(str::trim).filter(|t| !t.is_empty());
    match tokens.find(|t| !t.eq_ignore_ascii_case("feed")) {
        None => Ok(()),
        Some(other) => Err(Failure::new(
            FailureKind::Encoding,
            format!("the server sent a partial document that we did not request ({other:.40})"),
        )),
    }
}

/// Returns the target of an answer with this status, if it is a redirect with a valid target.
pub(crate) fn redirect(url: &Url, status: u16, headers: &HeaderMap) -> Option<Url> {
    matches!(status, 301 | 302 | 303 | 307 | 308).then(|| target(url, headers).ok())?
}

/// Returns the target of a redirect. Credentials are sent to the same origin only, and never come
/// from the server.
fn target(url: &Url, headers: &HeaderMap) -> Result<Url, Failure> {
    let bad = |why: &str| Failure::new(FailureKind::Redirect, why.to_owned());
    let location =
        headers.get(header::LOCATION).ok_or_else(|| bad("a redirect without a target"))?;
    if location.len() > LOCATION_BYTES_MAX {
        return Err(bad(&format!("a redirect to an address of {} bytes", location.len())));
    }
    let location = String::from_utf8_lossy(location.as_bytes());
    if location.trim().is_empty() {
        return Err(bad("a redirect without a target"));
    }
    let mut to = url
        .join(&location)
        .map_err(|e| bad(&format!("a redirect to something that is not a URL: {e}")))?;
    if !matches!(to.scheme(), "http" | "https") || to.host_str().is_none_or(str::is_empty) {
        return Err(bad(&format!("a redirect to a {} address, which is not fetched", to.scheme())));
    }
    to.set_fragment(None);
    let (user, password) =
        if to.origin() == url.origin() { (url.username(), url.password()) } else { ("", None) };
    // Both fail only for URLs without a host.
    let _ = to.set_username(user);
    let _ = to.set_password(password);
    Ok(to)
}

fn status_words(status: u16) -> String {
    let meaning = match status {
        304 => "not modified, although the request had no validators",
        404 => "not found",
        500..=599 => "the server has a problem",
        400..=499 => "the server does not accept the request",
        _ => "an answer without a document",
    };
    format!("status {status}: {meaning}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirected(from: &str, location: &[u8]) -> Result<String, FailureKind> {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, header::HeaderValue::from_bytes(location).unwrap());
        target(&Url::parse(from).unwrap(), &headers).map(Into::into).map_err(|f| f.kind)
    }

    #[test]
    fn redirects_are_resolved_against_the_url() {
        let to = |location: &str| redirected("http://a.example/x/y?q=1#f", location.as_bytes());
        assert_eq!(to("z").unwrap(), "http://a.example/x/z");
        assert_eq!(to("//b.example/z").unwrap(), "http://b.example/z");
        assert_eq!(to("/z#frag").unwrap(), "http://a.example/z");
        assert_eq!(to("?page=2").unwrap(), "http://a.example/x/y?page=2");
        assert_eq!(to("/b c/ü").unwrap(), "http://a.example/b%20c/%C3%BC");
    }

    #[test]
    fn redirects_to_nowhere_are_named() {
        for location in [
            "",
            "  ",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://a.example/",
            "http://",
            "http://[::1",
            "data:text/xml,<rss/>",
            "http://a.example:99999/",
            &"a".repeat(LOCATION_BYTES_MAX + 1),
        ] {
            let found = redirected("http://a.example/", location.as_bytes());
            assert_eq!(found, Err(FailureKind::Redirect), "{location}");
        }
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let to =
            |location: &str| redirected("https://me:pw@a.example/x", location.as_bytes()).unwrap();
        assert_eq!(to("/z"), "https://me:pw@a.example/z");
        assert_eq!(to("https://a.example:443/z"), "https://me:pw@a.example/z");
        assert_eq!(to("http://a.example/z"), "http://a.example/z");
        assert_eq!(to("https://a.example:444/z"), "https://a.example:444/z");
        assert_eq!(to("https://b.example/z"), "https://b.example/z");
        assert_eq!(to("https://you:no@b.example/z"), "https://b.example/z");
    }
}
