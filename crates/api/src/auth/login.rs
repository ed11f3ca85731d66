//! The login page, and the session that it begins: a cookie that no script reads and no other site
//! sends.

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use url::form_urlencoded;

use super::logins::{Credentials, Denied};
use super::{Place, secret};
use crate::Context;
use crate::blocking::run_blocking;
use crate::form::Signed;
use crate::page::{Frame, Visitor, failed, shown};
use crate::words::{ceil_secs, span};

/// People log in once a month.
const LASTS: Duration = Duration::from_secs(30 * 86_400);
const COOKIE: &str = "tidings_session";
/// The name under which browsers take a cookie over TLS and for this host only.
const SECURE_COOKIE: &str = "__Host-tidings_session";

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    frame: Frame,
    name: String,
    to: String,
    trouble: Option<String>,
}

pub async fn show(
    State(context): State<Context>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let to = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find_map(|(name, value)| (name == "to").then(|| value.into_owned()))
        .unwrap_or_default();
    let to = within(&to);
    if visitor.person.is_some() {
        return Redirect::to(&to).into_response();
    }
    let frame = Frame::new(&context, visitor, None);
    shown(&Login { frame, name: String::new(), to, trouble: None })
}

/// Lets somebody in, or says why not.
pub async fn enter(
    State(context): State<Context>,
    visitor: Visitor,
    place: Place,
    form: Signed,
) -> Response {
    let (name, to) = (form.text("name").to_owned(), within(form.text("to")));
    let (store, now) = (&context.store, (context.now)());
    let sent = Credentials { name: &name, password: form.text("password"), place };
    let login = context.logins.by_password_alone(store, sent, now).await;
    let begun = match login {
        Ok(person) => context.logins.begin(store, person.account, now, LASTS).await,
        Err(denied) => Err(denied),
    };
    let session = match begun {
        Ok(session) => session,
        Err(Denied::Store(error)) => return failed(&context, visitor, &error),
        Err(denied) => return refused(&context, visitor, name, to, &denied),
    };
    let cookie = cookie(&context, &session, LASTS);
    ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
}

/// The page again, with the reason.
fn refused(
    context: &Context,
    visitor: Visitor,
    name: String,
    to: String,
    denied: &Denied,
) -> Response {
    let (status, trouble) = match denied {
        Denied::Wait(wait) => (
            StatusCode::TOO_MANY_REQUESTS,
            format!("Too many attempts. Wait {} and try again.", span(*wait)),
        ),
        Denied::Busy => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many logins at once. Try again in a few seconds.".to_owned(),
        ),
        _ => (StatusCode::UNAUTHORIZED, "Wrong name or password.".to_owned()),
    };
    // Whoever asks is a stranger again, but the light they chose stays.
    let frame = Frame::new(context, Visitor { person: None, ..visitor }, None);
    let page = Login { frame, name, to, trouble: Some(trouble) };
    let mut response = (status, shown(&page)).into_response();
    if let Some(wait) = denied.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(ceil_secs(wait)));
    }
    response
}

/// Ends the session.
pub async fn leave(
    State(context): State<Context>,
    visitor: Visitor,
    headers: HeaderMap,
    _: Signed,
) -> Response {
    if let Some(session) = session(&context, &headers) {
        let (store, digest) = (context.store.clone(), secret::digest(session));
        if let Err(error) = run_blocking(move || store.end_session(digest)).await {
            return failed(&context, visitor, &error);
        }
    }
    let gone = cookie(&context, "", Duration::ZERO);
    ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
}

/// The session that a browser sends, under the name that we give it here: over TLS any other may
/// be a neighbour's, or from before.
pub fn session<'a>(context: &Context, headers: &'a HeaderMap) -> Option<&'a str> {
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

/// Whether people come to us over TLS, which a server in front speaks.
fn is_secure(context: &Context) -> bool {
    context.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
}

fn cookie(context: &Context, session: &str, lasts: Duration) -> HeaderValue {
    let (name, end) = if is_secure(context) { (SECURE_COOKIE, "; Secure") } else { (COOKIE, "") };
    let text = format!(
        "{name}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{end}",
        lasts.as_secs()
    );
    // Letters, digits and signs of our own making.
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// An address on this page; anything else leads to the start.
pub fn within(to: &str) -> String {
    let ours = to.starts_with('/')
        && !to.starts_with("//")
        && !to.contains('\\')
        && to.bytes().all(|byte| byte.is_ascii_graphic())
        && to.len() <= 2000;
    if ours { to.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_nowhere_else() {
        assert_eq!(within("/feed/3?before=9"), "/feed/3?before=9");
        for to in ["", "//evil.test", "https://evil.test", "/\\evil.test", "/a\r\nSet-Cookie: x"] {
            assert_eq!(within(to), "/", "{to}");
        }
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
