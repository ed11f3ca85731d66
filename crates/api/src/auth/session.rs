//! Sessions of browsers and tokens of programs: who sent a request. The session cookie is hidden
//! from scripts and other sites do not send it.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use store::StoreError;

use super::{Person, secret};
use crate::ServerContext;
use crate::blocking::run_blocking;

const COOKIE: &str = "tidings_session";
/// The cookie name under TLS. Browsers accept it only over TLS and for this exact host.
const SECURE_COOKIE: &str = "__Host-tidings_session";

/// Finds the account behind a token or a session.
pub async fn identify(
    context: &ServerContext,
    headers: &HeaderMap,
) -> Result<Option<Person>, StoreError> {
    let (store, now) = (&context.store, (context.now)());
    if let Some(token) = bearer(headers) {
        return context.logins.by_token(store, token, now).await;
    }
    match session(context, headers) {
        Some(session) => context.logins.by_session(store, session, now).await,
        None => Ok(None),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, token) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Ends the session of a browser, if the request carries one.
pub async fn end_session(context: &ServerContext, headers: &HeaderMap) -> Result<(), StoreError> {
    let Some(session) = session(context, headers) else { return Ok(()) };
    let (store, digest) = (context.store.clone(), secret::digest(session));
    run_blocking(move || store.end_session(digest)).await
}

/// Whether the person behind a long request still has access. A session may end, a token may be
/// revoked, and the first account ends access without login.
pub async fn is_still_allowed(
    context: &ServerContext,
    headers: &HeaderMap,
    person: &Person,
) -> Result<bool, StoreError> {
    if person.name.is_none() {
        let store = context.store.clone();
        return Ok(!run_blocking(move || store.has_accounts()).await?);
    }
    let found = identify(context, headers).await?;
    Ok(found.is_some_and(|found| found.account == person.account))
}

/// Returns the session that a browser sent. Under TLS only the secure cookie counts: another site
/// of the same domain may have set the plain one.
fn session<'a>(context: &ServerContext, headers: &'a HeaderMap) -> Option<&'a str> {
    in_cookies(headers, if is_secure(context) { SECURE_COOKIE } else { COOKIE })
}

fn in_cookies<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == wanted).then_some(value)
    });
    pairs.next().filter(|value| !value.is_empty())
}

/// Whether people reach us over TLS, which a proxy in front of us ends.
fn is_secure(context: &ServerContext) -> bool {
    context.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
}

/// Returns the header value that sets the session cookie.
pub fn cookie(context: &ServerContext, session: &str, lasts: Duration) -> HeaderValue {
    let (name, end) = if is_secure(context) { (SECURE_COOKIE, "; Secure") } else { (COOKIE, "") };
    let text = format!(
        "{name}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{end}",
        lasts.as_secs()
    );
    // The text holds ASCII characters only.
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn a_token_follows_the_word_bearer() {
        assert_eq!(bearer(&sent(&[("authorization", "Bearer abc")])), Some("abc"));
        assert_eq!(bearer(&sent(&[("authorization", "bearer  abc ")])), Some("abc"));
        assert_eq!(bearer(&sent(&[("authorization", "Basic abc")])), None);
        assert_eq!(bearer(&sent(&[])), None);
    }

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let headers = |text: &str| HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
        let of = |text: &str| in_cookies(&headers(text), COOKIE).map(str::to_owned);
        assert_eq!(of("a=b; tidings_session=xyz").as_deref(), Some("xyz"));
        assert_eq!(of("__Host-tidings_session=xyz; a=b"), None);
        assert_eq!(of("tidings_session=; tidings_sessions=q"), None);
        assert_eq!(in_cookies(&HeaderMap::new(), COOKIE), None);
    }
}
