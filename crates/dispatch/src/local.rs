//! The channel to workers in the same process: bounded, without serialisation. Losing it loses
//! nothing that was seen, because a feed's next poll stands in the store until it is recorded.

use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, mpsc};

use crate::wire;
use crate::{PollJob, PollResult};

/// The form of messages on a local channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalForm {
    /// The values themselves.
    Values,
    /// Every value is encoded, decoded and compared on its way. For tests: it panics where the
    /// wire form loses something.
    Wire,
}

/// The controller's end for jobs.
#[derive(Clone, Debug)]
pub struct JobSender {
    jobs: mpsc::Sender<PollJob>,
    form: LocalForm,
}

/// The controller's end for results.
#[derive(Debug)]
pub struct ResultReceiver(mpsc::Receiver<PollResult>);

/// A worker's end; clones share the jobs.
#[derive(Clone, Debug)]
pub struct WorkerEnd {
    jobs: Arc<Mutex<mpsc::Receiver<PollJob>>>,
    results: mpsc::Sender<PollResult>,
    form: LocalForm,
}

/// Makes a channel for `jobs_max` jobs and as many results.
pub fn local(jobs_max: usize, form: LocalForm) -> (JobSender, ResultReceiver, WorkerEnd) {
    let (job_sender, jobs) = mpsc::channel(jobs_max.max(1));
    let (results, result_receiver) = mpsc::channel(jobs_max.max(1));
    let worker = WorkerEnd { jobs: Arc::new(Mutex::new(jobs)), results, form };
    (JobSender { jobs: job_sender, form }, ResultReceiver(result_receiver), worker)
}

impl JobSender {
    /// Hands a job over without waiting. Gives it back if the channel is full or every worker has
    /// ended.
    pub fn send(&self, job: PollJob) -> Result<(), Box<PollJob>> {
        let job = passed(job, self.form);
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job) => {
                Box::new(job)
            }
        })
    }
}

impl ResultReceiver {
    /// Waits for the next result; `None` after every worker has ended.
    pub async fn recv(&mut self) -> Option<PollResult> {
        self.0.recv().await
    }

    /// Returns a result that has arrived already.
    pub fn try_recv(&mut self) -> Option<PollResult> {
        self.0.try_recv().ok()
    }
}

impl WorkerEnd {
    /// Waits for the next job; `None` after the controller has ended and all jobs are taken.
    pub async fn next(&self) -> Option<PollJob> {
        self.jobs.lock().await.recv().await
    }

    /// Sends a result back. A controller that has ended does not need it: the feed is due again at
    /// the next start.
    pub async fn report(&self, result: PollResult) {
        let _ = self.results.send(passed(result, self.form)).await;
    }
}

/// Returns the value as the other end gets it.
fn passed<T>(value: T, form: LocalForm) -> T
where
    T: Serialize + DeserializeOwned + Debug + PartialEq,
{
    if form == LocalForm::Values {
        return value;
    }
    let received = wire::encode(&value).and_then(|bytes| wire::decode(&bytes));
    match received {
        Ok(received) if received == value => received,
        other => panic!("the wire form of {value:?} is not the same: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use feed::{FeedId, Validators};
    use url::Url;

    use super::*;
    use crate::{GrantId, PollReading, SoFar};

    fn job(grant: u64) -> PollJob {
        PollJob {
            grant: GrantId(grant),
            feed: FeedId(1),
            generation: 0,
            url: Url::parse("https://example.org/feed").expect("a URL"),
            validators: Validators::default(),
            body_hash: None,
            window: Arc::default(),
            window_digest: None,
            send_by: Duration::ZERO,
            so_far: SoFar::default(),
            whole: false,
            request: None,
        }
    }

    #[tokio::test]
    async fn each_job_reaches_one_worker_and_each_result_the_controller() {
        for form in [LocalForm::Values, LocalForm::Wire] {
            let (sender, mut results, worker) = local(8, form);
            for _ in 0..3 {
                let worker = worker.clone();
                tokio::spawn(async move {
                    while let Some(job) = worker.next().await {
                        let result = PollResult::without_exchange(job, PollReading::NotSent);
                        worker.report(result).await;
                    }
                });
            }
            drop(worker);
            for grant in 0..8 {
                assert_eq!(sender.send(job(grant)), Ok(()));
            }
            drop(sender);
            let mut answered = Vec::new();
            while let Some(result) = results.recv().await {
                answered.push(result.grant.0);
            }
            answered.sort_unstable();
            assert_eq!(answered, (0..8).collect::<Vec<_>>());
        }
    }

    #[tokio::test]
    async fn a_full_channel_gives_the_job_back() {
        let (sender, _results, _worker) = local(1, LocalForm::Values);
        assert_eq!(sender.send(job(1)), Ok(()));
        assert_eq!(sender.send(job(2)), Err(Box::new(job(2))));
    }
}
