//! Tokens for programs and reader apps.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use store::{NewToken, TokenRow, TokenScope};

use super::{AccountResult, login, no_account, page};
use crate::ServerContext;
use crate::auth;
use crate::blocking::run_blocking;
use crate::page::frame::{NavSection, OwnForm};
use crate::page::notice::{notice, store_error};
use crate::words::{DisplayTime, LocalNow, sentence};

/// The name of a token is a few words.
const NAME_CHARS_MAX: usize = 100;

pub struct TokenTableRow {
    pub id: i64,
    pub name: String,
    pub scope: &'static str,
    pub created: DisplayTime,
    pub used: Option<DisplayTime>,
}

pub fn row(row: TokenRow, now: LocalNow) -> TokenTableRow {
    TokenTableRow {
        id: row.id,
        name: row.name,
        scope: row.scope.word(),
        created: DisplayTime::new(row.created_at, now),
        used: row.used_at.map(|at| DisplayTime::new(at, now)),
    }
}

/// Creates a token and shows it this one time.
pub async fn make_token(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, form, session } = sent;
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
        Ok(Ok(_)) => {
            let result = AccountResult { secret: Some(fresh.secret), message: None };
            page(&context, visitor, session, result).await
        }
        Ok(Err(why)) => {
            let (status, heading) =
                (StatusCode::UNPROCESSABLE_ENTITY, "Could not create the token");
            notice(&context, visitor, status, heading, sentence(&why.to_string()))
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

pub async fn revoke_token(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, form, session } = sent;
    let Ok(id) = form.text("token").parse::<i64>() else {
        return Redirect::to(NavSection::Account.path()).into_response();
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.revoke_token(account, id)).await {
        Ok(_) => page(&context, visitor, session, AccountResult::of("The token is revoked.")).await,
        Err(error) => store_error(&context, visitor, &error),
    }
}
