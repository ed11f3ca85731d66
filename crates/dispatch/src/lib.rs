//! Jobs on their way to workers: today a bounded local channel; and the commands of people.
//!
//! This is the road, not a store: losing what is on it loses nothing that was seen, since a feed's
//! next poll stands in the store until its result is recorded there. It decides nothing.

pub mod command;

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

/// The planner's end. `J` is the job with whatever travels along inside one process.
#[derive(Debug)]
pub struct JobSender<J>(mpsc::Sender<J>);

/// A worker's end; clones share the jobs.
#[derive(Debug)]
pub struct JobReceiver<J>(Arc<Mutex<mpsc::Receiver<J>>>);

/// A channel for `jobs_max` jobs. The planner grants no more than that at a time, so sending never
/// waits.
pub fn local<J>(jobs_max: usize) -> (JobSender<J>, JobReceiver<J>) {
    let (sender, receiver) = mpsc::channel(jobs_max.max(1));
    (JobSender(sender), JobReceiver(Arc::new(Mutex::new(receiver))))
}

impl<J> JobSender<J> {
    /// Hands a job over; gives it back if every worker has gone or the road is full.
    pub fn send(&self, job: J) -> Result<(), J> {
        self.0.try_send(job).map_err(|e| match e {
            mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job) => job,
        })
    }
}

impl<J> JobReceiver<J> {
    /// The next job, or `None` when the planner has gone and all jobs are taken.
    pub async fn next(&self) -> Option<J> {
        self.0.lock().await.recv().await
    }
}

impl<J> Clone for JobReceiver<J> {
    fn clone(&self) -> JobReceiver<J> {
        JobReceiver(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_job_reaches_one_worker() {
        let (sender, receiver) = local(8);
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                tokio::spawn(async move {
                    let mut taken = Vec::new();
                    while let Some(job) = receiver.next().await {
                        taken.push(job);
                    }
                    taken
                })
            })
            .collect();
        for n in 0..8 {
            assert_eq!(sender.send(n), Ok(()));
        }
        drop(sender);
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.await.unwrap());
        }
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_full_road_gives_the_job_back() {
        let (sender, _receiver) = local(1);
        assert_eq!(sender.send(1), Ok(()));
        assert_eq!(sender.send(2), Err(2));
    }
}
