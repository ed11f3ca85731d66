//! The devices that are logged in. Their owner can end each of them.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use store::{Digest, SessionNumber, SessionRow};

use super::{AccountResult, page};
use crate::blocking::run_blocking;
use crate::page::frame::{NavSection, OwnForm};
use crate::page::notice::store_error;
use crate::words::{DisplayTime, LocalNow};
use crate::{ServerContext, auth, session};

pub struct SessionTableRow {
    pub number: String,
    pub device: String,
    pub address: String,
    pub first: DisplayTime,
    pub last: DisplayTime,
    /// Whether the visitor uses this session now.
    pub is_current: bool,
}

pub fn row(row: SessionRow, current: Option<Digest>, now: LocalNow) -> SessionTableRow {
    SessionTableRow {
        number: row.number.to_string(),
        device: auth::device_name(&row.origin.device),
        address: row.origin.address,
        first: DisplayTime::new(row.created_at, now),
        last: DisplayTime::new(row.seen_at, now),
        is_current: current.is_some_and(|digest| SessionNumber::of(&digest) == row.number),
    }
}

/// Ends one session. Ending the present one is a logout.
pub async fn end_session(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, form, session } = sent;
    let Some(number) = SessionNumber::parse(form.text("session")) else {
        return Redirect::to(NavSection::Account.path()).into_response();
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.end_session_numbered(account, number)).await {
        Ok(_) if session.is_some_and(|digest| SessionNumber::of(&digest) == number) => {
            let gone = session::cookie(&context, "", std::time::Duration::ZERO);
            ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
        }
        Ok(true) => {
            page(&context, visitor, session, AccountResult::of("The device is logged out.")).await
        }
        Ok(false) => {
            let result = AccountResult::of("This device was logged out already.");
            page(&context, visitor, session, result).await
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Ends all sessions but the present one.
pub async fn end_others(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, session, .. } = sent;
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.end_other_sessions(account, session)).await {
        Ok(_) => {
            let result = AccountResult::of("All other devices are logged out.");
            page(&context, visitor, session, result).await
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}
