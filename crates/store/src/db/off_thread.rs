//! Waiting inside async code. A function of the store that blocks may run in an async task. The
//! thread of the runtime must not stand still meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs a function that waits for a server or for a commit. On a thread of a runtime with several
/// threads, the other tasks of this thread continue on another one. Elsewhere, the function just
/// runs.
///
/// The hand-over takes some microseconds, which is little compared with a round trip or a sync.
pub(crate) fn wait_off_thread<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// A runtime with one thread can run the other task only if the thread was handed over.
    #[test]
    fn other_tasks_continue_while_one_waits() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let (send, receive) = channel();
        let waited = runtime.unwrap().block_on(async {
            let waiting = tokio::spawn(async move {
                tokio::spawn(async move { send.send(7) });
                wait_off_thread(|| receive.recv())
            });
            waiting.await
        });
        assert_eq!(waited.unwrap(), Ok(7));
    }

    #[test]
    fn outside_of_such_a_runtime_the_function_just_runs() {
        assert_eq!(wait_off_thread(|| 7), 7);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(async { wait_off_thread(|| 7) }), 7);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.unwrap();
        assert_eq!(runtime.block_on(async { wait_off_thread(|| 7) }), 7);
        let blocking = async { tokio::task::spawn_blocking(|| wait_off_thread(|| 7)).await };
        assert_eq!(runtime.block_on(blocking).unwrap(), 7);
    }
}
