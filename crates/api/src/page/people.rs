//! The page of all accounts, for administrators: roles and removal. It never shows what somebody
//! reads.

mod params;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use store::{AccountError, AccountId, AccountListPage, AccountRole, AccountRow};

use super::frame::{AdminForm, AdminVisitor, Frame, NavSection, Visitor};
use super::notice::{not_found, notice, render, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::words::{DisplayTime, LocalNow, count, sentence};
use params::PeopleParams;

pub const PATH: &str = "/people";
/// Rows on one page. In a longer list people search.
const ROWS: u32 = 100;

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    frame: Frame,
    rows: Vec<AccountTableRow>,
    text: String,
    range: String,
    previous: Option<String>,
    next: Option<String>,
    /// The query string of this list.
    list: String,
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
    RawQuery(query): RawQuery,
) -> Response {
    let params = PeopleParams::read(query.as_deref().unwrap_or_default());
    let (store, now, own) = (context.store.clone(), visitor.now(&context), visitor.account());
    let filter = params.filter();
    let found = run_blocking(move || {
        let page = store.account_page(&filter)?;
        let accounts: Vec<AccountId> = page.accounts.iter().map(|row| row.id).collect();
        Ok((page, store.last_seen(&accounts, now.at)?))
    });
    let (mut page, mut seen) = match found.await {
        Ok(found) => found,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let accounts = std::mem::take(&mut page.accounts);
    let frame = Frame::new(&context, visitor, Some(SECTION));
    let composed = compose(frame, &page, &accounts, params);
    let rows = accounts.into_iter().map(|account| {
        let seen = seen.remove(&account.id);
        row(account, seen, own, now)
    });
    render(&PeoplePage { rows: rows.collect(), ..composed })
}

/// Returns the page without its rows.
fn compose(
    frame: Frame,
    page: &AccountListPage,
    accounts: &[AccountRow],
    params: PeopleParams,
) -> PeoplePage {
    let first = params.n_before * u64::from(ROWS);
    let last = (first + accounts.len() as u64).min(page.n_accounts);
    let turn = |row: Option<&AccountRow>, backwards| Some(params.turned(&row?.name, backwards));
    let previous = page.has_earlier.then(|| turn(accounts.first(), true)).flatten();
    let next = page.has_later.then(|| turn(accounts.last(), false)).flatten();
    PeoplePage {
        frame,
        rows: Vec::new(),
        range: format!("{}–{} of {}", count(first + 1), count(last), count(page.n_accounts)),
        previous: previous.map(|params| params.href()),
        next: next.map(|params| params.href()),
        list: params.href().split_once('?').map_or("", |(_, query)| query).to_owned(),
        text: params.text,
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
    // The same part of the list is shown again.
    let list = PeopleParams::read(form.text("list")).href();
    let Some(role) = AccountRole::from_word(form.text("role")) else {
        return Redirect::to(&list).into_response();
    };
    let store = context.store.clone();
    let done = run_blocking(move || store.set_role(AccountId(id), role)).await;
    answer(&context, visitor, done, "Could not change the role", &list)
}

/// Shows the page that asks for confirmation.
pub async fn confirm_remove(
    State(context): State<ServerContext>,
    Path(id): Path<i64>,
    AdminVisitor(visitor): AdminVisitor,
) -> Response {
    let store = context.store.clone();
    let found = match run_blocking(move || store.account_numbered(AccountId(id))).await {
        Ok(found) => found,
        Err(error) => return store_error(&context, visitor, &error),
    };
    match found {
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
    answer(&context, visitor, done, heading, PATH)
}

fn answer(
    context: &ServerContext,
    visitor: Visitor,
    done: Result<Result<(), AccountError>, store::StoreError>,
    heading: &'static str,
    list: &str,
) -> Response {
    match done {
        Ok(Ok(())) => Redirect::to(list).into_response(),
        Ok(Err(why)) => {
            let text = sentence(&why.to_string());
            notice(context, visitor, StatusCode::CONFLICT, heading, text)
        }
        Err(error) => store_error(context, visitor, &error),
    }
}
