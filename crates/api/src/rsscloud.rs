//! rssCloud, both ways. At `/rsscloud/callback/…` clouds tell us that a feed has changed; only one
//! cloud knows the end of each path. `/rsscloud/pleaseNotify` takes subscribers of our published
//! feeds. The engine verifies them and tells them about changes, like those of the hub.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::Domain;
use store::{
    CLOUD_LEASE, StoreError, SubscriberProtocol, SubscriberRequest, SubscriberRequestKind,
    SubscriberRequestOutcome,
};
use url::{Url, form_urlencoded};

use crate::auth::ClientAddress;
use crate::blocking::run_blocking;
use crate::{ServerContext, published, store_failure};

/// A challenge is echoed. An honest one is about fifty characters long.
const CHALLENGE_BYTES_MAX: usize = 2000;
/// Feeds that one request may name.
const FEEDS_MAX: usize = 10;
/// Longer paths of a callback are refused.
const PATH_BYTES_MAX: usize = 1000;

/// Answers a cloud that verifies our subscription: the challenge comes back.
pub async fn confirm(
    State(context): State<ServerContext>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let (mut url, mut challenge) = (String::new(), String::new());
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "url" => url = value.into_owned(),
            "challenge" => challenge = value.into_owned(),
            _ => {}
        }
    }
    if challenge.is_empty() || challenge.len() > CHALLENGE_BYTES_MAX {
        return StatusCode::BAD_REQUEST.into_response();
    }
    match run_blocking(move || context.store.hear_cloud(&token, &url, false, (context.now)())).await
    {
        Ok(true) => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], challenge).into_response()
        }
        heard => not_heard(heard),
    }
}

/// Takes a notice that a feed has changed.
pub async fn notice(
    State(context): State<ServerContext>,
    Path(token): Path<String>,
    body: Bytes,
) -> Response {
    let url = form_urlencoded::parse(&body).find(|(name, _)| name == "url");
    let Some((_, url)) = url else { return StatusCode::BAD_REQUEST.into_response() };
    let url = url.into_owned();
    match run_blocking(move || context.store.hear_cloud(&token, &url, true, (context.now)())).await
    {
        Ok(true) => StatusCode::OK.into_response(),
        heard => not_heard(heard),
    }
}

fn not_heard(heard: Result<bool, StoreError>) -> Response {
    if let Err(error) = heard {
        return store_failure::plain(&error, "cannot store a call of a cloud");
    }
    (StatusCode::NOT_FOUND, "We did not ask for that.\n").into_response()
}

/// Takes a request for notices about changes of published feeds.
pub async fn please_notify(
    State(context): State<ServerContext>,
    from: ClientAddress,
    body: Bytes,
) -> Response {
    let Some(request) = NotifyRequest::read(&body, &from) else {
        return result(false, "protocol, port, path or url1 is missing or not supported");
    };
    match run_blocking(move || request.note(&context, &from)).await {
        Ok(Noted::Taken) => result(true, "The callback is verified now. Ask again in 24 hours."),
        Ok(Noted::Refused(why)) => result(false, why),
        Err(error) => store_failure::plain(&error, "cannot store a request to the cloud"),
    }
}

/// The answer of the protocol. It has the status 200 also for a refusal.
fn result(success: bool, message: &str) -> Response {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <notifyResult success=\"{success}\" msg=\"{message}\"/>\n"
    );
    ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response()
}

struct NotifyRequest {
    topics: Vec<String>,
    callback: Url,
    protocol: SubscriberProtocol,
}

enum Noted {
    Taken,
    Refused(&'static str),
}

impl NotifyRequest {
    fn read(body: &[u8], from: &ClientAddress) -> Option<NotifyRequest> {
        let (mut domain, mut port, mut path, mut scheme) = (None, None, None, None);
        let mut topics = Vec::new();
        for (name, value) in form_urlencoded::parse(body) {
            match name.as_ref() {
                "domain" => domain = Some(value.into_owned()).filter(|name| !name.is_empty()),
                "port" => port = Some(value.parse::<u16>().ok().filter(|port| *port > 0)?),
                "path" => path = Some(value.into_owned()),
                "protocol" => {
                    scheme = Some(match value.to_ascii_lowercase().as_str() {
                        "http-post" => "http",
                        "https-post" => "https",
                        _ => return None,
                    });
                }
                name if name.starts_with("url") => topics.push(value.into_owned()),
                _ => {}
            }
        }
        let (scheme, port, path) = (scheme?, port?, path?);
        if topics.is_empty() || topics.len() > FEEDS_MAX || path.len() > PATH_BYTES_MAX {
            return None;
        }
        // Without a name the callback is at the client itself, and a first notice tests it.
        let protocol = match &domain {
            Some(_) => SubscriberProtocol::CloudChallenge,
            None => SubscriberProtocol::CloudNotice,
        };
        let host = domain.or_else(|| from.host())?;
        let mut callback = Url::parse(&format!("{scheme}://{host}/")).ok()?;
        // A host with a path, a port or a user in it is not a name.
        let is_plain = callback.path() == "/" && callback.port().is_none();
        if !is_plain || !callback.username().is_empty() || callback.query().is_some() {
            return None;
        }
        callback.set_port(Some(port)).ok()?;
        let place = callback.join(&format!("/{}", path.trim_start_matches('/'))).ok()?;
        let is_there = |url: &Url| url.origin() == callback.origin();
        let callback = Some(place).filter(is_there)?;
        Some(NotifyRequest { topics, callback, protocol })
    }

    /// Stores the request for each feed.
    fn note(self, context: &ServerContext, from: &ClientAddress) -> Result<Noted, StoreError> {
        let mut wishes = Vec::new();
        for topic in self.topics {
            let Some(query) = published::topic(context, &topic)? else {
                return Ok(Noted::Refused("A feed is not published here."));
            };
            wishes.push(SubscriberRequest {
                query,
                topic,
                callback: self.callback.to_string(),
                domain: Domain::of(&self.callback),
                from: from.to_string(),
                kind: SubscriberRequestKind::Subscribe { secret: None, lease: lease() },
                protocol: self.protocol,
            });
        }
        for wish in wishes {
            match context.store.add_hub_request(&wish, (context.now)())? {
                SubscriberRequestOutcome::Taken => {}
                SubscriberRequestOutcome::Full => {
                    return Ok(Noted::Refused("There is no place for another subscriber."));
                }
                SubscriberRequestOutcome::TooMany(_) => {
                    return Ok(Noted::Refused("Too many requests wait. Ask again later."));
                }
            }
        }
        Ok(Noted::Taken)
    }
}

const fn lease() -> Duration {
    CLOUD_LEASE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<(String, SubscriberProtocol)> {
        let from = ClientAddress::of([203, 0, 113, 9].into());
        let request = NotifyRequest::read(body.as_bytes(), &from)?;
        Some((request.callback.to_string(), request.protocol))
    }

    #[test]
    fn the_callback_is_at_the_named_host_or_at_the_client() {
        let rest = "port=5337&path=%2Fnotify%3Fa%3D1&protocol=http-post&url1=http%3A%2F%2Fe.org";
        let named = read(&format!("notifyProcedure=&domain=sub.example.org&{rest}"));
        let at = "http://sub.example.org:5337/notify?a=1".to_owned();
        assert_eq!(named, Some((at, SubscriberProtocol::CloudChallenge)));
        let at = "http://203.0.113.9:5337/notify?a=1".to_owned();
        assert_eq!(read(rest), Some((at, SubscriberProtocol::CloudNotice)));
    }

    #[test]
    fn requests_that_lead_elsewhere_or_nowhere_are_refused() {
        let rest = "port=80&path=/n&protocol=http-post&url1=http%3A%2F%2Fe.org";
        for body in [
            "",
            "port=80&path=/n&protocol=http-post",
            "port=0&path=/n&protocol=http-post&url1=x",
            "port=80&path=/n&protocol=xml-rpc&url1=x",
            "path=/n&protocol=http-post&url1=x",
            &format!("domain=a.org%3A22&{rest}"),
            &format!("domain=u%40a.org&{rest}"),
            &format!("domain=a.org%2Fx&{rest}"),
            &format!("domain=a.org%3Fx&{rest}"),
            "domain=a.org&port=80&path=%2F%5Cevil.org%2F&protocol=http-post&url1=x",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
        let many = "&url=x".repeat(FEEDS_MAX + 1);
        assert_eq!(read(&format!("port=80&path=/n&protocol=http-post{many}")), None);
    }
}
