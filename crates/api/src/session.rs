//! Sessions of browsers and tokens of programs: who sent a request. The session cookie is hidden
//! from scripts and other sites do not send it.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use futures_util::FutureExt;
use store::{Digest, SessionOrigin, StoreError, TokenScope};
use tokio::time::{Interval, MissedTickBehavior};

use crate::ServerContext;
use crate::auth::{self, ClientAddress, Person};
use crate::blocking::run_blocking;

const COOKIE: &str = "tidings_session";
/// The cookie name under TLS. Browsers accept it only over TLS and for this exact host.
const SECURE_COOKIE: &str = "__Host-tidings_session";

/// The setting with a key that all processes share. It signs forms and logins under way.
pub const KEY_SETTING: &str = "login_key";

/// The facts about a request that its connection tells.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    pub client: Option<ClientAddress>,
    /// The name that a trusted proxy sent; empty if it sent something else than one name.
    pub proxied_name: Option<String>,
}

/// Finds the account behind a token, the name that a trusted proxy sent, or a session.
pub async fn identify(
    context: &ServerContext,
    headers: &HeaderMap,
    visit: &Visit,
) -> Result<Option<Person>, StoreError> {
    let (store, now) = (&context.store, (context.now)());
    if let Some(token) = bearer(headers) {
        return context.logins.by_token(store, token, now).await;
    }
    // The proxy knows who is there now; a session may be of somebody who was there before.
    if let Some(name) = &visit.proxied_name {
        return by_proxied_name(context, name).await;
    }
    match session(context, headers) {
        Some(session) => {
            let origin = visit.client.map(|client| origin(headers, client));
            context.logins.by_session(store, session, origin, now).await
        }
        None => Ok(None),
    }
}

/// Finds the account with a name, or creates it if new accounts are allowed.
async fn by_proxied_name(
    context: &ServerContext,
    name: &str,
) -> Result<Option<Person>, StoreError> {
    if name.is_empty() {
        return Ok(None);
    }
    let Ok(fresh) = auth::fresh() else { return Ok(None) };
    let (store, name, fresh) = (context.store.clone(), name.to_owned(), fresh.secret);
    let (creates, now) = (context.login.creates_accounts, (context.now)());
    let found = run_blocking(move || {
        let key = store.shared_setting(KEY_SETTING, &fresh)?;
        if creates && store.account(&name)?.is_none() {
            let reader = Some(store::AccountRole::Reader);
            // Another request may have created it meanwhile.
            let _ = store.add_account_as(&name, store::NO_PASSWORD, reader, now)?;
        }
        Ok::<_, StoreError>(store.account(&name)?.map(|account| (account, key)))
    });
    Ok(found.await?.map(|(account, key)| {
        let form_key = auth::keyed(key.as_bytes(), format!("form {}", account.id).as_bytes());
        let person = Person::with_account(account, TokenScope::Admin, Some(form_key));
        Person { by_proxy: true, ..person }
    }))
}

/// Returns where a request comes from.
pub fn origin(headers: &HeaderMap, client: ClientAddress) -> SessionOrigin {
    let device = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    SessionOrigin { device: device.unwrap_or_default().to_owned(), address: client.to_string() }
}

/// Returns the digest of the session that a browser sent.
pub fn current_session(context: &ServerContext, headers: &HeaderMap) -> Option<Digest> {
    session(context, headers).map(auth::digest)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, token) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Ends the session of a browser, if the request carries one.
pub async fn end_session(context: &ServerContext, headers: &HeaderMap) -> Result<(), StoreError> {
    let Some(session) = session(context, headers) else { return Ok(()) };
    let (store, digest) = (context.store.clone(), auth::digest(session));
    run_blocking(move || store.end_session(digest)).await
}

/// The interval at which the login of a long request is verified again.
const LOGIN_CHECK_EVERY: Duration = Duration::from_secs(10);

/// The login behind a long request, verified at intervals.
pub struct LoginWatch {
    person: Person,
    headers: HeaderMap,
    timer: Interval,
}

impl LoginWatch {
    /// `headers` are those of the request that `person` made.
    pub fn new(person: Person, headers: HeaderMap) -> LoginWatch {
        let mut timer = tokio::time::interval(LOGIN_CHECK_EVERY);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once, and the login has just been verified.
        timer.tick().now_or_never();
        LoginWatch { person, headers, timer }
    }

    pub fn person(&self) -> &Person {
        &self.person
    }

    /// Returns whether the request may go on. A client that reconnects gets the reason.
    pub async fn may_go_on(&mut self, context: &ServerContext) -> bool {
        if self.timer.tick().now_or_never().is_none() {
            return true;
        }
        match is_still_allowed(context, &self.headers, &self.person).await {
            Ok(is_allowed) => is_allowed,
            // Nothing can be read meanwhile.
            Err(error) => error.is_unavailable(),
        }
    }
}

/// Whether the person behind a long request still has access. A session may end, a token may be
/// revoked, and the first account ends access without login.
async fn is_still_allowed(
    context: &ServerContext,
    headers: &HeaderMap,
    person: &Person,
) -> Result<bool, StoreError> {
    if person.name.is_none() {
        let store = context.store.clone();
        return Ok(!run_blocking(move || store.has_accounts()).await?);
    }
    // The connection is the same, so the proxy would name the same person.
    let proxied_name = person.name.clone().filter(|_| person.by_proxy);
    let visit = Visit { client: None, proxied_name };
    let found = identify(context, headers, &visit).await?;
    Ok(found.is_some_and(|found| found.account == person.account))
}

/// Returns the session that a browser sent. Under TLS only the secure cookie counts: another site
/// of the same domain may have set the plain one.
fn session<'a>(context: &ServerContext, headers: &'a HeaderMap) -> Option<&'a str> {
    in_cookies(headers, if is_secure(context) { SECURE_COOKIE } else { COOKIE })
}

pub fn in_cookies<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == wanted).then_some(value)
    });
    pairs.next().filter(|value| !value.is_empty())
}

/// Whether people reach us over TLS, which a proxy in front of us ends.
pub fn is_secure(context: &ServerContext) -> bool {
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
