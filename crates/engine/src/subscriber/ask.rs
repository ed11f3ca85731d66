//! Requests to hubs: to push a feed, to renew the lease, to stop. Each request waits for its turn
//! at its domain, as polls do. The wait grows with each refusal of a hub.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use feed::{Domain, mask_address};
use fetch::{Parcel, Posted, RetryAfter};
use store::{PushDue, StoreError};
use tokio::task::JoinSet;
use url::{Url, form_urlencoded};

use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::plan::ErrandClass;

/// How long a hub may take to verify a request that it accepted.
const VERIFY_WAIT: Duration = Duration::from_secs(600);
/// The wait after the first refusal; each further one quadruples it.
const WAIT_MIN: Duration = Duration::from_secs(300);
pub(super) const WAIT_MAX: Duration = Duration::from_secs(86_400);
/// A hub that we cannot reach to unsubscribe notices it by our 404.
const LEAVE_MAX: u32 = 3;
/// More redirects than this lead nowhere.
const HOPS_MAX: usize = 3;
/// Hubs that get a request at once.
const AT_ONCE_MAX: u32 = 16;

/// Sends all due requests to hubs, one to each domain.
pub async fn round(context: &Arc<Context>) {
    let Some(public) = &context.settings.push.public_url else { return };
    let now = context.clock.now();
    let due = match context.store.pushes_due(now, AT_ONCE_MAX * 64) {
        Ok(due) => due,
        Err(error) => return tracing::error!(%error, "cannot read which requests to hubs are due"),
    };
    let mut under_way = JoinSet::new();
    let mut taken = HashSet::new();
    for due in due {
        let domain = Url::parse(&due.hub).map(|hub| Domain::of(&hub)).unwrap_or_default();
        if !taken.insert(domain) || under_way.len() >= AT_ONCE_MAX as usize {
            continue;
        }
        let (context, public) = (Arc::clone(context), public.clone());
        under_way.spawn(async move { ask(&context, &public, due).await });
    }
    while let Some(ended) = under_way.join_next().await {
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "cannot store the answer of a hub"),
            Err(error) => {
                tracing::error!(%error, "internal error in a request to a hub; please report it");
            }
        }
    }
}

async fn ask(context: &Context, public: &Url, due: PushDue) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let leaves = due.feed.is_none();
    let known_there = due.lease_until.is_some_and(|until| until > now) || due.asked_at.is_some();
    if leaves && (!known_there || due.attempts >= LEAVE_MAX) {
        return store.end_push(due.id).await;
    }
    let attempts = due.attempts.saturating_add(1);
    let silent = due.asked_at.map(|at| format!("the hub did not verify the request of {at}"));
    let next_at = now + wait(attempts, None).max(VERIFY_WAIT);
    // Stored before the request is sent, because some hubs verify before they answer.
    store.note_hub_asked(due.id, now, attempts, next_at, silent).await?;
    let posted = send(context, public, &due).await;
    let (why, retry_after) = match posted {
        Posted::Taken { .. } => return Ok(()),
        Posted::Refused { status, retry_after, .. } => {
            let wish = retry_after.map(|wish| match wish {
                RetryAfter::After(wait) => wait,
                RetryAfter::At(at) => at.since(now),
            });
            (format!("the hub answered {status}"), wish)
        }
        Posted::Blocked { reason } => (reason, None),
        Posted::Failed(failure) => (failure.to_string(), None),
    };
    tracing::info!(
        hub = mask_address(&due.hub),
        topic = mask_address(&due.topic),
        why,
        "a hub refused"
    );
    let next_at = now + wait(attempts, retry_after);
    store.note_hub_refused(due.id, next_at, why).await
}

/// Sends the request, and again to each redirect, as the specification requires.
async fn send(context: &Context, public: &Url, due: &PushDue) -> Posted {
    let body = form(context, public, due);
    let Ok(url) = Url::parse(&due.hub) else {
        return Posted::Blocked { reason: "the hub's address is not a URL".to_owned() };
    };
    let send = |url: Url| {
        let content_type = "application/x-www-form-urlencoded";
        let parcel = Parcel::new(content_type, Vec::new(), body.clone().into_bytes());
        async move { Ok::<_, Infallible>(in_turn(context, &url, parcel).await) }
    };
    let Ok((_, posted)) = errand::follow(url, HOPS_MAX, send).await;
    posted
}

/// Sends one request when its domain's turn has come.
async fn in_turn(context: &Context, url: &Url, parcel: Parcel) -> Posted {
    match errand::turn(&PlanHandle::of(context), url, ErrandClass::BeforePolls).await {
        Ok(turn) => turn.post(context, url, parcel).await,
        Err(why) => Posted::Blocked { reason: format!("{why}; the hub is asked later") },
    }
}

fn form(context: &Context, public: &Url, due: &PushDue) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("hub.callback", callback(public, &due.token).as_str());
    form.append_pair("hub.topic", &due.topic);
    match due.feed {
        Some(_) => {
            let lease = context.settings.push.lease.as_secs().to_string();
            form.append_pair("hub.mode", "subscribe")
                .append_pair("hub.lease_seconds", &lease)
                .append_pair("hub.secret", &due.secret);
        }
        None => {
            form.append_pair("hub.mode", "unsubscribe");
        }
    }
    form.finish()
}

/// Returns the callback of one subscription.
fn callback(public: &Url, token: &str) -> Url {
    let mut url = public.clone();
    url.set_query(None);
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["websub", "callback", token]);
    }
    url
}

/// Returns the wait after this many refusals in a row.
pub(super) fn wait(attempts: u32, retry_after: Option<Duration>) -> Duration {
    let own = WAIT_MIN.saturating_mul(4_u32.saturating_pow(attempts.saturating_sub(1)));
    own.max(retry_after.unwrap_or_default()).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_that_refuses_is_asked_ever_more_rarely_but_never_given_up() {
        let minutes = |n| wait(n, None).as_secs() / 60;
        assert_eq!([1, 2, 3, 4].map(minutes), [5, 20, 80, 320]);
        assert_eq!([5, 6, 40, u32::MAX].map(minutes), [1280, 1440, 1440, 1440]);
        let hours = |n: u64| Some(Duration::from_secs(n * 3600));
        assert_eq!(wait(1, hours(2)).as_secs(), 7200);
        assert_eq!(wait(1, hours(1000)), WAIT_MAX);
    }

    #[test]
    fn callbacks_lie_below_the_public_address() {
        let at = |public: &str| callback(&Url::parse(public).unwrap(), "t_-k").to_string();
        assert_eq!(at("https://e.org"), "https://e.org/websub/callback/t_-k");
        assert_eq!(at("https://e.org/news/?x"), "https://e.org/news/websub/callback/t_-k");
    }
}
