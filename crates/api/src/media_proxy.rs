//! A proxy for recordings, if the operator chooses so: browsers then load sound and video only from
//! us, and their hosts do not learn who listens. It passes a range on and answers at most
//! [`PART_BYTES_MAX`] bytes of it; browsers ask for the rest. Nothing is stored.
//!
//! Only addresses that we signed are fetched, and only for people who are logged in. The first
//! bytes must look like sound or video.

use std::collections::HashMap;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fetch::{FilePart, PartOutcome};
use store::AccountId;
use url::Url;

use crate::auth::Person;
use crate::image::{ImageParams, Images};

/// Bytes of one answer: two minutes of a podcast.
const PART_BYTES_MAX: u64 = 2_000_000;
/// Parts that one account may load at the same time: a player and one that looks ahead.
const AT_ONCE_MAX: u32 = 4;
/// Browsers may keep a part for an hour, for jumps back.
const KEEP: HeaderValue = HeaderValue::from_static("private, max-age=3600");

/// Fetches a part of a file; `None`: too many requests are under way.
pub type FetchPart = Arc<
    dyn Fn(Url, Range<u64>) -> Pin<Box<dyn Future<Output = Option<PartOutcome>> + Send>>
        + Send
        + Sync,
>;

/// The proxy. It signs with the key of the proxy for pictures.
pub struct MediaProxy {
    images: Arc<Images>,
    fetch: FetchPart,
    under_way: Mutex<HashMap<AccountId, u32>>,
}

impl MediaProxy {
    pub fn new(images: Arc<Images>, fetch: FetchPart) -> MediaProxy {
        MediaProxy { images, fetch, under_way: Mutex::default() }
    }

    /// Returns the proxied address of a recording.
    pub fn address(&self, recording: &str) -> Option<String> {
        self.images.signed_address("/media", recording)
    }

    /// Takes a place for an account; `None`: it has too many.
    fn place(&self, account: AccountId) -> Option<MediaPlace<'_>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let n = under_way.entry(account).or_default();
        if *n >= AT_ONCE_MAX {
            return None;
        }
        *n += 1;
        Some(MediaPlace { proxy: self, account })
    }
}

/// A place that is free again when it is dropped.
struct MediaPlace<'a> {
    proxy: &'a MediaProxy,
    account: AccountId,
}

impl Drop for MediaPlace<'_> {
    fn drop(&mut self) {
        let mut under_way = self.proxy.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = under_way.get_mut(&self.account) {
            *n -= 1;
            if *n == 0 {
                under_way.remove(&self.account);
            }
        }
    }
}

/// Answers `GET /media?u=…&s=…` with a part.
pub async fn media(
    State(proxy): State<Option<Arc<MediaProxy>>>,
    person: Person,
    params: Result<Query<ImageParams>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let Some(proxy) = proxy else {
        return says(StatusCode::NOT_FOUND, "Recordings are not passed on here.");
    };
    let Ok(Query(params)) = params else {
        return says(StatusCode::BAD_REQUEST, "This is not the address of a recording.");
    };
    let Some(url) = proxy.images.signed("/media", &params) else {
        let text = "The signature of this address is wrong. Reload the page.";
        return says(StatusCode::FORBIDDEN, text);
    };
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let Some(wanted) = range.and_then(wanted) else {
        let text = "Ask for a range of bytes, such as bytes=0-. Players do that.";
        return says(StatusCode::RANGE_NOT_SATISFIABLE, text);
    };
    let Some(_place) = proxy.place(person.account) else {
        return says(StatusCode::TOO_MANY_REQUESTS, "Too many parts at once.");
    };
    match (proxy.fetch)(url, wanted).await {
        None => says(StatusCode::SERVICE_UNAVAILABLE, "Too many requests at once."),
        Some(PartOutcome::Part(part)) => passed_on(part),
        Some(PartOutcome::Other(_)) => {
            says(StatusCode::BAD_GATEWAY, "The server of the recording did not send it.")
        }
    }
}

/// Reads `bytes=5-9` or `bytes=5-`, and shortens it to one part. Other ranges are not understood.
fn wanted(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let from: u64 = from.trim().parse().ok()?;
    let longest = from.checked_add(PART_BYTES_MAX)?;
    let end = match to.trim() {
        "" => longest,
        to => to.parse::<u64>().ok()?.checked_add(1)?.min(longest),
    };
    (from < end).then_some(from..end)
}

fn passed_on(part: FilePart) -> Response {
    let FilePart { bytes, content_type, from, total } = part;
    let kind = content_type.as_deref().and_then(known_type);
    let Some(kind) = kind.filter(|_| from > 0 || is_recording(&bytes)) else {
        return says(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The answer is neither sound nor video.");
    };
    let n = bytes.len() as u64;
    if n == 0 {
        return says(StatusCode::RANGE_NOT_SATISFIABLE, "The recording ends before this part.");
    }
    let total = total.map_or_else(|| "*".to_owned(), |total| total.to_string());
    let range = HeaderValue::from_str(&format!("bytes {from}-{}/{total}", from + n - 1));
    let Ok(range) = range else { return says(StatusCode::BAD_GATEWAY, "No such part.") };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_RANGE, range),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
        (header::CACHE_CONTROL, KEEP),
    ];
    (StatusCode::PARTIAL_CONTENT, headers, bytes).into_response()
}

/// Returns our own spelling of a type that we pass on. Later parts cannot be known by their bytes.
fn known_type(claimed: &str) -> Option<&'static str> {
    const KNOWN: [&str; 14] = [
        "audio/mpeg",
        "audio/mp4",
        "audio/x-m4a",
        "audio/aac",
        "audio/ogg",
        "audio/opus",
        "audio/wav",
        "audio/x-wav",
        "audio/flac",
        "audio/webm",
        "video/mp4",
        "video/webm",
        "video/ogg",
        "application/ogg",
    ];
    let bare = claimed.split(';').next()?.trim().to_ascii_lowercase();
    match bare.as_str() {
        "audio/mp3" | "audio/mpeg3" => Some("audio/mpeg"),
        // Servers that store files without knowing them.
        "application/octet-stream" | "binary/octet-stream" => Some("audio/mpeg"),
        "video/x-m4v" => Some("video/mp4"),
        _ => KNOWN.into_iter().find(|known| *known == bare),
    }
}

/// Whether bytes begin like a recording.
fn is_recording(bytes: &[u8]) -> bool {
    match bytes {
        [b'I', b'D', b'3', ..] | [b'O', b'g', b'g', b'S', ..] => true,
        [b'f', b'L', b'a', b'C', ..] | [0x1a, 0x45, 0xdf, 0xa3, ..] => true,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => true,
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => true,
        // A frame of MPEG audio.
        [0xff, second, ..] => second & 0xe0 == 0xe0,
        _ => false,
    }
}

fn says(status: StatusCode, text: &'static str) -> Response {
    (status, format!("{text}\n")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_shortened_to_one_part() {
        assert_eq!(wanted("bytes=0-"), Some(0..PART_BYTES_MAX));
        assert_eq!(wanted("bytes=5-9"), Some(5..10));
        assert_eq!(wanted("bytes=7-99999999999"), Some(7..7 + PART_BYTES_MAX));
        let end = format!("bytes={}-", u64::MAX);
        for bad in ["", "bytes=-5", "bytes=9-5", "items=0-1", "bytes=0-1,5-9", end.as_str()] {
            assert_eq!(wanted(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_recordings_are_passed_on() {
        let part = |bytes: &[u8], kind: &str, from| FilePart {
            bytes: bytes.to_vec(),
            content_type: Some(kind.to_owned()),
            from,
            total: Some(1000),
        };
        for (bytes, kind, from, status) in [
            (&b"ID3\x04rest"[..], "audio/mpeg", 0, 206),
            (b"\xff\xfbrest", "audio/mp3; x=y", 0, 206),
            (b"ID3\x04rest", "binary/octet-stream", 0, 206),
            (b"\0\0\0\x18ftypmp42", "video/mp4", 0, 206),
            (b"<html>", "audio/mpeg", 0, 415),
            (b"ID3", "text/html", 0, 415),
            (b"middle", "audio/mpeg", 5, 206),
            (b"middle", "image/svg+xml", 5, 415),
            (b"", "audio/mpeg", 5, 416),
        ] {
            let answer = passed_on(part(bytes, kind, from));
            assert_eq!(answer.status().as_u16(), status, "{kind} from {from}");
        }
        let answer = passed_on(part(b"middle", "audio/mpeg", 5));
        assert_eq!(answer.headers()[header::CONTENT_RANGE], "bytes 5-10/1000");
    }
}
