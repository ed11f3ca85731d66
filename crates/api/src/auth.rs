//! Who asks. On loopback without any account everybody is the one person at this machine; with the
//! first account everything needs a session (people) or a token (programs).
//!
//! # Layout
//! - `gate`: stands before every route and says who asks, or sends them away.
//! - `login`: the page for it. `logins`: what a name and a password prove. `password`: argon2id.
//!   `secret`: tokens, their digests, and what protects forms.
//! - `throttle`: how often one may guess. `checks`: whose turn it is to have a password checked.
//!   `place`: where a request comes from, by which both count.

mod checks;
mod gate;
mod login;
mod logins;
mod password;
mod place;
mod secret;
mod throttle;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use store::{AccountId, AccountRow, TokenScope};

pub use gate::{gate, is_still};
pub use login::{enter, leave, show, within};
pub use logins::{Credentials, Denied, Logins};
pub use password::{WeakPassword, check as check_password, hash as hash_password};
pub use place::{Peer, Place, Proxies};
pub use secret::{Fresh, agree, digest, fever_digest, fresh};

/// Whoever asks, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub account: AccountId,
    /// `None`: there are no accounts.
    pub name: Option<String>,
    pub scope: TokenScope,
    /// What a form must carry; `None` for programs, which send no forms from other sites.
    pub form_key: Option<String>,
}

impl Person {
    /// Whoever sits at this machine while there are no accounts.
    fn local(form_key: String) -> Person {
        Person {
            account: AccountId::LOCAL,
            name: None,
            scope: TokenScope::Admin,
            form_key: Some(form_key),
        }
    }

    /// Somebody with an account.
    pub fn known(account: AccountRow, scope: TokenScope, form_key: Option<String>) -> Person {
        Person { account: account.id, name: Some(account.name), scope, form_key }
    }

    pub fn may(&self, scope: TokenScope) -> bool {
        self.scope >= scope
    }
}

/// The gate has put them there for every route that needs somebody.
impl<S: Send + Sync> FromRequestParts<S> for Person {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Person, StatusCode> {
        parts.extensions.get::<Person>().cloned().ok_or(StatusCode::UNAUTHORIZED)
    }
}

/// For pages that are shown to strangers too.
impl<S: Send + Sync> OptionalFromRequestParts<S> for Person {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Person>, StatusCode> {
        Ok(parts.extensions.get::<Person>().cloned())
    }
}
