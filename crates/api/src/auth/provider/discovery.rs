//! The documents of the provider: its endpoints and its keys. They are kept for an hour.

use std::sync::Arc;
use std::time::Duration;

use feed::Time;
use serde::Deserialize;
use url::Url;

use super::id_token::KeySet;
use super::{Provider, ProviderError, wrong};

const DOCUMENT_BYTES_MAX: usize = 256 << 10;
/// How long a document is used.
const KEPT: Duration = Duration::from_secs(3600);
/// Keys are not requested again sooner, even for a statement with an unknown key.
const KEYS_AGAIN: Duration = Duration::from_secs(60);
/// After a failure the documents are not requested again sooner.
const FAILED_AGAIN: Duration = Duration::from_secs(10);

/// The documents that were read last.
#[derive(Default)]
pub struct ProviderDocuments {
    endpoints: Option<(Endpoints, Time)>,
    keys: Option<(Arc<KeySet>, Time)>,
    failed: Option<(String, Time)>,
}

/// The addresses of the provider.
#[derive(Clone, Debug)]
pub struct Endpoints {
    pub authorization: Url,
    pub token: Url,
    pub keys: Url,
    /// Whether the client authenticates in a header, else in the body.
    pub takes_basic: bool,
    /// Whether each answer names its issuer.
    pub sends_issuer: bool,
}

#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl Provider {
    pub(super) async fn endpoints(&self, now: Time) -> Result<Endpoints, ProviderError> {
        let mut documents = self.documents.lock().await;
        if let Some((endpoints, at)) = &documents.endpoints
            && is_fresh(*at, now, KEPT)
        {
            return Ok(endpoints.clone());
        }
        if let Some((why, at)) = &documents.failed
            && is_fresh(*at, now, FAILED_AGAIN)
        {
            return Err(ProviderError::Provider(why.clone()));
        }
        match self.discover().await {
            Ok(endpoints) => {
                documents.endpoints = Some((endpoints.clone(), now));
                documents.failed = None;
                Ok(endpoints)
            }
            Err(error) => {
                if let ProviderError::Provider(why) = &error {
                    documents.failed = Some((why.clone(), now));
                }
                Err(error)
            }
        }
    }

    async fn discover(&self) -> Result<Endpoints, ProviderError> {
        let issuer = self.issuer().trim_end_matches('/');
        let url = Url::parse(&format!("{issuer}/.well-known/openid-configuration"))
            .map_err(|_| wrong("its address is not valid"))?;
        let bytes = self.get(&url, "its configuration", DOCUMENT_BYTES_MAX).await?;
        let document: DiscoveryDocument = serde_json::from_slice(&bytes)
            .map_err(|_| wrong("its configuration is not a document of OpenID Connect"))?;
        if document.issuer != self.issuer() {
            let named: String = document.issuer.chars().take(100).collect();
            return Err(ProviderError::Provider(format!(
                "its configuration names another issuer, {named}; write `oidc_issuer` exactly so"
            )));
        }
        let endpoint = |text: &str| {
            let url =
                Url::parse(text).map_err(|_| wrong("it names an address that is not valid"))?;
            // This refuses addresses without TLS.
            self.fetcher(&url).map(|_| url)
        };
        let methods = document.token_endpoint_auth_methods_supported;
        let basic = |methods: Vec<String>| methods.iter().any(|m| m == "client_secret_basic");
        Ok(Endpoints {
            authorization: endpoint(&document.authorization_endpoint)?,
            token: endpoint(&document.token_endpoint)?,
            keys: endpoint(&document.jwks_uri)?,
            takes_basic: methods.is_none_or(basic),
            sends_issuer: document.authorization_response_iss_parameter_supported,
        })
    }

    /// Returns the keys of the provider. With `again`, older ones than a minute are not used.
    pub(super) async fn keys(
        &self,
        url: &Url,
        now: Time,
        again: bool,
    ) -> Result<Arc<KeySet>, ProviderError> {
        let mut documents = self.documents.lock().await;
        let kept = if again { KEYS_AGAIN } else { KEPT };
        if let Some((keys, at)) = &documents.keys
            && is_fresh(*at, now, kept)
        {
            return Ok(Arc::clone(keys));
        }
        let bytes = self.get(url, "its list of keys", DOCUMENT_BYTES_MAX).await?;
        let keys = serde_json::from_slice(&bytes).map_err(|_| wrong("its keys are not a list"))?;
        let keys = Arc::new(keys);
        documents.keys = Some((Arc::clone(&keys), now));
        Ok(keys)
    }
}

/// Whether something from `at` is younger than `kept`. After a clock jump back it is not.
fn is_fresh(at: Time, now: Time, kept: Duration) -> bool {
    at <= now && now.since(at) < kept
}
