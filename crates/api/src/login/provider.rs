//! The way to an identity provider and back. A visitor without a session gets one. A visitor with a
//! session is asked whether to connect the login with their account.

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use store::{Identity, StoreError};

use super::{LoginPage, SESSION_LIFE};
use crate::ServerContext;
use crate::auth::provider::{IdClaims, LoginAttemptCookie, Provider, ProviderError};
use crate::auth::{self, ClientAddress, LoginError, account_name};
use crate::blocking::run_blocking;
use crate::http::pairs;
use crate::http::paths::local_target;
use crate::page::{Frame, OwnForm, Visitor, notice, render, store_error};
use crate::session::{self, KEY_SETTING};
use crate::words::sentence;

const COOKIE: &str = "tidings_login";
const SECURE_COOKIE: &str = "__Host-tidings_login";
/// Parameters of an answer of the provider.
const QUERY_BYTES_MAX: usize = 16 << 10;
const ERROR_CHARS_MAX: usize = 60;
/// How long a person may think about connecting their account.
const CONNECT_WITHIN: Duration = Duration::from_secs(600);

#[derive(Template)]
#[template(path = "connect.html")]
struct ConnectPage {
    frame: Frame,
    provider: String,
    name: String,
    /// The name that the person uses at the provider.
    user_name: Option<String>,
    claim: String,
}

/// Sends the visitor to the provider.
pub async fn leave(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(provider) = context.login.provider.clone() else {
        return none(&context, visitor);
    };
    let pairs = pairs::read(query.unwrap_or_default().as_bytes(), 64).unwrap_or_default();
    let to = pairs.into_iter().find(|(name, _)| name == "to").map_or(String::new(), |(_, to)| to);
    let begun = provider.begin(local_target(&to), (context.now)()).await;
    let start = match begun {
        Ok(start) => start,
        Err(error) => return refused(&context, visitor, &error),
    };
    match key(&context).await {
        Ok(key) => {
            let value = start.attempt.signed(&key);
            let cookie = cookie(&context, &value, LoginAttemptCookie::LIFE);
            ([(header::SET_COOKIE, cookie)], Redirect::to(start.to.as_str())).into_response()
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Takes the visitor back from the provider.
pub async fn back(
    State(context): State<ServerContext>,
    visitor: Visitor,
    client: ClientAddress,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(provider) = context.login.provider.clone() else {
        return none(&context, visitor);
    };
    let key = match key(&context).await {
        Ok(key) => key,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let answer = ProviderAnswer::read(&query.unwrap_or_default());
    let name = if session::is_secure(&context) { SECURE_COOKIE } else { COOKIE };
    let attempt = session::in_cookies(&headers, name)
        .and_then(|value| LoginAttemptCookie::read(value, &key))
        .filter(|attempt| auth::agree(&attempt.state, &answer.state));
    let Some(attempt) = attempt else {
        return refused(&context, visitor, &ProviderError::Expired);
    };
    let mut response = match finish(&context, &provider, &attempt, &answer).await {
        Ok(claims) => {
            let identity =
                Identity { issuer: provider.issuer().to_owned(), subject: claims.subject.clone() };
            let is_known = visitor.person.as_ref().is_some_and(|person| person.name.is_some());
            if is_known {
                propose(&context, visitor, &provider, identity, &claims, &key).await
            } else {
                let origin = session::origin(&headers, client);
                let login = ProvenLogin { identity, claims, back: attempt.back, origin };
                enter(&context, visitor, login).await
            }
        }
        Err(error) => refused(&context, visitor, &error),
    };
    response.headers_mut().append(header::SET_COOKIE, cookie(&context, "", Duration::ZERO));
    response
}

/// The parameters of an answer. A parameter that comes twice does not count.
#[derive(Default)]
struct ProviderAnswer {
    state: String,
    code: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
}

impl ProviderAnswer {
    fn read(query: &str) -> ProviderAnswer {
        if query.len() > QUERY_BYTES_MAX {
            return ProviderAnswer::default();
        }
        let pairs = pairs::read(query.as_bytes(), 64).unwrap_or_default();
        let one = |wanted: &str| {
            let mut values = pairs.iter().filter(|(name, _)| name == wanted);
            let first = values.next().map(|(_, value)| value.clone());
            first.filter(|_| values.next().is_none())
        };
        ProviderAnswer {
            state: one("state").unwrap_or_default(),
            code: one("code"),
            issuer: one("iss"),
            error: one("error"),
        }
    }
}

async fn finish(
    context: &ServerContext,
    provider: &Provider,
    attempt: &LoginAttemptCookie,
    answer: &ProviderAnswer,
) -> Result<IdClaims, ProviderError> {
    match (&answer.code, &answer.error) {
        (Some(code), None) => {
            provider.finish(attempt, code, answer.issuer.as_deref(), (context.now)()).await
        }
        (_, error) => {
            let plain = |c: &char| c.is_ascii_alphanumeric() || "_- ".contains(*c);
            let word: String = error.as_deref().unwrap_or("no code").chars().collect();
            let word: String = word.chars().filter(plain).take(ERROR_CHARS_MAX).collect();
            Err(ProviderError::Provider(format!("it refused the login ({word})")))
        }
    }
}

/// A person whom the provider has proven.
struct ProvenLogin {
    identity: Identity,
    claims: IdClaims,
    back: String,
    origin: store::SessionOrigin,
}

/// Starts a session for the account of an identity.
async fn enter(context: &ServerContext, visitor: Visitor, login: ProvenLogin) -> Response {
    let (store, now) = (context.store.clone(), (context.now)());
    let creates = context.login.creates_accounts;
    let wanted = login.claims.user_name.as_deref().and_then(account_name);
    // Leaves room for a number.
    let wanted: String = wanted.unwrap_or("reader".to_owned()).chars().take(60).collect();
    let identity = login.identity;
    let found = run_blocking(move || {
        // The first account is made at the machine: it may change everything.
        if creates && store.has_accounts()? {
            return Ok(store.account_for_identity(&identity, &wanted, now)?.ok());
        }
        store.identified(&identity)
    });
    let account = match found.await {
        Ok(Some(account)) => account,
        Ok(None) => return unknown(context, visitor),
        Err(error) => return store_error(context, visitor, &error),
    };
    let (logins, store) = (&context.logins, &context.store);
    match logins.begin(store, account.id, login.origin, now, SESSION_LIFE).await {
        Ok(session) => {
            let cookie = session::cookie(context, &session, SESSION_LIFE);
            let to = local_target(&login.back);
            ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
        }
        Err(LoginError::Store(error)) => store_error(context, visitor, &error),
        Err(_) => refused(context, visitor, &ProviderError::Chance),
    }
}

/// The answer to somebody without an account here.
fn unknown(context: &ServerContext, visitor: Visitor) -> Response {
    let text = "No account on this server is connected with this login. Log in with your password \
                and connect it on the page Account, or ask the person who runs this server.";
    let mut page = LoginPage::new(context, visitor, String::new(), "/".to_owned());
    page.trouble = Some(text.to_owned());
    (StatusCode::FORBIDDEN, render(&page)).into_response()
}

/// Asks a visitor with a session whether to connect a login with their account.
async fn propose(
    context: &ServerContext,
    visitor: Visitor,
    provider: &Provider,
    identity: Identity,
    claims: &IdClaims,
    key: &str,
) -> Response {
    let (store, wanted) = (context.store.clone(), identity.clone());
    let owner = match run_blocking(move || store.identified(&wanted)).await {
        Ok(owner) => owner,
        Err(error) => return store_error(context, visitor, &error),
    };
    match owner {
        Some(owner) if owner.id == visitor.account() => Redirect::to("/account").into_response(),
        Some(_) => {
            let text = "This login belongs to another account of this server. Log out first.";
            let heading = "Already connected";
            notice(context, visitor, StatusCode::CONFLICT, heading, text.to_owned())
        }
        None => {
            let claim = ConnectClaim {
                account: visitor.account().0,
                issuer: identity.issuer,
                subject: identity.subject,
                until: ((context.now)() + CONNECT_WITHIN).millis(),
            };
            let frame = Frame::new(context, visitor, None);
            let name = frame.name().unwrap_or_default().to_owned();
            render(&ConnectPage {
                provider: provider.name().to_owned(),
                name,
                user_name: claims.user_name.clone(),
                claim: claim.signed(key),
                frame,
            })
        }
    }
}

/// A proven identity that an account may be connected with.
#[derive(serde::Deserialize, serde::Serialize)]
struct ConnectClaim {
    account: i64,
    issuer: String,
    subject: String,
    until: i64,
}

impl ConnectClaim {
    fn signed(&self, key: &str) -> String {
        // A struct of texts and numbers can always be written.
        let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default());
        let signature = auth::keyed(key.as_bytes(), format!("connect {text}").as_bytes());
        format!("{text}.{signature}")
    }

    fn read(value: &str, key: &str) -> Option<ConnectClaim> {
        let (text, signature) = value.split_once('.')?;
        let expected = auth::keyed(key.as_bytes(), format!("connect {text}").as_bytes());
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        auth::agree(&expected, signature).then(|| serde_json::from_slice(&bytes).ok()).flatten()
    }
}

/// Connects a proven identity with the visitor's account.
pub async fn connect(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, form, .. } = sent;
    let key = match key(&context).await {
        Ok(key) => key,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let (account, now) = (visitor.account(), (context.now)());
    let claim = ConnectClaim::read(form.text("claim"), &key)
        .filter(|claim| claim.account == account.0 && claim.until > now.millis());
    let Some(claim) = claim else {
        return refused(&context, visitor, &ProviderError::Expired);
    };
    let (store, identity) =
        (context.store.clone(), Identity { issuer: claim.issuer, subject: claim.subject });
    match run_blocking(move || store.connect_identity(account, &identity, now)).await {
        Ok(Ok(())) => Redirect::to("/account").into_response(),
        Ok(Err(why)) => {
            let text = sentence(&why.to_string());
            notice(&context, visitor, StatusCode::CONFLICT, "Could not connect the login", text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Removes the identities of the visitor's account at the provider.
pub async fn disconnect(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, .. } = sent;
    let Some(provider) = context.login.provider.clone() else { return none(&context, visitor) };
    let (store, account) = (context.store.clone(), visitor.account());
    let done = run_blocking(move || {
        for identity in store.identities(account)? {
            if identity.issuer == provider.issuer() {
                store.disconnect_identity(account, &identity)?;
            }
        }
        Ok::<_, StoreError>(())
    });
    match done.await {
        Ok(()) => Redirect::to("/account").into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the key that signs logins under way.
async fn key(context: &ServerContext) -> Result<String, StoreError> {
    let Ok(fresh) = auth::fresh() else { return Err(StoreError::Closed) };
    let store = context.store.clone();
    run_blocking(move || store.shared_setting(KEY_SETTING, &fresh.secret)).await
}

fn cookie(context: &ServerContext, value: &str, lasts: Duration) -> HeaderValue {
    let (name, end) =
        if session::is_secure(context) { (SECURE_COOKIE, "; Secure") } else { (COOKIE, "") };
    // The answer of the provider comes from another site, so the cookie cannot be strict.
    let text =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{end}", lasts.as_secs());
    // The text holds ASCII characters only.
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn none(context: &ServerContext, visitor: Visitor) -> Response {
    let text = "This server has no identity provider.".to_owned();
    notice(context, visitor, StatusCode::NOT_FOUND, "Not found", text)
}

/// Shows why a login failed.
fn refused(context: &ServerContext, visitor: Visitor, error: &ProviderError) -> Response {
    let status = match error {
        ProviderError::Provider(why) => {
            tracing::warn!(%why, "login at the identity provider failed");
            StatusCode::BAD_GATEWAY
        }
        ProviderError::Statement(why) => {
            tracing::warn!(%why, "the identity provider sent a statement that is not valid");
            StatusCode::BAD_GATEWAY
        }
        ProviderError::Busy | ProviderError::Chance => StatusCode::SERVICE_UNAVAILABLE,
        ProviderError::Expired | ProviderError::OtherIssuer => StatusCode::BAD_REQUEST,
    };
    let text = sentence(&error.to_string());
    if visitor.person.as_ref().is_some_and(|person| person.name.is_some()) {
        return notice(context, visitor, status, "Could not log in", text);
    }
    let mut page = LoginPage::new(context, visitor, String::new(), "/".to_owned());
    page.trouble = Some(text);
    (status, render(&page)).into_response()
}
