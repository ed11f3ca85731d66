//! The accounts of the instance, for administrators: roles and removal.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use store::{AccountError, AccountId, AccountListFilter, AccountRole, TokenScope};

use super::blocking;
use super::extract::{IdInPath, JsonBody, QueryParams};
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::error::ApiError;

const LIMIT: u32 = 100;
const LIMIT_MAX: u32 = 500;

answer! {
    /// An account.
    Account {
        /// Its number.
        id: i64,
        /// Its name.
        name: String,
        /// `admin` or `reader`.
        role: &'static str,
        /// When it was created.
        created_at: String,
    }

    /// Some accounts.
    AccountList {
        /// In the order of their names.
        accounts: Vec<Account>,
        /// The cursor of the next page; null on the last page.
        next: Option<String>,
    }
}

request! {
    /// A change of an account.
    AccountChange {
        /// `admin` or `reader`. The last admin stays one.
        role: String,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/accounts", "The accounts, by name", list)
            .needs(TokenScope::Admin)
            .paged(LIMIT, LIMIT_MAX)
            .param("q", "Only accounts with this text in their name.", json!({"type": "string"}))
            .answers::<AccountList>(),
        Route::patch("/accounts/{id}", "Change the role of an account", change)
            .takes::<AccountChange>(),
        Route::delete("/accounts/{id}", "Remove an account with its marks and stars", remove),
    ]
}

async fn list(
    State(context): State<ServerContext>,
    mut params: QueryParams,
) -> Result<Json<AccountList>, ApiError> {
    let limit = params.number("limit", 1..=LIMIT_MAX, LIMIT)?;
    let text = params.text("q").unwrap_or_default();
    let from = match params.text("after") {
        None => None,
        Some(text) => {
            let name = text.strip_prefix('a').and_then(|rest| URL_SAFE_NO_PAD.decode(rest).ok());
            let name = name.and_then(|name| String::from_utf8(name).ok());
            Some(name.ok_or(ApiError::BadRequest("after is not a cursor"))?)
        }
    };
    params.end()?;
    let filter = AccountListFilter { text, from, backwards: false, limit };
    blocking(move || {
        let page = context.store.account_page(&filter)?;
        let last = page.accounts.last().filter(|_| page.has_later);
        let next = last.map(|row| format!("a{}", URL_SAFE_NO_PAD.encode(&row.name)));
        let accounts = page.accounts.into_iter().map(|row| Account {
            id: row.id.0,
            name: row.name,
            role: row.role.word(),
            created_at: row.created_at.to_string(),
        });
        Ok(Json(AccountList { accounts: accounts.collect(), next }))
    })
    .await
}

async fn change(
    State(context): State<ServerContext>,
    IdInPath(id): IdInPath,
    JsonBody(change): JsonBody<AccountChange>,
) -> Result<StatusCode, ApiError> {
    let role = AccountRole::from_word(&change.role);
    let role = role.ok_or(ApiError::BadRequest("role must be admin or reader"))?;
    answered(blocking(move || Ok(context.store.set_role(AccountId(id), role)?)).await?)
}

async fn remove(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<StatusCode, ApiError> {
    let account = AccountId(id);
    if person.account == account {
        return Err(ApiError::Conflict("delete your own account at /api/v1/me".to_owned()));
    }
    let remove = move || Ok(context.store.remove_account_but_last_admin(account)?);
    answered(blocking(remove).await?)
}

fn answered(done: Result<(), AccountError>) -> Result<StatusCode, ApiError> {
    done.map(|()| StatusCode::NO_CONTENT).map_err(|why| match why {
        AccountError::NoAccount => ApiError::NotFound("the account does not exist"),
        why => ApiError::Conflict(why.to_string()),
    })
}
