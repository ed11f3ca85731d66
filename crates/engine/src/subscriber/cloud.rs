//! An rssCloud subscriber. It asks the clouds that feeds name to tell us about changes. A cloud's
//! notice holds nothing but the address of the feed, so the feed is polled soon. Each request waits
//! for its turn at its domain. A feed that names a hub does not need its cloud.

use std::time::Duration;

use fetch::{Parcel, Posted};
use store::{CloudDue, StoreError};
use url::{Url, form_urlencoded};

use super::ask::{WAIT_MAX, wait};
use super::take::look_soon;
use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::keys;
use crate::plan::ErrandClass;

/// How long a cloud may take for its first call after it accepted a request.
const CALL_WAIT: Duration = Duration::from_secs(600);
/// New subscriptions that one sweep begins, and clouds that one round asks.
const AT_ONCE_MAX: u32 = 16;

/// Ends subscriptions that no feed needs, and begins new ones.
pub async fn sweep(context: &Context) -> Result<(), StoreError> {
    context.store.end_clouds().await?;
    if context.settings.push.public_url.is_none() {
        return Ok(());
    }
    let now = context.clock.now();
    for candidate in context.store.cloud_candidates(AT_ONCE_MAX)? {
        let Ok(token) = keys::fresh() else { return Ok(()) };
        let is_public = candidate.url.masked() == candidate.url.as_str();
        let error = match address(&candidate.cloud) {
            Some(_) if is_public => None,
            Some(_) => Some("the feed's address holds a secret, so no cloud gets it".to_owned()),
            None => Some("the cloud does not speak http-post".to_owned()),
        };
        let next_at = if error.is_some() { now + WAIT_MAX * 365 } else { now };
        context.store.begin_cloud(candidate, token, next_at, error).await?;
    }
    Ok(())
}

/// Sends all due requests to clouds, one after the other.
pub async fn round(context: &Context) -> Result<(), StoreError> {
    let Some(public) = &context.settings.push.public_url else { return Ok(()) };
    for due in context.store.clouds_due(context.clock.now(), AT_ONCE_MAX)? {
        ask(context, public, due).await?;
    }
    Ok(())
}

/// Polls the feeds that clouds named.
pub async fn noticed(context: &Context) -> Result<(), StoreError> {
    for feed in context.store.take_cloud_notices().await? {
        look_soon(context, &context.store.poll_input(feed)?)?;
    }
    Ok(())
}

async fn ask(context: &Context, public: &Url, due: CloudDue) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let attempts = due.attempts.saturating_add(1);
    let silent = due.asked_at.map(|at| format!("asked at {at}, the cloud did not call"));
    let next_at = now + wait(attempts, None).max(CALL_WAIT);
    // Noted before it is sent: clouds call before they answer.
    store.note_cloud_asked(due.feed, Some(now), attempts, next_at, silent).await?;
    let Some(url) = address(&due.cloud) else { return Ok(()) };
    let body = form(public, &due).into_bytes();
    let parcel = Parcel::new("application/x-www-form-urlencoded", Vec::new(), body);
    let posted = match errand::turn(&PlanHandle::of(context), &url, ErrandClass::BeforePolls).await
    {
        Ok(turn) => turn.post(context, &url, parcel).await,
        Err(why) => Posted::Blocked { reason: why.to_string() },
    };
    let why = match posted {
        Posted::Taken { .. } => return Ok(()),
        Posted::Refused { status, .. } => format!("the cloud answered {status}"),
        Posted::Blocked { reason } => reason,
        Posted::Failed(failure) => failure.to_string(),
    };
    tracing::info!(cloud = feed::mask_address(url.as_str()), why, "a cloud refused");
    store.note_cloud_asked(due.feed, None, attempts, next_at, Some(why)).await
}

/// The request of the protocol: where and how to call us, and about which feed.
fn form(public: &Url, due: &CloudDue) -> String {
    let mut path = public.clone();
    if let Ok(mut segments) = path.path_segments_mut() {
        segments.pop_if_empty().extend(["rsscloud", "callback", &due.token]);
    }
    let protocol = if public.scheme() == "https" { "https-post" } else { "http-post" };
    let port = public.port_or_known_default().unwrap_or(80).to_string();
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("notifyProcedure", "")
        .append_pair("domain", public.host_str().unwrap_or_default())
        .append_pair("port", &port)
        .append_pair("path", path.path())
        .append_pair("protocol", protocol)
        .append_pair("url1", &due.topic);
    form.finish()
}

/// The address of a cloud as documents name it, `rpc.example.org:80/rsscloud (http-post)`; `None`
/// for a protocol other than HTTP posts.
fn address(cloud: &str) -> Option<Url> {
    let (place, protocol) = cloud.strip_suffix(')')?.rsplit_once(" (")?;
    let scheme = match protocol.to_ascii_lowercase().as_str() {
        "https-post" => "https",
        "http-post" if place.split('/').next()?.ends_with(":443") => "https",
        "http-post" => "http",
        _ => return None,
    };
    Url::parse(&format!("{scheme}://{place}")).ok().filter(|url| url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use feed::FeedId;

    #[test]
    fn a_cloud_has_an_address_if_it_takes_posts() {
        let at = |cloud: &str| address(cloud).map(String::from);
        assert_eq!(at("rpc.e.org:5337/ping (http-post)").unwrap(), "http://rpc.e.org:5337/ping");
        assert_eq!(at("rpc.e.org:443/p (http-post)").unwrap(), "https://rpc.e.org/p");
        assert_eq!(at("rpc.e.org:443/p (https-post)").unwrap(), "https://rpc.e.org/p");
        assert_eq!(at("rpc.e.org:80/RPC2 (xml-rpc)"), None);
        assert_eq!((at("rpc.e.org"), at(" (http-post)")), (None, None));
    }

    #[test]
    fn the_request_names_our_callback_and_the_feed() {
        let due = CloudDue {
            feed: FeedId(7),
            token: "t_k".to_owned(),
            cloud: String::new(),
            topic: "http://e.org/feed?a=1".to_owned(),
            asked_at: None,
            attempts: 0,
        };
        let form = form(&Url::parse("https://our.org/news/").unwrap(), &due);
        assert_eq!(
            form,
            "notifyProcedure=&domain=our.org&port=443&path=%2Fnews%2Frsscloud%2Fcallback%2Ft_k\
             &protocol=https-post&url1=http%3A%2F%2Fe.org%2Ffeed%3Fa%3D1"
        );
    }
}
