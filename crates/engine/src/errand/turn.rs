//! One turn at a registrable domain: the wait for it, one request, and the report to the plan. A
//! turn that is dropped, for whatever reason, frees its domain.

use std::time::Duration;

use feed::Domain;
use fetch::{Exchange, Fetched, Parcel, Posted};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::context::Context;
use crate::event::{ErrandEnd, Event};
use crate::plan::ErrandClass;
use crate::{Clock, conclude};

/// The way to the plan that grants turns.
#[derive(Clone)]
pub struct PlanHandle {
    pub events: mpsc::UnboundedSender<Event>,
    pub clock: Clock,
}

impl PlanHandle {
    /// Returns the way to the engine's own plan.
    pub fn of(context: &Context) -> PlanHandle {
        PlanHandle { events: context.events.clone(), clock: context.clock.clone() }
    }

    fn ended(&self, class: ErrandClass, domain: u32, answer: ErrandEnd) {
        let event = match class {
            ErrandClass::Picture => Event::PictureEnded { domain },
            _ => Event::ErrandEnded { domain, at: self.clock.now(), answer },
        };
        // The loop ends only with the engine; then there are no turns any more.
        let _ = self.events.send(event);
    }
}

/// A turn that the plan granted. Until it is dropped, the domain is reserved for one request.
pub struct Turn {
    plan: PlanHandle,
    class: ErrandClass,
    name: Domain,
    domain: u32,
    answer: ErrandEnd,
}

/// A turn that the plan may grant at any moment, even while the waiting task ends.
struct WaitingTurn<'a> {
    plan: &'a PlanHandle,
    class: ErrandClass,
    granted: oneshot::Receiver<u32>,
}

impl Drop for WaitingTurn<'_> {
    fn drop(&mut self) {
        self.granted.close();
        if let Ok(domain) = self.granted.try_recv() {
            self.plan.ended(self.class, domain, ErrandEnd::NotSent);
        }
    }
}

/// Waits for a turn at the domain of a URL. Returns `None` if the domain asked us to wait, or if
/// the engine ends.
pub async fn turn(plan: &PlanHandle, url: &Url, class: ErrandClass) -> Option<Turn> {
    let (turn, granted) = oneshot::channel();
    let name = Domain::of(url);
    // The loop ends only with the engine; then there is no turn either.
    let _ = plan.events.send(Event::Errand { domain: name.clone(), turn, class });
    let mut waiting = WaitingTurn { plan, class, granted };
    let domain = (&mut waiting.granted).await.ok()?;
    Some(Turn { plan: plan.clone(), class, name, domain, answer: ErrandEnd::NotSent })
}

impl Turn {
    /// Sends a body. A 429 or 503 binds the whole domain.
    pub async fn post(mut self, context: &Context, url: &Url, parcel: Parcel) -> Posted {
        self.answer = ErrandEnd::Unanswered;
        let posted = context.fetcher.post(url, parcel).await;
        let mut asks_to_wait = None;
        let status = match &posted {
            Posted::Taken { status } | Posted::Refused { status, .. } => Some(*status),
            Posted::Blocked { .. } | Posted::Failed(_) => None,
        };
        self.answer = match &posted {
            Posted::Refused { status: 429 | 503, retry_after, .. } => {
                let retry_after = *retry_after;
                let (reply, pace) = oneshot::channel();
                asks_to_wait = Some(pace);
                ErrandEnd::AskedToWait { retry_after, pace: reply }
            }
            Posted::Taken { .. } | Posted::Refused { .. } => ErrandEnd::Answered,
            Posted::Blocked { .. } => ErrandEnd::NotSent,
            Posted::Failed(_) => ErrandEnd::Unanswered,
        };
        if let Some(name) = self.end() {
            let not_before = match asks_to_wait {
                Some(pace) => pace.await.ok().and_then(|pace| pace.not_before),
                None => None,
            };
            let pace = conclude::pace(name, context.clock.now(), not_before, status);
            if let Err(error) = context.store.store_pace(pace).await {
                tracing::warn!(%error, "cannot store when a domain received its last request");
            }
        }
        posted
    }

    /// Sends a body to a receiver that the operator chose. The domain is free at once afterwards,
    /// and a Retry-After binds this receiver only.
    pub async fn post_without_gap(self, context: &Context, url: &Url, parcel: Parcel) -> Posted {
        context.fetcher.post(url, parcel).await
    }

    /// Requests a short answer at an address that a stranger chose; `None` if it does not arrive in
    /// time. A 429 or 503 does not bind the domain. Otherwise a stranger could stop our polls of a
    /// site by a page that always answers so.
    pub async fn ask(
        mut self,
        context: &Context,
        url: &Url,
        bytes_max: usize,
        within: Duration,
    ) -> Option<Fetched> {
        self.answer = ErrandEnd::Unanswered;
        let exchange = context.fetcher.short(url, bytes_max);
        let fetched = tokio::time::timeout(within, exchange).await.ok().map(|e| e.fetched);
        self.answer = fetched.as_ref().map_or(ErrandEnd::Unanswered, answered);
        if let Some(name) = self.end() {
            let pace = conclude::pace(name, context.clock.now(), None, None);
            if let Err(error) = context.store.store_known_pace(pace).await {
                tracing::warn!(%error, "cannot store when a domain received its last request");
            }
        }
        fetched
    }

    /// Makes one exchange. The store does not record it.
    pub async fn exchange(mut self, exchange: impl Future<Output = Exchange>) -> Fetched {
        self.answer = ErrandEnd::Unanswered;
        let fetched = exchange.await.fetched;
        self.answer = answered(&fetched);
        fetched
    }

    /// Frees the domain. Returns its name if a request was sent.
    fn end(self) -> Option<Domain> {
        let sent = !matches!(self.answer, ErrandEnd::NotSent);
        sent.then(|| self.name.clone())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let answer = std::mem::replace(&mut self.answer, ErrandEnd::NotSent);
        self.plan.ended(self.class, self.domain, answer);
    }
}

/// Returns the effect of an answer on its domain, if the answer cannot ask us to wait.
fn answered(fetched: &Fetched) -> ErrandEnd {
    match fetched {
        Fetched::Blocked { .. } => ErrandEnd::NotSent,
        Fetched::Failed(_) => ErrandEnd::Unanswered,
        _ => ErrandEnd::Answered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> (PlanHandle, mpsc::UnboundedReceiver<Event>) {
        let (events, sent) = mpsc::unbounded_channel();
        let clock = Clock::manual(feed::Time::from_secs(1_700_000_000));
        (PlanHandle { events, clock }, sent)
    }

    #[test]
    fn a_turn_whose_task_fails_leaves_its_domain_free() {
        let (plan, mut sent) = plan();
        let failing = || {
            let (class, answer) = (ErrandClass::BeforePolls, ErrandEnd::Unanswered);
            let _turn = Turn { plan, class, name: Domain::default(), domain: 7, answer };
            panic!("an unexpected answer");
        };
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(failing));
        assert!(failed.is_err());
        let sent = sent.try_recv();
        assert!(matches!(
            sent,
            Ok(Event::ErrandEnded { domain: 7, answer: ErrandEnd::Unanswered, .. })
        ));
    }

    #[tokio::test]
    async fn a_turn_that_comes_after_its_task_ended_leaves_its_domain_free() {
        let (plan, mut sent) = plan();
        let url = Url::parse("http://pictures.example/").expect("a URL");
        let mut waiting = Box::pin(turn(&plan, &url, ErrandClass::Picture));
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("nobody granted it"),
            () = std::future::ready(()) => {}
        }
        let Ok(Event::Errand { turn, .. }) = sent.try_recv() else { panic!("it waits") };
        assert!(turn.send(7).is_ok());
        drop(waiting);
        assert!(matches!(sent.try_recv(), Ok(Event::PictureEnded { domain: 7 })));
    }
}
