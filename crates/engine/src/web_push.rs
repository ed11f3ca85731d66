//! Notifications by Web Push (RFC 8030), one message at a time to each push service. A message is
//! encrypted for the browser (RFC 8291) and signed with the key of this instance (RFC 8292).
//!
//! A request is an errand of the plan. The notifications of a device that wait together become one
//! message, so a burst of entries is one request.

mod encrypt;
mod message;
mod vapid;

use std::sync::Arc;
use std::time::Duration;

use feed::{Domain, Time};
use fetch::{Fetcher, Parcel, Posted, RetryAfter};
use store::{NOTIFICATION_LIFE, PushDeviceRow, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::lanes::Lanes;
use crate::plan::ErrandClass;

pub use vapid::VapidKey;

/// Push services that are asked at once.
const AT_ONCE_MAX: usize = 8;
/// Devices that are read at once.
const DUE_MAX: u32 = 200;
/// Notifications in one message; the rest is counted.
const TOGETHER_MAX: u32 = 100;
/// The interval between two looks without a wake-up: a retry may be due.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const TROUBLE_WAIT: Duration = Duration::from_secs(60);
/// The least time between two messages to a device: nobody wants to be rung up every second.
const GAP: Duration = Duration::from_secs(30);
const WAIT_MIN: Duration = Duration::from_secs(30);
const WAIT_MAX: Duration = Duration::from_secs(3600);
/// A device that could not be reached so often, which takes about a day, is removed.
const ATTEMPTS_MAX: u32 = 30;

/// The fetcher for push services, and the contact that they learn. Browsers name the services, so
/// the fetcher reaches public addresses only, unless the operator has a push service of their own.
pub struct PushSender {
    pub fetcher: Fetcher,
    pub contact: String,
}

/// Sends notifications until the program stops. The next start sends a message under way again.
pub async fn run(context: Arc<Context>, sender: PushSender, mut stop: watch::Receiver<bool>) {
    let sender = Arc::new(sender);
    let mut under_way = JoinSet::new();
    let mut busy = Lanes::new(AT_ONCE_MAX);
    let mut next_cleaning = context.clock.now();
    while !*stop.borrow() {
        if context.clock.now() >= next_cleaning {
            next_cleaning = context.clock.now() + Duration::from_secs(3600);
            if let Err(error) = context.store.drop_old_notifications(context.clock.now()) {
                tracing::error!(%error, "cannot delete old notifications; retrying");
            }
        }
        start_due(&context, &sender, &mut under_way, &mut busy);
        tokio::select! {
            () = context.notifications.notified() => {}
            Some(ended) = under_way.join_next() => match ended {
                Ok(device) => busy.ended(device),
                Err(error) => {
                    tracing::error!(%error, "internal error in a notification; please report it");
                    busy.clear();
                }
            },
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

fn start_due(
    context: &Arc<Context>,
    sender: &Arc<PushSender>,
    under_way: &mut JoinSet<store::PushDeviceId>,
    busy: &mut Lanes<store::PushDeviceId>,
) {
    let due = match context.store.push_devices_due(context.clock.now(), DUE_MAX) {
        Ok(due) => due,
        Err(error) => {
            tracing::error!(%error, "cannot read which notifications wait");
            return;
        }
    };
    let lane = |device: &PushDeviceRow| {
        let url = Url::parse(&device.endpoint);
        url.map(|url| Domain::of(&url).to_string()).unwrap_or_default()
    };
    let admitted = busy.admit(due.iter().map(|device| (device.id, lane(device))));
    for device in due.into_iter().filter(|device| admitted.contains(&device.id)) {
        let (context, sender) = (Arc::clone(context), Arc::clone(sender));
        under_way.spawn(async move {
            if let Err(error) = notify(&context, &sender, &device).await {
                tracing::error!(%error, "cannot record a notification; it is repeated");
                tokio::time::sleep(TROUBLE_WAIT).await;
            }
            device.id
        });
    }
}

/// Sends everything that waits for one device in one message.
async fn notify(
    context: &Context,
    sender: &PushSender,
    device: &PushDeviceRow,
) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let waiting = store.notifications(device.account, device.sent_to, TOGETHER_MAX)?;
    let Some(last) = waiting.last() else { return Ok(()) };
    let fresh: Vec<_> =
        waiting.iter().filter(|one| now.since(one.made_at) < NOTIFICATION_LIFE).collect();
    let Some(text) = message::compose(store, device.account, &fresh)? else {
        return store.note_pushed(device.id, last.id, now, now).await;
    };
    let Ok(url) = Url::parse(&device.endpoint) else {
        return store.drop_push_device(device.id).await;
    };
    let Some(key) = VapidKey::of(store)? else {
        tracing::error!("the key for notifications cannot be read; delete it from the settings");
        let why = "the key of this server cannot be read".to_owned();
        return store.postpone_push(device.id, None, now + WAIT_MAX, why).await;
    };
    let parcel = match parcel(&key, (&url, &sender.contact), device, text.as_bytes(), now) {
        Some(parcel) => parcel,
        None => {
            tracing::warn!(device = device.name, "the keys of a device are not valid; removed");
            return store.drop_push_device(device.id).await;
        }
    };
    let turn = errand::turn(&PlanHandle::of(context), &url, ErrandClass::WithoutGap).await;
    let turn = turn.map_err(|_| StoreError::Closed)?;
    let posted = turn.post_without_gap_by(&sender.fetcher, &url, parcel).await;
    conclude(context, device, &url, posted, last.id).await
}

async fn conclude(
    context: &Context,
    device: &PushDeviceRow,
    url: &Url,
    posted: Posted,
    last: i64,
) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let (why, retry_after, of_host) = match posted {
        Posted::Taken { .. } => return store.note_pushed(device.id, last, now, now + GAP).await,
        // The browser has left, or the subscription was made with another key.
        Posted::Refused { status: 404 | 410 | 403, .. } => {
            tracing::info!(device = device.name, "a device takes no notifications any more");
            return store.drop_push_device(device.id).await;
        }
        Posted::Refused { status, retry_after, .. } => {
            let wait = retry_after.map(|wish| match wish {
                RetryAfter::After(wait) => wait,
                RetryAfter::At(at) => at.since(now),
            });
            (format!("it answered {status}"), wait, matches!(status, 429 | 503))
        }
        // The hint in the reason is about feeds.
        Posted::Blocked { .. } => {
            ("its push service is not at a public address".to_owned(), None, false)
        }
        Posted::Failed(failure) => (failure.to_string(), None, false),
    };
    if device.attempts + 1 >= ATTEMPTS_MAX {
        tracing::warn!(device = device.name, why, "a device was out of reach too often; removed");
        return store.drop_push_device(device.id).await;
    }
    let until = now + wait(device.attempts, retry_after);
    let host = of_host.then(|| format!("{}/", url.origin().ascii_serialization()));
    store.postpone_push(device.id, host, until, why).await
}

/// Doubles with every failure. A push service may ask for more, but not for longer than a day.
fn wait(attempts: u32, retry_after: Option<Duration>) -> Duration {
    let own = WAIT_MIN.saturating_mul(1 << attempts.min(10)).min(WAIT_MAX);
    own.max(retry_after.unwrap_or_default().min(NOTIFICATION_LIFE))
}

/// Returns the request for a device; `None` if its keys are not valid.
fn parcel(
    key: &VapidKey,
    (url, contact): (&Url, &str),
    device: &PushDeviceRow,
    text: &[u8],
    now: Time,
) -> Option<Parcel> {
    let body = encrypt::encrypt(&device.p256dh, &device.auth, text)?;
    let signed = key.authorization(url, contact, now)?;
    let headers = vec![
        ("authorization", signed),
        ("content-encoding", "aes128gcm".to_owned()),
        ("ttl", NOTIFICATION_LIFE.as_secs().to_string()),
        ("urgency", "normal".to_owned()),
    ];
    Some(Parcel::new("application/octet-stream", headers, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour_and_heed_the_service() {
        let secs = |attempts, asked: u64| {
            wait(attempts, (asked > 0).then(|| Duration::from_secs(asked))).as_secs()
        };
        assert_eq!([secs(0, 0), secs(1, 0), secs(6, 0), secs(31, 0)], [30, 60, 1920, 3600]);
        assert_eq!([secs(0, 10), secs(0, 7200), secs(0, 999_999)], [30, 7200, 86_400]);
    }
}
