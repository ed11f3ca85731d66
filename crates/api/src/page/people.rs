//! The page of all accounts, for administrators: roles and removal. It never shows what somebody
//! reads.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use store::{AccountError, AccountId, AccountRole, AccountRow};

use super::frame::{AdminForm, AdminVisitor, Frame, NavSection, Visitor};
use super::notice::{not_found, notice, render, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::words::{DisplayTime, LocalNow, sentence};

pub const PATH: &str = "/people";

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    frame: Frame,
    rows: Vec<AccountTableRow>,
}

struct AccountTableRow {
    id: AccountId,
    name: String,
    role: &'static str,
    /// The role that the button gives.
    other_role: &'static str,
    created: DisplayTime,
    seen: Option<DisplayTime>,
    /// Whether it is the visitor's own account.
    is_own: bool,
}

#[derive(Template)]
#[template(path = "remove_account.html")]
struct RemoveAccountPage {
    frame: Frame,
    id: AccountId,
    name: String,
}

pub async fn list(
    State(context): State<ServerContext>,
    AdminVisitor(visitor): AdminVisitor,
) -> Response {
    let (store, now, own) = (context.store.clone(), visitor.now(&context), visitor.account());
    let rows = run_blocking(move || {
        let mut seen = store.last_seen(now.at)?;
        let accounts = store.accounts()?.into_iter();
        let row = |account: AccountRow| {
            let seen = seen.remove(&account.id);
            row(account, seen, own, now)
        };
        Ok(accounts.map(row).collect())
    });
    match rows.await {
        Ok(rows) => {
            render(&PeoplePage { frame: Frame::new(&context, visitor, Some(SECTION)), rows })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

const SECTION: NavSection = NavSection::Account;

fn row(
    account: AccountRow,
    seen: Option<feed::Time>,
    own: AccountId,
    now: LocalNow,
) -> AccountTableRow {
    let other = match account.role {
        AccountRole::Admin => AccountRole::Reader,
        AccountRole::Reader => AccountRole::Admin,
    };
    AccountTableRow {
        id: account.id,
        name: account.name,
        role: account.role.word(),
        other_role: other.word(),
        created: DisplayTime::new(account.created_at, now),
        seen: seen.map(|at| DisplayTime::new(at, now)),
        is_own: account.id == own,
    }
}

/// Gives an account another role.
pub async fn set_role(
    State(context): State<ServerContext>,
    Path(id): Path<i64>,
    sent: AdminForm,
) -> Response {
    let AdminForm(visitor, form) = sent;
    let Some(role) = AccountRole::from_word(form.text("role")) else {
        return Redirect::to(PATH).into_response();
    };
    let store = context.store.clone();
    let done = run_blocking(move || store.set_role(AccountId(id), role)).await;
    answer(&context, visitor, done, "Could not change the role")
}

/// Shows the page that asks for confirmation.
pub async fn confirm_remove(
    State(context): State<ServerContext>,
    Path(id): Path<i64>,
    AdminVisitor(visitor): AdminVisitor,
) -> Response {
    let store = context.store.clone();
    let accounts = match run_blocking(move || store.accounts()).await {
        Ok(accounts) => accounts,
        Err(error) => return store_error(&context, visitor, &error),
    };
    match accounts.into_iter().find(|account| account.id == AccountId(id)) {
        Some(AccountRow { id, name, .. }) => {
            let frame = Frame::new(&context, visitor, Some(SECTION));
            render(&RemoveAccountPage { frame, id, name })
        }
        None => {
            let text = "The account does not exist. It may have been removed: look at the list.";
            not_found(&context, visitor, text.to_owned())
        }
    }
}

pub async fn remove(
    State(context): State<ServerContext>,
    Path(id): Path<i64>,
    sent: AdminForm,
) -> Response {
    let AdminForm(visitor, _) = sent;
    let heading = "Could not remove the account";
    if visitor.account() == AccountId(id) {
        let text = "Delete your own account on the page Account.".to_owned();
        return notice(&context, visitor, StatusCode::CONFLICT, heading, text);
    }
    let store = context.store.clone();
    let done = run_blocking(move || store.remove_account_but_last_admin(AccountId(id))).await;
    answer(&context, visitor, done, heading)
}

fn answer(
    context: &ServerContext,
    visitor: Visitor,
    done: Result<Result<(), AccountError>, store::StoreError>,
    heading: &'static str,
) -> Response {
    match done {
        Ok(Ok(())) => Redirect::to(PATH).into_response(),
        Ok(Err(why)) => {
            let text = sentence(&why.to_string());
            notice(context, visitor, StatusCode::CONFLICT, heading, text)
        }
        Err(error) => store_error(context, visitor, &error),
    }
}
