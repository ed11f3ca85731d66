//! Pictures of entries, fetched by us on the reader's behalf: a page makes no request to anybody
//! else, and no publisher learns who reads what, or from where.
//!
//! Only addresses that we wrote into a page ourselves are fetched (each is signed), only from
//! public machines, on every hop, and only what begins like a picture is passed on. Nothing is
//! kept here: the browser keeps it.

mod kind;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

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

use crate::Context;
use upstream::{Refusal, Upstream};

/// A photograph for a screen; what is larger was never meant to be read with.
const BYTES_MAX: usize = 5_000_000;
/// A reader looks elsewhere by then.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// Connections that may wait for the next picture of a page.
const IDLE_CONNECTIONS: usize = 16;

/// Half of the digest: 128 bits that nobody guesses, in an address that stays short.
const SIGNATURE_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// The key is kept, so that an address in an open page outlives a restart.
const KEY_SETTING: &str = "image key";
/// Longer addresses are not pictures but data.
const ADDRESS_BYTES_MAX: usize = 4096;

/// A picture under one address rarely changes, and where it does nobody minds for a week.
const KEEP: HeaderValue = HeaderValue::from_static("private, max-age=604800, immutable");
/// One that did not come is not asked for again at once.
const KEEP_FAILURE: HeaderValue = HeaderValue::from_static("private, max-age=300");

/// The proxy: signs addresses for pages and fetches what they lead to.
pub struct Images {
    key: [u8; KEY_BYTES],
    upstream: Upstream,
}

/// Why there is no proxy.
#[derive(Debug, thiserror::Error)]
pub enum ImagesError {
    #[error("the key that signs addresses of pictures cannot be kept")]
    Store(#[from] store::StoreError),
    #[error("the system gives no random bytes: {0}")]
    Chance(getrandom::Error),
    #[error(transparent)]
    Fetch(#[from] fetch::SetupError),
}

impl Images {
    /// Takes the key from the store, or makes one, and connections of its own under its own
    /// limits; who may be reached is what `settings` say.
    pub fn new(store: &Store, settings: fetch::Settings) -> Result<Images, ImagesError> {
        let kept = store.setting(KEY_SETTING)?.and_then(|text| STANDARD.decode(text).ok());
        let key = match kept.and_then(|bytes| bytes.try_into().ok()) {
            Some(key) => key,
            None => {
                let mut fresh = [0; KEY_BYTES];
                getrandom::fill(&mut fresh).map_err(ImagesError::Chance)?;
                store.set_setting(KEY_SETTING, Some(&STANDARD.encode(fresh)))?;
                fresh
            }
        };
        let settings = fetch::Settings {
            body_bytes_max: BYTES_MAX,
            header_timeout: HEADER_TIMEOUT,
            body_timeout: BODY_TIMEOUT,
            idle_connections_max: IDLE_CONNECTIONS,
            no_cache: false,
            ..settings
        };
        Ok(Images { key, upstream: Upstream::new(fetch::Fetcher::new(settings)?) })
    }

    /// Pictures asked for since the start, by how that ended.
    pub fn tally(&self) -> [(&'static str, u64); 3] {
        self.upstream.tally()
    }

    /// Where a page finds a picture; nowhere if it is not on the web.
    pub fn address(&self, picture: &str) -> Option<String> {
        let mut url = Url::parse(picture).ok()?;
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
        let signature = self.mac(&url)?.finalize().into_bytes();
        let signature = URL_SAFE_NO_PAD.encode(&signature[..SIGNATURE_BYTES]);
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("u", url.as_str())
            .append_pair("s", &signature)
            .finish();
        Some(format!("/image?{query}"))
    }

    /// The address behind one that we signed. Compared in constant time.
    fn signed(&self, asked: &ImageParams) -> Option<Url> {
        let url = Url::parse(&asked.u).ok().filter(|url| url.as_str() == asked.u)?;
        let signature = URL_SAFE_NO_PAD.decode(&asked.s).ok()?;
        if signature.len() != SIGNATURE_BYTES {
            return None;
        }
        self.mac(&url)?.verify_truncated_left(&signature).ok()?;
        Some(url)
    }

    fn mac(&self, url: &Url) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(url.as_str().as_bytes());
        Some(mac)
    }
}

#[derive(Deserialize)]
pub struct ImageParams {
    u: String,
    s: String,
}

/// `GET /image?u=…&s=…`
pub async fn image(
    State(context): State<Context>,
    asked: Result<Query<ImageParams>, QueryRejection>,
) -> Response {
    let Some(images) = &context.images else {
        return said(StatusCode::NOT_FOUND, "Pictures are turned off.");
    };
    let Ok(Query(asked)) = asked else {
        return said(StatusCode::BAD_REQUEST, "This is no address of a picture.");
    };
    let Some(url) = images.signed(&asked) else {
        return said(StatusCode::FORBIDDEN, "This address was not written by this program.");
    };
    let images = Arc::clone(images);
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

fn refused(refusal: &Refusal) -> Response {
    let (status, text) = match refusal {
        Refusal::NotPublic => (StatusCode::FORBIDDEN, "The picture is not on a public machine."),
        Refusal::NoPicture => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "What came is no picture."),
        Refusal::TooLarge => (StatusCode::BAD_GATEWAY, "The picture is too large."),
        Refusal::Failed => (StatusCode::BAD_GATEWAY, "The picture did not come."),
        Refusal::Crowded => (StatusCode::SERVICE_UNAVAILABLE, "Too many pictures at once."),
    };
    let mut response = said(status, text);
    let crowded = matches!(refusal, Refusal::Crowded);
    let (name, value) = if crowded {
        (header::RETRY_AFTER, HeaderValue::from_static("2"))
    } else {
        (header::CACHE_CONTROL, KEEP_FAILURE)
    };
    response.headers_mut().insert(name, value);
    response
}

fn said(status: StatusCode, text: &'static str) -> Response {
    (status, format!("{text}\n")).into_response()
}
