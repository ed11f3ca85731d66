//! The GET exchange: builds the request, sends it through the right client, and reads the answer.

use std::time::Duration;

use feed::{ExchangeFacts, RawAnswer, RequestSettings, Validators};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response};
use tokio::sync::Semaphore;
use url::Url;

use crate::client::{ConnectionTimes, client_builder};
use crate::guard::{NotPublic, is_public, literal};
use crate::lease::{Lease, Leases, moment};
use crate::limits::ExchangeLimits;
use crate::names::Names;
use crate::tailored::{self, SharedParts, TailoredClients};
use crate::uptime::within;
use crate::{
    Exchange, Failure, FailureKind, Fetched, Settings, SetupError, answer, causes, descriptors,
    header as read, heads, tls,
};

pub(crate) const ACCEPT_FEED: &str = "application/atom+xml, application/rss+xml, \
    application/rdf+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, \
    application/json;q=0.8, */*;q=0.5";
pub(crate) const ACCEPT_PAGE: &str = "text/html, application/xhtml+xml, \
    application/atom+xml;q=0.9, application/rss+xml;q=0.9, application/feed+json;q=0.9, */*;q=0.5";
pub(crate) const ACCEPT_ANY: &str = "*/*";
/// SVG is a document and not a picture, so it is not requested.
pub(crate) const ACCEPT_IMAGE: &str = "image/avif, image/webp, image/png, image/jpeg, image/gif";
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// Makes exchanges. A process needs only one: it holds the connections and the DNS cache.
pub struct Fetcher {
    /// For origins with a lease: keeps one idle connection for each.
    keeping: Client,
    /// For the other origins: closes the connection after the answer.
    closing: Client,
    /// For requests through a proxy, or to servers whose certificate is not checked.
    tailored: TailoredClients,
    leases: Leases,
    pub(crate) under_way: Semaphore,
    connections_max: usize,
    allow_private: bool,
    /// For [`Fetcher::public`].
    settings: Settings,
    /// The names that lead to this machine, if requests may go nowhere else.
    loopback_only: Option<Names>,
    no_cache: bool,
    /// The User-Agent, if the heads of messages are kept.
    keeps_heads: Option<HeaderValue>,
    pub(crate) limits: ExchangeLimits,
}

impl Fetcher {
    /// Sets up connections, trust and names. Raises the process's limit of open files as far as
    /// possible.
    pub fn new(settings: Settings) -> Result<Fetcher, SetupError> {
        let again = settings.clone();
        let unguarded = Names::new(settings.resolve.clone(), true);
        let names = Names::new(settings.resolve, settings.allow_private);
        let trust = tls::trust(&settings.authorities_pem)?;
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| SetupError::UserAgent(settings.user_agent))?;
        let exchange = settings.header_timeout + settings.body_timeout;
        let times = ConnectionTimes::new(settings.connect_timeout, exchange);
        let client = |idle_per_host| {
            client_builder(names.clone(), trust.config.clone(), &user_agent, times)
                .pool_max_idle_per_host(idle_per_host)
                .build()
                .map_err(SetupError::Client)
        };
        let connections_max = descriptors::connections_max(settings.idle_connections_max);
        Ok(Fetcher {
            settings: again,
            keeping: client(1)?,
            closing: client(0)?,
            tailored: TailoredClients::new(SharedParts {
                guarded: names.clone(),
                unguarded,
                checked: trust.config.clone(),
                user_agent: user_agent.clone(),
                times,
                allow_private: settings.allow_private,
                loopback_only: settings.loopback_only,
                vouched: settings.outgoing_proxies,
            }),
            leases: Leases::new(settings.idle_connections_max),
            under_way: Semaphore::new(connections_max),
            connections_max,
            allow_private: settings.allow_private,
            loopback_only: settings.loopback_only.then_some(names),
            no_cache: settings.no_cache,
            keeps_heads: settings.keep_heads.then_some(user_agent),
            limits: ExchangeLimits {
                connect_timeout: settings.connect_timeout,
                header_timeout: settings.header_timeout,
                body_timeout: settings.body_timeout,
                body_bytes_max: settings.body_bytes_max,
                first_bytes: None,
                has_authorities: trust.has_authorities,
            },
        })
    }

    /// Returns a fetcher with the same settings that reaches public addresses only.
    pub fn public(&self) -> Result<Fetcher, SetupError> {
        Fetcher::new(Settings { allow_private: false, keep_heads: false, ..self.settings.clone() })
    }

    pub(crate) fn limits(&self) -> &ExchangeLimits {
        &self.limits
    }

    /// Returns how many exchanges may run at once. Further ones wait for a place.
    pub fn connections_max(&self) -> usize {
        self.connections_max
    }

    /// Returns the longest body that an exchange brings, if the caller names no limit.
    pub fn body_bytes_max(&self) -> usize {
        self.limits.body_bytes_max
    }

    /// Returns the longest duration of one exchange, from its start to the last byte of the body.
    pub fn exchange_time_max(&self) -> Duration {
        self.limits.header_timeout + self.limits.body_timeout
    }

    /// Requests a feed, conditionally if there are validators.
    pub async fn fetch(&self, url: &Url, validators: &Validators) -> Exchange {
        self.place().await.fetch(url, validators, None).await
    }

    /// Requests a page, to search it for feeds.
    pub async fn page(&self, url: &Url) -> Exchange {
        self.page_again(url, &Validators::default()).await
    }

    /// Requests a page, conditionally if there are validators.
    pub async fn page_again(&self, url: &Url, validators: &Validators) -> Exchange {
        self.place().await.page(url, validators, None).await
    }

    /// Requests a few bytes, such as the echo of a challenge. A longer answer is not read.
    pub async fn short(&self, url: &Url, bytes_max: usize) -> Exchange {
        self.file(url, &Validators::default(), bytes_max).await
    }

    /// Requests a small file of any type, conditionally if there are validators.
    pub async fn file(&self, url: &Url, validators: &Validators, bytes_max: usize) -> Exchange {
        self.place().await.file(url, validators, bytes_max).await
    }

    /// Requests a picture.
    pub async fn image(&self, url: &Url) -> Exchange {
        self.place().await.image(url).await
    }

    /// Makes an exchange. The caller has a place for it.
    pub(crate) async fn exchange_as(
        &self,
        url: &Url,
        asked: AskedExchange<'_>,
        sent: &Validators,
        limits: &ExchangeLimits,
    ) -> Exchange {
        let started = moment();
        let mut facts = ExchangeFacts::default();
        let mut raw = None;
        let answered = self.in_time(self.asked(url, asked, sent, &mut raw)).await;
        let fetched =
            self.read(answered, url, sent, limits, (&mut facts, raw.as_deref_mut())).await;
        facts.elapsed = started.elapsed();
        Exchange { fetched, facts, raw }
    }

    /// Prepares a request and sends it. Returns the head of the answer, and the lease of the
    /// connection for its body. A recording keeps the head of the request in `raw`.
    async fn asked(
        &self,
        url: &Url,
        AskedExchange { accept, own }: AskedExchange<'_>,
        sent: &Validators,
        raw: &mut Option<Box<RawAnswer>>,
    ) -> Result<(Response, Option<Lease<'_>>), Fetched> {
        let (mut request, client) = self.prepared(url, accept, sent, own).await?;
        let agent = self.keeps_heads.as_ref();
        // Headers of the settings are secrets, so no recording has them.
        *raw = agent.map(|agent| Box::new(heads::of_request(&request, agent)));
        if let Some(own) = own {
            tailored::apply(&mut request, own);
        }
        match &client {
            Some(client) => Ok((self.executed(client, request).await?, None)),
            None => self.leased(url, request).await,
        }
    }

    /// Returns the request without the headers of its settings, and the client that they need.
    async fn prepared(
        &self,
        url: &Url,
        accept: &'static str,
        sent: &Validators,
        own: Option<&RequestSettings>,
    ) -> Result<(Request, Option<Client>), Fetched> {
        let request = self.request(url, accept, sent)?;
        let client = match own {
            Some(own) => self.tailored.client(url, own).await?,
            None => None,
        };
        Ok((request, client))
    }

    fn request(
        &self,
        url: &Url,
        accept: &'static str,
        sent: &Validators,
    ) -> Result<Request, Fetched> {
        let mut request = self.bare(url, Method::GET)?;
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPT_ENCODING));
        if self.no_cache {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        insert_validators(headers, sent);
        Ok(request)
    }

    /// Creates a request to an allowed URL, with no header but its login.
    pub(crate) fn bare(&self, url: &Url, method: Method) -> Result<Request, Fetched> {
        if !matches!(url.scheme(), "http" | "https") {
            let why = format!("{} addresses are not supported", url.scheme());
            return Err(Fetched::Failed(Failure::new(FailureKind::Protocol, why)));
        }
        if self.loopback_only.as_ref().is_some_and(|names| !names.is_loopback(url)) {
            let reason = "a demonstration polls only its own feeds; add this one to an \
                          instance without --demo";
            return Err(Fetched::Blocked { reason: reason.to_owned() });
        }
        if let Some(address) = literal(url)
            && !self.allow_private
            && !is_public(address)
        {
            let blocked = NotPublic { host: "the URL".to_owned(), address };
            return Err(Fetched::Blocked { reason: blocked.to_string() });
        }
        let mut bare = url.clone();
        bare.set_fragment(None);
        // User and password in a URL become an Authorization header here.
        let builder = self.keeping.request(method, bare);
        let mut request = builder.build().map_err(|e| causes::outcome(&e, &self.limits))?;
        // Only credentials that are not UTF-8 are still there, and no server accepts those.
        let _ = request.url_mut().set_username("");
        let _ = request.url_mut().set_password(None);
        Ok(request)
    }

    async fn read(
        &self,
        answered: Result<(Response, Option<Lease<'_>>), Fetched>,
        url: &Url,
        sent: &Validators,
        limits: &ExchangeLimits,
        (facts, mut raw): (&mut ExchangeFacts, Option<&mut RawAnswer>),
    ) -> Fetched {
        match answered {
            Ok((response, _lease)) => {
                if let Some(raw) = &mut raw {
                    heads::add_answer(raw, &response);
                }
                *facts =
                    read::facts(url, response.status(), response.version(), response.headers());
                answer::fetched(response, url, sent, limits, facts, raw).await
            }
            Err(outcome) => outcome,
        }
    }

    /// Sends a request within the limit. Returns the head of the answer, and the lease of the
    /// connection for its body.
    pub(crate) async fn answered(
        &self,
        url: &Url,
        request: Request,
    ) -> Result<(Response, Option<Lease<'_>>), Fetched> {
        self.in_time(self.leased(url, request)).await
    }

    async fn leased(
        &self,
        url: &Url,
        request: Request,
    ) -> Result<(Response, Option<Lease<'_>>), Fetched> {
        let mut lease = self.leases.take(url, moment());
        let keep = lease.as_ref().is_some_and(|lease| lease.reusable);
        let client = if keep { &self.keeping } else { &self.closing };
        let response = self.executed(client, request).await?;
        if let Some(lease) = &mut lease {
            lease.server_keeps = read::keep_alive(response.headers());
        }
        Ok((response, lease))
    }

    async fn executed(&self, client: &Client, request: Request) -> Result<Response, Fetched> {
        client.execute(request).await.map_err(|error| causes::outcome(&error, &self.limits))
    }

    /// Runs everything before the body of an answer within one limit: lookups, the connection, the
    /// request and the head. A process that stood still meanwhile, or whose machine slept, must not
    /// send the request after its time.
    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, Fetched>>,
    ) -> Result<T, Fetched> {
        let limit = self.limits.header_timeout;
        within(limit, asked).await.unwrap_or_else(|| {
            let why = format!("no answer within {} s", limit.as_secs_f64());
            Err(Fetched::Failed(Failure::new(FailureKind::Timeout, why)))
        })
    }
}

/// The kind of document that an exchange asks for, and the settings of its requests.
pub(crate) struct AskedExchange<'a> {
    pub accept: &'static str,
    pub own: Option<&'a RequestSettings>,
}

/// Adds both validators as they came, byte for byte, and the request for a partial document.
fn insert_validators(headers: &mut HeaderMap, sent: &Validators) {
    let pairs =
        [(header::IF_NONE_MATCH, &sent.etag), (header::IF_MODIFIED_SINCE, &sent.last_modified)];
    for (name, bytes) in pairs {
        // A value that came in a header can be sent in one. Any other value is left out.
        let value = bytes.as_deref().and_then(|b| HeaderValue::from_bytes(b).ok());
        if let Some(value) = value {
            headers.insert(name, value);
            headers.insert(HeaderName::from_static("a-im"), HeaderValue::from_static("feed"));
        }
    }
}

#[cfg(test)]
mod tests;
