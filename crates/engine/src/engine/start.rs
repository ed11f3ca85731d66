//! The parts that the engine makes when it starts: rows of grants, channels, terminals and tasks.

use std::sync::Arc;
use std::time::Duration;

use dispatch::{EndPoint, GrantId, Stopwatch, WorkerEnd};
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
use crate::terminals::{GrantedRequest, LocalTerminal, Terminals};
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

/// The terminals at the start: the one of this process. It has no room if it shall not poll. No
/// other one gets its name, which stands in the rows of the requests of this process.
///
/// `left` are the requests of earlier processes that may be under way.
pub fn terminals(
    machine: &EngineMachine,
    room: usize,
    left: &[OpenGrantRow],
    now: Time,
) -> Arc<Terminals> {
    let has_terminal = !machine.without_terminal;
    let local = LocalTerminal {
        name: machine.name.clone(),
        region: machine.region.clone().filter(|_| has_terminal),
        version: machine.version.clone(),
        room: if has_terminal { room } else { 0 },
    };
    let terminals = Terminals::new(Some(local), now);
    let of_row = |row: &OpenGrantRow| {
        let (terminal, domain) = (Arc::from(row.terminal.as_str()), row.domain.clone());
        (GrantId(row.number), GrantedRequest { terminal, domain, feed: None })
    };
    terminals.note_earlier(left.iter().map(of_row));
    Arc::new(terminals)
}
