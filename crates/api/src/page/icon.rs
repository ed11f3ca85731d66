//! Icons of feeds: the picture of a site, or a letter on a colour where there is none.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use feed::FeedId;
use store::TokenScope;

use super::frame::Visitor;
use crate::ServerContext;
use crate::blocking::run_blocking;

/// The colours of letters. The stylesheet has a class for each.
const COLOURS: u32 = 8;
/// The address has the digest of the bytes, so they never change.
const KEEP: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");
/// Sites change their icons; the redirect is asked again after a day.
const KEEP_REDIRECT: HeaderValue = HeaderValue::from_static("private, max-age=86400");
/// A picture runs nothing, even if somebody opens it as a page.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// The icon of a feed in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedIcon {
    /// The address of the picture.
    pub src: Option<String>,
    /// The letter and the class of its colour, if there is no picture.
    pub letter: String,
    pub colour: u32,
}

impl FeedIcon {
    /// `hash` is the digest of the stored icon. The colour depends on the name only.
    pub fn new(hash: Option<&String>, name: &str) -> FeedIcon {
        let letter = name.chars().find(|c| c.is_alphanumeric());
        let letter = letter.map_or_else(|| "·".to_owned(), |c| c.to_uppercase().collect());
        let sum = name.bytes().fold(7_u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
        let src = hash.map(|hash| format!("/icon/{hash}"));
        FeedIcon { src, letter, colour: sum % COLOURS }
    }
}

/// Answers `GET /icons/FEED`.
pub async fn of_feed(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let Ok(feed) = id.parse() else { return missing("This is not the number of a feed.") };
    let (store, account) = (context.store.clone(), visitor.account());
    let sees_all = visitor.may(TokenScope::Admin);
    let found = run_blocking(move || {
        let feed = FeedId(feed);
        match sees_all || store.is_subscribed(account, feed)? {
            true => store.feed_icon(feed),
            false => Ok(None),
        }
    });
    match found.await {
        Ok(Some(hash)) => {
            let to = Redirect::temporary(&format!("/icon/{hash}"));
            ([(header::CACHE_CONTROL, KEEP_REDIRECT)], to).into_response()
        }
        Ok(None) => missing("The feed does not have an icon."),
        Err(error) => failed(&error),
    }
}

/// Answers `GET /icon/HASH`.
pub async fn picture(State(context): State<ServerContext>, Path(hash): Path<String>) -> Response {
    let store = context.store.clone();
    match run_blocking(move || store.icon(&hash)).await {
        Ok(Some(icon)) => {
            let kind = HeaderValue::from_str(&icon.mime_type);
            let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
            let headers = [
                (header::CONTENT_TYPE, kind),
                (header::CACHE_CONTROL, KEEP),
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
            ];
            (headers, icon.bytes).into_response()
        }
        Ok(None) => {
            missing("The icon does not exist. Load the page again: the icon may have changed.")
        }
        Err(error) => failed(&error),
    }
}

fn missing(text: &'static str) -> Response {
    (StatusCode::NOT_FOUND, format!("{text}\n")).into_response()
}

fn failed(error: &store::StoreError) -> Response {
    tracing::warn!(%error, "cannot read an icon");
    (StatusCode::SERVICE_UNAVAILABLE, "The store does not answer.\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_stands_for_a_missing_icon() {
        let icon = FeedIcon::new(None, "«élan vital»");
        assert_eq!((icon.letter.as_str(), icon.src), ("É", None));
        assert!(icon.colour < COLOURS);
        assert_eq!(FeedIcon::new(None, "…").letter, "·");
        let known = FeedIcon::new(Some(&"abc".to_owned()), "x");
        assert_eq!(known.src.as_deref(), Some("/icon/abc"));
    }
}
