//! Errands of a terminal on the bus. The same rules decide whether a request is sent. A result is
//! sent again until the controller has it or has given it up.

use std::sync::Arc;

use dispatch::machine::Results;
use dispatch::{ErrandJob, ErrandReading, ErrandRequest, ErrandResult};

use super::Terminal;
use crate::errand::{errand, sendable};
use crate::look::without_panic;

impl Terminal {
    /// Takes an errand. Nothing happens for one that arrived before.
    pub(super) fn take_errand(self: &Arc<Terminal>, epoch: i64, job: ErrandJob) {
        if !self.begins(job.grant) {
            return;
        }
        let here = Arc::clone(self);
        tokio::spawn(async move {
            let grant = job.grant;
            let place = here.place();
            let result = without_panic(here.run_errand(epoch, job, place.is_some())).await;
            drop(place);
            let result = result.unwrap_or_else(|| {
                tracing::error!("internal error during a request; please report it");
                let (trouble, detail) = (feed::Trouble::Internal, "internal error".to_owned());
                ErrandResult::bare(grant, ErrandReading::Failed { trouble, detail })
            });
            let result = sendable(result);
            let mut state = here.lock();
            state.in_flight.remove(&grant);
            state.errands.keep(result, here.stopwatch.elapsed());
            drop(state);
            here.ready.notify_one();
        });
    }

    async fn run_errand(&self, epoch: i64, job: ErrandJob, has_place: bool) -> ErrandResult {
        let send_by = job.send_by;
        match self.worker_for(epoch, send_by, has_place).await {
            Some(worker) => {
                let posts = matches!(job.request, ErrandRequest::Post { .. });
                tracing::debug!(grant = job.grant.0, posts, "sending an errand");
                errand(&worker.fetcher, job, || self.may_send(epoch, send_by)).await
            }
            None => ErrandResult::bare(job.grant, ErrandReading::NotSent),
        }
    }

    /// Sends the results of errands, each in a message of its own: they may be long.
    pub(super) async fn send_errands(&self, epoch: i64, wire: u32, inbox: &str) {
        let now = self.stopwatch.elapsed();
        loop {
            let Some(errand) = self.lock().errands.next_due(now) else { return };
            let results = Results {
                terminal: self.settings.name.clone(),
                life: self.settings.life.clone(),
                results: Vec::new(),
                errands: vec![errand],
            };
            let subject = format!("result.{epoch}");
            if let Err(error) = self.bus.publish(&subject, wire, &results, Some(inbox)).await {
                // It is due again after a second.
                tracing::warn!(%error, "the result of an errand could not be sent");
            }
        }
    }
}
