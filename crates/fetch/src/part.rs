//! A part of a large file, such as a recording: one exchange with a `Range`. It does not follow
//! redirects. A server that ignores the range is read from the start, and only as far as asked.

use std::ops::Range;

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use url::Url;

use crate::{Failure, FailureKind, Fetched, Fetcher, answer, causes};

/// Sound and video are compressed already, and a range counts bytes of the file itself.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");
const ACCEPT: HeaderValue = HeaderValue::from_static("audio/*, video/*, application/ogg;q=0.9");

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    pub bytes: Vec<u8>,
    pub content_type: Option<String>,
    /// The place of its first byte.
    pub from: u64,
    /// The length of the whole file, if the server says so.
    pub total: Option<u64>,
}

/// The outcome of a request for a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOutcome {
    Part(FilePart),
    /// Anything but a part; never `Fetched::Body`.
    Other(Fetched),
}

impl Fetcher {
    /// Requests some bytes of a file. The answer may have fewer, never more.
    pub async fn part(&self, url: &Url, wanted: Range<u64>) -> PartOutcome {
        let _place = self.place().await;
        match self.ask_part(url, wanted).await {
            Ok(part) => PartOutcome::Part(part),
            Err(other) => PartOutcome::Other(other),
        }
    }

    async fn ask_part(&self, url: &Url, wanted: Range<u64>) -> Result<FilePart, Fetched> {
        let failed = |kind, why: &str| Fetched::Failed(Failure::new(kind, why));
        if wanted.is_empty() {
            return Err(failed(FailureKind::Protocol, "the part is empty"));
        }
        let mut request = self.bare(url, Method::GET)?;
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, ACCEPT);
        headers.insert(header::ACCEPT_ENCODING, IDENTITY);
        let range = format!("bytes={}-{}", wanted.start, wanted.end - 1);
        if let Ok(value) = HeaderValue::from_str(&range) {
            headers.insert(header::RANGE, value);
        }
        let (mut response, _lease) = self.answered(url, request).await?;
        let status = response.status().as_u16();
        if let Some(to) = answer::redirect(url, status, response.headers()) {
            answer::read_leftover(&mut response).await;
            return Err(Fetched::Moved { to, permanent: false });
        }
        let (from, total) = match status {
            206 => range_of(response.headers())
                .filter(|(from, _)| *from == wanted.start)
                .ok_or_else(|| failed(FailureKind::Protocol, "the server sent another part"))?,
            200 if wanted.start == 0 => (0, response.content_length()),
            200 => return Err(failed(FailureKind::Protocol, "the server does not send parts")),
            401 | 403 | 429 | 451 => return Err(Fetched::Refused { status }),
            410 => return Err(Fetched::Gone),
            _ => return Err(failed(FailureKind::Status(status), "the server sent no part")),
        };
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|v| v.to_str().ok()).map(str::to_owned);
        let n_wanted = usize::try_from(wanted.end - wanted.start).unwrap_or(usize::MAX);
        let reading = read(&mut response, n_wanted);
        let bytes = match tokio::time::timeout(self.limits().body_timeout, reading).await {
            Ok(bytes) => bytes.map_err(|e| causes::outcome(&e, self.limits()))?,
            Err(_) => return Err(failed(FailureKind::Timeout, "the part did not arrive in time")),
        };
        Ok(FilePart { bytes, content_type, from, total })
    }
}

/// Reads at most `n` bytes. The rest is not read, and the connection is closed.
async fn read(response: &mut Response, n: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    while bytes.len() < n {
        let Some(chunk) = response.chunk().await? else { break };
        let room = n - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Ok(bytes)
}

/// Reads `Content-Range: bytes 0-99/1234`; the length may be `*`.
fn range_of(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.trim().split_once('-')?;
    Some((from.trim().parse().ok()?, total.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read() {
        let of = |text: &'static str| {
            range_of(&HeaderMap::from_iter([(
                header::CONTENT_RANGE,
                HeaderValue::from_static(text),
            )]))
        };
        assert_eq!(of("bytes 0-99/1234"), Some((0, Some(1234))));
        assert_eq!(of("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes */5", "items 0-1/2", "bytes x-1/2", "bytes 0-1"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
