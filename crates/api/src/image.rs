//! A proxy for pictures of entries. Pages load pictures only from us, so publishers do not learn
//! who reads an entry, or from where.
//!
//! The proxy fetches only signed addresses, which we wrote into a page ourselves. Every hop must be
//! a public machine, and only bytes that begin like a picture are passed on. Nothing is stored
//! here: the browser caches pictures.

mod kind;
mod upstream;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;
use store::Store;
use url::Url;

pub use upstream::FetchPicture;
use upstream::{PictureRefusal, Upstream};

/// Half of the digest: 128 bits cannot be guessed, and the address stays short.
const SIGNATURE_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// The key is stored, so that addresses in open pages stay valid after a restart.
const KEY_SETTING: &str = "image key";
/// The path of the proxy.
const PATH: &str = "/image";
/// Longer addresses are data, not pictures.
const ADDRESS_BYTES_MAX: usize = 4096;

/// Browsers keep a picture for a week, because pictures rarely change.
const KEEP: HeaderValue = HeaderValue::from_static("private, max-age=604800, immutable");
/// Browsers do not retry a failed picture for five minutes.
const KEEP_FAILURE: HeaderValue = HeaderValue::from_static("private, max-age=300");

/// The proxy. It signs addresses for pages and fetches the pictures behind them.
pub struct Images {
    key: [u8; KEY_BYTES],
    upstream: Upstream,
}

/// Why the proxy could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ImagesError {
    #[error("cannot store the key that signs addresses of pictures")]
    Store(#[from] store::StoreError),
    #[error("cannot get random bytes from the system: {0}")]
    Chance(getrandom::Error),
}

impl Images {
    /// Creates the proxy. Reads the key from the store, or makes a new one. `fetch` sends the
    /// requests, with limits of its own.
    pub fn new(store: &Store, fetch: FetchPicture) -> Result<Images, ImagesError> {
        let kept = store.setting(KEY_SETTING)?.and_then(|text| STANDARD.decode(text).ok());
        let key = match kept.and_then(|bytes| bytes.try_into().ok()) {
            Some(key) => key,
            None => {
                let mut fresh = [0; KEY_BYTES];
                getrandom::fill(&mut fresh).map_err(ImagesError::Chance)?;
                store.set_own_setting(KEY_SETTING, Some(&STANDARD.encode(fresh)))?;
                fresh
            }
        };
        Ok(Images { key, upstream: Upstream::new(fetch) })
    }

    /// Returns the number of requested pictures since the start, by result.
    pub fn tally(&self) -> [(&'static str, u64); 3] {
        self.upstream.tally()
    }

    /// Returns the proxied address of a picture, or `None` if its address is not on the web.
    pub fn address(&self, picture: &str) -> Option<String> {
        self.signed_address(PATH, picture)
    }

    /// Returns an address below `path` that we signed. A signature holds for one path only.
    pub fn signed_address(&self, path: &str, file: &str) -> Option<String> {
        let mut url = Url::parse(file).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        // Both succeed for URLs with a host, which these schemes have.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        if url.as_str().len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let signature = self.mac(path, &url)?.finalize().into_bytes();
        let signature = URL_SAFE_NO_PAD.encode(&signature[..SIGNATURE_BYTES]);
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("u", url.as_str())
            .append_pair("s", &signature)
            .finish();
        Some(format!("{path}?{query}"))
    }

    /// Fetches a text file, such as a list of chapters, in turn with other requests. `None`: the
    /// server sent none, or it is busy.
    pub async fn text_file(&self, url: Url) -> Option<Vec<u8>> {
        self.upstream.bytes(url).await
    }

    /// Returns the file's address if the signature is valid. Signatures are compared in constant
    /// time.
    pub fn signed(&self, path: &str, params: &ImageParams) -> Option<Url> {
        let url = Url::parse(&params.u).ok().filter(|url| url.as_str() == params.u)?;
        let signature = URL_SAFE_NO_PAD.decode(&params.s).ok()?;
        if signature.len() != SIGNATURE_BYTES {
            return None;
        }
        self.mac(path, &url)?.verify_truncated_left(&signature).ok()?;
        Some(url)
    }

    fn mac(&self, path: &str, url: &Url) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        // Signatures of pictures stay as they were.
        if path != PATH {
            mac.update(path.as_bytes());
        }
        mac.update(url.as_str().as_bytes());
        Some(mac)
    }
}

/// A picture's address and our signature of it.
#[derive(Deserialize)]
pub struct ImageParams {
    u: String,
    s: String,
}

/// Answers `GET /image?u=…&s=…`.
pub async fn image(
    State(images): State<Option<Arc<Images>>>,
    params: Result<Query<ImageParams>, QueryRejection>,
) -> Response {
    let Some(images) = images else {
        return text_response(StatusCode::NOT_FOUND, "Pictures are turned off.");
    };
    let Ok(Query(params)) = params else {
        return text_response(StatusCode::BAD_REQUEST, "This is not the address of a picture.");
    };
    let Some(url) = images.signed(PATH, &params) else {
        return text_response(
            StatusCode::FORBIDDEN,
            "The signature of this address is wrong. Reload the page.",
        );
    };
    match images.upstream.picture(url).await {
        Ok((bytes, kind)) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
                (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
                (header::CACHE_CONTROL, KEEP),
            ];
            (headers, bytes).into_response()
        }
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &PictureRefusal) -> Response {
    let (status, text) = match refusal {
        PictureRefusal::NotPublic => {
            (StatusCode::FORBIDDEN, "The picture is not on a public machine.")
        }
        PictureRefusal::NotAPicture => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The answer is not a picture.")
        }
        PictureRefusal::TooLarge => (StatusCode::BAD_GATEWAY, "The picture is too large."),
        PictureRefusal::Failed => (StatusCode::BAD_GATEWAY, "The picture could not be loaded."),
        PictureRefusal::Crowded => (StatusCode::SERVICE_UNAVAILABLE, "Too many pictures at once."),
    };
    let mut response = text_response(status, text);
    let crowded = matches!(refusal, PictureRefusal::Crowded);
    let (name, value) = if crowded {
        (header::RETRY_AFTER, HeaderValue::from_static("2"))
    } else {
        (header::CACHE_CONTROL, KEEP_FAILURE)
    };
    response.headers_mut().insert(name, value);
    response
}

fn text_response(status: StatusCode, text: &'static str) -> Response {
    (status, format!("{text}\n")).into_response()
}
