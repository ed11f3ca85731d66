//! What a name and a secret prove. Passwords are checked in turns (`checks`); what was proven is
//! remembered for some minutes, because some reader apps send the password with every request.
//! Sessions and tokens never wait.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::Time;
use store::{AccountId, AccountRow, Digest, Store, StoreError, TokenScope};

use super::check_queue::{CheckPermit, PasswordChecks};
use super::throttle::{LoginAttempt, Throttle};
use super::{ClientAddress, Person, password, secret};
use crate::blocking::run_blocking;

/// How long a password that was right need not be checked again.
const REMEMBER: Duration = Duration::from_secs(600);
const REMEMBERED_MAX: usize = 1000;
/// Longer than any name that an account is given. Passwords have their own limit.
const NAME_BYTES_MAX: usize = 256;

/// Logins of one server.
pub struct Logins {
    /// Keys what is remembered, and the forms of those who have no session.
    key: [u8; 32],
    throttle: Mutex<Throttle>,
    checks: PasswordChecks,
    proven: Mutex<HashMap<String, Time>>,
}

/// A name and a secret that somebody sent, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
    pub client: ClientAddress,
}

impl Credentials<'_> {
    /// Names are compared in lower case.
    fn name(&self) -> String {
        self.name.trim().to_lowercase()
    }

    /// Nobody has a name or a password as long as that: neither is looked up, hashed or counted.
    fn are_too_long(&self) -> bool {
        self.name.len() > NAME_BYTES_MAX || self.password.len() > password::BYTES_MAX
    }
}

/// Why somebody is not let in.
#[derive(Debug)]
pub enum LoginError {
    /// NameFailures and secret do not fit.
    Wrong,
    /// Too many tries.
    Wait(Duration),
    /// Too many passwords wait to be checked.
    Busy,
    Store(StoreError),
}

impl LoginError {
    /// After how long another try is worth it, if waiting helps.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            LoginError::Wait(wait) => Some(*wait),
            // A full line is worked off within a second or two.
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
        })
    }

    /// Protects the forms of an instance without accounts.
    pub fn form_key(&self) -> String {
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

    /// Lets somebody in by the account's password itself. A token does not do: what the password
    /// opens reaches further than a token may.
    pub async fn by_password_alone(
        &self,
        store: &Store,
        sent: Credentials<'_>,
        now: Time,
    ) -> Result<Person, LoginError> {
        if sent.are_too_long() {
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
        // The hash is part of what is remembered: a new password forgets the old.
        let proof = account.as_ref().map(|account| {
            self.signed(&format!("{}\0{}\0{}", account.id, account.password, sent.password))
        });
        if !proof.as_ref().is_some_and(|proof| self.is_proven(proof, now)) {
            let trusted = self.throttle().is_trusted(&claim, now);
            let turn = self.checks.turn(sent.client, trusted).await.ok_or(LoginError::Busy)?;
            // Of many guesses that were sent at once, some have failed by now.
            self.may_try(&claim, now)?;
            let hashed = account.as_ref().map(|account| account.password.clone());
            if !fits(sent.password.to_owned(), hashed, turn).await {
                self.throttle().failed(&claim, now);
                return Err(LoginError::Wrong);
            }
            self.throttle().succeeded(&claim, now);
            proof.into_iter().for_each(|proof| self.remember(proof, now));
        }
        let known = |account| Person::known(account, TokenScope::Admin, None);
        account.map(known).ok_or(LoginError::Wrong)
    }

    /// Whether a name need not wait here.
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

    /// Begins a session. Each login makes a secret of its own: one that was planted is worth
    /// nothing.
    pub async fn begin(
        &self,
        store: &Store,
        account: AccountId,
        now: Time,
        lasts: Duration,
    ) -> Result<String, LoginError> {
        let fresh = secret::fresh().map_err(|_| LoginError::Wait(Duration::from_secs(1)))?;
        let (store, digest) = (store.clone(), fresh.digest);
        run_blocking(move || store.begin_session(account, digest, now, now + lasts)).await?;
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
        let account = run_blocking(move || store.session(&digest, now)).await?;
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
        run_blocking(move || {
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

/// Whether it is the password that was hashed, found out on a thread that may be slow. The turn
/// ends with the check, also where the client has left meanwhile.
async fn fits(password: String, hashed: Option<String>, turn: CheckPermit) -> bool {
    let checked = tokio::task::spawn_blocking(move || {
        let fits = password::is(&password, hashed.as_deref());
        (fits, turn)
    });
    // Joining fails only where the runtime ends.
    checked.await.is_ok_and(|(fits, _turn)| fits)
}
