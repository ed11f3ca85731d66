//! What a name and a secret prove. Passwords are checked two at a time, because each costs 19 MB
//! and some milliseconds; what was proven is remembered for some minutes, because some reader apps
//! send the password with every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::Time;
use store::{AccountId, AccountRow, Digest, Store, StoreError, TokenScope};
use tokio::sync::Semaphore;

use super::throttle::Throttle;
use super::{Person, password, secret};
use crate::page::ask;

/// Passwords that are checked at once.
const CHECKS_MAX: usize = 2;
/// How long a password that was right need not be checked again.
const REMEMBER: Duration = Duration::from_secs(600);
const REMEMBERED_MAX: usize = 1000;
/// A name or a password that is longer is no name and no password.
const CHARS_MAX: usize = 1024;

/// Logins of one server.
pub struct Logins {
    /// Keys what is remembered, and the forms of those who have no session.
    key: [u8; 32],
    throttle: Mutex<Throttle>,
    checks: Semaphore,
    proven: Mutex<HashMap<String, Time>>,
}

/// Why somebody is not let in.
#[derive(Debug)]
pub enum Denied {
    /// Name and secret do not fit.
    Wrong,
    /// Too many tries.
    Wait(Duration),
    Store(StoreError),
}

impl From<StoreError> for Denied {
    fn from(error: StoreError) -> Denied {
        Denied::Store(error)
    }
}

impl Logins {
    pub fn new() -> Result<Logins, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Logins {
            key,
            throttle: Mutex::default(),
            checks: Semaphore::new(CHECKS_MAX),
            proven: Mutex::default(),
        })
    }

    /// Protects the forms of an instance without accounts.
    pub(super) fn form_key(&self) -> String {
        secret::form_key(&self.key)
    }

    /// A text under this server's own key, which changes with every start.
    pub fn signed(&self, text: &str) -> String {
        secret::keyed(&self.key, text.as_bytes())
    }

    /// Lets somebody in by name and one of their tokens, or by name and password. Tokens cannot be
    /// guessed, so nobody who guesses passwords makes the holder of one wait.
    pub async fn by_password(
        &self,
        store: &Store,
        name: &str,
        password: &str,
        now: Time,
    ) -> Result<Person, Denied> {
        let holder = self.by_token(store, password, now).await?;
        let named = name.trim().to_lowercase();
        match holder.filter(|person| person.name.as_ref() == Some(&named)) {
            Some(person) => Ok(person),
            None => self.by_password_alone(store, name, password, now).await,
        }
    }

    /// Lets somebody in by the account's password itself. A token does not do: what the password
    /// opens reaches further than a token may.
    pub async fn by_password_alone(
        &self,
        store: &Store,
        name: &str,
        password: &str,
        now: Time,
    ) -> Result<Person, Denied> {
        let name = name.trim().to_lowercase();
        if name.chars().count() > CHARS_MAX || password.chars().count() > CHARS_MAX {
            return Err(Denied::Wrong);
        }
        self.may_try(&name, now)?;
        let account = {
            let (store, name) = (store.clone(), name.clone());
            ask(move || store.account(&name)).await?
        };
        // The hash is part of what is remembered: a new password forgets the old.
        let claim = account.as_ref().map(|account| {
            self.signed(&format!("{}\0{}\0{password}", account.id, account.password))
        });
        let proven = claim.as_ref().is_some_and(|claim| self.is_proven(claim, now));
        if !proven {
            // Closed only with the server.
            let _turn = self.checks.acquire().await.map_err(|_| Denied::Wrong)?;
            // Of many guesses that were sent at once, some have failed by now.
            self.may_try(&name, now)?;
            let hashed = account.as_ref().map(|account| account.password.clone());
            if !fits(password.to_owned(), hashed).await {
                self.throttle().failed(&name, now);
                return Err(Denied::Wrong);
            }
            self.throttle().succeeded(&name);
            claim.into_iter().for_each(|claim| self.remember(claim, now));
        }
        let known = |account| Person::known(account, TokenScope::Admin, None);
        account.map(known).ok_or(Denied::Wrong)
    }

    /// Whether a name need not wait.
    fn may_try(&self, name: &str, now: Time) -> Result<(), Denied> {
        match self.throttle().wait(name, now) {
            Duration::ZERO => Ok(()),
            wait => Err(Denied::Wait(wait)),
        }
    }

    fn is_proven(&self, claim: &str, now: Time) -> bool {
        self.proven().get(claim).is_some_and(|until| *until > now)
    }

    fn remember(&self, claim: String, now: Time) {
        let mut proven = self.proven();
        if proven.len() >= REMEMBERED_MAX {
            proven.retain(|_, until| *until > now);
        }
        if proven.len() < REMEMBERED_MAX {
            proven.insert(claim, now + REMEMBER);
        }
    }

    /// Begins a session. Each login makes a secret of its own: one that was planted is worth
    /// nothing.
    pub async fn begin(
        &self,
        store: &Store,
        account: AccountId,
        now: Time,
        lasts: Duration,
    ) -> Result<String, Denied> {
        let fresh = secret::fresh().map_err(|_| Denied::Wait(Duration::from_secs(1)))?;
        let (store, digest) = (store.clone(), fresh.digest);
        ask(move || store.begin_session(account, digest, now, now + lasts)).await?;
        Ok(fresh.secret)
    }

    /// Whose session it is.
    pub async fn by_session(
        &self,
        store: &Store,
        session: &str,
        now: Time,
    ) -> Result<Option<Person>, StoreError> {
        let (store, digest) = (store.clone(), secret::digest(session));
        let account = ask(move || store.session(&digest, now)).await?;
        let form_key = secret::form_key(session.as_bytes());
        Ok(account.map(|account| Person::known(account, TokenScope::Admin, Some(form_key))))
    }

    /// Whose token it is.
    pub async fn by_token(
        &self,
        store: &Store,
        token: &str,
        now: Time,
    ) -> Result<Option<Person>, StoreError> {
        let digest = secret::digest(token);
        self.by_digest(store, now, move |store| store.token(&digest)).await
    }

    /// Whose key of Fever it is.
    pub async fn by_fever_key(
        &self,
        store: &Store,
        key: &str,
        now: Time,
    ) -> Result<Option<Person>, StoreError> {
        let digest: Digest = secret::digest(&key.to_ascii_lowercase());
        self.by_digest(store, now, move |store| store.fever_token(&digest)).await
    }

    async fn by_digest(
        &self,
        store: &Store,
        now: Time,
        find: impl FnOnce(&Store) -> Result<Option<(AccountRow, store::TokenRow)>, StoreError>
        + Send
        + 'static,
    ) -> Result<Option<Person>, StoreError> {
        let store = store.clone();
        ask(move || {
            let Some((account, token)) = find(&store)? else { return Ok(None) };
            let day = Duration::from_secs(86_400);
            if token.used_at.is_none_or(|at| now.since(at) >= day)
                && let Err(error) = store.note_token_use(token.id, now)
            {
                // On a full disk one can still read.
                tracing::debug!(%error, "the use of a token could not be noted");
            }
            Ok(Some(Person::known(account, token.scope, None)))
        })
        .await
    }

    fn throttle(&self) -> std::sync::MutexGuard<'_, Throttle> {
        // Counts only: a panic elsewhere leaves them whole.
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn proven(&self) -> std::sync::MutexGuard<'_, HashMap<String, Time>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is the password that was hashed, found out on a thread that may be slow.
async fn fits(password: String, hashed: Option<String>) -> bool {
    let checked = tokio::task::spawn_blocking(move || password::is(&password, hashed.as_deref()));
    // Joining fails only where the runtime ends.
    checked.await.unwrap_or(false)
}
