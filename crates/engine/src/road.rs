//! The way to terminals on other machines. It answers when terminals say that they are there, hands
//! their results to the controller, answers questions about windows, and confirms results after
//! they are recorded. It decides nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dispatch::machine::{
    Answers, Here, HereAnswer, Results, Seat, SeatCall, Verdict, WindowAnswer, WindowQuestion,
};
use dispatch::wire::WIRE_OLDEST;
use dispatch::{
    Bus, BusError, BusMessage, BusReceiver, GrantId, LookTerms, PollReading, Stopwatch,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::confirmation::Confirmations;
use crate::context::Context;
use crate::event::Event;
use crate::terminals::Terminals;

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
        match serve(&road).await {
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "the bus does not work; trying again"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn serve(road: &Arc<RoadContext>) -> Result<(), BusError> {
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
    bus.publish("seat", WIRE_OLDEST, &call, None).await?;
    // The tasks end only if the connection is closed for good.
    tasks.join_next().await;
    Ok(())
}

/// Says that this controller leaves.
pub async fn leave(road: &BusRoad, epoch: i64) {
    let call = SeatCall { epoch, leaves: true };
    // Terminals notice it without this message too.
    let _ = road.bus.publish("seat", WIRE_OLDEST, &call, None).await;
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
            tracing::warn!(terminal = here.terminal, why, "terminal refused");
        }
        if let Err(error) = road.road.bus.answer(reply, WIRE_OLDEST, &answer).await {
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
        let (Some(reply), Ok(question)) = (&message.reply, message.decode::<WindowQuestion>())
        else {
            continue;
        };
        road.context.tally.window_question();
        let window = (road.window_of)(question.grant);
        let window = window.filter(|window| window.digest() == question.digest);
        if let Err(error) = road.road.bus.answer(reply, WIRE_OLDEST, &WindowAnswer { window }).await
        {
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
    let Results { results, errands, terminal, .. } = message.decode()?;
    let Some(reply) = &message.reply else { return Ok(()) };
    for errand in errands {
        let grant = errand.grant;
        let Some(confirmation) = confirmations.take(grant, reply) else { continue };
        let waits = road.context.errands.as_ref().is_some_and(|road| road.arrived(errand));
        if !waits {
            road.context.send(Event::LateErrand { grant });
        }
        confirmation.answer_errand();
    }
    for result in results {
        let Some(confirmation) = confirmations.take(result.grant, reply) else { continue };
        match too_much(&result.reading, &road.road.terms) {
            None => road.context.send(Event::Result { result: Box::new(result), confirmation }),
            Some(why) => {
                tracing::error!(terminal, feed = result.feed.0, why, "result refused");
                confirmation.answer(Verdict::Refused { why });
            }
        }
    }
    Ok(())
}

/// Holds a terminal to the limits of the parser: it is another machine.
fn too_much(reading: &PollReading, terms: &LookTerms) -> Option<String> {
    let PollReading::Document(document) = reading else { return None };
    let parse = &terms.parse;
    if document.items.len() > parse.items_max {
        return Some(format!("more than {} items", parse.items_max));
    }
    let items = document.items.iter().filter_map(|keyed| keyed.item.as_ref());
    let is_long = |text: &Option<String>| {
        text.as_ref().is_some_and(|text| text.len() > parse.field_bytes_max.saturating_mul(4))
    };
    let mut too_long = items.filter(|item| {
        is_long(&item.title)
            || is_long(&item.content)
            || is_long(&item.summary)
            || item.categories.len() > parse.list_max
            || item.enclosures.len() > parse.list_max
    });
    too_long.next().map(|_| "an item is longer than the parser allows".to_owned())
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
            if let Err(error) = bus.answer(&reply, WIRE_OLDEST, &Answers { answers }).await {
                tracing::debug!(%error, "cannot confirm results");
            }
        }
    }
}
