//! The POST exchange, with the same guard as all exchanges. It is never repeated automatically. It
//! does not follow redirects, so that a body goes only to the address that the operator chose.

use std::borrow::Cow;

use feed::{ExchangeFacts, RetryAfter, Validators};
use reqwest::header::{self, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use url::Url;

use crate::limits::ExchangeLimits;
use crate::{ExchangePlace, Failure, FailureKind, Fetched, Fetcher, answer, header as read};

/// The body of a POST request with its headers.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub content_type: Cow<'static, str>,
    /// Headers in addition to those of every request. Invalid ones are left out.
    pub headers: Vec<(Cow<'static, str>, String)>,
    pub body: Vec<u8>,
}

impl Parcel {
    pub fn new(
        content_type: &'static str,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> Parcel {
        let headers = headers.into_iter().map(|(name, value)| (Cow::Borrowed(name), value));
        Parcel { content_type: Cow::Borrowed(content_type), headers: headers.collect(), body }
    }
}

/// The outcome of a POST request.
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
        /// The target of a redirect; the caller decides whether to follow it.
        to: Option<Url>,
    },
    /// The guard refused: the address is not public.
    Blocked {
        reason: String,
    },
    Failed(Failure),
}

impl Fetcher {
    /// Sends a body to a URL, once. Without an answer it is unknown whether the body arrived.
    pub async fn post(&self, url: &Url, parcel: Parcel) -> Posted {
        self.place().await.post(url, parcel).await
    }

    /// Sends a body to a URL, once, and returns the answer with its body, such as a token.
    pub async fn post_for(&self, url: &Url, parcel: Parcel, bytes_max: usize) -> Fetched {
        self.place().await.post_for(url, parcel, bytes_max).await
    }

    fn parcel(&self, url: &Url, parcel: Parcel) -> Result<Request, Fetched> {
        let mut request = self.bare(url, Method::POST)?;
        *request.body_mut() = Some(parcel.body.into());
        let headers = request.headers_mut();
        let content_type =
            (Cow::Borrowed(header::CONTENT_TYPE.as_str()), parcel.content_type.into());
        for (name, value) in std::iter::once(content_type).chain(parcel.headers) {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        Ok(request)
    }
}

impl ExchangePlace<'_> {
    /// Sends a body to a URL, once. Without an answer it is unknown whether the body arrived.
    pub async fn post(self, url: &Url, parcel: Parcel) -> Posted {
        let request = match self.fetcher.parcel(url, parcel) {
            Ok(request) => request,
            Err(outcome) => return posted(outcome),
        };
        match self.fetcher.answered(url, request).await {
            Ok((mut response, _lease)) => {
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
            Err(outcome) => posted(outcome),
        }
    }

    /// Sends a body to a URL, once, and returns the answer with its body, such as a token.
    pub async fn post_for(self, url: &Url, parcel: Parcel, bytes_max: usize) -> Fetched {
        let fetcher = self.fetcher;
        let request = match fetcher.parcel(url, parcel) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match fetcher.answered(url, request).await {
            Ok((response, _lease)) => {
                let limits = ExchangeLimits { body_bytes_max: bytes_max, ..fetcher.limits };
                let mut facts = ExchangeFacts::default();
                answer::fetched(response, url, &Validators::default(), &limits, &mut facts, None)
                    .await
            }
            Err(outcome) => outcome,
        }
    }
}

fn posted(outcome: Fetched) -> Posted {
    match outcome {
        Fetched::Blocked { reason } => Posted::Blocked { reason },
        Fetched::Failed(failure) => Posted::Failed(failure),
        // A failed exchange has no other outcome.
        _ => Posted::Failed(Failure::new(FailureKind::Protocol, "the answer is not valid")),
    }
}
