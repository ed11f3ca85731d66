//! Login at an identity provider: the code flow of OpenID Connect with PKCE.
//!
//! The operator names the provider, so its host may have a private address. Hosts that only its
//! documents name must be public. Requests have limits in bytes and time and are made one at a
//! time. Only issuer and subject identify a person.
//!
//! # Layout
//! - `attempt`: a login under way, in a signed cookie. `discovery`: the documents of the provider.
//! - `id_token`: checks the signed statement of the provider about a person.

mod attempt;
mod discovery;
mod id_token;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use feed::Time;
use fetch::{Fetched, Fetcher, Parcel};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use url::{Url, form_urlencoded};

use super::secret;
pub use attempt::LoginAttemptCookie;
use discovery::ProviderDocuments;
pub use id_token::IdClaims;
use id_token::IdExpectation;

/// The answer of the token endpoint.
const TOKEN_BYTES_MAX: usize = 256 << 10;
/// Logins that ended within the life of an attempt. More than anybody needs; the oldest go first.
const USED_MAX: usize = 10_000;
/// How long a request waits for the one before it.
const TURN_WITHIN: Duration = Duration::from_secs(20);

/// The provider as the operator describes it.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Byte for byte as the provider writes it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<String>,
    /// The name on the button.
    pub name: String,
    /// The address to which the provider sends people back.
    pub redirect: Url,
}

/// Why a login at the provider failed. The texts are shown to the visitor.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("the provider does not answer as expected: {0}")]
    Provider(String),
    #[error("too many logins at once; try again in a few seconds")]
    Busy,
    #[error("the login has expired or was not started in this browser; start again")]
    Expired,
    #[error("the answer comes from another provider; start again")]
    OtherIssuer,
    #[error("the provider's statement is not valid: {0}")]
    Statement(&'static str),
    #[error("no random numbers are available")]
    Chance,
}

/// An identity provider.
pub struct Provider {
    settings: ProviderSettings,
    /// For the host of the issuer, which may be private.
    inside: Fetcher,
    /// For other hosts that the provider's documents name.
    outside: Arc<Fetcher>,
    turn: Semaphore,
    documents: AsyncMutex<ProviderDocuments>,
    used: Mutex<VecDeque<(String, Time)>>,
}

/// A login that begins: where to send the visitor, and the cookie that remembers it.
pub struct LoginStart {
    pub to: Url,
    pub attempt: LoginAttemptCookie,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: Option<String>,
}

impl Provider {
    pub fn new(settings: ProviderSettings, inside: Fetcher, outside: Arc<Fetcher>) -> Provider {
        Provider {
            settings,
            inside,
            outside,
            turn: Semaphore::new(1),
            documents: AsyncMutex::default(),
            used: Mutex::default(),
        }
    }

    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Begins a login. `back` is the page to show at its end.
    pub async fn begin(&self, back: String, now: Time) -> Result<LoginStart, ProviderError> {
        let endpoints = self.endpoints(now).await?;
        let fresh = || secret::fresh().map(|s| s.secret).map_err(|_| ProviderError::Chance);
        // A verifier has at least 43 characters.
        let verifier = format!("{}{}", fresh()?, fresh()?);
        let attempt =
            LoginAttemptCookie { state: fresh()?, nonce: fresh()?, verifier, back, begun_at: now };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(attempt.verifier.as_bytes()));
        let mut to = endpoints.authorization;
        to.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", self.settings.redirect.as_str())
            .append_pair("scope", "openid profile")
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(LoginStart { to, attempt })
    }

    /// Ends a login: exchanges the code for a statement about the person, and checks it. An attempt
    /// works once. `issuer` is the parameter `iss` of the answer (RFC 9207).
    pub async fn finish(
        &self,
        attempt: &LoginAttemptCookie,
        code: &str,
        issuer: Option<&str>,
        now: Time,
    ) -> Result<IdClaims, ProviderError> {
        if attempt.has_expired(now) || !self.use_once(&attempt.state, now) {
            return Err(ProviderError::Expired);
        }
        let endpoints = self.endpoints(now).await?;
        let is_ours = match issuer {
            Some(issuer) => issuer == self.settings.issuer,
            None => !endpoints.sends_issuer,
        };
        if !is_ours {
            return Err(ProviderError::OtherIssuer);
        }
        let token = self.exchange(&endpoints.token, endpoints.takes_basic, attempt, code).await?;
        let expected = IdExpectation {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: &attempt.nonce,
            now,
        };
        let keys = self.keys(&endpoints.keys, now, false).await?;
        match id_token::verify(&token, &keys, &expected) {
            Err(id_token::UNKNOWN_KEY) => {
                // The provider has changed its keys.
                let keys = self.keys(&endpoints.keys, now, true).await?;
                id_token::verify(&token, &keys, &expected)
            }
            checked => checked,
        }
        .map_err(ProviderError::Statement)
    }

    /// Remembers a state; `false` if it was used before.
    fn use_once(&self, state: &str, now: Time) -> bool {
        // A panic elsewhere leaves the list valid.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while used.front().is_some_and(|(_, at)| now.since(*at) > attempt::LIFE * 2) {
            used.pop_front();
        }
        if used.iter().any(|(seen, _)| seen == state) {
            return false;
        }
        if used.len() >= USED_MAX {
            used.pop_front();
        }
        used.push_back((state.to_owned(), now));
        true
    }

    async fn exchange(
        &self,
        endpoint: &Url,
        takes_basic: bool,
        attempt: &LoginAttemptCookie,
        code: &str,
    ) -> Result<String, ProviderError> {
        let parcel = self.token_request(takes_basic, attempt, code);
        let fetcher = self.fetcher(endpoint)?;
        let _turn = self.turn().await?;
        let fetched = fetcher.post_for(endpoint, parcel, TOKEN_BYTES_MAX).await;
        let bytes = body(fetched, "its token endpoint")?;
        let answer: TokenAnswer = serde_json::from_slice(&bytes)
            .map_err(|_| wrong("its token endpoint did not send a JSON object"))?;
        answer.id_token.ok_or_else(|| wrong("it did not send an ID token"))
    }

    fn token_request(&self, takes_basic: bool, attempt: &LoginAttemptCookie, code: &str) -> Parcel {
        let settings = &self.settings;
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", settings.redirect.as_str())
            .append_pair("code_verifier", &attempt.verifier);
        let mut headers = vec![("accept", "application/json".to_owned())];
        match &settings.client_secret {
            Some(secret) if takes_basic => {
                let pair = format!("{}:{}", encoded(&settings.client_id), encoded(secret));
                headers.push(("authorization", format!("Basic {}", STANDARD.encode(pair))));
            }
            Some(secret) => {
                form.append_pair("client_id", &settings.client_id)
                    .append_pair("client_secret", secret);
            }
            None => {
                form.append_pair("client_id", &settings.client_id);
            }
        }
        let content_type = "application/x-www-form-urlencoded";
        Parcel::new(content_type, headers, form.finish().into_bytes())
    }

    async fn turn(&self) -> Result<tokio::sync::SemaphorePermit<'_>, ProviderError> {
        let waited = tokio::time::timeout(TURN_WITHIN, self.turn.acquire()).await;
        waited.ok().and_then(Result::ok).ok_or(ProviderError::Busy)
    }

    /// Returns the fetcher for an address. Only the host that the operator named may be private.
    fn fetcher(&self, url: &Url) -> Result<&Fetcher, ProviderError> {
        let issuer = Url::parse(&self.settings.issuer).map_err(|_| wrong("its address"))?;
        if url.scheme() != "https" && url.scheme() != issuer.scheme() {
            return Err(wrong("it names an address without TLS"));
        }
        let is_named = url.host() == issuer.host();
        Ok(if is_named { &self.inside } else { &self.outside })
    }

    /// Requests a document of the provider.
    async fn get(&self, url: &Url, what: &str, bytes_max: usize) -> Result<Vec<u8>, ProviderError> {
        let fetcher = self.fetcher(url)?;
        let _turn = self.turn().await?;
        body(fetcher.short(url, bytes_max).await.fetched, what)
    }
}

/// Returns the body of an answer.
fn body(fetched: Fetched, what: &str) -> Result<Vec<u8>, ProviderError> {
    let why = match fetched {
        Fetched::Body { bytes, .. } => return Ok(bytes),
        Fetched::Moved { .. } => "redirects".to_owned(),
        Fetched::Refused { status } => format!("answers {status}"),
        Fetched::Blocked { reason } => format!("cannot be reached: {reason}"),
        Fetched::Failed(failure) => format!("fails: {}", failure.detail),
        Fetched::Gone => "answers 410".to_owned(),
        Fetched::NotModified { .. } => "sends no document".to_owned(),
    };
    Err(ProviderError::Provider(format!("{what} {why}")))
}

fn wrong(why: &str) -> ProviderError {
    ProviderError::Provider(why.to_owned())
}

/// Encodes a part of HTTP `Basic` as OAuth wants it.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
