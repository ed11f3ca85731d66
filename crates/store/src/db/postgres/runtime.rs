//! The background runtime that drives all connections to PostgreSQL, and the blocking wait for its
//! answers.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// One thread is enough: it only moves bytes between sockets and waiting threads.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()
});

/// Runs a future on the background runtime and waits for it.
pub(super) fn run<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> std::io::Result<T> {
    let runtime = RUNTIME.as_ref().map_err(|e| std::io::Error::new(e.kind(), e.to_string()))?;
    wait(runtime.spawn(future)).map_err(std::io::Error::other)
}

/// Starts a future on the background runtime. Its result can be awaited.
pub(super) fn spawn<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> Option<JoinHandle<T>> {
    RUNTIME.as_ref().ok().map(|runtime| runtime.spawn(future))
}

/// Starts a future on the background runtime.
pub(super) fn start(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = RUNTIME.as_ref() {
        runtime.spawn(future);
    }
}

/// Blocks this thread until a future is ready. Another thread must drive the future: unlike a
/// runtime's `block_on`, this works inside any runtime.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// The same for a limited time; `None` if the answer does not come.
pub(super) fn wait_at_most<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let _timers = RUNTIME.as_ref().ok()?.enter();
    wait(tokio::time::timeout(time, future)).ok()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
