//! Writes the heads of an exchange as text, for recordings. The HTTP library keeps the order of
//! headers but not their spelling: names are in lower case. Credentials are left out.

use feed::RawAnswer;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Request, Response, Version};

/// Headers that carry credentials or cookies of ours.
const SECRET: [HeaderName; 2] = [header::AUTHORIZATION, header::COOKIE];

/// Returns the head of a request. The client adds the User-Agent later.
pub(crate) fn of_request(request: &Request, agent: &HeaderValue) -> RawAnswer {
    let url = request.url();
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let line = format!("{} {}{query} HTTP/1.1\r\n", request.method(), url.path());
    let mut text = line.into_bytes();
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    text.extend(format!("host: {host}{port}\r\nuser-agent: ").as_bytes());
    text.extend(agent.as_bytes());
    text.extend(b"\r\n");
    add_fields(&mut text, request.headers(), &SECRET);
    RawAnswer { request: text, ..RawAnswer::default() }
}

/// Adds the head of the answer.
pub(crate) fn add_answer(raw: &mut RawAnswer, response: &Response) {
    let version = match response.version() {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    };
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    raw.head = format!("{version} {} {reason}\r\n", status.as_u16()).into_bytes();
    add_fields(&mut raw.head, response.headers(), &[]);
    raw.remote = response.remote_addr().map(|address| address.ip());
}

fn add_fields(text: &mut Vec<u8>, headers: &HeaderMap, left_out: &[HeaderName]) {
    for (name, value) in headers.iter().filter(|(name, _)| !left_out.contains(name)) {
        text.extend(name.as_str().as_bytes());
        text.extend(b": ");
        text.extend(value.as_bytes());
        text.extend(b"\r\n");
    }
}
