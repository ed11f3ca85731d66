//! Decides whether the request of a job may be sent.

use std::sync::Arc;
use std::time::Duration;

use dispatch::GrantId;
use tokio::sync::SemaphorePermit;

use super::presence::ANSWER_WITHIN;
use super::{HELD_MAX, Terminal};
use crate::look::Worker;

impl Terminal {
    /// Notes the arrival of a job. Returns false for one that arrived before.
    pub(super) fn begins(&self, grant: GrantId) -> bool {
        let mut state = self.lock();
        let is_new = state.rules.arrived(grant, self.stopwatch.elapsed());
        if is_new {
            state.in_flight.insert(grant);
        }
        is_new
    }

    /// Takes a place for a request, if there is room for it and for its result.
    pub(super) fn place(&self) -> Option<SemaphorePermit<'_>> {
        let state = self.lock();
        let n_held = state.outbox.len() + state.errands.n_kept();
        if n_held >= self.settings.room.saturating_mul(HELD_MAX) {
            return None;
        }
        self.places.try_acquire().ok()
    }

    /// Returns the worker for a request that may be sent now.
    pub(super) async fn worker_for(
        &self,
        epoch: i64,
        send_by: Duration,
        has_place: bool,
    ) -> Option<Arc<Worker>> {
        if !has_place {
            return None;
        }
        self.await_controller(epoch).await;
        let state = self.lock();
        let may_send = state.rules.may_send(epoch, send_by, self.stopwatch.elapsed());
        state.worker.as_ref().filter(|_| may_send).map(|(_, worker)| Arc::clone(worker))
    }

    /// Waits until the controller of a job has answered this terminal. A job can overtake that
    /// answer, because they travel under different subjects.
    async fn await_controller(&self, epoch: i64) {
        let mut known = self.known_epoch.subscribe();
        let answered = known.wait_for(|known| known.is_some_and(|known| known >= epoch));
        // `may_send` refuses the job if the answer did not come.
        let _ = tokio::time::timeout(ANSWER_WITHIN, answered).await;
    }
}
