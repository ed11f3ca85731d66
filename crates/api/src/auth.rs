//! The person behind a request. Without accounts, everybody on loopback is the one local person.
//! With the first account every request needs a session (people) or a token (programs).
//!
//! # Layout
//! - `device`: names the device of a session.
//! - `rules`: which kinds of login there are; names that a trusted proxy sends. `provider`: login
//!   at an identity provider (OpenID Connect).
//! - `logins`: checks names with passwords, tokens and keys. `password`: hashes with argon2id.
//!   `secret`: makes secrets, their digests and form keys.
//! - `throttle`: limits guesses of passwords. `check_queue`: limits password checks at one time.
//!   `client_address`: the address that both count by.

mod check_queue;
mod client_address;
mod device;
mod logins;
mod password;
pub mod provider;
mod rules;
mod secret;
mod throttle;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use store::{AccountId, AccountRole, AccountRow, TokenScope};

pub use client_address::{ClientAddress, Proxies};
pub use device::device_name;
pub use logins::{Credentials, LoginError, Logins};
pub use password::{WeakPassword, check as check_password, hash as hash_password};
pub use rules::{LoginRules, ProxyLogin, account_name};
pub use secret::{NewSecret, agree, digest, fever_digest, fresh, keyed};

/// The sender of a request, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub account: AccountId,
    /// `None`: there are no accounts.
    pub name: Option<String>,
    pub role: AccountRole,
    /// Their rights on this instance: the scope of their login, as far as their role allows it.
    pub scope: TokenScope,
    /// Their rights on their own account: the scope of their login.
    pub own_scope: TokenScope,
    /// The key that forms must carry. `None` for programs: no site can make them send a form.
    pub form_key: Option<String>,
    /// Whether a trusted proxy named them.
    pub by_proxy: bool,
}

impl Person {
    /// Returns the one person of an instance without accounts.
    pub fn local(form_key: String) -> Person {
        Person {
            account: AccountId::LOCAL,
            name: None,
            role: AccountRole::Admin,
            scope: TokenScope::Admin,
            own_scope: TokenScope::Admin,
            form_key: Some(form_key),
            by_proxy: false,
        }
    }

    /// Returns a person with an account.
    pub fn with_account(
        account: AccountRow,
        scope: TokenScope,
        form_key: Option<String>,
    ) -> Person {
        Person {
            account: account.id,
            name: Some(account.name),
            role: account.role,
            scope: scope.min(account.role.scope_max()),
            own_scope: scope,
            form_key,
            by_proxy: false,
        }
    }

    /// Returns the account for which commands act; `None` for the one person of an instance without
    /// accounts, who owns everything.
    pub fn subscriber(&self) -> Option<i64> {
        (self.account != AccountId::LOCAL).then_some(self.account.0)
    }

    pub fn may(&self, scope: TokenScope) -> bool {
        self.scope >= scope
    }

    /// Returns whether the role, and not the token, forbids something.
    pub fn is_limited_by_role(&self, scope: TokenScope) -> bool {
        !self.may(scope) && self.own_scope >= scope
    }

    /// Returns whether they may change their own password, tokens and sessions.
    pub fn may_manage_self(&self) -> bool {
        self.own_scope >= TokenScope::Admin
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
