//! The login page. It starts and ends the sessions of browsers; `auth` checks the password.
//! `provider`: the way to an identity provider and back.

pub mod provider;

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use url::form_urlencoded;

use crate::ServerContext;
use crate::auth::{ClientAddress, Credentials, LoginError};
use crate::form::SignedForm;
use crate::http::paths::local_target;
use crate::page::{Frame, Visitor, render, store_error};
use crate::session;
use crate::words::{ceil_secs, span};

/// The life of a session: people log in once a month.
pub const SESSION_LIFE: Duration = Duration::from_secs(30 * 86_400);

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    name: String,
    to: String,
    trouble: Option<String>,
    takes_passwords: bool,
    /// The name of the identity provider, and the address that leads there.
    provider: Option<(String, String)>,
}

impl LoginPage {
    fn new(context: &ServerContext, visitor: Visitor, name: String, to: String) -> LoginPage {
        let provider = context.login.provider.as_ref().map(|provider| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            let query = query.append_pair("to", &to).finish();
            (provider.name().to_owned(), format!("/login/provider?{query}"))
        });
        LoginPage {
            // The visitor is not logged in, but keeps the colours they chose.
            frame: Frame::new(context, Visitor { person: None, ..visitor }, None),
            name,
            to,
            trouble: None,
            takes_passwords: !context.login.without_passwords,
            provider,
        }
    }
}

pub async fn show(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let to = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find_map(|(name, value)| (name == "to").then(|| value.into_owned()))
        .unwrap_or_default();
    let to = local_target(&to);
    if visitor.person.is_some() {
        return Redirect::to(&to).into_response();
    }
    render(&LoginPage::new(&context, visitor, String::new(), to))
}

/// Checks name and password, and starts a session.
pub async fn enter(
    State(context): State<ServerContext>,
    visitor: Visitor,
    client: ClientAddress,
    headers: HeaderMap,
    form: SignedForm,
) -> Response {
    let (name, to) = (form.text("name").to_owned(), local_target(form.text("to")));
    if context.login.without_passwords {
        let mut page = LoginPage::new(&context, visitor, name, to);
        page.trouble = Some("Passwords are switched off on this server.".to_owned());
        return (StatusCode::FORBIDDEN, render(&page)).into_response();
    }
    let (store, now) = (&context.store, (context.now)());
    let sent = Credentials { name: &name, password: form.text("password"), client };
    let login = context.logins.by_password_alone(store, sent, now).await;
    let begun = match login {
        Ok(person) => {
            let origin = session::origin(&headers, client);
            context.logins.begin(store, person.account, origin, now, SESSION_LIFE).await
        }
        Err(denied) => Err(denied),
    };
    let session = match begun {
        Ok(session) => session,
        Err(LoginError::Store(error)) => return store_error(&context, visitor, &error),
        Err(denied) => return refused(&context, visitor, name, to, &denied),
    };
    let cookie = session::cookie(&context, &session, SESSION_LIFE);
    ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
}

/// Shows the page again, with the reason.
fn refused(
    context: &ServerContext,
    visitor: Visitor,
    name: String,
    to: String,
    denied: &LoginError,
) -> Response {
    let (status, trouble) = match denied {
        LoginError::Wait(wait) => (
            StatusCode::TOO_MANY_REQUESTS,
            format!("Too many attempts. Wait {} and try again.", span(*wait)),
        ),
        LoginError::Busy => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many logins at once. Try again in a few seconds.".to_owned(),
        ),
        _ => (StatusCode::UNAUTHORIZED, "Wrong name or password.".to_owned()),
    };
    let page = LoginPage::new(context, visitor, name, to);
    let page = LoginPage { trouble: Some(trouble), ..page };
    let mut response = (status, render(&page)).into_response();
    if let Some(wait) = denied.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(ceil_secs(wait)));
    }
    response
}

/// Ends the session.
pub async fn leave(
    State(context): State<ServerContext>,
    visitor: Visitor,
    headers: HeaderMap,
    _: SignedForm,
) -> Response {
    if let Err(error) = session::end_session(&context, &headers).await {
        return store_error(&context, visitor, &error);
    }
    let gone = session::cookie(&context, "", Duration::ZERO);
    ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
}
