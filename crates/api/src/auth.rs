//! The person behind a request. Without accounts, everybody on loopback is the one local person.
//! With the first account every request needs a session (people) or a token (programs).
//!
//! # Layout
//! - `session`: sessions of browsers and tokens of programs.
//! - `logins`: checks names with passwords, tokens and keys. `password`: hashes with argon2id.
//!   `secret`: makes secrets, their digests and form keys.
//! - `throttle`: limits guesses of passwords. `check_queue`: limits password checks at one time.
//!   `client_address`: the address that both count by.

mod check_queue;
mod client_address;
mod logins;
mod password;
mod secret;
mod session;
mod throttle;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use store::{AccountId, AccountRow, TokenScope};

pub use client_address::{ClientAddress, Proxies};
pub use logins::{Credentials, LoginError, Logins};
pub use password::{WeakPassword, check as check_password, hash as hash_password};
pub use secret::{NewSecret, agree, digest, fever_digest, fresh};
pub use session::{cookie, end_session, identify, is_still_allowed};

/// The sender of a request, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub account: AccountId,
    /// `None`: there are no accounts.
    pub name: Option<String>,
    pub scope: TokenScope,
    /// The key that forms must carry. `None` for programs: no site can make them send a form.
    pub form_key: Option<String>,
}

impl Person {
    /// Returns the one person of an instance without accounts.
    pub fn local(form_key: String) -> Person {
        Person {
            account: AccountId::LOCAL,
            name: None,
            scope: TokenScope::Admin,
            form_key: Some(form_key),
        }
    }

    /// Returns a person with an account.
    pub fn with_account(
        account: AccountRow,
        scope: TokenScope,
        form_key: Option<String>,
    ) -> Person {
        Person { account: account.id, name: Some(account.name), scope, form_key }
    }

    pub fn may(&self, scope: TokenScope) -> bool {
        self.scope >= scope
    }
}

/// The gate adds the person to each request for a route that needs one.
impl<S: Send + Sync> FromRequestParts<S> for Person {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Person, StatusCode> {
        parts.extensions.get::<Person>().cloned().ok_or(StatusCode::UNAUTHORIZED)
    }
}

/// For pages that are also shown without login.
impl<S: Send + Sync> OptionalFromRequestParts<S> for Person {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Person>, StatusCode> {
        Ok(parts.extensions.get::<Person>().cloned())
    }
}
