//! Decides whether the request of a job may be sent.

use std::sync::Arc;
use std::time::Duration;

use dispatch::GrantId;
use tokio::sync::SemaphorePermit;

use super::Terminal;
use super::presence::ANSWER_WITHIN;
use crate::look::Worker;

/// A terminal keeps at most this many times its room of results that nobody has confirmed yet.
/// After that it sends no requests.
const HELD_MAX: usize = 8;
/// The same limit for their bytes. The requests under way may bring some more.
const HELD_BYTES_MAX: usize = 256_000_000;

/// Returns whether results that nobody confirms leave no room for more.
fn holds_too_much(n_held: usize, n_bytes: usize, room: usize) -> bool {
    n_held >= room.saturating_mul(HELD_MAX) || n_bytes >= HELD_BYTES_MAX
}

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
        let n_bytes = state.outbox.n_bytes() + state.errands.n_bytes();
        if holds_too_much(n_held, n_bytes, self.settings.room) {
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
        let may_send = self.may_send(epoch, send_by);
        let state = self.lock();
        state.worker.as_ref().filter(|_| may_send).map(|(_, worker)| Arc::clone(worker))
    }

    /// Returns whether a request may be sent now.
    pub(super) fn may_send(&self, epoch: i64, send_by: Duration) -> bool {
        self.lock().rules.may_send(epoch, send_by, self.stopwatch.elapsed())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_nobody_confirms_are_bounded_in_number_and_bytes() {
        assert!(!holds_too_much(31, 1000, 4) && holds_too_much(32, 1000, 4));
        assert!(holds_too_much(17, 17 * 16_000_000, 100));
    }
}
