//! The GET exchange: builds the request, sends it through the right client, and reads the answer.

use std::time::Duration;

use feed::{ExchangeFacts, Validators};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Request, Response};
use tokio::sync::Semaphore;
use url::Url;

use crate::guard::{NotPublic, is_public, literal};
use crate::lease::{IDLE_TIMEOUT, Lease, Leases, moment};
use crate::limits::ExchangeLimits;
use crate::names::Names;
use crate::{
    Exchange, Failure, FailureKind, Fetched, Settings, SetupError, answer, causes, descriptors,
    header as read, tls,
};

const ACCEPT_FEED: &str = "application/atom+xml, application/rss+xml, application/rdf+xml, \
    application/feed+json, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, \
    */*;q=0.5";
const ACCEPT_PAGE: &str = "text/html, application/xhtml+xml, application/atom+xml;q=0.9, \
    application/rss+xml;q=0.9, application/feed+json;q=0.9, */*;q=0.5";
const ACCEPT_ANY: &str = "*/*";
/// SVG is a document and not a picture, so it is not requested.
const ACCEPT_IMAGE: &str = "image/avif, image/webp, image/png, image/jpeg, image/gif";
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";
/// More headers than any honest server sends.
const HEADERS_MAX: usize = 128;
/// The bytes of all headers together over HTTP/2. Over HTTP/1 the library has a limit of about 400
/// KB.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// Makes exchanges. A process needs only one: it holds the connections and the DNS cache.
pub struct Fetcher {
    /// For origins with a lease: keeps one idle connection for each.
    keeping: Client,
    /// For the other origins: closes the connection after the answer.
    closing: Client,
    leases: Leases,
    pub(crate) under_way: Semaphore,
    connections_max: usize,
    allow_private: bool,
    /// The names that lead to this machine, if requests may go nowhere else.
    loopback_only: Option<Names>,
    no_cache: bool,
    limits: ExchangeLimits,
}

impl Fetcher {
    /// Sets up connections, trust and names. Raises the process's limit of open files as far as
    /// possible.
    pub fn new(settings: Settings) -> Result<Fetcher, SetupError> {
        let names = Names::new(settings.resolve, settings.allow_private);
        let trust = tls::trust(&settings.authorities_pem)?;
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| SetupError::UserAgent(settings.user_agent))?;
        let client = |idle_per_host| {
            client_builder(names.clone(), trust.config.clone(), &user_agent)
                .connect_timeout(settings.connect_timeout)
                .pool_max_idle_per_host(idle_per_host)
                .build()
                .map_err(SetupError::Client)
        };
        let connections_max = descriptors::connections_max(settings.idle_connections_max);
        Ok(Fetcher {
            keeping: client(1)?,
            closing: client(0)?,
            leases: Leases::new(settings.idle_connections_max),
            under_way: Semaphore::new(connections_max),
            connections_max,
            allow_private: settings.allow_private,
            loopback_only: settings.loopback_only.then_some(names),
            no_cache: settings.no_cache,
            limits: ExchangeLimits {
                connect_timeout: settings.connect_timeout,
                header_timeout: settings.header_timeout,
                body_timeout: settings.body_timeout,
                body_bytes_max: settings.body_bytes_max,
                has_authorities: trust.has_authorities,
            },
        })
    }

    /// Returns how many exchanges may run at once. Further ones wait inside `fetch`.
    pub fn connections_max(&self) -> usize {
        self.connections_max
    }

    /// Returns the longest duration of one exchange, from its start to the last byte of the body.
    pub fn exchange_time_max(&self) -> Duration {
        self.limits.header_timeout + self.limits.body_timeout
    }

    /// Requests a feed, conditionally if there are validators.
    pub async fn fetch(&self, url: &Url, validators: &Validators) -> Exchange {
        self.exchange(url, ACCEPT_FEED, validators, &self.limits).await
    }

    /// Requests a page, to search it for feeds.
    pub async fn page(&self, url: &Url) -> Exchange {
        self.exchange(url, ACCEPT_PAGE, &Validators::default(), &self.limits).await
    }

    /// Requests a few bytes, such as the echo of a challenge. A longer answer is not read.
    pub async fn short(&self, url: &Url, bytes_max: usize) -> Exchange {
        let limits = ExchangeLimits { body_bytes_max: bytes_max, ..self.limits };
        self.exchange(url, ACCEPT_ANY, &Validators::default(), &limits).await
    }

    /// Requests a picture.
    pub async fn image(&self, url: &Url) -> Exchange {
        self.exchange(url, ACCEPT_IMAGE, &Validators::default(), &self.limits).await
    }

    async fn exchange(
        &self,
        url: &Url,
        accept: &'static str,
        sent: &Validators,
        limits: &ExchangeLimits,
    ) -> Exchange {
        // This fails only if the semaphore is closed, which never happens. Then continue without a
        // permit.
        let _permit = self.under_way.acquire().await.ok();
        let started = moment();
        let mut facts = ExchangeFacts::default();
        let fetched = match self.request(url, accept, sent) {
            Ok(request) => self.send(request, url, sent, limits, &mut facts).await,
            Err(outcome) => outcome,
        };
        facts.elapsed = started.elapsed();
        Exchange { fetched, facts }
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

    async fn send(
        &self,
        request: Request,
        url: &Url,
        sent: &Validators,
        limits: &ExchangeLimits,
        facts: &mut ExchangeFacts,
    ) -> Fetched {
        match self.answered(url, request).await {
            Ok((response, _lease)) => {
                *facts =
                    read::facts(url, response.status(), response.version(), response.headers());
                answer::fetched(response, url, sent, limits, facts).await
            }
            Err(outcome) => outcome,
        }
    }

    /// Sends a request. Returns the head of the answer, and the lease of the connection for its
    /// body.
    pub(crate) async fn answered(
        &self,
        url: &Url,
        request: Request,
    ) -> Result<(Response, Option<Lease<'_>>), Fetched> {
        let mut lease = self.leases.take(url, moment());
        let keep = lease.as_ref().is_some_and(|lease| lease.reusable);
        let client = if keep { &self.keeping } else { &self.closing };
        let answered = tokio::time::timeout(self.limits.header_timeout, client.execute(request));
        match answered.await {
            Ok(Ok(response)) => {
                if let Some(lease) = &mut lease {
                    lease.server_keeps = read::keep_alive(response.headers());
                }
                Ok((response, lease))
            }
            Ok(Err(e)) => Err(causes::outcome(&e, &self.limits)),
            Err(_) => Err(Fetched::Failed(Failure::new(
                FailureKind::Timeout,
                format!("no answer within {} s", self.limits.header_timeout.as_secs_f64()),
            ))),
        }
    }
}

fn client_builder(
    names: Names,
    tls: rustls::ClientConfig,
    user_agent: &HeaderValue,
) -> ClientBuilder {
    Client::builder()
        .user_agent(user_agent)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .dns_resolver(names)
        .tls_backend_preconfigured(tls)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .http1_max_headers(HEADERS_MAX)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
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
