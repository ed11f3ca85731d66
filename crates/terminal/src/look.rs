//! Looks at a feed: one request, then parsing and identification. Input: a [`PollJob`]; output: a
//! [`PollResult`]. It needs no store and no plan.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use dispatch::{PollJob, PollReading, PollResult, SoFar, Stopwatch, WorkerEnd};
use feed::Trouble;
use fetch::{Fetched, Fetcher};
use tokio::sync::watch;

use crate::read;
use crate::windows::RemoteWindows;

/// Everything that looking at a feed needs.
pub struct Worker {
    pub fetcher: Arc<Fetcher>,
    pub limits: parse::Limits,
    /// Whether results carry the bodies of answers, for a recording.
    pub keeps_bodies: bool,
    /// The controller's, if it is in the same process.
    pub stopwatch: Stopwatch,
    /// The windows of jobs that carry only a digest.
    pub windows: Option<Arc<RemoteWindows>>,
}

/// Makes the request of a job and reads the answer. A job that comes too late is not sent.
pub async fn look(worker: &Worker, job: PollJob) -> PollResult {
    let send_by = job.send_by;
    exchange(worker, job, || worker.stopwatch.elapsed() <= send_by).await
}

/// Makes the request of a job, if `may_send` allows it at the last moment.
pub async fn exchange(
    worker: &Worker,
    mut job: PollJob,
    may_send: impl Fn() -> bool,
) -> PollResult {
    let arrived = worker.stopwatch.elapsed();
    if let Some(detail) = job.request.as_mut().and_then(|own| own.fault.take()) {
        let reading = PollReading::Failed { trouble: Trouble::Settings, detail };
        return PollResult::without_exchange(job, reading);
    }
    let place = worker.fetcher.place().await;
    // Other requests may have had all places for long.
    if !may_send() {
        return PollResult::without_exchange(job, PollReading::NotSent);
    }
    let own = job.request.take();
    let mut exchange = place.fetch(&job.url, &job.validators, own.as_deref()).await;
    let answered = worker.stopwatch.elapsed();
    let facts = exchange.facts;
    job.so_far.bytes += facts.wire_bytes;
    job.so_far.elapsed += facts.elapsed;
    let mut raw = exchange.raw.take();
    if let Some(raw) = &mut raw {
        match &exchange.fetched {
            _ if !worker.keeps_bodies => raw.body = None,
            Fetched::Body { bytes, .. } => raw.body = Some(bytes.clone()),
            // The fetcher has kept the beginning of an error's body.
            _ => {}
        }
    }
    let reading =
        read::read(&job, exchange.fetched, facts.date, worker.limits, worker.windows.as_deref())
            .await;
    let held = worker.stopwatch.elapsed().saturating_sub(answered);
    job.so_far.parse += held;
    if let (Some(raw), PollReading::Same { .. }) = (&mut raw, &reading) {
        raw.body = None;
    }
    PollResult {
        raw,
        elapsed: facts.elapsed,
        waited: answered.saturating_sub(arrived + facts.elapsed),
        held,
        facts,
        ..PollResult::without_exchange(job, reading)
    }
}

/// Takes jobs until the controller ends. An internal error costs one poll. When `cut` turns true,
/// a request under way is dropped.
pub async fn run(worker: Arc<Worker>, channel: WorkerEnd, mut cut: watch::Receiver<bool>) {
    while let Some(job) = channel.next().await {
        let (grant, feed, generation) = (job.grant, job.feed, job.generation);
        let result = tokio::select! {
            result = without_panic(look(&worker, job)) => result,
            _ = cut.wait_for(|cut| *cut) => return,
        };
        let result = result.unwrap_or_else(|| {
            tracing::error!(feed = feed.0, "internal error during a poll; please report it");
            let so_far = SoFar::default();
            PollResult::bare(grant, feed, generation, so_far, PollReading::WorkerFailed)
        });
        channel.report(result).await;
    }
}

/// Runs a future; `None` if it panics.
pub async fn without_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dispatch::GrantId;
    use feed::{FeedId, Validators};
    use url::Url;

    use super::*;

    fn worker() -> Worker {
        let mut settings = fetch::Settings::new("https://example.org/");
        settings.allow_private = true;
        let fetcher = Arc::new(Fetcher::new(settings).expect("a fetcher"));
        let limits = parse::Limits::default();
        Worker {
            fetcher,
            limits,
            keeps_bodies: false,
            stopwatch: Stopwatch::start(),
            windows: None,
        }
    }

    fn job(send_by: Duration) -> PollJob {
        PollJob {
            grant: GrantId(3),
            feed: FeedId(7),
            generation: 2,
            // Nobody listens there.
            url: Url::parse("http://127.0.0.1:1/").expect("a URL"),
            validators: Validators::default(),
            body_hash: None,
            window: Arc::default(),
            window_digest: None,
            send_by,
            so_far: SoFar { bytes: 5, ..SoFar::default() },
            whole: false,
            request: None,
        }
    }

    #[tokio::test]
    async fn a_job_that_comes_too_late_is_not_sent() {
        let worker = worker();
        std::thread::sleep(Duration::from_millis(2));
        let result = look(&worker, job(Duration::from_millis(1))).await;
        assert_eq!((result.grant, result.reading), (GrantId(3), PollReading::NotSent));
        let result = look(&worker, job(Duration::from_secs(60))).await;
        let PollReading::Failed { trouble, .. } = result.reading else {
            panic!("{:?}", result.reading)
        };
        assert_eq!((trouble, result.generation), (Trouble::Connect, 2));
        assert_eq!(result.so_far.bytes, 5, "it comes back with the result");
    }

    #[tokio::test]
    async fn a_job_that_waits_too_long_for_its_place_is_not_sent() {
        let worker = worker();
        let mut places = Vec::new();
        for _ in 0..worker.fetcher.connections_max() {
            places.push(worker.fetcher.place().await);
        }
        let send_by = worker.stopwatch.elapsed() + Duration::from_millis(50);
        let free = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(places);
        };
        let (result, ()) = tokio::join!(look(&worker, job(send_by)), free);
        assert_eq!(result.reading, PollReading::NotSent);
    }

    #[tokio::test]
    async fn a_panic_is_contained() {
        assert_eq!(without_panic(async { 1 }).await, Some(1));
        let panicked: Option<()> = without_panic(async { panic!("unforeseen") }).await;
        assert_eq!(panicked, None);
    }
}
