//! One turn at a registrable domain: the wait for it, one request, and the report to the plan. A
//! turn that is dropped, for whatever reason, frees its domain.

use std::sync::Arc;
use std::time::Duration;

use dispatch::{EndPoint, ErrandJob, ErrandReading, ErrandRequest, ErrandResult, GrantId};
use feed::{Domain, ExchangeFacts, Trouble, Validators};
use fetch::{Exchange, ExchangePlace, Fetched, Fetcher, Parcel, PartOutcome, Posted};
use store::StoreError;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::NoTurn;
use crate::context::Context;
use crate::errand_road::{AwayTerminal, ErrandRoad, SEND_WITHIN};
use crate::event::{ErrandEnd, Event};
use crate::grants::GrantBook;
use crate::plan::{ErrandClass, GrantedTurn};
use crate::{Clock, conclude};

/// The way to the plan that grants turns.
#[derive(Clone)]
pub struct PlanHandle {
    pub events: mpsc::UnboundedSender<Event>,
    pub clock: Clock,
    /// The rows of grants, if the store outlives this process, and the name of the process.
    pub grants: Option<(Arc<GrantBook>, Arc<str>)>,
    /// The way to the terminals of regions; `None`: this process sends everything.
    pub road: Option<Arc<ErrandRoad>>,
    /// The region that sends the requests; `None`: that of their domain.
    pub region: Option<String>,
}

impl PlanHandle {
    /// Returns the way to the engine's own plan.
    pub fn of(context: &Context) -> PlanHandle {
        let machine: Arc<str> = context.machine.as_str().into();
        let grants = context.grants.clone().map(|book| (book, machine));
        let (events, clock) = (context.events.clone(), context.clock.clone());
        PlanHandle { events, clock, grants, road: context.errands.clone(), region: None }
    }

    /// The same for requests that only terminals of a region send.
    pub fn in_region(self, region: Option<String>) -> PlanHandle {
        PlanHandle { region, ..self }
    }

    /// Makes a request of this process. When the engine ends, the request is dropped: the next
    /// process counts on that (`GrantBook::close`).
    async fn while_running<T>(&self, request: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.events.closed() => None,
            done = request => Some(done),
        }
    }

    fn ended(&self, class: ErrandClass, domain: u32, answer: ErrandEnd, is_away: bool) {
        let event = match class {
            ErrandClass::Picture => Event::PictureEnded { domain },
            _ => Event::ErrandEnded { domain, at: self.clock.now(), answer, is_away },
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
    grant: GrantId,
    /// The latest moment to send the request, by the clock of the rows.
    send_by: Option<Duration>,
    answer: ErrandEnd,
    /// The terminal on another machine that sends the request, until it is sent.
    away: Option<AwayTerminal>,
    is_away: bool,
}

/// A turn that the plan may grant at any moment, even while the waiting task ends.
struct WaitingTurn<'a> {
    plan: &'a PlanHandle,
    class: ErrandClass,
    granted: oneshot::Receiver<GrantedTurn>,
}

impl Drop for WaitingTurn<'_> {
    fn drop(&mut self) {
        self.granted.close();
        if let Ok(turn) = self.granted.try_recv() {
            self.plan.ended(self.class, turn.domain, ErrandEnd::NotSent, false);
        }
    }
}

/// Waits for a turn at the domain of a URL.
pub async fn turn(plan: &PlanHandle, url: &Url, class: ErrandClass) -> Result<Turn, NoTurn> {
    let (turn, granted) = oneshot::channel();
    let name = Domain::of(url);
    // The loop ends only with the engine; then there is no turn either.
    let _ = plan.events.send(Event::Errand { domain: name.clone(), turn, class });
    let mut waiting = WaitingTurn { plan, class, granted };
    let GrantedTurn { domain, grant } =
        (&mut waiting.granted).await.map_err(|_| NoTurn::AskedToWait)?;
    let answer = ErrandEnd::NotSent;
    // Receivers of webhooks may be in the network of this process only.
    let may_leave = matches!(class, ErrandClass::BeforePolls | ErrandClass::AfterPolls);
    let road = plan.road.as_ref().filter(|_| may_leave);
    let (away, is_away, send_by) = (None, false, None);
    let mut turn =
        Turn { plan: plan.clone(), class, name, domain, grant, send_by, answer, away, is_away };
    if let Some(road) = road {
        turn.away = road.pick(grant, &turn.name, plan.region.as_deref(), plan.clock.now())?;
        turn.is_away = turn.away.is_some();
    }
    // Pictures do not wait for other requests, and no request waits for them.
    if class != ErrandClass::Picture
        && let Some((book, machine)) = &plan.grants
    {
        let terminal = turn.away.as_ref().map_or(machine, |away| &away.name);
        let send_by = book.elapsed() + SEND_WITHIN;
        turn.send_by = Some(send_by);
        let committed = book.commit_one(grant, &turn.name, terminal);
        match tokio::time::timeout(SEND_WITHIN, committed).await {
            // A process that was stopped meanwhile finds both the commit and its time over.
            Ok(Ok(())) if book.elapsed() > send_by => return Err(NoTurn::NotNoted),
            Ok(Ok(())) => dispatch::end_at(EndPoint::ErrandCommitted),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot store that a request is sent; it waits");
                return Err(NoTurn::NotNoted);
            }
            Err(_) => return Err(NoTurn::NotNoted),
        }
    }
    Ok(turn)
}

impl Turn {
    /// Returns whether the request may still be sent. Later, the next process counts on it not to
    /// come any more.
    fn may_send(&self) -> bool {
        let rows = self.plan.grants.as_ref().zip(self.send_by);
        rows.is_none_or(|((book, _), send_by)| book.elapsed() <= send_by)
    }

    /// Waits for a place for the request. Fails with the outcome if it may not be sent any more.
    pub async fn place<'a>(&self, fetcher: &'a Fetcher) -> Result<ExchangePlace<'a>, Fetched> {
        let place = self.plan.while_running(fetcher.place()).await;
        place.filter(|_| self.may_send()).ok_or_else(not_sent)
    }

    /// Sends a request, here or at another terminal. If the caller goes away, a request at another
    /// terminal goes on and keeps its domain. `None`: an internal error.
    async fn send(
        mut self,
        context: &Context,
        url: &Url,
        request: ErrandRequest,
    ) -> Option<(Turn, ErrandResult)> {
        self.answer = ErrandEnd::Unanswered;
        let (grant, url, send_by) = (self.grant, url.clone(), Duration::ZERO);
        let job = ErrandJob { grant, url, request, send_by };
        let Some(away) = self.away.take() else {
            let sending = terminal::errand(&context.fetcher, job, || self.may_send());
            let sent = self.plan.while_running(sending).await;
            let result = sent.unwrap_or_else(|| ErrandResult::bare(grant, ErrandReading::NotSent));
            return Some((self, result));
        };
        let sending = tokio::spawn(async move {
            let result = away.send(job).await;
            (self, result)
        });
        sending.await.ok()
    }

    /// The same for a request that asks for something.
    async fn get(
        self,
        context: &Context,
        url: &Url,
        request: ErrandRequest,
    ) -> Result<(Turn, Fetched, ExchangeFacts), Fetched> {
        let Some((turn, result)) = self.send(context, url, request).await else {
            let (trouble, detail) = (Trouble::Internal, "internal error".to_owned());
            let reading = ErrandReading::Failed { trouble, detail };
            return Err(terminal::fetched(reading, &ExchangeFacts::default()));
        };
        let ErrandResult { facts, reading, .. } = result;
        Ok((turn, terminal::fetched(reading, &facts), facts))
    }

    /// Sends a body. A 429 or 503 binds the whole domain.
    pub async fn post(self, context: &Context, url: &Url, parcel: Parcel) -> Posted {
        let Some((mut turn, result)) = self.send(context, url, terminal::post(parcel)).await else {
            return terminal::posted(ErrandReading::NotSent);
        };
        let posted = terminal::posted(result.reading);
        let mut asks_to_wait = None;
        let status = match &posted {
            Posted::Taken { status } | Posted::Refused { status, .. } => Some(*status),
            Posted::Blocked { .. } | Posted::Failed(_) => None,
        };
        turn.answer = match &posted {
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
        if let Some(sent) = turn.end() {
            let not_before = match asks_to_wait {
                Some(pace) => pace.await.ok().and_then(|pace| pace.not_before),
                None => None,
            };
            let pace = conclude::pace(sent.name.clone(), context.clock.now(), not_before, status);
            sent.stored(context.store.store_pace(pace).await);
        }
        posted
    }

    /// Sends a body to a receiver that a person chose. The domain is free at once afterwards, and a
    /// Retry-After binds this receiver only.
    pub async fn post_without_gap_by(self, fetcher: &Fetcher, url: &Url, parcel: Parcel) -> Posted {
        let posted = match self.place(fetcher).await {
            Ok(place) => self.plan.while_running(place.post(url, parcel)).await,
            Err(_) => None,
        };
        posted.unwrap_or_else(|| terminal::posted(ErrandReading::NotSent))
    }

    /// Requests a short answer at an address that a stranger chose, within this time. A 429 or 503
    /// does not bind the domain. Otherwise a stranger could stop our polls of a site by a page that
    /// always answers so.
    pub async fn ask(
        self,
        context: &Context,
        url: &Url,
        bytes_max: usize,
        within: Duration,
    ) -> Fetched {
        let (validators, within) = (Validators::default(), Some(within));
        let first_bytes = None;
        let request = ErrandRequest::File { validators, bytes_max, first_bytes, within };
        let (mut turn, fetched, _) = match self.get(context, url, request).await {
            Ok(got) => got,
            Err(failed) => return failed,
        };
        turn.answer = answered(&fetched);
        if let Some(sent) = turn.end() {
            let pace = conclude::pace(sent.name.clone(), context.clock.now(), None, None);
            sent.stored(context.store.store_known_pace(pace).await);
        }
        fetched
    }

    /// Makes one exchange. The store does not record it.
    pub async fn exchange(mut self, exchange: impl Future<Output = Exchange>) -> Fetched {
        self.answer = ErrandEnd::Unanswered;
        let exchange = self.plan.while_running(exchange).await;
        let fetched = exchange.map_or_else(not_sent, |exchange| exchange.fetched);
        self.answer = answered(&fetched);
        fetched
    }

    /// Makes one exchange for a part of a file.
    pub async fn part(mut self, exchange: impl Future<Output = PartOutcome>) -> PartOutcome {
        self.answer = ErrandEnd::Unanswered;
        let outcome = self.plan.while_running(exchange).await;
        let outcome = outcome.unwrap_or_else(|| PartOutcome::Other(not_sent()));
        self.answer = match &outcome {
            PartOutcome::Part(_) => ErrandEnd::Answered,
            PartOutcome::Other(fetched) => answered(fetched),
        };
        outcome
    }

    /// Makes one exchange for a page that nobody waits for at this moment. A 429 or 503 binds the
    /// whole domain, as for a poll.
    pub async fn fetch(
        self,
        context: &Context,
        url: &Url,
        request: ErrandRequest,
    ) -> (Fetched, ExchangeFacts) {
        let (mut turn, fetched, facts) = match self.get(context, url, request).await {
            Ok(got) => got,
            Err(failed) => return (failed, ExchangeFacts::default()),
        };
        let mut asks_to_wait = None;
        turn.answer = match facts.status {
            Some(429 | 503) => {
                let (reply, pace) = oneshot::channel();
                asks_to_wait = Some(pace);
                ErrandEnd::AskedToWait { retry_after: facts.retry_after, pace: reply }
            }
            _ => answered(&fetched),
        };
        if let Some(sent) = turn.end() {
            let not_before = match asks_to_wait {
                Some(pace) => pace.await.ok().and_then(|pace| pace.not_before),
                None => None,
            };
            let pace =
                conclude::pace(sent.name.clone(), context.clock.now(), not_before, facts.status);
            sent.stored(context.store.store_pace(pace).await);
        }
        (fetched, facts)
    }

    /// Frees the domain. If a request was sent, returns the duty to store when.
    fn end(self) -> Option<SentErrand> {
        let sent = !matches!(self.answer, ErrandEnd::NotSent);
        let book = self.plan.grants.as_ref().map(|(book, _)| Arc::clone(book));
        sent.then(|| SentErrand { name: self.name.clone(), grant: self.grant, book })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let answer = std::mem::replace(&mut self.answer, ErrandEnd::NotSent);
        // The row of a request that a gap follows stays until its end: then its time is stored.
        if let (ErrandEnd::NotSent, Some((book, _))) = (&answer, &self.plan.grants) {
            book.ended(self.grant);
        }
        self.plan.ended(self.class, self.domain, answer, self.is_away);
    }
}

/// A request that has ended and whose time is not stored yet.
struct SentErrand {
    name: Domain,
    grant: GrantId,
    book: Option<Arc<GrantBook>>,
}

impl SentErrand {
    /// Notes whether the time is stored. If it is, nobody needs the row of the request.
    fn stored(&self, stored: Result<(), StoreError>) {
        match (stored, &self.book) {
            (Ok(()), Some(book)) => book.ended(self.grant),
            (Ok(()), None) => {}
            (Err(error), _) => {
                tracing::warn!(%error, "cannot store when a domain received its last request");
            }
        }
    }
}

/// The outcome of a request that the end of the engine dropped.
fn not_sent() -> Fetched {
    terminal::fetched(ErrandReading::NotSent, &ExchangeFacts::default())
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
mod tests;
