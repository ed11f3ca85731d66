//! Requests that are not polls: each waits for its turn at its registrable domain and tells the
//! plan how it ended. What is sent, and what follows from the answer, is the caller's business.

use std::time::Duration;

use feed::Domain;
use fetch::{Fetched, Parcel, Posted};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::context::Context;
use crate::event::{Answered, Event};
use crate::plan::Rank;
use crate::{Clock, conclude};

/// A turn that has come.
pub struct Turn<'a> {
    context: &'a Context,
    name: Domain,
    held: Held<'a>,
}

/// The domain, held for one request. However the task ends that holds it, the next one is free to
/// go.
struct Held<'a> {
    events: &'a mpsc::UnboundedSender<Event>,
    clock: &'a Clock,
    domain: u32,
    answer: Answered,
}

/// Waits for a turn at the domain of a URL; `None` where the domain asked us to wait, or where the
/// engine ends.
pub async fn turn<'a>(context: &'a Context, url: &Url, rank: Rank) -> Option<Turn<'a>> {
    let (turn, granted) = oneshot::channel();
    let name = Domain::of(url);
    // The loop ends only with the engine; then there is no turn either.
    let _ = context.events.send(Event::Errand { domain: name.clone(), turn, rank });
    let domain = granted.await.ok()?;
    let Context { events, clock, .. } = context;
    let held = Held { events, clock, domain, answer: Answered::NotSent };
    Some(Turn { context, name, held })
}

impl Turn<'_> {
    /// Sends a body. A 429 or 503 binds the whole domain.
    pub async fn post(mut self, url: &Url, parcel: Parcel) -> Posted {
        self.held.answer = Answered::Lost;
        let posted = self.context.fetcher.post(url, parcel).await;
        let mut asks_to_wait = None;
        let status = match &posted {
            Posted::Taken { status } | Posted::Refused { status, .. } => Some(*status),
            Posted::Blocked { .. } | Posted::Failed(_) => None,
        };
        self.held.answer = match &posted {
            Posted::Refused { status: 429 | 503, retry_after, .. } => {
                let retry_after = *retry_after;
                let (reply, pace) = oneshot::channel();
                asks_to_wait = Some(pace);
                Answered::AskedToWait { retry_after, pace: reply }
            }
            Posted::Taken { .. } | Posted::Refused { .. } => Answered::Heard,
            Posted::Blocked { .. } => Answered::NotSent,
            Posted::Failed(_) => Answered::Lost,
        };
        let sent = !matches!(self.held.answer, Answered::NotSent);
        let Turn { context, name, held } = self;
        drop(held);
        if sent {
            let not_before = match asks_to_wait {
                Some(pace) => pace.await.ok().and_then(|pace| pace.not_before),
                None => None,
            };
            let pace = conclude::pace(name, context.clock.now(), not_before, status);
            if let Err(error) = context.store.store_pace(pace).await {
                tracing::warn!(%error, "cannot store when a domain was last asked");
            }
        }
        posted
    }

    /// Sends a body to a receiver that the operator chose. The domain is free at once afterwards,
    /// and the receiver's wish to wait binds this receiver only.
    pub async fn post_without_gap(self, url: &Url, parcel: Parcel) -> Posted {
        self.context.fetcher.post(url, parcel).await
    }

    /// Asks for a short answer at an address that a stranger chose; `None` where it does not come
    /// in time. A 429 or 503 does not bind the domain: a stranger who finds a page that always
    /// answers so would stop our polls of its site.
    pub async fn ask(mut self, url: &Url, bytes_max: usize, within: Duration) -> Option<Fetched> {
        self.held.answer = Answered::Lost;
        let exchange = self.context.fetcher.short(url, bytes_max);
        let fetched = tokio::time::timeout(within, exchange).await.ok().map(|e| e.fetched);
        self.held.answer = match &fetched {
            Some(Fetched::Blocked { .. }) => Answered::NotSent,
            Some(Fetched::Failed(_)) | None => Answered::Lost,
            Some(_) => Answered::Heard,
        };
        let sent = !matches!(self.held.answer, Answered::NotSent);
        let Turn { context, name, held } = self;
        drop(held);
        if sent {
            let pace = conclude::pace(name, context.clock.now(), None, None);
            if let Err(error) = context.store.store_known_pace(pace).await {
                tracing::warn!(%error, "cannot store when a domain was last asked");
            }
        }
        fetched
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let answer = std::mem::replace(&mut self.answer, Answered::NotSent);
        let (domain, at) = (self.domain, self.clock.now());
        // The loop ends only with the engine; then there are no turns any more.
        let _ = self.events.send(Event::Exchanged { domain, at, answer });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_whose_task_fails_leaves_its_domain_free() {
        let (events, mut heard) = mpsc::unbounded_channel();
        let clock = Clock::manual(feed::Time::from_secs(1_700_000_000));
        let failing = || {
            let _held = Held { events: &events, clock: &clock, domain: 7, answer: Answered::Lost };
            panic!("an answer that nobody thought of");
        };
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(failing));
        assert!(failed.is_err());
        let heard = heard.try_recv();
        assert!(matches!(heard, Ok(Event::Exchanged { domain: 7, answer: Answered::Lost, .. })));
    }
}
