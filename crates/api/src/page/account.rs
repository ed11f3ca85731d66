//! The page of the visitor's account: password, time zone, and tokens for programs and reader
//! apps. A token is shown once, when it is created.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use store::{NewToken, TokenRow, TokenScope};

use super::frame::{AdminForm, Frame, NavSection, Visitor};
use super::notice::{notice, render, store_error};
use crate::ServerContext;
use crate::auth::{self, ClientAddress, Credentials, LoginError, Person};
use crate::blocking::run_blocking;
use crate::words::{DisplayTime, LocalNow, sentence, span};
use crate::zone::Zone;

/// The name of a token is a few words.
const NAME_CHARS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    tokens: Vec<TokenTableRow>,
    scopes: [TokenScope; 3],
    /// The zone that the account chose; empty for none.
    zone: &'static str,
    zones: &'static [String],
    /// The token that was just created.
    secret: Option<String>,
    /// The result of the last action.
    message: Option<&'static str>,
}

struct TokenTableRow {
    id: i64,
    name: String,
    scope: &'static str,
    created: DisplayTime,
    used: Option<DisplayTime>,
}

pub async fn account(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    page(&context, visitor, None, None).await
}

async fn page(
    context: &ServerContext,
    visitor: Visitor,
    secret: Option<String>,
    message: Option<&'static str>,
) -> Response {
    let (store, account) = (context.store.clone(), visitor.account());
    let now = visitor.now(context);
    let visitor_zone = visitor.choices.zone.map_or("", Zone::name);
    match run_blocking(move || store.tokens(account)).await {
        Ok(rows) => render(&AccountPage {
            frame: Frame::new(context, visitor, Some(NavSection::Account)),
            zone: visitor_zone,
            zones: Zone::names(),
            tokens: rows.into_iter().map(|row| token(row, now)).collect(),
            scopes: TokenScope::ALL,
            secret,
            message,
        }),
        Err(error) => store_error(context, visitor, &error),
    }
}

fn token(row: TokenRow, now: LocalNow) -> TokenTableRow {
    TokenTableRow {
        id: row.id,
        name: row.name,
        scope: row.scope.word(),
        created: DisplayTime::new(row.created_at, now),
        used: row.used_at.map(|at| DisplayTime::new(at, now)),
    }
}

/// Changes the password of somebody who knows the old one. This ends all sessions.
pub async fn change_password(
    State(context): State<ServerContext>,
    client: ClientAddress,
    sent: AdminForm,
) -> Response {
    let AdminForm(visitor, form) = sent;
    let Some(name) = login(&visitor) else { return no_account(&context, visitor) };
    let refuse = |visitor: Visitor, text: String| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        notice(&context, visitor, status, "Could not change the password", text)
    };
    let (old, new) = (form.text("old"), form.text("new").to_owned());
    let (store, now) = (&context.store, (context.now)());
    let credentials = Credentials { name: &name, password: old, client };
    match context.logins.by_password_alone(store, credentials, now).await {
        Ok(_) => {}
        Err(LoginError::Wrong) => {
            return refuse(visitor, "The old password is wrong.".to_owned());
        }
        Err(LoginError::Wait(wait)) => {
            return refuse(visitor, format!("Too many attempts. Wait {}.", span(wait)));
        }
        Err(LoginError::Busy) => {
            let text = "Too many passwords are being checked. Try again in a few seconds.";
            return refuse(visitor, text.to_owned());
        }
        Err(LoginError::Store(error)) => return store_error(&context, visitor, &error),
    }
    let hashed = tokio::task::spawn_blocking(move || auth::hash_password(&new)).await;
    let hashed = match hashed {
        Ok(Ok(hashed)) => hashed,
        Ok(Err(weak)) => return refuse(visitor, format!("{weak}.")),
        // Joining fails only when the program ends.
        Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.set_password(account, &hashed)).await {
        // The new password ended every session.
        Ok(()) => Redirect::to("/login").into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Creates a token and shows it this one time.
pub async fn make_token(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    let AdminForm(visitor, form) = sent;
    let Some(login) = login(&visitor) else { return no_account(&context, visitor) };
    let Ok(fresh) = auth::fresh() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let name: String = form.text("name").trim().chars().take(NAME_CHARS_MAX).collect();
    let now = (context.now)();
    let new = NewToken {
        account: visitor.account(),
        name: if name.is_empty() { now.to_string() } else { name },
        scope: TokenScope::from_word(form.text("scope")).unwrap_or(TokenScope::Write),
        digest: fresh.digest,
        fever_digest: auth::fever_digest(&login, &fresh.secret),
    };
    let store = context.store.clone();
    match run_blocking(move || store.add_token(&new, now)).await {
        Ok(Ok(_)) => page(&context, visitor, Some(fresh.secret), None).await,
        Ok(Err(why)) => {
            let (status, heading) =
                (StatusCode::UNPROCESSABLE_ENTITY, "Could not create the token");
            notice(&context, visitor, status, heading, sentence(&why.to_string()))
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

pub async fn revoke_token(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    let AdminForm(visitor, form) = sent;
    let Ok(id) = form.text("token").parse::<i64>() else {
        return Redirect::to(NavSection::Account.path()).into_response();
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.revoke_token(account, id)).await {
        Ok(_) => page(&context, visitor, None, Some("The token is revoked.")).await,
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn login(visitor: &Visitor) -> Option<String> {
    visitor.person.as_ref().and_then(|person: &Person| person.name.clone())
}

fn no_account(context: &ServerContext, visitor: Visitor) -> Response {
    let text =
        "There are no accounts yet. Create one with the command tidings user add NAME.".to_owned();
    notice(context, visitor, StatusCode::CONFLICT, "No account", text)
}
