//! Handing something over by POST: guarded like every exchange, never repeated by itself, and no
//! redirect is followed, so that a body goes only where the operator sent it.

use reqwest::header::{self, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use url::Url;

use crate::guard::{NotPublic, is_public, literal};
use crate::lease::moment;
use crate::{Failure, FailureKind, Fetched, Fetcher, RetryAfter, answer, causes, header as read};

/// What is sent.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub content_type: &'static str,
    /// Beside those that every request carries. One that HTTP cannot carry is left out.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// 2xx.
    Taken {
        status: u16,
    },
    /// Any other answer.
    Refused {
        status: u16,
        retry_after: Option<RetryAfter>,
        /// Where a redirect leads; following it is the caller's decision.
        to: Option<Url>,
    },
    /// We may not: the address is not public.
    Blocked {
        reason: String,
    },
    Failed(Failure),
}

impl Fetcher {
    /// Sends a body to a URL, once. Whether it arrived is known only where it was answered.
    pub async fn post(&self, url: &Url, parcel: Parcel) -> Posted {
        // Fails only when the semaphore is closed, which never happens; then go on without.
        let _permit = self.under_way.acquire().await.ok();
        let request = match self.parcel(url, parcel) {
            Ok(request) => request,
            Err(posted) => return posted,
        };
        let mut lease = self.leases.take(url, moment());
        let keep = lease.as_ref().is_some_and(|lease| lease.reusable);
        let client = if keep { &self.keeping } else { &self.closing };
        let answered = tokio::time::timeout(self.limits.header_timeout, client.execute(request));
        match answered.await {
            Ok(Ok(mut response)) => {
                if let Some(lease) = &mut lease {
                    lease.server_keeps = read::keep_alive(response.headers());
                }
                let status = response.status();
                let facts = read::facts(url, status, response.version(), response.headers());
                let to = answer::redirect(url, status.as_u16(), response.headers());
                answer::read_leftover(&mut response).await;
                if status.is_success() {
                    Posted::Taken { status: status.as_u16() }
                } else {
                    let retry_after = facts.retry_after;
                    Posted::Refused { status: status.as_u16(), retry_after, to }
                }
            }
            Ok(Err(error)) => posted(causes::outcome(&error, &self.limits)),
            Err(_) => Posted::Failed(Failure::new(
                FailureKind::Timeout,
                format!("no answer within {} s", self.limits.header_timeout.as_secs_f64()),
            )),
        }
    }

    fn parcel(&self, url: &Url, parcel: Parcel) -> Result<Request, Posted> {
        if !matches!(url.scheme(), "http" | "https") {
            let why = format!("nothing is sent to {} addresses", url.scheme());
            return Err(Posted::Failed(Failure::new(FailureKind::Protocol, why)));
        }
        if let Some(address) = literal(url)
            && !self.allow_private
            && !is_public(address)
        {
            let blocked = NotPublic { host: "the URL".to_owned(), address };
            return Err(Posted::Blocked { reason: blocked.to_string() });
        }
        let mut bare = url.clone();
        bare.set_fragment(None);
        let builder = self.keeping.request(Method::POST, bare).body(parcel.body);
        let built = builder.build();
        let mut request = built.map_err(|e| posted(causes::outcome(&e, &self.limits)))?;
        // Only credentials that are not UTF-8 are still there, and no server takes those.
        let _ = request.url_mut().set_username("");
        let _ = request.url_mut().set_password(None);
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(parcel.content_type));
        for (name, value) in parcel.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        Ok(request)
    }
}

fn posted(outcome: Fetched) -> Posted {
    match outcome {
        Fetched::Blocked { reason } => Posted::Blocked { reason },
        Fetched::Failed(failure) => Posted::Failed(failure),
        // An exchange that was given up brings nothing else.
        _ => Posted::Failed(Failure::new(FailureKind::Protocol, "the answer makes no sense")),
    }
}
