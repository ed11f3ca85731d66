//! Delivers the matches of queries. Each receiver has a cursor over its query's outbox, and one
//! attempt at a time. The pure module `cursor` decides the step after an attempt. This module makes
//! the attempt and stores the step. The outbox is the queue: nothing waits in memory.

mod cursor;
mod digest;
mod file;
mod match_message;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use feed::{Domain, FeedId};
use query::{Deliver, masked_receiver};
use store::{AccountRole, DeliveryId, DueDelivery, QueryEntry, QueryRow, Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::chance;
use crate::context::Context;
use crate::lanes::Lanes;

pub use match_message::MatchMessages;
pub use webhook::{SentEntry, send_entry};

use cursor::{Attempt, Cursor, CursorStep};

/// Receivers that are served at once: few are slow at a time, and each costs a connection.
const AT_ONCE_MAX: usize = 64;
/// The interval between two looks at the outbox without a wake-up: a retry may be due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Polls that end together wake us once: under load the outbox is looked at ten times a second.
const GATHER: Duration = Duration::from_millis(100);
/// Matches that one receiver gets before the others have their turn.
const TURN_MAX: usize = 200;
/// A delivery that could not be stored is repeated after this long. A full disk stays full for a
/// while, and a receiver must not get the same match every second.
const TROUBLE_WAIT: Duration = Duration::from_secs(60);
/// A delivery whose query cannot be read is looked at again after this long.
const UNREADABLE_WAIT: Duration = Duration::from_secs(3600);

/// Serves all receivers until the program stops. Then it cancels the attempts under way; the next
/// start repeats them.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut under_way = JoinSet::new();
    let mut busy = Lanes::new(AT_ONCE_MAX);
    while !*stop.borrow() {
        start_due(&context, &mut under_way, &mut busy, TROUBLE_WAIT);
        tokio::select! {
            () = context.deliveries.notified() => tokio::time::sleep(GATHER).await,
            Some(ended) = under_way.join_next() => {
                forget(&mut busy, ended);
            }
            () = context.clock.sleep_until(context.clock.now() + LOOK_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Delivers everything that can be delivered now, then returns, even if the store fails.
pub async fn run_once(context: &Arc<Context>) {
    let mut under_way = JoinSet::new();
    let mut busy = Lanes::new(AT_ONCE_MAX);
    while start_due(context, &mut under_way, &mut busy, Duration::ZERO) {
        if let Some(ended) = under_way.join_next().await
            && !forget(&mut busy, ended)
        {
            break;
        }
    }
    while under_way.join_next().await.is_some() {}
}

/// A delivery that had its turn, and whether the result is stored.
type DeliveryTurn = (DeliveryId, bool);

/// Starts a task for each receiver with waiting matches. Returns whether any task is under way. A
/// task whose result could not be stored keeps its receiver busy for `trouble_wait`.
fn start_due(
    context: &Arc<Context>,
    under_way: &mut JoinSet<DeliveryTurn>,
    busy: &mut Lanes<DeliveryId>,
    trouble_wait: Duration,
) -> bool {
    let due = match context.store.deliveries_due(context.clock.now()) {
        Ok(due) => due,
        Err(error) => {
            tracing::error!(%error, "cannot read which deliveries are due");
            return !busy.is_empty();
        }
    };
    let admitted = busy.admit(due.iter().map(|delivery| (delivery.id, lane(&delivery.receiver))));
    for delivery in due.into_iter().filter(|delivery| admitted.contains(&delivery.id)) {
        let context = Arc::clone(context);
        under_way.spawn(async move {
            let id = delivery.id;
            let stored = turn(&context, delivery).await;
            if let Err(error) = &stored {
                tracing::error!(%error, "cannot record a delivery; it is repeated");
                tokio::time::sleep(trouble_wait).await;
            }
            (id, stored.is_ok())
        });
    }
    !busy.is_empty()
}

/// Returns the lane of a receiver. The receivers of one lane are served one after the other:
/// webhooks at one registrable domain, all digests (there is one mail server), and each file.
fn lane(receiver: &str) -> String {
    match receiver.split_once(' ') {
        Some(("webhook", url)) => {
            let domain = Url::parse(url).map(|url| Domain::of(&url)).unwrap_or_default();
            format!("webhook {domain}")
        }
        Some(("email", _)) => "email".to_owned(),
        _ => receiver.to_owned(),
    }
}

/// Frees the receiver of a task that ended. A task that panicked does not name its delivery; then
/// all are free, and the store refuses a stale cursor. Returns whether all went well.
fn forget(
    busy: &mut Lanes<DeliveryId>,
    ended: Result<DeliveryTurn, tokio::task::JoinError>,
) -> bool {
    match ended {
        Ok((id, stored)) => {
            busy.ended(id);
            stored
        }
        Err(error) => {
            tracing::error!(%error, "internal error during a delivery; please report it");
            busy.clear();
            false
        }
    }
}

/// One receiver's turn.
async fn turn(context: &Context, due: DueDelivery) -> Result<(), StoreError> {
    let store = &context.store;
    let Some(query) = store.query_numbered(due.query)? else { return Ok(()) };
    let deliver = query::parse_create(&query.text).and_then(|create| {
        create.query.deliveries.into_iter().find(|deliver| deliver.receiver_key() == due.receiver)
    });
    let Some(deliver) = deliver else {
        let why = "the stored query cannot be read; apply it again".to_owned();
        let until = context.clock.now() + UNREADABLE_WAIT;
        return store.postpone_delivery(due.id, due.attempts, until, Some(why)).await;
    };
    if let Some(owner) = query.scope.owner
        && store.role_of(owner)? != Some(AccountRole::Admin)
    {
        let why = "its owner is not an administrator any more; only these may use DELIVER TO";
        let until = context.clock.now() + UNREADABLE_WAIT;
        return store.postpone_delivery(due.id, due.attempts, until, Some(why.to_owned())).await;
    }
    let task = DeliveryTask { context, query, due };
    match deliver {
        Deliver::Webhook { url, signed_by } => task.webhook(&url, signed_by.as_deref()).await,
        Deliver::File { path, rolling } => task.file(&path, rolling).await,
        Deliver::Email { to, every, at_minute } => task.digest(&to, every, at_minute).await,
    }
}

/// A receiver's turn, with all that it needs.
struct DeliveryTask<'a> {
    context: &'a Context,
    query: QueryRow,
    due: DueDelivery,
}

impl DeliveryTask<'_> {
    fn store(&self) -> &Store {
        &self.context.store
    }

    fn cursor(&self) -> Cursor {
        Cursor { position: self.due.position, attempts: self.due.attempts }
    }

    /// Returns the matches after a position. If retention dropped all of them, the cursor passes
    /// them and a warning is logged.
    async fn matches(&self, after: i64, limit: u32) -> Result<Vec<QueryEntry>, StoreError> {
        let page = self.store().query_entries(self.query.id, after, limit)?;
        if page.gap {
            let (query, receiver) = (&self.query.name, masked_receiver(&self.due.receiver));
            tracing::warn!(query, receiver, "entries were dropped before they were delivered");
        }
        if page.entries.is_empty() && self.query.last_position > after {
            let (now, to) = (self.context.clock.now(), self.query.last_position);
            self.store().delivered(self.due.id, after, to, None, now).await?;
        }
        Ok(page.entries)
    }

    /// Stores the step after an attempt. Returns the new cursor, or `None` if it waits.
    async fn follow(
        &self,
        cursor: Cursor,
        found: &QueryEntry,
        attempt: Attempt,
    ) -> Result<Option<Cursor>, StoreError> {
        let (id, now) = (self.due.id, self.context.clock.now());
        let feed = FeedId(u32::try_from(id.0).unwrap_or(u32::MAX));
        let jitter = chance::unit(self.context.settings.seed, feed, cursor.attempts);
        match cursor::after(cursor, found.position, attempt, now, jitter) {
            CursorStep::Advance { to } => {
                self.store().delivered(id, cursor.position, to, None, now).await?;
                Ok(Some(Cursor { position: to, attempts: 0 }))
            }
            CursorStep::Wait { attempts, until, why } => {
                self.store().postpone_delivery(id, attempts, until, Some(why)).await?;
                Ok(None)
            }
            CursorStep::Bury { position, attempts, why } => {
                let query = &self.query.name;
                tracing::warn!(
                    query,
                    receiver = masked_receiver(&self.due.receiver),
                    why,
                    "laid aside"
                );
                let letter = store::DeadLetter {
                    delivery: id,
                    position,
                    entry: found.entry.id,
                    at: now,
                    attempts,
                    error: why,
                    to_replay: false,
                };
                self.store().add_dead_letter(letter, cursor.position).await?;
                Ok(Some(Cursor { position, attempts: 0 }))
            }
        }
    }

    /// Retries without limit, for receivers that never refuse a single match.
    async fn retry(&self, why: String) -> Result<(), StoreError> {
        let attempts = self.due.attempts.min(cursor::ATTEMPTS_MAX - 2);
        let cursor = Cursor { position: self.due.position, attempts };
        let (now, failed) = (self.context.clock.now(), Attempt::Failed { why, retry_after: None });
        if let CursorStep::Wait { attempts, until, why } =
            cursor::after(cursor, 0, failed, now, 0.0)
        {
            let id = self.due.id;
            self.store().postpone_delivery(id, attempts, until, Some(why)).await?;
        }
        Ok(())
    }
}

/// Returns the wait after this many failures in a row.
pub fn waited(attempts: u32) -> Duration {
    cursor::wait(attempts, None, 0.0)
}
