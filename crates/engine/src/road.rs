//! The way to terminals on other machines. It answers when terminals say that they are there, hands
//! their results to the controller, answers questions about windows, and confirms results after
//! they are recorded. It decides nothing.

mod limits;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use dispatch::machine::{
    Answers, Here, HereAnswer, Results, Seat, SeatCall, Verdict, WindowAnswer, WindowQuestion,
};
use dispatch::{
    Bus, BusError, BusMessage, BusReceiver, ErrandReading, ErrandResult, GrantId, LookTerms,
    Stopwatch,
};
use feed::FeedId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::confirmation::{Confirmation, Confirmations};
use crate::context::Context;
use crate::event::{Event, WaitWish};
use crate::terminals::{AnswerRight, Terminals};

/// Answers that become ready within this time share a message.
const GATHER: Duration = Duration::from_millis(10);

/// The bus, and the settings by which terminals work.
#[derive(Clone)]
pub struct BusRoad {
    pub bus: Bus,
    pub terms: LookTerms,
}

/// Finds the window of a poll under way.
pub type WindowLookup = Box<dyn Fn(GrantId) -> Option<Arc<feed::Window>> + Send + Sync>;

/// Everything that the tasks of the road share.
pub struct RoadContext {
    pub road: BusRoad,
    pub context: Arc<Context>,
    pub terminals: Arc<Terminals>,
    pub stopwatch: Stopwatch,
    pub epoch: i64,
    pub grant_life: Duration,
    /// Returns the window of a poll under way.
    pub window_of: WindowLookup,
}

/// Serves terminals until the task is dropped.
pub async fn run(road: Arc<RoadContext>) {
    loop {
        let Err(error) = serve(&road).await;
        tracing::error!(%error, "terminals cannot be served; trying again");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// An end of the service. The controller needs another one as long as it has the seat.
#[derive(Debug, thiserror::Error)]
enum RoadError {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error("a task of the bus ended")]
    TaskEnded,
}

/// Serves terminals until one of the tasks ends, whether the connection was closed or the task
/// failed.
async fn serve(road: &Arc<RoadContext>) -> Result<Infallible, RoadError> {
    let bus = &road.road.bus;
    let here = bus.listen("here").await?;
    let windows = bus.listen("window").await?;
    let results = bus.listen(&format!("result.{}", road.epoch)).await?;
    let (answers, waiting) = mpsc::unbounded_channel();
    let confirmations = Confirmations::new(answers, Arc::clone(&road.context.tally));
    let mut tasks = JoinSet::new();
    tasks.spawn(answer_here(Arc::clone(road), here));
    tasks.spawn(answer_windows(Arc::clone(road), windows));
    tasks.spawn(take_results(Arc::clone(road), results, confirmations));
    tasks.spawn(confirm(bus.clone(), waiting));
    let call = SeatCall { epoch: road.epoch, leaves: false };
    bus.publish("seat", bus.wire_of_any(), &call, None).await?;
    tasks.join_next().await;
    Err(RoadError::TaskEnded)
}

/// Says that this controller leaves.
pub async fn leave(road: &BusRoad, epoch: i64) {
    let call = SeatCall { epoch, leaves: true };
    // Terminals notice it without this message too.
    let _ = road.bus.publish("seat", road.bus.wire_of_any(), &call, None).await;
    road.bus.flush().await;
}

async fn answer_here(road: Arc<RoadContext>, mut questions: BusReceiver) {
    while let Some(message) = questions.next().await {
        // A controller that lost the seat says nothing.
        if road.context.store.is_lost() {
            continue;
        }
        let (Some(reply), Ok(here)) = (&message.reply, message.decode_any::<Here>()) else {
            continue;
        };
        let answer = seat(&road, &here);
        if let HereAnswer::Refused { why } = &answer {
            let terminal: String = here.terminal.chars().take(64).collect();
            tracing::warn!(terminal, why, "terminal refused");
        }
        if let Err(error) = road.road.bus.answer(reply, &answer).await {
            tracing::debug!(%error, "cannot answer a terminal");
        }
        // There may be room for waiting polls.
        road.context.send(Event::TerminalHeard);
    }
}

fn seat(road: &RoadContext, here: &Here) -> HereAnswer {
    let now = road.context.clock.now();
    let clock = road.stopwatch.elapsed();
    let own = road.road.bus.wire();
    match road.terminals.heard(here, own, now, clock) {
        Err(why) => HereAnswer::Refused { why },
        Ok(wire) => HereAnswer::Seat(Box::new(Seat {
            wire,
            epoch: road.epoch,
            clock: road.stopwatch.elapsed(),
            grant_life: road.grant_life,
            drain: road.terminals.is_drained(&here.life),
            terms: road.road.terms.clone(),
        })),
    }
}

async fn answer_windows(road: Arc<RoadContext>, mut questions: BusReceiver) {
    while let Some(message) = questions.next().await {
        let question = message.decode_any::<WindowQuestion>();
        let (Some(reply), Ok(question)) = (&message.reply, question) else {
            continue;
        };
        road.context.tally.window_question();
        let window = (road.window_of)(question.grant);
        let window = window.filter(|window| window.digest() == question.digest);
        if let Err(error) = road.road.bus.answer(reply, &WindowAnswer { window }).await {
            tracing::debug!(%error, "cannot send a window");
        }
    }
}

async fn take_results(
    road: Arc<RoadContext>,
    mut messages: BusReceiver,
    confirmations: Confirmations,
) {
    while let Some(message) = messages.next().await {
        if let Err(error) = take(&road, &message, &confirmations) {
            tracing::warn!(%error, "results dropped");
        }
    }
}

fn take(
    road: &RoadContext,
    message: &BusMessage,
    confirmations: &Confirmations,
) -> Result<(), dispatch::wire::WireError> {
    let Results { results, errands, terminal, life } = message.decode()?;
    let Some(reply) = &message.reply else { return Ok(()) };
    let Some(place) = road.terminals.place_of(&terminal, &life) else {
        // It says that it is here within two seconds, and sends the results again.
        tracing::debug!("results of an unknown terminal dropped");
        return Ok(());
    };
    let sender = ResultSender { road, confirmations, reply, place, terminal: &terminal };
    for mut errand in errands {
        let (grant, wish) = (errand.grant, wait_wish(&errand));
        let Some(confirmation) = sender.duty(grant, None) else { continue };
        if let Some(why) = limits::hold_errand(&mut errand) {
            tracing::error!(terminal, grant = grant.0, why, "answer refused");
            road.context.tally.refused();
        }
        let waits = road.context.errands.as_ref().is_some_and(|road| road.arrived(errand));
        if !waits {
            road.context.send(Event::LateErrand { grant, wish });
        }
        confirmation.answer_errand();
    }
    for mut result in results {
        let Some(confirmation) = sender.duty(result.grant, Some(result.feed)) else { continue };
        if let Some(why) = limits::hold(&mut result, &road.road.terms) {
            tracing::error!(terminal, feed = result.feed.0, why, "result refused");
            road.context.tally.refused();
        }
        road.context.send(Event::Result { result: Box::new(result), confirmation });
    }
    Ok(())
}

/// The terminal that sent a message with results.
struct ResultSender<'a> {
    road: &'a RoadContext,
    confirmations: &'a Confirmations,
    reply: &'a str,
    place: usize,
    terminal: &'a str,
}

impl ResultSender<'_> {
    /// Takes the duty to confirm a result. `None` if it is being recorded already, or if the
    /// terminal may not answer this request.
    fn duty(&self, grant: GrantId, feed: Option<FeedId>) -> Option<Confirmation> {
        let confirmation = self.confirmations.take(grant, self.reply)?;
        match self.road.terminals.right_to_answer(grant, feed, self.place) {
            AnswerRight::Own => Some(confirmation),
            AnswerRight::Unknown => {
                confirmation.answer(Verdict::Stale);
                None
            }
            // It may free a domain too early.
            AnswerRight::Others => {
                tracing::error!(self.terminal, grant = grant.0, "result of another's request");
                None
            }
        }
    }
}

/// Returns the wish of the server if it asked for fewer requests.
fn wait_wish(result: &ErrandResult) -> Option<WaitWish> {
    let (status, retry_after) = match &result.reading {
        ErrandReading::Posted { status, retry_after, .. } => (Some(*status), *retry_after),
        _ => (result.facts.status, result.facts.retry_after),
    };
    matches!(status, Some(429 | 503)).then_some(WaitWish { retry_after })
}

/// Sends answers, those of one terminal together.
async fn confirm(bus: Bus, mut waiting: mpsc::UnboundedReceiver<(String, GrantId, Verdict)>) {
    while let Some(first) = waiting.recv().await {
        tokio::time::sleep(GATHER).await;
        let mut by_reply: HashMap<String, Vec<(GrantId, Verdict)>> = HashMap::new();
        let mut next = Some(first);
        while let Some((reply, grant, verdict)) = next {
            by_reply.entry(reply).or_default().push((grant, verdict));
            next = waiting.try_recv().ok();
        }
        for (reply, answers) in by_reply {
            if let Err(error) = bus.answer(&reply, &Answers { answers }).await {
                tracing::debug!(%error, "cannot confirm results");
            }
        }
    }
}
