//! The parts that the engine makes when it starts: rows of grants, channels, terminals and tasks.

use std::sync::Arc;
use std::time::Duration;

use dispatch::{EndPoint, Stopwatch, WorkerEnd};
use feed::Time;
use store::{OpenGrantRow, Store, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::EngineMachine;
use crate::context::Context;
use crate::controller::{Channels, Roads};
use crate::event::Event;
use crate::grants::GrantBook;
use crate::road::BusRoad;
use crate::terminals::{LocalTerminal, Terminals};
use crate::{Watch, tasks};

/// Starts the tasks next to the controller, unless the engine polls on request only.
pub fn side_tasks(
    watch: Watch,
    context: &Arc<Context>,
    stop: &watch::Receiver<bool>,
) -> JoinSet<()> {
    match watch {
        Watch::All => tasks::side_tasks(context, stop),
        Watch::OnRequest => JoinSet::new(),
    }
}

/// The rows of grants, and the requests of earlier processes that may be under way.
type BegunGrants = (Option<Arc<GrantBook>>, Vec<OpenGrantRow>);

pub fn begin_grants(
    store: &Store,
    has_rows: bool,
    life: Duration,
    machine: &EngineMachine,
) -> Result<BegunGrants, StoreError> {
    if !has_rows {
        return Ok((None, Vec::new()));
    }
    let (book, left) = GrantBook::open(store, life, &machine.name, &machine.earlier)?;
    dispatch::end_at(EndPoint::SeatTaken);
    Ok((Some(Arc::new(book)), left))
}

/// Makes the controller's ends of its channels, and the end of the workers.
pub fn channels(
    bus: Option<&BusRoad>,
    context: &Context,
    stopwatch: Stopwatch,
    events: mpsc::UnboundedReceiver<Event>,
) -> (Channels, WorkerEnd) {
    let settings = &context.settings;
    let (local, results, worker_end) =
        dispatch::local(settings.polls_in_flight_max, settings.local_form);
    let bus = bus.map(|road| road.bus.clone());
    (Channels { roads: Roads { local, bus, stopwatch }, results, events }, worker_end)
}

/// The terminals at the start: the one of this process, unless it shall not poll.
pub fn terminals(machine: &EngineMachine, room: usize, now: Time) -> Arc<Terminals> {
    let local = LocalTerminal {
        name: machine.name.clone(),
        region: machine.region.clone(),
        version: machine.version.clone(),
        room,
    };
    Arc::new(Terminals::new((!machine.without_terminal).then_some(local), now))
}
