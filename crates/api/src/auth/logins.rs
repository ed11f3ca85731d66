//! Checks names with passwords, tokens, sessions and Fever keys. Passwords wait in `check_queue`. A
//! correct password is remembered for ten minutes, because some reader apps send it with every
//! request. Sessions and tokens never wait.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::Time;
use store::{AccountId, AccountRow, Digest, SessionOrigin, Store, StoreError, TokenScope};

use super::check_queue::{CheckPermit, PasswordChecks};
use super::throttle::{LoginAttempt, Throttle};
use super::{ClientAddress, Person, password, secret};
use crate::blocking::run_blocking;

/// How long a correct password is not checked again.
const REMEMBER: Duration = Duration::from_secs(600);
const REMEMBERED_MAX: usize = 1000;
/// The use of a session is stored at most so often.
const SEEN_EVERY: Duration = Duration::from_secs(3600);
/// Longer than any account name. Passwords have their own limit.
const NAME_BYTES_MAX: usize = 256;

/// The logins of one server.
pub struct Logins {
    /// The key for remembered passwords and for forms without a session.
    key: [u8; 32],
    throttle: Mutex<Throttle>,
    checks: PasswordChecks,
    proven: Mutex<HashMap<String, Time>>,
    takes_passwords: bool,
}

/// A name and a secret, with the address of the client that sent them.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
    pub client: ClientAddress,
}

impl Credentials<'_> {
    /// Returns the name in lower case, as names are compared.
    fn name(&self) -> String {
        self.name.trim().to_lowercase()
    }

    /// Whether name or password is longer than any real one. Such a pair is not looked up, hashed
    /// or counted.
    fn are_too_long(&self) -> bool {
        self.name.len() > NAME_BYTES_MAX || self.password.len() > password::BYTES_MAX
    }
}

/// Why a login failed.
#[derive(Debug)]
pub enum LoginError {
    /// Wrong name or secret.
    Wrong,
    /// Too many attempts; the client must wait.
    Wait(Duration),
    /// Too many passwords wait to be checked.
    Busy,
    Store(StoreError),
}

impl LoginError {
    /// Returns the time after which another attempt can succeed, if waiting helps.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            LoginError::Wait(wait) => Some(*wait),
            // A full queue takes a second or two.
            LoginError::Busy => Some(Duration::from_secs(2)),
            LoginError::Wrong | LoginError::Store(_) => None,
        }
    }
}

impl From<StoreError> for LoginError {
    fn from(error: StoreError) -> LoginError {
        LoginError::Store(error)
    }
}

impl Logins {
    pub fn new() -> Result<Logins, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Logins {
            key,
            throttle: Mutex::default(),
            checks: PasswordChecks::default(),
            proven: Mutex::default(),
            takes_passwords: true,
        })
    }

    /// Says whether passwords are accepted. Tokens always are.
    pub fn taking_passwords(self, takes_passwords: bool) -> Logins {
        Logins { takes_passwords, ..self }
    }

    /// Returns the form key of an instance without accounts.
    pub fn form_key(&self) -> String {
        secret::form_key(&self.key)
    }

    /// Signs a text with the key of this server, which changes with every start.
    pub fn signed(&self, text: &str) -> String {
        secret::keyed(&self.key, text.as_bytes())
    }

    /// Checks a name with one of its tokens or its password. Tokens cannot be guessed, so failed
    /// guesses of passwords never make the holder of a token wait.
    pub async fn by_password(
        &self,
        store: &Store,
        sent: Credentials<'_>,
        now: Time,
    ) -> Result<Person, LoginError> {
        if sent.are_too_long() {
            return Err(LoginError::Wrong);
        }
        let holder = self.by_token(store, sent.password, now).await?;
        match holder.filter(|person| person.name == Some(sent.name())) {
            Some(person) => Ok(person),
            None => self.by_password_alone(store, sent, now).await,
        }
    }

    /// Checks a name with the account's password. A token is not accepted, because a password gives
    /// more rights than a token.
    pub async fn by_password_alone(
        &self,
        store: &Store,
        sent: Credentials<'_>,
        now: Time,
    ) -> Result<Person, LoginError> {
        if sent.are_too_long() || !self.takes_passwords {
            return Err(LoginError::Wrong);
        }
        let name = sent.name();
        let digest = secret::digest(&name);
        let account = {
            let store = store.clone();
            run_blocking(move || store.account(&name)).await?
        };
        let claim = LoginAttempt { name: digest, exists: account.is_some(), client: sent.client };
        self.may_try(&claim, now)?;
        // The hash is part of the remembered value, so that a new password invalidates it.
        let proof = account.as_ref().map(|account| {
            self.signed(&format!("{}\0{}\0{}", account.id, account.password, sent.password))
        });
        if !proof.as_ref().is_some_and(|proof| self.is_proven(proof, now)) {
            let trusted = self.throttle().is_trusted(&claim, now);
            let turn = self.checks.turn(sent.client, trusted).await.ok_or(LoginError::Busy)?;
            // If many guesses arrived at once, some have failed by now.
            self.may_try(&claim, now)?;
            let hashed = account.as_ref().map(|account| account.password.clone());
            if !fits(sent.password.to_owned(), hashed, turn).await {
                self.throttle().failed(&claim, now);
                return Err(LoginError::Wrong);
            }
            self.throttle().succeeded(&claim, now);
            proof.into_iter().for_each(|proof| self.remember(proof, now));
        }
        let known = |account| Person::with_account(account, TokenScope::Admin, None);
        account.map(known).ok_or(LoginError::Wrong)
    }

    /// Returns an error if this attempt must wait.
    fn may_try(&self, claim: &LoginAttempt, now: Time) -> Result<(), LoginError> {
        match self.throttle().wait(claim, now) {
            Duration::ZERO => Ok(()),
            wait => Err(LoginError::Wait(wait)),
        }
    }

    fn is_proven(&self, proof: &str, now: Time) -> bool {
        self.proven().get(proof).is_some_and(|until| *until > now)
    }

    fn remember(&self, proof: String, now: Time) {
        let mut proven = self.proven();
        if proven.len() >= REMEMBERED_MAX {
            proven.retain(|_, until| *until > now);
        }
        if proven.len() < REMEMBERED_MAX {
            proven.insert(proof, now + REMEMBER);
        }
    }

    /// Starts a session. Each login makes a new secret, so that a planted session is worthless.
    pub async fn begin(
        &self,
        store: &Store,
        account: AccountId,
        origin: SessionOrigin,
        now: Time,
        lasts: Duration,
    ) -> Result<String, LoginError> {
        let fresh = secret::fresh().map_err(|_| LoginError::Wait(Duration::from_secs(1)))?;
        let (store, digest) = (store.clone(), fresh.digest);
        let begin = move || store.begin_session_at(account, digest, origin, now, now + lasts);
        run_blocking(begin).await?;
        Ok(fresh.secret)
    }

    /// Returns the person behind a session. Notes once an hour where the session is used.
    pub async fn by_session(
        &self,
        store: &Store,
        session: &str,
        origin: Option<SessionOrigin>,
        now: Time,
    ) -> Result<Option<Person>, StoreError> {
        let (store, digest) = (store.clone(), secret::digest(session));
        let account = run_blocking(move || {
            let Some((account, seen_at)) = store.session_seen(&digest, now)? else {
                return Ok(None);
            };
            let is_old = seen_at.is_none_or(|at| now.since(at) >= SEEN_EVERY);
            if let Some(origin) = origin.filter(|_| is_old)
                && let Err(error) = store.note_session_use(digest, origin, now)
            {
                // Reading still works on a full disk.
                tracing::debug!(%error, "cannot store the use of a session");
            }
            Ok::<_, StoreError>(Some(account))
        })
        .await?;
        let form_key = secret::form_key(session.as_bytes());
        Ok(account.map(|account| Person::with_account(account, TokenScope::Admin, Some(form_key))))
    }

    /// Returns the person behind a token.
    pub async fn by_token(
        &self,
        store: &Store,
        token: &str,
        now: Time,
    ) -> Result<Option<Person>, StoreError> {
        let digest = secret::digest(token);
        self.by_digest(store, now, move |store| store.token(&digest)).await
    }

    /// Returns the person behind a Fever key.
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
        run_blocking(move || {
            let Some((account, token)) = find(&store)? else { return Ok(None) };
            let day = Duration::from_secs(86_400);
            if token.used_at.is_none_or(|at| now.since(at) >= day)
                && let Err(error) = store.note_token_use(token.id, now)
            {
                // Reading still works on a full disk.
                tracing::debug!(%error, "cannot store the use of a token");
            }
            Ok(Some(Person::with_account(account, token.scope, None)))
        })
        .await
    }

    fn throttle(&self) -> std::sync::MutexGuard<'_, Throttle> {
        // The lock guards counts only, which a panic elsewhere leaves valid.
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn proven(&self) -> std::sync::MutexGuard<'_, HashMap<String, Time>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a password matches a hash, checked on a blocking thread. The permit ends with the check,
/// even if the client has left.
async fn fits(password: String, hashed: Option<String>, turn: CheckPermit) -> bool {
    let checked = tokio::task::spawn_blocking(move || {
        let fits = password::is(&password, hashed.as_deref());
        (fits, turn)
    });
    // Joining fails only when the runtime ends.
    checked.await.is_ok_and(|(fits, _turn)| fits)
}
