//! Requests with settings of their own: headers, cookies, User-Agent, login, a proxy, or a server
//! whose certificate is not checked. The caller makes sure that they go to the right origin only.
//!
//! A proxy looks up names itself, so it could reach addresses that the guard refuses. A proxy for
//! which the operator does not vouch must therefore have a public address, and the name of the
//! target is looked up and checked here first.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use feed::RequestSettings;
use reqwest::header::{self, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, Request};
use url::Url;

use crate::client::{ConnectionTimes, client_builder};
use crate::guard::{NotPublic, is_public, literal};
use crate::names::{LookupError, Names};
use crate::{Failure, FailureKind, Fetched, tls};

/// Proxies with a client. Each client needs about 50 KB.
const CLIENTS_MAX: usize = 64;

/// Makes and keeps the clients of proxies and of unchecked certificates.
pub(crate) struct TailoredClients {
    /// With the guard, and without it for proxies of the operator.
    pub(crate) guarded: Names,
    unguarded: Names,
    checked: rustls::ClientConfig,
    user_agent: HeaderValue,
    times: ConnectionTimes,
    allow_private: bool,
    loopback_only: bool,
    /// Proxies for which the operator vouches, without user and password.
    vouched: Vec<String>,
    clients: Mutex<HashMap<ClientKind, Client>>,
}

/// The proxy with its login, and whether certificates are not checked.
type ClientKind = (Option<String>, bool);

/// The parts of a fetcher that tailored clients share.
pub(crate) struct SharedParts {
    pub guarded: Names,
    pub unguarded: Names,
    pub checked: rustls::ClientConfig,
    pub user_agent: HeaderValue,
    pub times: ConnectionTimes,
    pub allow_private: bool,
    pub loopback_only: bool,
    pub vouched: Vec<String>,
}

impl TailoredClients {
    pub fn new(parts: SharedParts) -> TailoredClients {
        let plain = |text: &String| Url::parse(text).ok().map(|url| without_login(&url));
        TailoredClients {
            guarded: parts.guarded,
            unguarded: parts.unguarded,
            checked: parts.checked,
            user_agent: parts.user_agent,
            times: parts.times,
            allow_private: parts.allow_private,
            loopback_only: parts.loopback_only,
            vouched: parts.vouched.iter().filter_map(plain).collect(),
            clients: Mutex::default(),
        }
    }

    /// Returns the client for these settings; `None`: those of every request will do.
    pub async fn client(
        &self,
        url: &Url,
        own: &RequestSettings,
    ) -> Result<Option<Client>, Fetched> {
        if own.proxy.is_none() && !own.insecure_tls {
            return Ok(None);
        }
        let proxy = own.proxy.as_deref().map(Url::parse).transpose();
        let proxy = proxy.map_err(|_| failed("the address of the proxy is not valid"))?;
        let is_vouched = match &proxy {
            None => false,
            Some(proxy) => {
                let is_vouched = self.allow_private || self.vouched.contains(&without_login(proxy));
                if !is_vouched {
                    self.check_proxy(proxy)?;
                    self.check_target(url).await?;
                }
                is_vouched
            }
        };
        if proxy.is_some() && self.loopback_only {
            let reason = "a demonstration uses no proxy".to_owned();
            return Err(Fetched::Blocked { reason });
        }
        let kind = (own.proxy.clone(), own.insecure_tls);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&kind) {
            return Ok(Some(client.clone()));
        }
        let client = self.make(proxy.as_ref(), own.insecure_tls, is_vouched)?;
        if clients.len() >= CLIENTS_MAX {
            clients.clear();
        }
        clients.insert(kind, client.clone());
        Ok(Some(client))
    }

    fn make(
        &self,
        proxy: Option<&Url>,
        insecure: bool,
        is_vouched: bool,
    ) -> Result<Client, Fetched> {
        let names = if is_vouched { &self.unguarded } else { &self.guarded };
        let trust = if insecure { tls::unchecked(&self.checked) } else { self.checked.clone() };
        let mut builder = client_builder(names.clone(), trust, &self.user_agent, self.times)
            .pool_max_idle_per_host(0);
        if let Some(proxy) = proxy {
            let proxy = Proxy::all(proxy.clone());
            builder = builder.proxy(proxy.map_err(|_| failed("the proxy cannot be used"))?);
        }
        builder.build().map_err(|_| failed("the HTTP client for the proxy cannot be set up"))
    }

    /// Refuses a proxy whose address is not public. A name is checked when it is looked up.
    fn check_proxy(&self, proxy: &Url) -> Result<(), Fetched> {
        match literal(proxy) {
            Some(address) if !is_public(address) => Err(Fetched::Blocked {
                reason: format!(
                    "the proxy has the address {address}, which is not public; the operator can \
                     allow it: outgoing_proxies = [\"{}\"]",
                    without_login(proxy)
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses a target whose name leads to an address that is not public, or is not known here.
    async fn check_target(&self, url: &Url) -> Result<(), Fetched> {
        let Some(host) = url.host_str().filter(|_| literal(url).is_none()) else { return Ok(()) };
        let found = self.guarded.addresses(host).await.map_err(|error| {
            let kind = match error {
                LookupError::NoSuchHost(_) => FailureKind::NoSuchHost,
                LookupError::Unanswered(..) => FailureKind::Dns,
            };
            Fetched::Failed(Failure::new(kind, error.to_string()))
        })?;
        match found.into_iter().find(|address| !is_public(*address)) {
            Some(address) => {
                let blocked = NotPublic { host: host.to_owned(), address };
                Err(Fetched::Blocked { reason: blocked.to_string() })
            }
            None => Ok(()),
        }
    }
}

fn failed(why: &str) -> Fetched {
    Fetched::Failed(Failure::new(FailureKind::Protocol, why))
}

fn without_login(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// Adds the headers of the settings to a request. A value that cannot be sent is left out.
pub(crate) fn apply(request: &mut Request, own: &RequestSettings) {
    let headers = request.headers_mut();
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let login = own.login.as_ref().map(|login| format!("Basic {}", STANDARD.encode(login)));
    for (name, text) in [
        (header::AUTHORIZATION, login.as_deref()),
        (header::COOKIE, own.cookie.as_deref()),
        (header::USER_AGENT, own.user_agent.as_deref()),
    ] {
        if let Some(mut value) = text.and_then(value) {
            value.set_sensitive(name != header::USER_AGENT);
            headers.insert(name, value);
        }
    }
    for (name, text) in &own.headers {
        // The name was checked when it was set. A job may come from elsewhere, so check it again.
        let name = feed::FetchSetting::header(name).ok().and_then(|_| name.parse().ok());
        let name: Option<HeaderName> = name;
        if let (Some(name), Some(mut value)) = (name, value(text)) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}
