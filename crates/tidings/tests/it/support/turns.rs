//! Turns of tests that keep a core busy for long, such as those with a browser. More tests run at
//! once than there are cores, because most of them wait: for pauses, time limits and other
//! processes. As many of the busy ones run at once as there are cores.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;

static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// A turn. Dropping it ends the turn, also if the test fails.
pub struct Turn(());

/// Waits for a turn.
pub fn turn() -> Turn {
    let cores = available_parallelism().map_or(1, usize::from);
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = ENDED.wait_while(under_way, |under_way| *under_way >= cores);
    *waited.unwrap_or_else(PoisonError::into_inner) += 1;
    Turn(())
}

impl Drop for Turn {
    fn drop(&mut self) {
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}
