//! Finds the account behind a request of an app: by a session of `ClientLogin`, a token, or name
//! and password. Sessions of the page are not accepted, because any site could make a browser send
//! their cookie.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use store::{SessionOrigin, TokenScope};

use super::error::ReaderApiError;
use crate::ServerContext;
use crate::auth::{ClientAddress, Credentials, Person};

/// Returns the person that the gate found, if that is enough: there are no accounts, or the request
/// carries a token.
pub fn admitted(request: &Request) -> Option<Person> {
    let found = request.extensions().get::<Person>();
    found.filter(|person| person.name.is_none() || person.form_key.is_none()).cloned()
}

/// Returns the client address that the gate found.
pub fn client(request: &Request) -> ClientAddress {
    request.extensions().get::<ClientAddress>().copied().unwrap_or_default()
}

/// Reads `Authorization: GoogleLogin auth=SECRET`.
pub fn google_secret(headers: &HeaderMap) -> Option<&str> {
    let (kind, rest) = authorization(headers)?;
    let secret = rest.strip_prefix("auth=")?;
    kind.eq_ignore_ascii_case("GoogleLogin").then_some(secret)
}

/// Returns the person behind a secret of a token or a session.
pub async fn by_secret(
    context: &ServerContext,
    secret: &str,
    origin: Option<SessionOrigin>,
) -> Result<Person, ReaderApiError> {
    let (logins, store, now) = (&context.logins, &context.store, (context.now)());
    if let Some(person) = logins.by_token(store, secret, now).await? {
        return Ok(person);
    }
    let found = logins.by_session(store, secret, origin, now).await?;
    found.ok_or(ReaderApiError::Unauthenticated)
}

/// Finds the person by `X-Auth-Token: TOKEN`, or by name and password of HTTP `Basic`.
pub async fn by_headers(
    context: &ServerContext,
    headers: &HeaderMap,
    client: ClientAddress,
) -> Result<Person, ReaderApiError> {
    let (logins, store, now) = (&context.logins, &context.store, (context.now)());
    if let Some(token) = headers.get("x-auth-token").and_then(|value| value.to_str().ok()) {
        return logins
            .by_token(store, token.trim(), now)
            .await?
            .ok_or(ReaderApiError::Unauthenticated);
    }
    let (name, password) = basic(headers).ok_or(ReaderApiError::Unauthenticated)?;
    let sent = Credentials { name: &name, password: &password, client };
    Ok(logins.by_password(store, sent, now).await?)
}

fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let (kind, rest) = authorization(headers)?;
    let bytes = STANDARD.decode(rest).ok().filter(|_| kind.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(bytes).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

fn authorization(headers: &HeaderMap) -> Option<(&str, &str)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, rest) = value.split_once(' ')?;
    Some((kind, rest.trim()))
}

/// Returns an error if the token's scope is too small.
pub fn needs(person: &Person, scope: TokenScope) -> Result<(), ReaderApiError> {
    match (person.may(scope), scope) {
        (true, _) => Ok(()),
        (false, _) if person.is_limited_by_role(scope) => Err(ReaderApiError::Denied(
            "only administrators may change settings of feeds; your account has the role reader",
        )),
        (false, TokenScope::Admin) => Err(ReaderApiError::Denied(
            "this token may not change settings of feeds; create one with scope admin",
        )),
        (false, _) => {
            Err(ReaderApiError::Denied("this token may only read; create one with scope write"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(value: &str) -> HeaderMap {
        [(header::AUTHORIZATION, value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn proofs_are_read_as_apps_write_them() {
        assert_eq!(google_secret(&sent("GoogleLogin auth=a/b=")), Some("a/b="));
        assert_eq!(google_secret(&sent("googlelogin  auth=x ")), Some("x"));
        assert_eq!(google_secret(&sent("Bearer x")), None);
        let both = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(basic(&sent("Basic dTpwOnE=")), both("u", "p:q"));
        assert_eq!(basic(&sent("Basic dTpw!")), None);
        assert_eq!(basic(&sent("Basic dXA=")), None, "no colon");
        assert_eq!(basic(&HeaderMap::new()), None);
    }
}
