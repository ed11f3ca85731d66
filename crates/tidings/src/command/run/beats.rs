//! The rows of machines: this process shows a sign of life every two seconds, with its figures. The
//! controller does so for the terminals that it hears of. The answers carry requests of operators.

use std::sync::Arc;
use std::time::Duration;

use dispatch::{Bus, Stopwatch};
use engine::{Clock, TerminalView};
use feed::Time;
use store::{
    BeatAnswer, MACHINE_BEAT_EVERY, MACHINE_SILENCE_MAX, MachineBeat, MachineRole, MachineWish,
    Store,
};
use tokio::sync::watch;

use super::slot::EngineSlot;
use super::terminal::MachinePlace;
use crate::args::operate::RunRole;

/// The beats of one process.
pub struct MachineBeats {
    pub place: MachinePlace,
    pub role: RunRole,
    /// The store of the page: it can write while another process records.
    pub store: Store,
    pub slot: EngineSlot,
    pub clock: Clock,
    /// The bus, if this process may control terminals.
    pub bus: Option<Bus>,
    /// Tells the rest of the process what an operator has asked for.
    pub wishes: watch::Sender<MachineWish>,
}

impl MachineBeats {
    /// Renews the rows until the task is aborted. A database that does not answer is tried again.
    pub async fn run(self) {
        let (mut role, mut since) = (self.role(), self.clock.now());
        let mut round_trip = None;
        let mut is_name_taken = false;
        loop {
            if role != self.role() {
                (role, since) = (self.role(), self.clock.now());
            }
            let terminals = self.slot.terminals();
            let mut beats = vec![self.beat((role, since), &terminals, round_trip)];
            beats.extend(terminals.iter().filter(|view| is_heard(view)).map(terminal_beat));
            let lives: Vec<Arc<str>> = beats.iter().map(|beat| Arc::clone(&beat.life)).collect();
            let (store, watch) = (self.store.clone(), Stopwatch::start());
            let beaten = tokio::task::spawn_blocking(move || store.beat_machines(beats)).await;
            match beaten {
                Ok(Ok(answers)) => {
                    round_trip = Some(watch.elapsed());
                    let is_taken = answers.first() == Some(&BeatAnswer::NameTaken);
                    if is_taken && !is_name_taken {
                        tracing::error!(
                            "another process has the name {}; give each its own with --name",
                            self.place.name
                        );
                    }
                    is_name_taken = is_taken;
                    self.heard(&lives, &answers);
                }
                Ok(Err(error)) => tracing::debug!(%error, "cannot renew the row of this process"),
                Err(_) => return,
            }
            tokio::time::sleep(MACHINE_BEAT_EVERY).await;
        }
    }

    /// Passes the requests of operators on: the first answer is for this process, the others are
    /// for terminals.
    fn heard(&self, lives: &[Arc<str>], answers: &[BeatAnswer]) {
        if let Some(BeatAnswer::Kept(wish)) = answers.first().copied() {
            let is_new = self.wishes.send_if_modified(|last| std::mem::replace(last, wish) != wish);
            if is_new && wish == MachineWish::Drain {
                tracing::info!("an operator drains this process: it finishes its work");
            }
        }
        let drained = lives.iter().zip(answers).skip(1);
        let drained =
            drained.filter(|(_, answer)| matches!(answer, BeatAnswer::Kept(MachineWish::Drain)));
        self.slot.drain_terminals(drained.map(|(life, _)| life.to_string()).collect());
    }

    /// The row of this process. Its polls are those of its own terminal.
    fn beat(
        &self,
        (role, since): (MachineRole, Time),
        terminals: &[TerminalView],
        round_trip: Option<Duration>,
    ) -> MachineBeat {
        let own = terminals.iter().find(|view| view.is_local);
        MachineBeat {
            name: Arc::from(self.place.name.as_str()),
            role,
            region: self.place.region.as_deref().map(Arc::from),
            version: Arc::from(env!("CARGO_PKG_VERSION")),
            life: Arc::from(self.place.life.as_str()),
            since,
            room: own.map_or(0, |view| view.room as u64),
            in_flight: own.map_or(0, |view| view.in_flight as u64),
            polls_per_second: own.map_or(0.0, |view| view.polls_per_second),
            round_trip,
            network_up: self.bus.as_ref().is_none_or(Bus::is_connected)
                && own.is_none_or(|view| view.network_up),
            epoch: self.slot.epoch(),
        }
    }

    fn role(&self) -> MachineRole {
        match self.role {
            RunRole::Web => MachineRole::Web,
            _ if self.slot.epoch() > 0 => MachineRole::Controller,
            _ => MachineRole::Standby,
        }
    }
}

/// A terminal that was asked to finish and misses a sign of life has ended.
const DRAINED_SILENCE_MAX: Duration = Duration::from_secs(4);

/// A terminal on another machine that is there.
fn is_heard(view: &TerminalView) -> bool {
    let limit = if view.draining { DRAINED_SILENCE_MAX } else { MACHINE_SILENCE_MAX };
    !view.is_local && view.silent_for < limit
}

fn terminal_beat(view: &TerminalView) -> MachineBeat {
    MachineBeat {
        name: Arc::from(view.name.as_str()),
        role: MachineRole::Terminal,
        region: view.region.as_deref().map(Arc::from),
        version: Arc::from(view.version.as_str()),
        life: Arc::from(view.life.as_str()),
        since: view.since,
        room: view.room as u64,
        in_flight: view.in_flight as u64,
        polls_per_second: view.polls_per_second,
        round_trip: view.round_trip,
        network_up: view.network_up,
        epoch: 0,
    }
}

/// The beats as a task.
pub struct RunningBeats {
    task: tokio::task::JoinHandle<()>,
    store: Store,
    place: MachinePlace,
}

impl RunningBeats {
    pub fn start(beats: MachineBeats) -> RunningBeats {
        let (store, place) = (beats.store.clone(), beats.place.clone());
        RunningBeats { task: tokio::spawn(beats.run()), store, place }
    }

    /// Ends the beats and removes the row.
    pub async fn end(self) {
        self.task.abort();
        // A task that was aborted says so; nothing else can come.
        let _ = self.task.await;
        let (store, MachinePlace { name, life, .. }) = (self.store, self.place);
        // Without a database the row vanishes by itself.
        let _ = tokio::task::spawn_blocking(move || store.leave_machine(&name, &life)).await;
    }
}
