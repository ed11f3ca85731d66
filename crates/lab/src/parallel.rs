//! Distributes work over threads. Results come in the order of the work, so they do not depend on
//! the number or speed of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The items that a thread takes at once. The number is small, so that no thread waits long at the
/// end.
const BATCH: usize = 8;

/// Does `work` for 0..n. Returns the results in this order, and the state of each thread.
pub(crate) fn map_batched<T: Send, K: Send + Default>(
    n: usize,
    threads: usize,
    work: impl Fn(usize, &mut K) -> T + Sync,
) -> (Vec<T>, Vec<K>) {
    map_by(BATCH, n, threads, work)
}

/// Like [`map_batched`], for few large items that threads take one at a time.
pub(crate) fn map_each<T: Send>(
    n: usize,
    threads: usize,
    work: impl Fn(usize, &mut ()) -> T + Sync,
) -> Vec<T> {
    map_by(1, n, threads, work).0
}

fn map_by<T: Send, K: Send + Default>(
    batch: usize,
    n: usize,
    threads: usize,
    work: impl Fn(usize, &mut K) -> T + Sync,
) -> (Vec<T>, Vec<K>) {
    let next = AtomicUsize::new(0);
    let run_thread = || {
        let (mut done, mut kept) = (Vec::new(), K::default());
        loop {
            let first = next.fetch_add(batch, Ordering::Relaxed);
            if first >= n {
                return (done, kept);
            }
            for i in first..n.min(first + batch) {
                done.push((i, work(i, &mut kept)));
            }
        }
    };
    let mut parts = if threads <= 1 {
        vec![run_thread()]
    } else {
        std::thread::scope(|scope| {
            let parallel: Vec<_> = (0..threads).map(|_| scope.spawn(run_thread)).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            parallel.into_iter().map(join).collect()
        })
    };
    let mut done: Vec<(usize, T)> = Vec::with_capacity(n);
    let mut kept = Vec::with_capacity(parts.len());
    for (part, keeps) in parts.drain(..) {
        done.extend(part);
        kept.push(keeps);
    }
    done.sort_unstable_by_key(|(i, _)| *i);
    (done.into_iter().map(|(_, result)| result).collect(), kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for threads in [1, 2, 7] {
            let (squares, sums) = map_batched(100, threads, |i, sum: &mut usize| {
                *sum += i;
                i * i
            });
            assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(sums.iter().sum::<usize>(), 4950);
        }
    }
}
