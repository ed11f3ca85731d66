//! The presence of a terminal on the bus: it says that it is there, and learns who is active and by
//! which settings it works.

use std::sync::Arc;
use std::time::Duration;

use dispatch::LookTerms;
use dispatch::machine::{Here, HereAnswer, Seat};

use super::{Terminal, TerminalSettings};
use crate::look::Worker;
use crate::terms;

/// How often a terminal says that it is there.
const HERE_EVERY: Duration = Duration::from_secs(2);
/// The wait for the controller's answer.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(2);

impl Terminal {
    /// Says every two seconds that this terminal is there, and learns who is active.
    pub(super) async fn say_here(self: Arc<Terminal>) {
        loop {
            self.say_here_once().await;
            tokio::select! {
                () = tokio::time::sleep(HERE_EVERY) => {}
                () = self.called.notified() => {}
            }
        }
    }

    /// Says that this terminal is there. Returns whether a controller has heard it.
    pub(super) async fn say_here_once(&self) -> bool {
        let here = self.here();
        let asked_at = self.stopwatch.elapsed();
        let answer = self.bus.ask("here", &here, ANSWER_WITHIN).await;
        let took = self.stopwatch.elapsed().saturating_sub(asked_at);
        match answer.and_then(|message| Ok(message.decode_any::<HereAnswer>()?)) {
            Ok(HereAnswer::Seat(seat)) => {
                self.seated(*seat, asked_at, took);
                true
            }
            Ok(HereAnswer::Refused { why }) => {
                let mut state = self.lock();
                state.rules.no_seat();
                if state.refused.replace(why.clone()).as_ref() != Some(&why) {
                    tracing::error!("the controller refuses this terminal: {why}");
                }
                true
            }
            Err(error) => {
                tracing::debug!(%error, "no controller is active");
                false
            }
        }
    }

    fn here(&self) -> Here {
        let TerminalSettings { name, region, version, life, room, .. } = &self.settings;
        let state = self.lock();
        // The limit of open files may allow fewer requests at once.
        let connections_max = state.worker.as_ref().map(|(_, one)| one.fetcher.connections_max());
        Here {
            wire: self.bus.wire(),
            terminal: name.clone(),
            life: life.clone(),
            version: version.clone(),
            identity_rule: feed::IDENTITY_RULE,
            region: region.clone(),
            room: connections_max.map_or(*room, |most| most.min(*room)),
            in_flight: state.in_flight.iter().copied().collect(),
            held: state.outbox.len() + state.errands.n_kept(),
            draining: *self.drain.borrow(),
            round_trip: state.round_trip,
            window_questions: self.windows.n_questions(),
            takes_errands: true,
        }
    }

    /// Takes the answer of the active controller.
    fn seated(&self, seat: Seat, asked_at: Duration, took: Duration) {
        let Seat { wire, epoch, clock, grant_life, drain, terms } = seat;
        let mut state = self.lock();
        let is_another = state.rules.epoch() != Some(epoch);
        let is_same = state.worker.as_ref().is_some_and(|(old, _)| *old == terms);
        if !is_same {
            match self.worker(&terms) {
                Ok(worker) => state.worker = Some((terms, worker)),
                Err(error) => {
                    tracing::error!(%error, "cannot work by the settings of the controller");
                    return state.rules.no_seat();
                }
            }
        }
        if !state.rules.seat(epoch, clock, grant_life, asked_at) {
            return;
        }
        if state.round_trip.is_none() {
            // The controller gives jobs to terminals that have heard it.
            self.called.notify_one();
        }
        (state.wire, state.round_trip, state.refused) = (Some(wire), Some(took), None);
        self.known_epoch.send_replace(Some(epoch));
        if is_another {
            tracing::info!(epoch, "working for the active controller");
            state.outbox.send_all_again();
            self.ready.notify_one();
        }
        if drain {
            self.drain.send_replace(true);
        }
    }

    fn worker(&self, terms: &LookTerms) -> Result<Arc<Worker>, fetch::SetupError> {
        Ok(Arc::new(Worker {
            fetcher: terms::fetcher(&terms.fetch, &self.settings.outgoing_proxies)?,
            limits: terms::limits(&terms.parse),
            keeps_bodies: terms.keeps_bodies,
            stopwatch: self.stopwatch,
            windows: Some(Arc::clone(&self.windows)),
        }))
    }
}
