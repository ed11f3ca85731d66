//! Changes the password of somebody who knows the old one, and checks it before other acts.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::{AccountResult, login, no_account, page};
use crate::ServerContext;
use crate::auth::{self, ClientAddress, Credentials, LoginError};
use crate::blocking::run_blocking;
use crate::page::frame::{OwnForm, Visitor};
use crate::page::notice::{notice, store_error};
use crate::words::span;

/// Changes the password and ends all other sessions.
pub async fn change_password(
    State(context): State<ServerContext>,
    client: ClientAddress,
    sent: OwnForm,
) -> Response {
    let OwnForm { visitor, form, session } = sent;
    let Some(name) = login(&visitor) else { return no_account(&context, visitor) };
    let heading = "Could not change the password";
    let credentials = Credentials { name: &name, password: form.text("old"), client };
    if let Err(answer) = prove(&context, &visitor, credentials, heading).await {
        return answer;
    }
    let new = form.text("new").to_owned();
    let hashed = tokio::task::spawn_blocking(move || auth::hash_password(&new)).await;
    let hashed = match hashed {
        Ok(Ok(hashed)) => hashed,
        Ok(Err(weak)) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return notice(&context, visitor, status, heading, format!("{weak}."));
        }
        // Joining fails only when the program ends.
        Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.change_password(account, &hashed, session)).await {
        Ok(()) => {
            let text = "The password is changed. All other devices must log in again.";
            page(&context, visitor, session, AccountResult::of(text)).await
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Checks the password of the visitor. The error is the page with the reason.
pub async fn prove(
    context: &ServerContext,
    visitor: &Visitor,
    credentials: Credentials<'_>,
    heading: &'static str,
) -> Result<(), Response> {
    let checked = context.logins.by_password_alone(&context.store, credentials, (context.now)());
    let text = match checked.await {
        Ok(_) => return Ok(()),
        Err(LoginError::Wrong) if context.login.without_passwords => {
            "Passwords are switched off on this server.".to_owned()
        }
        Err(LoginError::Wrong) => "The password is wrong.".to_owned(),
        Err(LoginError::Wait(wait)) => format!("Too many attempts. Wait {}.", span(wait)),
        Err(LoginError::Busy) => {
            "Too many passwords are being checked. Try again in a few seconds.".to_owned()
        }
        Err(LoginError::Store(error)) => {
            return Err(store_error(context, visitor.clone(), &error));
        }
    };
    Err(notice(context, visitor.clone(), StatusCode::UNPROCESSABLE_ENTITY, heading, text))
}
