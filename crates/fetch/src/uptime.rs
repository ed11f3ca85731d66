//! The time since the machine was started. It goes on while the machine sleeps, unlike the clock of
//! timeouts, and a limit that counts by it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

fn uptime() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    let nanos = u32::try_from(tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(tv_sec).unwrap_or_default(), nanos)
}

/// Runs a future for at most this time; `None`: it did not end. After that the future is not even
/// polled once more, however late the process looks at its clock.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let deadline = uptime() + limit;
    let mut future = pin!(future);
    let in_time = poll_fn(|context| match uptime() < deadline {
        true => future.as_mut().poll(context).map(Some),
        false => Poll::Ready(None),
    });
    tokio::time::timeout(limit, in_time).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_future_makes_no_step_after_a_standstill() {
        // Long enough for the first step to come in time on a busy machine.
        let (limit, mut n_steps) = (Duration::from_secs(2), 0);
        let stands_still = poll_fn(|context| {
            n_steps += 1;
            std::thread::sleep(limit + Duration::from_millis(100));
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(within(limit, stands_still).await, None);
        assert_eq!(n_steps, 1, "the second step would come too late");
        assert_eq!(within(Duration::from_secs(60), async { 7 }).await, Some(7));
    }
}
